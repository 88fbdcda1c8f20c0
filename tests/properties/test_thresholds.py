"""The raw data's rates never leave the brackets of their sketches."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tests.properties.test_certificate import random_data, sketched
from tests.strategies import off_by
from tests.tiers import count

import fedparity as fp
from fedparity.diagnostics.ks_distance import ks_distance
from fedparity.diagnostics.pooled_rates import scoring_rates, tail_rates
from fedparity.diagnostics.thresholds import at_threshold
from fedparity.privacy.rounding import round_values, rounding_error

CASES = count(quick=50, all=100, soak=10_000)
LEVELS = 0.1, 0.5, 0.9


def rounded(federation, step):
    """The federation of values that the silos rounded."""
    cells = {
        key: fp.Cell(
            count=cell.count,
            values=round_values(cell.values, (0.0, 1.0), step),
            kind=cell.kind,
            rank_error=cell.rank_error,
        )
        for key, cell in federation.cells.items()
    }
    return fp.Federation.from_cells(cells, groups=federation.groups)


def random_case(seed):
    """Data, their federation, and the options under which it is to be read."""
    random = np.random.default_rng((seed, 8))
    data = random_data(random)
    federation = sketched(*data, random)
    options = {"score_range": (0.0, 1.0)}
    if federation.kind == "mean" and federation.rank_errors.any():
        federation = off_by(federation, 1e-6)  # differences of integrals, over short bins
    elif random.random() < 0.3:
        step = float(random.choice([0.001, 0.1]))
        federation = off_by(rounded(federation, step), rounding_error((0.0, 1.0), step))
    return random, data, federation, options


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
            assert rate / best in row.ratio_to_best
            claimed = row.four_fifths
            assert claimed != "below four fifths" or rate / best < 0.8
            assert claimed != "at least four fifths" or rate / best > 0.8 - 1e-9
        if rates[largest]:
            assert rate / rates[largest] in row.ratio_to_largest


@pytest.mark.sampled
def test_rates_at_a_threshold_never_leave_their_brackets():
    """Ties, both kinds, k from 1 to 12, rank errors, rounding, silos that lack groups."""
    for seed in range(CASES):
        random, (scores, labels, _), federation, options = random_case(seed)
        for favourable in ("above", "below"):
            for cut in thresholds(random, scores, federation):
                report = at_threshold(federation, cut, favourable=favourable, **options)
                selected = scores >= cut if favourable == "above" else scores < cut
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
        assert "undetermined" not in at_cut.four_fifths or max(expected.values()) == 0


@pytest.mark.sampled
@pytest.mark.parametrize("weights", ["whole", "real"])
def test_weighted_rates_never_leave_their_brackets(weights):
    for seed in range(CASES // 5):
        random = np.random.default_rng((seed, 10))
        scores, labels, silos = random_data(random)
        masses = random.integers(1, 9, scores.size)
        masses = masses if weights == "whole" else masses / 7
        federation = fp.Federation.from_scores(
            scores, groups=labels, silos=silos, levels=4, weights=masses
        )
        cut = float(random.choice(scores))
        report = at_threshold(federation, cut, score_range=(0, 1))

        for row in report.groups:
            own = labels == row.group
            rate = np.average(scores[own] >= cut, weights=masses[own])
            assert row.rate.lower - 1e-12 <= rate <= row.rate.upper + 1e-12
