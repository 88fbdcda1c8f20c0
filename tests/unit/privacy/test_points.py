"""Histograms of scores that can only be some points: bins are points, laws have atoms."""

import numpy as np
import pytest

import fedparity as fp
from fedparity.privacy.histograms import Grid, grid_counts, grid_quantiles
from fedparity.privacy.noise import bins_of_points
from fedparity.sketches.records import ArrayRecords
from fedparity.uncertainty.certificate import certify_grid

DECILES = Grid.of_points(np.arange(1.0, 11.0))


def plan(**terms):
    return fp.Plan(
        title="Deciles",
        groups=("A", "B"),
        score_range=(1, 10),
        score_step=terms.pop("score_step", 1),
        silos=[f"silo {i}" for i in range(5)],
        privacy={"mode": "dp", "epsilon": 1.0, **terms},
    )


def test_a_bin_is_a_point_and_hides_nothing():
    assert DECILES.bins == 10
    assert DECILES.pointwise
    assert DECILES.widest == 0
    assert DECILES.edges.tolist() == [i + 0.5 for i in range(1, 10)]
    assert DECILES.positions(np.arange(1.0, 11.0)).tolist() == list(range(10))


@pytest.mark.parametrize("bins", [1, 3, 4, 7, 9])
def test_fewer_bins_hold_runs_of_whole_points(bins):
    grid = Grid.of_points(np.arange(10.0), bins=bins)

    held = np.bincount(grid.positions(np.arange(10.0)))
    assert held.size == grid.bins == bins
    assert held.max() - held.min() <= 1
    assert grid.lowest.tolist() == grid.points[grid.starts[:-1]].tolist()
    assert grid.highest[:-1].tolist() == [low - 1 for low in grid.lowest[1:]]
    assert not grid.pointwise


def test_edges_are_moved_halfway_between_points():
    """So that 0.1 + 0.2, which is not 0.3, is counted where 0.3 is."""
    grid = Grid.of_points([0.1, 0.2, 0.3, 0.4], edges=[0.2999999])

    assert grid.edges == pytest.approx([0.25])
    assert grid.positions(np.array([0.2, 0.1 + 0.2, 0.3])).tolist() == [0, 1, 1]


def test_quantiles_are_points():
    """Those of the law with atoms, whatever the masses."""
    masses = np.random.default_rng(0).integers(0, 9, (6, 10)).astype(float)
    levels = (np.arange(333) + 0.5) / 333

    values = grid_quantiles(masses, DECILES, levels)

    for row, mass in zip(values, masses, strict=True):
        assert row.tolist() == fp.Law(DECILES.points, mass).quantile(levels).tolist()


def test_the_mass_of_a_run_lies_in_equal_parts_on_its_points():
    masses = np.random.default_rng(1).integers(1, 9, (6, 4)).astype(float)
    grid = Grid.of_points(np.arange(10.0), bins=4)
    sizes = np.diff(grid.starts)
    levels = (np.arange(331) + 0.5) / 331

    values = grid_quantiles(masses, grid, levels)

    for row, mass in zip(values, masses, strict=True):
        spread = fp.Law(grid.points, np.repeat(mass / sizes, sizes))
        assert row.tolist() == spread.quantile(levels).tolist()


def test_a_coarser_grid_of_points_has_the_same_points():
    grid = Grid.of_points(np.arange(10.0), bins=5)

    assert grid.coarser().points is grid.points
    assert grid.coarser().highest.tolist() == [3.0, 7.0, 9.0]


def test_exact_counts_at_points_certify_the_disparity_itself():
    random = np.random.default_rng(2)
    scores, groups = random.integers(1, 11, 400).astype(float), random.integers(0, 2, 400)
    counts = np.stack([np.bincount(scores[groups == g].astype(int) - 1) for g in (0, 1)])

    found = certify_grid(counts, DECILES)

    exact = fp.disparity(scores, sensitive_features=groups)
    assert exact in found
    assert found.width < 1e-8


@pytest.mark.parametrize("off", [2.5, 3.0001, 3 + 1e-6])
def test_a_score_between_points_is_refused_without_a_number(off):
    held = ArrayRecords(("a", "b"), np.array([3.0, off, 4.0]), np.array([0, 0, 1], np.uint8))

    with pytest.raises(fp.errors.ScoreError, match="points of the plan's grid") as caught:
        grid_counts(held, DECILES, ("a", "b"))

    assert not any(character.isdigit() for character in caught.value.message)


def test_a_score_that_rounding_moved_is_a_point():
    grid = Grid.of_points([0.1, 0.2, 0.3])
    held = ArrayRecords(
        ("a", "b"), np.array([0.1, 0.1 + 0.1, 0.3 - 1e-16]), np.array([0, 0, 1], np.uint8)
    )

    assert grid_counts(held, grid, ("a", "b")).tolist() == [[1, 1, 0], [0, 0, 1]]


def test_the_bins_of_a_plan_with_a_step_are_its_points():
    for settled in (plan(), plan(records=2000), plan(records=10**6)):
        assert settled.privacy.bins == 10
        assert settled.grid.pointwise
        assert fp.Plan.from_toml(settled.to_toml()).grid.edges.tolist() == DECILES.edges.tolist()


def test_a_fine_step_has_runs_of_points():
    """Noise in 901 bins would drown what 16 show."""
    fine = plan(score_step=0.01, records=2000)

    assert fine.privacy.bins == 16
    assert fine.grid.points.size == 901
    assert np.diff(fine.grid.starts).tolist().count(56) == 11


def test_points_are_bins_up_to_twice_those_of_a_continuous_score():
    assert [bins_of_points(points, 16) for points in (2, 16, 32, 33)] == [2, 16, 32, 16]
    assert bins_of_points(300, 256) == 256


def test_fewer_bins_may_be_stated():
    assert np.diff(plan(bins=4).grid.starts).tolist() == [2, 3, 2, 3]


@pytest.mark.parametrize("edges", [[4.5], [1.5, 9.5], [2.1, 7.9]])
def test_edges_between_points_are_obeyed(edges):
    assert plan(edges=edges).grid.edges.tolist() == [np.floor(edge) + 0.5 for edge in edges]


@pytest.mark.parametrize(
    ("terms", "problem"),
    [
        ({"bins": 11}, "11 bins are more than the 10 scores"),
        ({"edges": [4.0]}, "edges must lie between scores"),
        ({"edges": [4.2, 4.8]}, "no two in the same gap"),
    ],
)
def test_bins_that_do_not_hold_whole_points_are_refused(terms, problem):
    with pytest.raises(fp.errors.PlanError, match=problem) as caught:
        plan(**terms)

    assert caught.value.fix


def test_a_step_that_does_not_fit_the_range_is_the_only_mistake():
    with pytest.raises(fp.errors.PlanError, match="score_step"):
        plan(score_step=0.7)
