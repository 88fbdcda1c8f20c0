"""Small counts are merged with their neighbors, and nobody can undo it."""

from collections import defaultdict
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from fedparity.privacy.count_merging import (
    counted_sizes,
    counts_above,
    joint_ends,
    merge_counts,
    merged_ends,
    merged_runs,
    run_minimum,
)
from fedparity.privacy.disclosure import Disclosure

DECILES = np.arange(1.0, 11.0)


def stretches(first, last):
    """All stretches of neighboring places inside a run, but the run itself."""
    for start in range(first, last + 1):
        for stop in range(start, last + 1):
            if (start, stop) != (first, last):
                yield slice(start, stop + 1)


def counted_together(runs):
    """The first and last place of what each count speaks of."""
    starts = np.append(0, runs.ends[:-1] + 1)[runs.counted]
    return list(pairwise([*starts.tolist(), int(runs.ends[-1]) + 1]))


def tables_that_look_alike(places, most, minimum, cuts):
    """All small tables by what is sent of them: where runs end, and how many records they hold."""
    alike = defaultdict(list)
    for table in product(range(most + 1), repeat=places):
        if sum(table) >= minimum:
            runs = merged_runs(table, minimum, cuts=cuts)
            together = counted_together(runs)
            counts = tuple(sum(table[start:stop]) for start, stop in together)
            sent = tuple(runs.ends.tolist()), tuple(runs.counted.tolist()), counts
            alike[sent].append((together, table))
    return {sent: tables for sent, tables in alike.items() if max(sent[2]) <= most}


@pytest.mark.parametrize(
    ("places", "most", "minimum"),
    [
        (3, 9, 3),
        (4, 5, 2),
        (4, 7, 3),
        (3, 11, 4),
        pytest.param(5, 6, 3, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("cut", [0, 1, 2])
def test_whoever_knows_the_rule_can_narrow_down_no_count_inside_a_run(places, most, minimum, cut):
    """Of what is counted together, as many numbers remain possible as the minimum is."""
    for cuts in combinations(range(1, places), cut):
        for tables in tables_that_look_alike(places, most, minimum, cuts).values():
            for start, stop in tables[0][0]:
                for part in stretches(start, stop - 1):
                    assert len({sum(table[part]) for _, table in tables}) >= minimum


@pytest.mark.parametrize("minimum", [2, 5, 11])
def test_every_count_is_large_and_most_of_it_is_at_the_highest_point(minimum):
    random = np.random.default_rng(minimum)
    for _ in range(300):
        sizes = random.integers(0, 3 * minimum, random.integers(1, 12))
        runs = merged_runs(sizes, minimum)
        counts = [sizes[start:stop].sum() for start, stop in counted_together(runs)]

        assert runs.ends[-1] == sizes.size - 1
        assert min(counts) >= min(minimum, sizes.sum())
        for first, end, told in zip(
            np.append(0, runs.ends[:-1] + 1), runs.ends, runs.counted, strict=True
        ):
            alone = sizes[first:end].sum() if told else sizes[first : end + 1].sum()
            last = end == sizes.size - 1
            whole = sizes[first : end + 1].sum()

            assert alone < minimum or (last and whole < 2 * minimum - 1)


def test_without_a_minimum_every_place_is_a_run():
    assert merged_runs([0, 3, 0], 1).ends.tolist() == merged_ends([0, 3, 0], 1).tolist()
    assert merged_runs([0, 3, 0], 1).ends.tolist() == [0, 1, 2]
    assert merged_runs([0, 0], 5).ends.tolist() == merged_ends([0, 0], 5).tolist() == [1]


def test_what_is_left_over_hides_no_large_count():
    """Four hundred records at the first decile are seen there, whoever else is above."""
    merged = merge_counts(DECILES, [400, 6, 0, 0, 0, 0, 0, 0, 0, 1], Disclosure())

    assert merged.values.tolist() == [1, 10]
    assert merged.counts == (407, None)


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
    assert cut.values.tolist() == [1, 2, 3, 4, 5, 6, 8, 10]
    assert cut.counts == (30, 30, 35, None, 30, 30, 34, 32)
    assert cut.above == (126, 66)


def test_a_threshold_inside_a_run_is_not_sent():
    merged = merge_counts(DECILES[:4], [30, 4, 30, 30], Disclosure(), thresholds=[2, 3])

    assert merged.values.tolist() == [1, 3, 4]
    assert merged.counts == (30, 34, 30)
    assert merged.above == (64, None)


def test_a_threshold_below_what_is_left_over_is_not_sent():
    merged = merge_counts(DECILES[:4], [30, 30, 30, 4], Disclosure(), thresholds=[4])

    assert merged.values.tolist() == [1, 2, 3, 4]
    assert merged.counts == (30, 30, 34, None)
    assert merged.above == (None,)


def test_counts_at_thresholds_are_sums_of_runs():
    random = np.random.default_rng(4)
    for _ in range(200):
        records = random.integers(0, 25, 10)
        thresholds = np.sort(random.choice(DECILES[1:], 3, replace=False)) - random.choice(
            [0, 0.5]
        )
        merged = merge_counts(DECILES, records, Disclosure(), thresholds=thresholds)
        for threshold, sent in zip(thresholds, merged.above, strict=True):
            counted = zip(merged.values, merged.counts, strict=True)
            runs = sum(count or 0 for value, count in counted if value >= threshold)

            assert sent in (None, records[threshold <= DECILES].sum())
            assert sent in (None, runs)
        assert sum(count or 0 for count in merged.counts) == records.sum()


def test_without_rules_every_point_and_every_threshold_is_sent():
    merged = merge_counts(
        DECILES, [1, 0, 2, 0, 0, 0, 5, 0, 0, 1], Disclosure.off(), thresholds=[1.5, 8, 10]
    )

    assert merged.values.tolist() == DECILES.tolist()
    assert merged.counts == (1, 0, 2, 0, 0, 0, 5, 0, 0, 1)
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
    assert merged.counts == (42.0, 12.0)


def test_eleven_light_records_are_eleven_in_spite_of_floats():
    weights = np.full(11, 0.1)
    effective = float(weights.sum() ** 2 / (weights**2).sum())

    assert effective < 11
    assert merged_runs(counted_sizes([11, 11], [1.1, 1.1], 2 * effective), 11).counted.all()


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


def test_joint_runs_end_at_a_cut_only_if_every_part_has_enough_before_it():
    parts = [[3, 20, 30], [12, 20, 30]]

    assert joint_ends(parts, 11, cuts=[1]).tolist() == [1, 2]
    assert joint_ends(parts, 3, cuts=[1]).tolist() == [0, 1, 2]
    assert joint_ends([[6, 6, 6, 6]], 11, cuts=[3]).tolist() == [1, 3]
