"""Continuous laws of cells keep what the cells say: bin means, mean squares, order, range."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fedparity as fp
from fedparity.federated.clumps import torn_shapes
from fedparity.federated.reconstruction import (
    BinCuts,
    CellLayout,
    mean_shapes,
    quantile_shapes,
)


@st.composite
def cells_of_means(draw):
    """Bin means of several cells in [0, 1], and mean squares that they may have."""
    levels = draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    means = [np.sort(draw(st.lists(st.floats(0.0, 1.0), min_size=k, max_size=k))) for k in levels]
    squares = draw(
        st.lists(
            st.one_of(st.just(np.nan), st.floats(0.0, 0.2)),
            min_size=len(levels),
            max_size=len(levels),
        )
    )
    return np.concatenate(means), CellLayout.of(np.array(levels)), np.array(squares)


@given(cells_of_means())
def test_bins_keep_their_means_their_order_and_the_range(case):
    means, layout, squares = case
    shapes = mean_shapes(means, layout, mean_squares=squares, bounds=(0.0, 1.0))

    assert shapes.means() == pytest.approx(means, abs=1e-12)
    assert (shapes.left <= shapes.middle + 1e-12).all()
    assert (shapes.middle <= shapes.right + 1e-12).all()
    assert shapes.left.min() >= -1e-12
    assert shapes.right.max() <= 1 + 1e-12
    inner = np.ones(means.size, dtype=bool)
    inner[layout.starts] = False
    (at,) = np.nonzero(inner)
    assert (shapes.left[at] >= shapes.right[at - 1] - 1e-12).all()


@given(cells_of_means())
def test_cells_hold_no_more_variance_than_they_state(case):
    means, layout, squares = case
    held = mean_shapes(means, layout, mean_squares=squares).mean_squares(layout)
    known = ~np.isnan(squares)

    assert (held[known] <= squares[known] * (1 + 1e-9) + 1e-15).all()


@given(cells_of_means(), st.floats(0.0, 0.2))
def test_rounding_leaves_the_variance_of_symmetric_bins_open(case, error):
    """It is used where the stated one is smaller and may have been rounded downwards by so much."""
    means, layout, squares = case
    known = ~np.isnan(squares)
    unknown = np.full(squares.size, np.nan)
    symmetric = mean_shapes(means, layout, mean_squares=unknown).mean_squares(layout)
    several = known & (layout.levels > 1)
    wanted = np.maximum(squares, np.minimum(symmetric, squares + error))
    held, expected = (
        mean_shapes(means, layout, mean_squares=each, mean_square_errors=room)
        for each, room in ((squares, np.full(squares.size, error)), (wanted, 0.0))
    )

    for one, other in zip(held, expected, strict=True):
        rows = np.repeat(several, layout.levels)
        assert one[rows] == pytest.approx(other[rows], abs=1e-9)


def test_a_mean_square_that_may_have_been_rounded_to_zero_leaves_no_atoms():
    layout, means = CellLayout.of(np.array([3])), np.array([0.1, 0.4, 0.7])
    nothing, little, much = (
        mean_shapes(means, layout, mean_squares=np.zeros(1), mean_square_errors=error)
        for error in (0.0, 0.001, 1.0)
    )

    assert nothing.mean_squares(layout) == 0
    assert little.mean_squares(layout) == pytest.approx(0.001)
    assert much.mean_squares(layout) == pytest.approx(0.15**2 / 3)


def test_outer_bins_of_heavy_tails_hold_all_the_variance_that_is_stated():
    """Twenty bins of 200 lognormal records: whatever the largest is, the mean square is kept."""
    layout = CellLayout.of(np.array([20]))
    for seed in range(50):
        bins = np.sort(np.random.default_rng(seed).lognormal(0, 1, 200)).reshape(20, 10)
        squares = np.array([bins.var(axis=1).mean()])
        shapes = mean_shapes(bins.mean(axis=1), layout, mean_squares=squares, bounds=(0.0, np.inf))

        assert shapes.mean_squares(layout) == pytest.approx(squares, rel=1e-3)  # 0 is near
        assert shapes.means() == pytest.approx(bins.mean(axis=1))
        assert (shapes.left >= 0).all()


@given(cells_of_means(), st.integers(1, 40))
@example(
    (
        np.array([0.0, 1e-11, 1.0, 0.0, 0.0]),
        CellLayout.of(np.array([3, 1, 1])),
        np.array([3.6e-151, np.nan, np.nan]),
    ),
    4,
)
def test_narrow_bins_keep_the_means_and_do_not_decrease(case, least):
    means, layout, squares = case
    cuts = BinCuts.of(layout, least)
    shapes = mean_shapes(means, layout, mean_squares=squares)
    values = cuts.values(shapes)

    for cell, (start, size) in enumerate(zip(*cuts.layout[::-1], strict=True)):
        own = values[start : start + size]
        assert size >= least
        assert (np.diff(own) >= -1e-12).all()
        expected = means[layout.starts[cell] : layout.starts[cell] + layout.levels[cell]]
        assert own.reshape(expected.size, -1).mean(axis=1) == pytest.approx(expected, abs=1e-12)


def test_the_laws_of_many_records_are_found_from_few_bins():
    """From 20 bin means and a mean square, a Beta law is known far better than by the means."""
    levels = (np.arange(100_000) + 0.5) / 100_000
    for shape in ((2, 5), (3, 4), (6, 4)):
        scores = np.sort(np.random.default_rng(1).beta(*shape, 100_000))
        cell = fp.Cell.from_scores(scores, levels=20, kind="mean")
        whole = fp.Federation.from_cells({(0, "a"): cell, (0, "b"): cell}, score_range=(0, 1))
        law, steps = (fp.theory.mixtures(whole, reconstruct=way)["a"] for way in (True, False))
        error, rough = (np.mean((each.quantile(levels) - scores) ** 2) for each in (law, steps))

        assert error < rough / 10
        assert law.mean == pytest.approx(scores.mean(), abs=1e-12)
        assert np.average(law.atoms**2, weights=law.weights) == pytest.approx(
            np.mean(scores**2), abs=2e-5
        )


@given(cells_of_means(), st.floats(0.0, 0.1))
def test_a_reconstructed_federation_stays_as_it_is(case, error):
    means, layout, squares = case
    cells = {
        (i, g): fp.Cell(
            count=100,
            values=np.sort(means[start : start + size]),
            kind="mean",
            mean_square=None if np.isnan(square) else float(square),
            mean_square_error=error,
        )
        for i, (size, start, square) in enumerate(zip(*layout, squares, strict=True))
        for g in "ab"
    }
    once = fp.Federation.from_cells(cells, score_range=(0.0, 1.0)).reconstructed
    again = replace(once, score_range=(-1.0, 2.0)).reconstructed

    assert np.array_equal(once.values, again.values)
    assert once.reconstructed is once


def test_a_mean_square_of_zero_leaves_atoms():
    cell = fp.Cell.from_scores([0.1, 0.4, 0.7], levels=3, kind="mean")
    whole = fp.Federation.from_cells({(0, "a"): cell, (0, "b"): cell})

    assert set(np.round(fp.theory.mixtures(whole)["a"].atoms, 12)) == {0.1, 0.4, 0.7}


def test_tied_means_are_atoms_unless_rounding_tied_them():
    layout = CellLayout.of(np.array([5]))
    means = np.array([0.0, 0.5, 0.5, 0.5, 1.0])
    exact = mean_shapes(means, layout, mean_squares=np.array([np.nan]))
    rounded = mean_shapes(means, layout, mean_squares=np.array([np.nan]), value_error=0.03)

    assert exact.left[2] == exact.right[2] == 0.5
    assert rounded.means() == pytest.approx([0.0, 0.48, 0.5, 0.52, 1.0])


def test_quantiles_are_joined_but_not_next_to_a_tie():
    layout = CellLayout.of(np.array([4]))
    smooth = quantile_shapes(np.array([0.1, 0.2, 0.4, 0.5]), layout)
    tied = quantile_shapes(np.array([0.1, 0.3, 0.3, 0.5]), layout)

    assert smooth.left == pytest.approx([0.05, 0.15, 0.3, 0.45])
    assert smooth.right == pytest.approx([0.15, 0.3, 0.45, 0.55])
    assert np.array_equal(tied.left, tied.right)


@given(cells_of_means())
def test_torn_bins_keep_their_means_their_order_and_the_range(case):
    """Each bin is cut into equal parts; together they have its mean, and no more variance than the cell states."""
    means, layout, squares = case
    shapes = mean_shapes(means, layout, mean_squares=squares, bounds=(0.0, 1.0))
    missing = np.maximum(np.nan_to_num(squares) - shapes.mean_squares(layout), 0.0)
    torn, cut = torn_shapes(shapes, layout, missing)

    parts = np.repeat(cut.levels // layout.levels, layout.levels)
    starts = np.cumsum(parts) - parts
    assert np.add.reduceat(torn.means(), starts) / parts == pytest.approx(means, abs=1e-9)
    inner = np.ones(torn.left.size, dtype=bool)
    inner[cut.starts] = False
    (at,) = np.nonzero(inner)
    assert (torn.left[at] >= torn.right[at - 1] - 1e-9).all()
    assert torn.left.min() >= -1e-9
    assert torn.right.max() <= 1 + 1e-9
    around = torn.around(np.repeat(means, parts)).square_integral()
    held = np.add.reduceat(around, cut.starts) / cut.levels
    assert (held <= shapes.mean_squares(layout) + missing + 1e-9).all()


def test_two_clumps_are_torn_apart_where_one_ends():
    """The bin between holds its records at both ends, and the cell all the variance that it states."""
    scores = np.repeat([0.1, 0.9], [45, 55])
    cell = fp.Cell.from_scores(scores, levels=10, kind="mean")
    layout, squares = CellLayout.of(np.array([10])), np.array([cell.mean_square])
    shapes = mean_shapes(cell.values, layout, mean_squares=squares, bounds=(0.0, 1.0))
    missing = squares - shapes.mean_squares(layout)
    torn, _ = torn_shapes(shapes, layout, missing)

    assert missing[0] > 0.5 * squares[0]
    assert np.mean((torn.right > 0.101) & (torn.left < 0.899)) == 0
    assert torn.around(np.repeat(cell.values, 8)).square_integral().sum() / 80 == pytest.approx(
        squares[0]
    )


def test_cells_that_miss_no_variance_stay_as_they_are():
    cell = fp.Cell.from_scores(np.linspace(0, 1, 50) ** 2, levels=10, kind="mean")
    layout = CellLayout.of(np.array([10]))
    shapes = mean_shapes(cell.values, layout, mean_squares=np.array([cell.mean_square]))
    torn, cut = torn_shapes(shapes, layout, np.zeros(1))

    assert cut.levels == layout.levels
    for one, other in zip(torn, shapes, strict=True):
        np.testing.assert_array_equal(one, other)
