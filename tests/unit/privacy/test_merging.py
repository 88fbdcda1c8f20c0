"""Small counts are merged with their neighbours, and nobody can undo it."""

from collections import defaultdict
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from fedparity.privacy.disclosure import Disclosure
from fedparity.privacy.merging import counted_sizes, merge_counts, merged_ends, run_minimum
from fedparity.privacy.threshold_counts import counts_above

DECILES = np.arange(1.0, 11.0)


def stretches(first, last):
    """All stretches of neighbouring places inside a run, but the run itself."""
    for start in range(first, last + 1):
        for stop in range(start, last + 1):
            if (start, stop) != (first, last):
                yield slice(start, stop + 1)


def tables_that_look_alike(places, most, minimum, cuts):
    """All small tables by what is sent of them: where runs end, and how many records they hold."""
    alike = defaultdict(list)
    for table in product(range(most + 1), repeat=places):
        if sum(table) >= minimum:
            ends = merged_ends(table, minimum, cuts=cuts)
            counts = np.add.reduceat(table, np.append(0, ends[:-1] + 1))
            alike[tuple(ends.tolist()), tuple(counts.tolist())].append(table)
    return {sent: tables for sent, tables in alike.items() if max(sent[1]) <= most}


@pytest.mark.parametrize(
    ("places", "most", "minimum"), [(3, 8, 3), (4, 6, 2), (4, 7, 3), (5, 5, 3), (4, 8, 4)]
)
@pytest.mark.parametrize("cut", [0, 1, 2])
def test_whoever_knows_the_rule_can_narrow_down_no_count_inside_a_run(places, most, minimum, cut):
    """Of what lies inside a run, as many numbers remain possible as the minimum is."""
    for cuts in combinations(range(1, places), cut):
        for (ends, _), tables in tables_that_look_alike(places, most, minimum, cuts).items():
            for before, last in pairwise((-1, *ends)):
                for part in stretches(before + 1, last):
                    assert len({sum(table[part]) for table in tables}) >= minimum


@pytest.mark.parametrize("minimum", [2, 5, 11])
def test_every_run_holds_the_minimum_and_none_could_end_earlier(minimum):
    random = np.random.default_rng(minimum)
    for _ in range(300):
        sizes = random.integers(0, 2 * minimum, random.integers(1, 12))
        ends = merged_ends(sizes, minimum)
        counts = np.add.reduceat(sizes, np.append(0, ends[:-1] + 1))

        assert ends[-1] == sizes.size - 1
        assert counts.min() >= min(minimum, sizes.sum())
        shortened = counts[:-1] - sizes[ends[:-1]]
        assert (shortened < minimum).all()


def test_without_a_minimum_every_place_is_a_run():
    assert merged_ends([0, 3, 0], 1).tolist() == [0, 1, 2]
    assert merged_ends([0, 0], 5).tolist() == [1]


def test_a_run_obeys_both_rules():
    assert run_minimum(Disclosure(minimum_cell=5, records_per_level=20)) == 20
    assert run_minimum(Disclosure(minimum_cell=30)) == 30
    assert run_minimum(Disclosure(minimum_cell=1, records_per_level=0)) == 1


def test_runs_end_at_thresholds_where_that_is_possible():
    records = [30, 30, 30, 5, 30, 30, 4, 30, 2, 30]
    plain = merge_counts(DECILES, records, Disclosure())
    cut = merge_counts(DECILES, records, Disclosure(), thresholds=[5, 7])

    assert plain.values.tolist() == [1, 2, 3, 5, 6, 8, 10]
    assert plain.above == ()
    assert cut.values.tolist() == [1, 2, 4, 5, 6, 8, 10]
    assert cut.counts.tolist() == [30, 30, 35, 30, 30, 34, 32]
    assert cut.above == (126, 66)


