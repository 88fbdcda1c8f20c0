"""Intervals of rates hold as often as they say: a short run of ``benchmarks/rate_coverage.py``."""

import pytest
from benchmarks.rate_coverage import MOST, Tail, Threshold, run
from tests.tiers import count

REPLICATES = count(quick=100, all=200, soak=2000)
EXACT = [
    Threshold("tenths", (0.1, 0.08), (100, 100)),
    Threshold("halves", (0.5, 0.4), (1000, 1000)),
    Threshold("a small group", (0.5, 0.5), (1000, 30)),
    Threshold("weights", (0.3, 0.24), (300, 300), 3, "1 or 20"),
]
CAUTIOUS = [
    Threshold("rare", (0.02, 0.016), (30, 30)),
    Threshold("six groups", 3 * (0.5,) + 3 * (0.4,), 6 * (200,)),
    Threshold("bin means", (0.3, 0.24), (300, 300), 2, sketch="means"),
    Tail("the median", "shifted", (0.9, 0.1), 400, 0.5),
    Tail("a group at the median", "narrow", (0.8, 0.2), 400, 0.5),
]


@pytest.mark.sampled
@pytest.mark.parametrize("world", EXACT, ids=lambda world: world.name)
def test_intervals_of_counted_rates_cover_as_often_as_they_say(world):
    row = run(world, REPLICATES)

    assert row.holds
    for tally in (row.rate, row.difference, row.ratio):
        assert tally.interval[0] <= MOST


@pytest.mark.sampled
@pytest.mark.parametrize("world", CAUTIOUS, ids=lambda world: world.name)
def test_intervals_cover_at_least_as_often_as_they_say(world):
    assert run(world, REPLICATES).holds


def test_rates_of_bin_means_with_counts_are_those_of_the_counts():
    """The sketch is there for other questions; the interval is that of a sample alone."""
    alone, counted = (
        run(Threshold("the same", (0.3, 0.24), (300, 300), 2, sketch=sketch), 50)
        for sketch in ("counts", "means and counts")
    )

    assert alone[1:] == counted[1:]
