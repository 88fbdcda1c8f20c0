"""Merged counts are read as far as the rule tells, and no farther."""

import numpy as np
import pytest

from fedparity.privacy.count_merging import merge_counts, read_counts
from fedparity.privacy.disclosure import Disclosure

POINTS = np.arange(1.0, 11.0)
RULES = [
    Disclosure(),
    Disclosure(minimum_cell=3, records_per_level=4),
    Disclosure.off(),
]


def feasible(read, records):
    """Whether each record can be where it is read to be: a flow from the lowest score upwards."""
    lowest, highest = read.values - read.errors, read.values + read.errors
    held = dict(zip(POINTS, records.tolist(), strict=True))
    for at in np.argsort(highest):
        needed = read.masses[at]
        for point in POINTS[(lowest[at] <= POINTS) & (highest[at] >= POINTS)]:
            taken = min(needed, held[point])
            held[point] -= taken
            needed -= taken
        if needed:
            return False
    return not any(held.values())


@pytest.mark.parametrize("rules", RULES, ids=["default", "three", "off"])
@pytest.mark.parametrize("thresholds", [(), (4.0,), (3.5, 6.0, 9.0)], ids=len)
def test_the_records_can_be_where_they_are_read_to_be(rules, thresholds):
    random = np.random.default_rng(len(thresholds))
    for _ in range(400):
        records = random.poisson(random.choice([0.5, 4, 12, 80], POINTS.size))
        if not records.sum():
            continue
        merged = merge_counts(POINTS, records, rules, thresholds=thresholds)
        minimum = max(rules.minimum_cell, rules.records_per_level, 1)
        read = read_counts(
            merged.values, merged.counts, POINTS, minimum=minimum, thresholds=thresholds
        )

        assert read.masses.sum() == records.sum()
        assert (np.diff(read.values) >= 0).all()
        assert (read.masses > 0).all()
        assert feasible(read, records)


def test_a_large_count_is_where_it_is_in_spite_of_a_few_others():
    merged = merge_counts(POINTS, [3, 400, 0, 0, 2, 0, 0, 0, 0, 4], Disclosure())
    read = read_counts(merged.values, merged.counts, POINTS, minimum=11)

    assert merged.counts == (409, None)
    assert read.values.tolist() == [1.5, 2.0, 6.0]
    assert read.masses.tolist() == [10, 389, 10]
    assert read.errors.tolist() == [0.5, 0.0, 4.0]


def test_of_a_run_that_may_have_taken_in_the_rest_nothing_is_known_but_its_ends():
    read = read_counts(np.array([3.0, 6.0, 10.0]), [12, 18, 20], POINTS, minimum=11)

    assert read.values.tolist() == [2.0, 3.0, 5.0, 6.0, 8.5]
    assert read.masses.tolist() == [10, 2, 10, 8, 20]
    assert read.errors.tolist() == [1.0, 0.0, 1.0, 0.0, 1.5]


def test_a_single_run_is_read_in_its_middle():
    read = read_counts(np.array([10.0]), [15], POINTS, minimum=11)

    assert (read.values.tolist(), read.errors.tolist()) == ([5.5], [4.5])


def test_weights_are_read_in_the_middle_of_their_runs():
    read = read_counts(
        np.array([3.0, 7.0, 10.0]), [12.5, 40.0, None], POINTS, minimum=11, weighted=True
    )

    assert read.values.tolist() == [2.0, 7.0]
    assert read.masses.tolist() == [12.5, 40.0]
    assert read.errors.tolist() == [1.0, 3.0]


def test_without_rules_every_count_is_where_it_says():
    read = read_counts(POINTS, [0, 3, 0, 0, 0, 1, 0, 0, 0, 7], POINTS, minimum=1)

    assert read.values.tolist() == [2.0, 6.0, 10.0]
    assert read.masses.tolist() == [3, 1, 7]
    assert not read.errors.any()