def test_a_threshold_inside_a_run_is_not_sent():
    merged = merge_counts(DECILES[:4], [30, 4, 30, 30], Disclosure(), thresholds=[2, 3])

    assert merged.values.tolist() == [1, 3, 4]
    assert merged.above == (64, None)


def test_counts_at_thresholds_are_sums_of_runs():
    random = np.random.default_rng(4)
    for _ in range(200):
        records = random.integers(0, 25, 10)
        thresholds = np.sort(random.choice(DECILES[1:], 3, replace=False)) - random.choice(
            [0, 0.5]
        )
        merged = merge_counts(DECILES, records, Disclosure(), thresholds=thresholds)
        for threshold, sent in zip(thresholds, merged.above, strict=True):
            runs = merged.counts[merged.values >= threshold].sum()

            assert sent in (None, records[threshold <= DECILES].sum())
            assert sent in (None, runs)
        assert merged.counts.sum() == records.sum()


def test_without_rules_every_point_and_every_threshold_is_sent():
    merged = merge_counts(
        DECILES, [1, 0, 2, 0, 0, 0, 5, 0, 0, 1], Disclosure.off(), thresholds=[1.5, 8, 10]
    )

    assert merged.values.tolist() == DECILES.tolist()
    assert merged.counts.tolist() == [1, 0, 2, 0, 0, 0, 5, 0, 0, 1]
    assert merged.above == (8, 1, 1)


def test_two_thresholds_without_a_score_between_them_are_one():
    merged = merge_counts(DECILES, [20] * 10, Disclosure(), thresholds=[4.2, 4.7, 5])

    assert merged.above == (120, 120, 120)


def test_weights_are_sent_and_the_records_that_they_amount_to_are_counted():
    weights = np.array([1.0, 1.0, 40.0, 12.0])
    merged = merge_counts(
        DECILES[:4], [20, 20, 40, 12], Disclosure(), weights=weights, effective=54.0
    )

    assert counted_sizes([20, 20, 40, 12], weights, 54.0).tolist() == [1, 1, 40, 12]
    assert merged.values.tolist() == [3, 4]
    assert merged.counts.tolist() == [42.0, 12.0]


def test_eleven_light_records_are_eleven_in_spite_of_floats():
    weights = np.full(11, 0.1)
    effective = float(weights.sum() ** 2 / (weights**2).sum())

    assert effective < 11
    assert merged_ends(counted_sizes([11, 11], [1.1, 1.1], 2 * effective), 11).tolist() == [0, 1]


@pytest.mark.parametrize(("minimum", "thresholds", "most"), [(3, 1, 10), (3, 2, 8), (4, 3, 6)])
def test_no_small_number_can_be_derived_from_the_counts_at_thresholds(minimum, thresholds, most):
    """Neither as a difference of what is sent, nor by somebody who knows the rule."""
    rules = Disclosure(minimum_cell=minimum)
    alike = defaultdict(list)
    for table in product(range(most + 1), repeat=thresholds + 1):
        if sum(table) >= minimum:
            alike[sum(table), counts_above(table, rules)].append(table)
    for (total, above), tables in alike.items():
        stated = [total, *(number for number in above if number is not None), 0]
        parts = [0, *(place + 1 for place, number in enumerate(above) if number is not None)]

        assert min(high - low for high, low in pairwise(stated)) >= minimum
        for first, stop in pairwise([*parts, len(above) + 1]):
            held = sum(tables[0][first:stop])
            for part in stretches(first, stop - 1):
                if held <= most:  # larger ones are cut off by the enumeration
                    assert len({sum(table[part]) for table in tables}) >= minimum


def test_weights_above_thresholds():
    above = counts_above(
        [40, 30, 25], Disclosure(), weights=[20.0, 15.0, 2.0], effective=37.0 / 0.5
    )

    assert above == (17.0, None)
    assert counts_above([3, 0, 2], Disclosure.off()) == (2, 2)
    assert counts_above([30], Disclosure()) == ()
