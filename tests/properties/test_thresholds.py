"""The raw data's rates never leave the brackets of their sketches, nor these their intervals."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import betainc
from tests.random_federations import random_data, sketched
from tests.tiers import count

import fedparity as fp
from fedparity.laws.bounds import Bracket
from fedparity.thresholds.proportions import difference_lower, proportion_limits, ratio_lower
from fedparity.thresholds.rates import at_threshold, compare_rates
from fedparity.thresholds.tail_rates import ks_distance, scoring_rates, tail_rates

CASES = count(quick=50, all=100, soak=10_000)
LEVELS = 0.1, 0.5, 0.9


def random_case(seed):
    """Data, their federation, and the options under which it is to be read.

    Errors of values are a little larger than the differences of floats that they are made from, as
    a threshold can tell one float from the next.
    """
    random = np.random.default_rng((seed, 8))
    data = random_data(random)
    federation = sketched(*data, random)
    errors = federation.value_errors
    inexact = federation.kind == "mean" and federation.rank_errors.any()
    enough = 1e-6 if inexact else np.where(errors > 0, errors + 1e-12, 0.0)
    federation = replace(federation, value_errors=np.broadcast_to(enough, errors.shape))
    return random, data, federation, {"score_range": (0.0, 1.0)}


def thresholds(random, scores, federation):
    """Scores, values of the sketches, numbers between, and the ends."""
    return [
        float(random.choice(scores)),
        float(random.choice(federation.values)),
        float(random.random()),
        float(random.choice([0.0, 1.0, 1.1])),
    ]


def rates_by_hand(labels, selected):
    return {group: np.mean(selected[labels == group]) for group in np.unique(labels).tolist()}


def above_the_quantile(scores, level):
    """Which scores lie strictly above the one of rank ceil(n u)."""
    rank = -(-len(scores) * Fraction(str(level)) // 1)
    return scores > np.sort(scores)[int(rank) - 1]


def check_against(groups, rates, largest):
    """Every rate, ratio and difference lies in its bracket, and states do not contradict them."""
    best = max(rates.values())
    for row in groups:
        rate = rates[row.group]
        assert rate in row.rate
        assert row.rate.value in row.rate
        assert rate - best in row.difference_to_best
        assert rate - rates[largest] in row.difference_to_largest
        if best:
            assert rate / best in row.ratio
            claimed = row.answer
            assert claimed != "below four fifths" or rate / best < 0.8
            assert claimed != "at least four fifths" or rate / best > 0.8 - 1e-9
        if rates[largest]:
            assert rate / rates[largest] in row.ratio_to_largest


@pytest.mark.sampled
def test_rates_at_a_threshold_never_leave_their_brackets():
    """Ties, both kinds, k from 1 to 12, rank errors, rounding, silos that lack groups."""
    for seed in range(CASES):
        random, (scores, labels, _), federation, options = random_case(seed)
        for favorable in ("above", "below"):
            for cut in thresholds(random, scores, federation):
                report = at_threshold(federation, cut, favorable=favorable, **options)
                selected = scores >= cut if favorable == "above" else scores < cut
                rates = rates_by_hand(labels, selected)

                check_against(report.groups, rates, report.largest)
                assert max(rates.values()) - min(rates.values()) in report.widest_gap


@pytest.mark.sampled
def test_shares_above_a_pooled_quantile_never_leave_their_brackets():
    for seed in range(CASES):
        _, (scores, labels, _), federation, options = random_case(seed)
        for level in LEVELS:
            report = tail_rates(federation, level, **options)
            selected = above_the_quantile(scores, level)
            rates = rates_by_hand(labels, selected)

            check_against(report.groups, rates, report.largest)
            assert scores[~selected].max() in report.cutoff


@pytest.mark.sampled
def test_ks_distances_never_leave_their_brackets():
    for seed in range(CASES):
        _, (scores, labels, _), federation, options = random_case(seed)
        for first, second in combinations(federation.groups, 2):
            found = ks_distance(federation, first, second, **options)
            apart = [
                abs(np.mean(scores[labels == first] <= x) - np.mean(scores[labels == second] <= x))
                for x in np.unique(scores)
            ]

            assert max(apart) in found
            assert found.value in found


@pytest.mark.sampled
def test_unseen_records_do_not_take_a_rate_out_of_its_bracket():
    for seed in range(CASES // 2):
        random, (scores, labels, _), federation, options = random_case(seed)
        most = {group: float(random.choice([0, 3, 20, np.inf])) for group in federation.groups}
        hidden = [g for g in most for _ in range(random.integers(0, min(most[g], 30) + 1))]
        everyone = np.append(scores, random.choice([0.0, 1.0, 0.3], len(hidden)))
        groups = np.append(labels, np.array(hidden, dtype=labels.dtype))
        cut = float(random.choice(everyone))
        at_cut = at_threshold(federation, cut, unseen=most, **options)
        tail = tail_rates(federation, 0.5, unseen=most, **options)
        apart = ks_distance(federation, *federation.groups[:2], unseen=most, **options)

        for row in at_cut.groups:
            assert np.mean(everyone[groups == row.group] >= cut) in row.rate
        for row in tail.groups:
            selected = above_the_quantile(everyone, 0.5)
            assert np.mean(selected[groups == row.group]) in row.rate
        assert apart.lower <= apart.upper


@pytest.mark.sampled
def test_groups_of_which_nothing_is_known_do_not_take_a_comparison_out_of_its_bracket():
    """One or two groups that no silo released, whose records lie at the ends or anywhere."""
    for seed in range(CASES // 2):
        random, (scores, labels, _), federation, options = random_case(seed)
        count = int(random.integers(1, 8))
        others = random.choice([[-1], [-1, -2]][random.integers(2)], count)
        everyone = np.append(scores, random.choice([0.0, 1.0, 0.3], count))
        groups = np.append(labels, others)
        options |= {"unseen_others": float(random.choice([count, 20, np.inf]))}
        cut = float(random.choice(everyone))
        at_cut = at_threshold(federation, cut, **options), everyone >= cut
        tail = tail_rates(federation, 0.5, **options), above_the_quantile(everyone, 0.5)

        for report, selected in (at_cut, tail):
            rates = rates_by_hand(groups, selected)
            check_against(report.groups, rates, report.largest)
            assert max(rates.values()) - min(rates.values()) in report.widest_gap
            smallest = min(rates.values()) / max(*rates.values(), 1e-9)
            assert report.answer != "at least four fifths"
            assert report.answer != "below four fifths" or smallest < 0.8
        assert everyone[~tail[1]].max() in tail[0].cutoff


@pytest.mark.sampled
def test_brackets_close_when_every_record_is_in_the_sketch():
    """With k = n the quantiles are the data."""
    for seed in range(CASES // 5):
        random = np.random.default_rng((seed, 9))
        scores, labels, silos = random_data(random)
        cells = {
            (silo, group): fp.Cell.from_scores(
                own := scores[(silos == silo) & (labels == group)], levels=own.size
            )
            for silo, group in {*zip(silos.tolist(), labels.tolist(), strict=True)}
        }
        federation = fp.Federation.from_cells(cells)
        cut = float(random.choice(scores))
        expected = rates_by_hand(labels, scores >= cut)
        at_cut = at_threshold(federation, cut, score_range=(0, 1))
        median = scoring_rates(federation, score_range=(0, 1))
        above = rates_by_hand(labels, above_the_quantile(scores, 0.5))

        for report, rates in ((at_cut, expected), (median, above)):
            for row in report.groups:
                assert row.rate.lower == row.rate.upper == rates[row.group]


@pytest.mark.sampled
@pytest.mark.parametrize("weights", ["whole", "real"])
def test_weighted_rates_never_leave_their_brackets(weights):
    for seed in range(CASES // 5):
        random = np.random.default_rng((seed, 10))
        scores, labels, silos = random_data(random)
        masses = random.integers(1, 9, scores.size)
        masses = masses if weights == "whole" else masses / 7
        federation = fp.Federation.from_scores(
            scores, groups=labels, silos=silos, levels=4, weights=masses, kind="quantile"
        )
        cut = float(random.choice(scores))
        report = at_threshold(federation, cut, score_range=(0, 1))

        for row in report.groups:
            own = labels == row.group
            rate = np.average(scores[own] >= cut, weights=masses[own])
            assert row.rate.lower - 1e-12 <= rate <= row.rate.upper + 1e-12


def with_counts(federation, data, cuts, random):
    """The same federation, some of whose cells state how many records lie at or above each cut."""
    scores, labels, silos = data
    above = {}
    for cut in cuts:
        counts = [
            np.count_nonzero((labels == group) & (silos == silo) & (scores >= cut))
            for (silo, group) in federation.cells
        ]
        above[cut] = np.where(random.random(len(counts)) < 0.5, counts, np.nan)
    return replace(federation, above=above)


@pytest.mark.sampled
def test_counts_at_thresholds_never_take_a_rate_out_of_its_bracket_and_never_widen_it():
    for seed in range(CASES // 4):
        random, data, federation, options = random_case(seed)
        scores, labels, _ = data
        cuts = [float(cut) for cut in random.choice(scores, 3)]
        counted = with_counts(federation, data, cuts[:2], random)
        for favorable in ("above", "below"):
            for cut in cuts:
                selected = scores >= cut if favorable == "above" else scores < cut
                rates = rates_by_hand(labels, selected)
                report = at_threshold(counted, cut, favorable=favorable, **options)
                before = at_threshold(federation, cut, favorable=favorable, **options)

                check_against(report.groups, rates, report.largest)
                for now, then in zip(report.groups, before.groups, strict=True):
                    assert then.rate.lower <= now.rate.lower + 1e-12
                    assert now.rate.upper <= then.rate.upper + 1e-12


# -- intervals ---------------------------------------------------------------------------------

shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
sizes = st.one_of(st.integers(1, 200).map(float), st.floats(1, 1e7))
confidences = st.floats(0.5, 0.999)


@st.composite
def brackets(draw):
    """A rate known exactly, or up to a bracket."""
    low, value, high = sorted(draw(st.tuples(shares, shares, shares)))
    if draw(st.booleans()):
        low = high = value
    return Bracket(value=value, lower=low, upper=high)


samples = st.lists(st.tuples(brackets(), sizes), min_size=2, max_size=5)


def comparison(sampled, confidence, largest=0):
    return compare_rates(
        {group: bracket for group, (bracket, _) in enumerate(sampled)},
        sizes=np.array([size for _, size in sampled]),
        largest=largest,
        confidence=confidence,
    )


def numbers_of(row):
    return (
        row.rate,
        row.ratio,
        row.ratio_to_largest,
        row.difference_to_best,
        row.difference_to_largest,
    )


def upper_of(end):
    return math.inf if end is None else end


def endings(found):
    """All ends of all intervals of a comparison, lower ones and upper ones."""
    everything = [number for row in found.groups for number in numbers_of(row)]
    intervals = [number.interval for number in [*everything, found.widest_gap]]
    return np.array([low for low, _ in intervals]), np.array([upper_of(u) for _, u in intervals])


@given(samples, confidences)
def test_an_estimate_lies_in_its_bracket_and_the_bracket_in_the_interval(sampled, confidence):
    found = comparison(sampled, confidence)
    for row in found.groups:
        for number in numbers_of(row):
            low, high = number.interval
            inside = [] if number.value is None else [number.value]
            ordered = [low, number.lower, *inside, upper_of(number.upper), upper_of(high)]
            assert all(one <= other + 1e-12 for one, other in pairwise(ordered))
        assert 0 <= row.rate.interval.lower <= row.rate.interval.upper <= 1
        assert row.difference_to_best.interval.lower >= -1
        assert row.ratio.interval.lower >= 0
        assert row.ratio.interval.upper <= 1
        assert row.difference_to_best.interval.upper <= 0
    assert 0 <= found.widest_gap.interval.lower <= found.widest_gap.interval.upper <= 1


@given(samples, confidences)
def test_an_answer_says_what_the_interval_says(sampled, confidence):
    found = comparison(sampled, confidence)
    states = [row.answer for row in found.groups]
    for row in found.groups:
        low, high = row.ratio.interval
        if low >= 0.8:
            assert row.answer == "at least four fifths"
        elif high < 0.8 - 1e-9:
            assert row.answer == "below four fifths"
        elif high >= 0.8 and low < 0.8 - 1e-9:
            assert row.answer == "undetermined"
    assert (found.answer == "below four fifths") == ("below four fifths" in states)
    assert (found.answer == "at least four fifths") == ({*states} == {"at least four fifths"})


@given(samples, st.randoms(use_true_random=False))
def test_the_order_of_the_groups_does_not_matter(sampled, random):
    order = random.sample(range(len(sampled)), len(sampled))
    plain = comparison(sampled, 0.95, largest=order[0])
    moved = comparison([sampled[i] for i in order], 0.95)

    again = [moved.groups[order.index(i)] for i in range(len(sampled))]
    for one, other in zip(plain.groups, again, strict=True):
        for first, second in zip(numbers_of(one), numbers_of(other), strict=True):
            assert tuple(map(upper_of, first.interval)) == pytest.approx(
                tuple(map(upper_of, second.interval)), rel=1e-9, abs=1e-12
            )
    assert moved.answer == plain.answer


@given(samples, confidences, confidences)
def test_more_confidence_never_gives_a_narrower_interval(sampled, one, other):
    lower, upper = endings(comparison(sampled, min(one, other)))
    lowest, highest = endings(comparison(sampled, max(one, other)))

    assert (lowest <= lower + 1e-9).all()
    assert (upper <= highest * (1 + 1e-9) + 1e-9).all()


@given(samples, st.floats(1, 10))
def test_more_records_never_give_a_wider_interval_of_a_rate(sampled, more):
    few = comparison(sampled, 0.95)
    many = comparison([(bracket, size * more) for bracket, size in sampled], 0.95)

    for one, other in zip(few.groups, many.groups, strict=True):
        assert one.rate.interval.lower <= other.rate.interval.lower + 1e-9
        assert other.rate.interval.upper <= one.rate.interval.upper + 1e-9


@given(samples)
def test_who_is_not_selected_is_the_other_side_of_who_is(sampled):
    turned = [
        (Bracket(value=1 - r.value, lower=1 - r.upper, upper=1 - r.lower), size)
        for r, size in sampled
    ]

    for one, other in zip(
        comparison(sampled, 0.9).groups, comparison(turned, 0.9).groups, strict=True
    ):
        assert one.rate.interval.lower == pytest.approx(1 - other.rate.interval.upper, abs=1e-9)
        low, high = one.difference_to_largest.interval
        assert (low, high) == pytest.approx(
            tuple(-end for end in reversed([*other.difference_to_largest.interval])), abs=1e-9
        )


def mid_p(count, size, proportion):
    """The chance of more than a count, and half of that of exactly it, by the incomplete beta."""
    at_least = betainc(count, size - count + 1, proportion) if count > 0 else 1.0
    more = betainc(count + 1, size - count, proportion) if count < size else 0.0
    return (at_least + more) / 2


@given(shares, sizes, st.sampled_from([0.25, 0.05, 0.025, 0.005, 1e-4]))
def test_limits_of_a_proportion_are_those_of_the_mid_p_test(share, size, tail):
    lower, upper = (float(end) for end in proportion_limits(share, share, size, tail))
    count = share * size

    if lower > 1e-300:  # of a thousandth of a record the limit is smaller than any float
        assert mid_p(count, size, lower) == pytest.approx(tail, rel=1e-5)
    if upper < 1 - 1e-9:
        assert mid_p(count, size, upper) == pytest.approx(1 - tail, abs=1e-5 * tail)
    assert lower <= share <= upper


@given(st.tuples(shares, shares), st.tuples(shares, st.floats(1e-9, 1)))
def test_the_limit_of_a_ratio_is_where_that_of_a_difference_is_zero(one, other):
    """First minus r times second has its lower limit at zero, by the limits of both."""
    (least, first), (second, most) = sorted(one), sorted(other)
    found = float(ratio_lower(first, least, second, most))

    def limit(r):
        return float(difference_lower(first, least, r * second, r * most))

    assert limit(found) == pytest.approx(0.0, abs=1e-7) or found == least == 0
    if found > 1e-6 and most > 1e-6:
        assert brentq(limit, 0.0, 2 * first / most + 1e-9) == pytest.approx(found, rel=1e-5)
