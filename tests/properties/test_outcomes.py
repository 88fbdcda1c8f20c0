"""Every number of the records lies in its bracket, whatever the records and the sketches are."""

from itertools import product

import numpy as np
import pytest
from tests.outcome_records import federations, random_records, true_area, true_rate
from tests.tiers import count

from fedparity import Cell, Federation
from fedparity.errors import FederationError, GroupError
from fedparity.outcomes.calibration import brier_score, calibration, edges_of
from fedparity.outcomes.discrimination import roc_curve
from fedparity.outcomes.error_rates import MEASURES, Flagged, rate_table
from fedparity.outcomes.measure_outcomes import measure_outcomes
from fedparity.outcomes.outcome_laws import discriminations
from fedparity.thresholds.rates import records_above

UNIT = 0.0, 1.0
SKETCHES = tuple(product(("mean", "quantile", "counts"), ((), (0.3, 0.5)), (0.0, 0.01)))
NEAR = 1e-9


def sketched(seed):
    """Random records, and what the auditor has of them."""
    records = random_records(seed)
    kind, thresholds, rounding = SKETCHES[seed % len(SKETCHES)]
    levels = 1 + seed % 23
    found = federations(
        records, levels=levels, kind=kind, thresholds=thresholds, rounding=rounding
    )
    return records, found


def inside(number, bounds):
    return bounds.lower - NEAR <= number <= bounds.upper + NEAR


def own(records, group):
    scores, groups, _, outcomes = records
    chosen = groups == int(group.split()[1])
    return scores[chosen], outcomes[chosen]


def check_brackets(seed):
    """Compare all numbers of one random set; return whether two groups have both outcomes."""
    try:
        records, (positives, negatives) = sketched(seed)
    except (FederationError, GroupError):
        return False
    laws = discriminations(positives, negatives, UNIT)
    edges = edges_of((0.3, 0.5), UNIT)
    bins = calibration(
        positives,
        negatives,
        laws,
        edges=edges,
        score_range=UNIT,
        unseen=(None, None),
        confidence=0.95,
    )
    tables = {
        (measure, threshold): rate_table(
            measure,
            *(
                Flagged.from_cells(each, records_above(each, threshold, UNIT))
                for each in (positives, negatives)
            ),
        ).shares
        for measure, threshold in product(MEASURES, (0.3, 0.42, 0.5))
    }
    for position, group in enumerate(positives.groups):
        scores, outcomes = own(records, group)
        assert inside(true_area(scores[outcomes], scores[~outcomes]), laws[group].bracket), seed
        sizes = int(outcomes.sum()), int((~outcomes).sum())
        brier = brier_score(laws[group], sizes, (0.0, 0.0), 0.95)
        assert inside(np.mean((scores - outcomes) ** 2), brier), seed
        for (measure, threshold), shares in tables.items():
            share, truth = shares[group], true_rate(measure, scores, outcomes, threshold)
            assert share is None or inside(truth, share.bracket), (seed, measure, threshold)
        check_calibration(bins[position], scores, outcomes, edges, seed)
    return True


def check_calibration(found, scores, outcomes, edges, seed):
    places = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(edges) - 2)
    error = 0.0
    for place, each in enumerate(found.bins):
        here = places == place
        assert inside(here.sum(), each.n), seed
        if here.any():
            rate, mean = outcomes[here].mean(), scores[here].mean()
            error += here.mean() * abs(rate - mean)
            assert each.rate is None or inside(rate, each.rate), seed
            assert each.mean_score is None or inside(mean, each.mean_score), seed
    assert inside(error, found.ece), seed


@pytest.mark.sampled
def test_brackets_hold_the_numbers_of_the_records():
    sets = count(quick=60, all=400, soak=100_000)

    assert sum(map(check_brackets, range(sets))) > 0.95 * sets


@pytest.mark.parametrize("seed", range(40))
def test_the_curve_of_the_records_lies_in_its_envelope(seed):
    records, (positives, negatives) = sketched(seed)
    for group, found in discriminations(positives, negatives, UNIT).items():
        scores, outcomes = own(records, group)
        curve = roc_curve(found)
        cuts = np.concatenate(([np.inf], np.unique(scores)[::-1]))
        across = np.array([np.mean(scores[~outcomes] >= cut) for cut in cuts])
        up = np.array([np.mean(scores[outcomes] >= cut) for cut in cuts])
        at = np.array(curve.false_positive)
        apart = ~np.isclose(at[:, None], across[None]).any(axis=1)  # where it may rise straight up
        truth = np.interp(at, across, up)

        assert (np.array(curve.lower)[apart] <= truth[apart] + NEAR).all()
        assert (np.array(curve.upper)[apart] >= truth[apart] - NEAR).all()


def test_exact_counts_leave_nothing_open():
    records = random_records(6)
    positives, negatives = federations(records, levels=50, kind="counts")
    for group, found in discriminations(positives, negatives, UNIT).items():
        scores, outcomes = own(records, group)
        truth = true_area(scores[outcomes], scores[~outcomes])

        assert tuple(found.bracket) == pytest.approx((truth, truth), abs=1e-12)


