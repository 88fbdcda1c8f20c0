"""Counts on a public grid: exact, of any source, and silent about what was left out."""

import threading
from functools import partial

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedparity as fp
from fedparity.privacy.disclosure import score_points
from fedparity.privacy.histograms import Grid, GridTally, grid_counts, grid_quantiles
from fedparity.sketches.records import ArrayRecords, Batch, Faults

UNIT = Grid.of((0.0, 1.0), bins=8)


def records(scores, codes, **options):
    return ArrayRecords(
        ("a", "b"), np.asarray(scores, float), np.asarray(codes, np.uint8), **options
    )


def test_the_rule_of_bins_is_that_of_opendp():
    """Scores on an edge go to the right, the ends of the range to the outer bins."""
    random = np.random.default_rng(0)
    grid = Grid.of((0.0, 1.0), edges=[0.1, 0.25, 0.7])
    scores = np.concatenate(
        ([0.0, 0.1, 0.25, 0.7, 1.0, np.nextafter(0.25, 0)], random.random(200))
    )
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    count = (
        space
        >> dp.t.then_find_bin(grid.edges.tolist())
        >> dp.t.then_count_by_categories(list(range(grid.bins)), null_category=False)
    )

    found = grid_counts(records(scores, np.zeros(scores.size)), grid, ("a", "b"))

    assert found[0].tolist() == count(scores.tolist())
    assert found[1].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("threads", [1, 4])
def test_counts_are_exact_whatever_the_batches_and_threads(threads):
    random = np.random.default_rng(1)
    scores, codes = random.random(10_000), random.integers(0, 2, 10_000)

    found = grid_counts(records(scores, codes, block=97), UNIT, ("a", "b"), threads=threads)

    for code in (0, 1):
        expected, _ = np.histogram(scores[codes == code], UNIT.bounds)
        assert found[code].tolist() == expected.tolist()


def test_a_source_that_comes_once_is_read_by_one_thread():
    """Whoever hands out batches once may use their memory again for the next."""
    memory, here = np.empty(4), threading.current_thread()

    class Reused(ArrayRecords):
        def batches(self):
            for start in range(0, 40, 4):
                memory[:] = self.scores[start : start + 4]
                yield partial(self.batch, start)

        def batch(self, start):
            assert threading.current_thread() is here
            return Batch(memory, self.codes[start : start + 4])

    scores = np.linspace(0, 0.999, 40)
    once = Reused(("a", "b"), scores, np.zeros(40, np.uint8), rescannable=False)

    found = grid_counts(once, UNIT, ("a", "b"), threads=4)

    assert found[0].tolist() == [5] * 8


def test_memory_does_not_grow_with_the_records():
    """A tally holds counts alone."""
    tally = GridTally(2, UNIT)
    before = tally.counts.nbytes
    for _ in range(50):
        tally.update(Batch(np.full(1000, 0.5), np.zeros(1000, np.uint8)))

    assert tally.counts.nbytes == before
    assert tally.counts[0, 4] == 50_000


@pytest.mark.parametrize("bad", [1.5, -0.1])
def test_a_score_outside_the_range_is_refused_without_a_number(bad):
    with pytest.raises(fp.errors.ScoreError) as caught:
        grid_counts(records([0.5, bad, bad, bad], [0, 0, 1, 1]), UNIT, ("a", "b"))

    message = caught.value.message.replace("between 0 and 1", "")
    assert not any(character.isdigit() for character in message)


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        (Faults(missing_scores=3), "rows without a score"),
        (Faults(infinite_scores=3), "infinite scores"),
        (Faults(missing_labels=3), "rows without a group"),
    ],
)
def test_a_refusal_says_why_but_not_how_many(faults, words):
    """An error may be passed on, so it holds no exact number of rows."""
    tally = GridTally(2, UNIT)
    tally.update(Batch(np.array([0.5]), np.array([0], np.uint8), faults=faults))

    def refuse(_):
        raise fp.errors.TableError("3 rows are wrong.", fix="repair the 3 rows.")

    with pytest.raises(fp.errors.TableError) as caught:
        tally.finish(refuse)

    assert words in caught.value.message
    assert "3" not in str(caught.value)


def test_another_refusal_is_passed_on():
    def refuse(_):
        raise fp.errors.TableError.empty("the table")

    with pytest.raises(fp.errors.TableError, match="no row"):
        GridTally(2, UNIT).finish(refuse)


def test_quantiles_invert_the_distribution_function():
    """The cdf that is linear inside bins, at a quantile, is the level asked for."""
    random = np.random.default_rng(2)
    masses = random.integers(0, 9, (5, 8)).astype(float)
    masses[:, 3] = 4.0
    levels = (np.arange(50) + 0.5) / 50

    values = grid_quantiles(masses, UNIT, levels)

    for row, mass in zip(values, masses, strict=True):
        cdf = np.concatenate(([0.0], np.cumsum(mass))) / mass.sum()
        np.testing.assert_allclose(np.interp(row, UNIT.bounds, cdf), levels, atol=1e-12)
        assert (np.diff(row) >= 0).all()


def test_an_empty_bin_is_jumped_over():
    grid = Grid.of((0.0, 4.0), bins=4)

    values = grid_quantiles(np.array([[1.0, 0.0, 0.0, 1.0]]), grid, np.array([0.4999, 0.5001]))

    assert values[0] == pytest.approx([1.0, 3.0], abs=1e-3)


def test_the_coarser_grid_holds_the_same_records():
    grid = Grid.of((0.0, 1.0), bins=7)
    counts = np.arange(14).reshape(2, 7)

    assert grid.coarser().bins == 4
    assert grid.coarsened(counts).tolist() == [[1, 5, 9, 6], [15, 19, 23, 13]]
    assert grid.coarser().edges == pytest.approx([2 / 7, 4 / 7, 6 / 7])


def test_a_law_of_bins_has_their_mean():
    levels = (np.arange(1000) + 0.5) / 1000
    values = grid_quantiles(np.array([[1.0, 3.0]]), Grid.of((0.0, 1.0), bins=2), levels)

    assert values.mean() == pytest.approx(0.25 * 0.25 + 0.75 * 0.75)


@given(
    st.integers(4, 40),
    st.sets(st.sampled_from([0.05, 0.25, 0.3, 0.301, 0.5, 0.95, 1.0]), max_size=3),
    st.sampled_from([None, 0.05, 0.001]),
    st.lists(st.integers(0, 1000), min_size=1, max_size=50),
)
def test_no_bin_has_scores_on_both_sides_of_a_threshold(bins, thresholds, step, places):
    """Counts from the first bin on are the records at or above; there are as many bins as asked for."""
    points = None if step is None else score_points((0.0, 1.0), step)
    scores = np.array(places) / 1000
    if points is not None:
        scores = points[np.abs(points[:, None] - scores).argmin(axis=0)]
        bins = min(bins, points.size)
        grid = Grid.of_points(points, bins=bins, thresholds=sorted(thresholds))
    else:
        grid = Grid.of((0.0, 1.0), bins=bins, thresholds=sorted(thresholds))
    counts = np.bincount(grid.positions(scores), minlength=grid.bins)

    assert grid.bins == bins
    assert (np.diff(grid.edges) > 0).all()
    for threshold in thresholds:
        first = grid.first_from(threshold)
        if first is None:  # the highest score there can be, of a score that can be any number
            assert (threshold, step) == (1.0, None)
        else:
            assert counts[first:].sum() == (scores >= threshold).sum()