def test_counts_at_thresholds_narrow_the_area():
    records = random_records(3)
    plain, counted = (
        discriminations(*federations(records, levels=5, kind="quantile", thresholds=cuts), UNIT)
        for cuts in ((), (0.2, 0.3, 0.4, 0.5, 0.6))
    )
    for group, found in plain.items():
        assert counted[group].bracket.width < found.bracket.width


def test_outer_bounds_hold_what_withheld_records_could_be():
    """Drop a silo, name how many records it had, and every number of all records stays inside."""
    _, groups, silos, outcomes = records = random_records(17)
    kept = silos != 0
    positives, negatives = federations(
        tuple(each[kept] for each in records), levels=10, kind="mean", thresholds=(0.5,)
    )
    unseen = [
        {
            group: float(np.sum(~kept & (outcomes == outcome) & (groups == int(group.split()[1]))))
            for group in positives.groups
        }
        for outcome in (True, False)
    ]
    found = measure_outcomes(
        positives,
        negatives,
        thresholds=[0.5],
        score_range=UNIT,
        bins=[0.3, 0.5],
        unseen_positive=unseen[0],
        unseen_negative=unseen[1],
        redraws=20,
    )
    for row in found.groups:
        own_scores, own_outcomes = own(records, row.group)
        area = true_area(own_scores[own_outcomes], own_scores[~own_outcomes])
        assert inside(area, row.auc.outer)
        assert inside(np.mean((own_scores - own_outcomes) ** 2), row.brier.outer)
        assert inside(own_outcomes.mean(), row.base_rate.outer)
    for rates in found.thresholds[0].rates:
        for row in rates.groups:
            own_scores, own_outcomes = own(records, row.group)
            assert inside(true_rate(rates.measure, own_scores, own_outcomes, 0.5), row.rate.outer)


def two_silos(rates, sizes):
    """Positives and negatives of two groups in two silos, flagged at these rates, exactly."""
    sides = []
    for outcome in (True, False):
        cells = {}
        for (silo, group), rate in rates.items():
            n = sizes[silo, group]
            flagged = round(n * (rate if outcome else rate / 2))
            scores = np.repeat([0.75, 0.25], [flagged, n - flagged])
            cells[silo, group] = Cell.from_scores(scores, levels=2, kind="counts")
        sides.append(Federation.from_cells(cells, score_range=UNIT))
    return sides


UNEVEN = {("x", "a"): 900, ("x", "b"): 100, ("y", "a"): 100, ("y", "b"): 900}


def gap_at_half(rates, **options):
    found = measure_outcomes(
        *two_silos(rates, UNEVEN), thresholds=[0.5], score_range=UNIT, redraws=20, **options
    )
    return found, found.thresholds[0].rates[0]


def test_a_gap_that_no_silo_shows_is_hidden():
    """Both groups are flagged alike in each silo, and are in different silos."""
    _, tpr = gap_at_half({("x", "a"): 0.8, ("x", "b"): 0.8, ("y", "a"): 0.4, ("y", "b"): 0.4})

    assert tpr.gap.value == pytest.approx(0.32)
    assert [silo.value for silo in tpr.local.silos] == pytest.approx([0, 0])
    assert tpr.local.hidden


def test_a_gap_that_silos_show_is_not_hidden():
    _, tpr = gap_at_half({("x", "a"): 0.8, ("x", "b"): 0.5, ("y", "a"): 0.7, ("y", "b"): 0.4})

    assert tpr.gap.interval.lower > 0
    assert not tpr.local.hidden


def test_a_gap_of_calibration_that_no_silo_shows_is_hidden():
    """A score of 0.75 means the same for both groups in each silo, and less in the silo of the second."""
    rates, sides = {"x": 0.8, "y": 0.4}, []
    for outcome in (True, False):
        cells = {}
        for (silo, group), n in UNEVEN.items():
            own = round(n * (rates[silo] if outcome else 1 - rates[silo]))
            scores = np.repeat([0.75, 0.25], [own, n // 2])
            cells[silo, group] = Cell.from_scores(scores, levels=2, kind="counts")
        sides.append(Federation.from_cells(cells, score_range=UNIT))

    found = measure_outcomes(*sides, thresholds=[], score_range=UNIT, bins=[0.5], redraws=20)
    low, high = found.calibration_gaps

    assert high.gap.value == pytest.approx(0.32)
    assert [silo.value for silo in high.local.silos] == pytest.approx([0, 0])
    assert high.local.hidden
    assert low.gap.value == pytest.approx(0)
    assert not low.local.hidden
    assert high.gap.value == pytest.approx(
        found.calibration[0].bins[1].rate.value - found.calibration[1].bins[1].rate.value
    )


def test_of_sums_over_silos_nothing_is_said_about_silos():
    rates = {("x", "a"): 0.8, ("x", "b"): 0.8, ("y", "a"): 0.4, ("y", "b"): 0.4}
    found, tpr = gap_at_half(rates, bins=[0.5], summed=True)
    tests = found.thresholds[0].among_positives

    assert "Only sums over silos were seen" in found.not_given
    assert "only sums over silos were seen" in tests.not_given
    assert tpr.local is None
    assert all(each.gap is not None and each.local is None for each in found.calibration_gaps)
    assert all(each.selection is None and not each.silos for each in found.given)
    assert all(each.mantel_haenszel is None and each.breslow_day is None for each in tests.groups)
