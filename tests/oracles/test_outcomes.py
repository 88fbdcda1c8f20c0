"""Numbers of outcomes from sketches, against scikit-learn and Fairlearn on the pooled records.

Brackets must hold for every kind of sketch. How near estimates are is asked of the sketch that a plan
has by default, counts for deciles and bin means for probabilities, with as many levels as a message of
1.5 kB has room for. Of the others, bin means of deciles are off by up to 0.004 in the area at that size.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import equalized_odds_difference
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, confusion_matrix, roc_auc_score, roc_curve
from sklearn.preprocessing import StandardScaler
from tests.tiers import DATA

from fedparity import Federation
from fedparity.outcomes.measure_outcomes import measure_outcomes
from fedparity.sketches.kinds import DEFAULT_LEVELS, default_kind

pytestmark = pytest.mark.data
SILOS, BYTES = 5, 1500
NEAR = 1e-9


def compas():
    table = pd.read_csv(Path(DATA) / "compas-scores-two-years.csv")
    races = ("African-American", "Caucasian", "Hispanic")
    table = table[table["race"].isin(races)]
    return table["decile_score"], table["race"], table["two_year_recid"] == 1, (1.0, 10.0), 5.0


def adult():
    table = pd.read_csv(Path(DATA) / "adult.data", header=None, skipinitialspace=True)
    numbers, outcome = table[[0, 4, 10, 11, 12]], table[14] == ">50K"
    return fitted(numbers, outcome), table[9], outcome, (0.0, 1.0), 0.3


def law():
    table = pd.read_csv(Path(DATA) / "law-school-admissions.csv")
    table = table[table["race1"].isin(("white", "black"))].dropna()
    outcome = table["bar"].astype(str).str.upper() == "TRUE"
    numbers = table[["lsat", "ugpa", "fam_inc", "age"]]
    return fitted(numbers, outcome), table["race1"], outcome, (0.0, 1.0), 0.9


def fitted(numbers, outcome):
    scaled = StandardScaler().fit_transform(numbers)
    return LogisticRegression(max_iter=1000).fit(scaled, outcome).predict_proba(scaled)[:, 1]


@pytest.fixture(scope="module", params=[compas, adult, law], ids=lambda load: load.__name__)
def pooled(request):
    scores, groups, outcomes, bounds, threshold = request.param()
    silos = np.random.default_rng(0).integers(0, SILOS, len(outcomes))
    return (
        np.asarray(scores, float),
        np.asarray(groups, str),
        np.asarray(outcomes, bool),
        silos,
        bounds,
        threshold,
    )


def sketches(pooled, kind):
    """Positives and negatives with the most levels that fit the message of a silo."""
    scores, groups, outcomes, silos, *_ = pooled
    for levels in range(60, 0, -2):
        found = [
            Federation.from_scores(
                scores[outcomes == outcome],
                groups=groups[outcomes == outcome],
                silos=silos[outcomes == outcome],
                levels=levels,
                kind=kind,
            )
            for outcome in (True, False)
        ]
        if message_size(found) <= BYTES:
            return found
    pytest.fail("no message is small enough")


def message_size(federations):
    """Bytes of the numbers that one silo sends, at the most."""
    sizes = dict.fromkeys(range(SILOS), 0)
    for federation in federations:
        for (silo, _), cell in federation.cells.items():
            sizes[silo] += len(json.dumps([cell.count, *np.round(cell.values, 4).tolist()]))
    return max(sizes.values())


@pytest.fixture(scope="module", params=["default", "mean", "quantile"])
def measured(request, pooled):
    """Whether the sketch is the default one, and what it tells."""
    scores, *_, bounds, threshold = pooled
    kind = default_kind(scores, DEFAULT_LEVELS) if request.param == "default" else request.param
    found = sketches(pooled, kind)
    return request.param == "default", measure_outcomes(
        *found, thresholds=[threshold], score_range=bounds, bins=[threshold], redraws=20
    )


def test_areas_are_those_of_scikit_learn_within_their_brackets(pooled, measured):
    scores, groups, outcomes, *_ = pooled
    is_default, result = measured
    for row in result.groups:
        own = groups == row.group
        truth = roc_auc_score(outcomes[own], scores[own])
        assert row.auc.lower - NEAR <= truth <= row.auc.upper + NEAR
        assert not is_default or row.auc.value == pytest.approx(truth, abs=0.002)


def test_curves_are_those_of_scikit_learn_within_their_envelopes(pooled, measured):
    scores, groups, outcomes, *_ = pooled
    for row in measured[1].groups:
        own = groups == row.group
        across, up, _ = roc_curve(outcomes[own], scores[own], drop_intermediate=False)
        at = np.array(row.roc.false_positive)
        truth = np.interp(at, across, up)
        apart = ~np.isclose(at[:, None], across[None]).any(axis=1)

        assert (np.array(row.roc.lower)[apart] <= truth[apart] + NEAR).all()
        assert (np.array(row.roc.upper)[apart] >= truth[apart] - NEAR).all()
        off = np.abs(np.array(row.roc.true_positive) - truth)[apart]
        assert not measured[0] or off.max() < 0.05


def test_rates_are_those_of_scikit_learn_within_their_brackets(pooled, measured):
    scores, groups, outcomes, _, _, threshold = pooled
    for rates in measured[1].thresholds[0].rates:
        for row in rates.groups:
            own = groups == row.group
            tn, fp, fn, tp = confusion_matrix(outcomes[own], scores[own] >= threshold).ravel()
            truth = {
                "tpr": tp / (tp + fn),
                "fpr": fp / (fp + tn),
                "fnr": fn / (fn + tp),
                "ppv": tp / (tp + fp),
                "npv": tn / (tn + fn),
            }[rates.measure]

            assert row.rate.lower - NEAR <= truth <= row.rate.upper + NEAR
            assert not measured[0] or row.rate.value == pytest.approx(truth, abs=0.03)


def test_equalized_odds_differ_as_fairlearn_says(pooled, measured):
    scores, groups, outcomes, _, _, threshold = pooled
    truth = equalized_odds_difference(outcomes, scores >= threshold, sensitive_features=groups)

    found = measured[1].thresholds[0].equalized_odds

    assert found.lower - NEAR <= truth <= found.upper + NEAR


def test_brier_scores_are_those_of_scikit_learn_within_their_brackets(pooled, measured):
    scores, groups, outcomes, _, bounds, _ = pooled
    for row in measured[1].groups:
        own = groups == row.group
        if bounds != (0.0, 1.0):
            assert row.brier is None
            continue
        truth = brier_score_loss(outcomes[own], scores[own])

        assert row.brier.lower - NEAR <= truth <= row.brier.upper + NEAR
        assert not measured[0] or row.brier.value == pytest.approx(truth, abs=0.002)


def test_disparities_given_the_outcome_hold_that_of_the_records(pooled, measured):
    scores, groups, outcomes, _, bounds, _ = pooled
    for given, outcome in zip(measured[1].given, (True, False), strict=True):
        own = outcomes == outcome
        truth = records_disparity(scores[own], groups[own])

        assert given.certificate.lower <= truth <= given.certificate.upper
        near = pytest.approx(truth, rel=0.05, abs=1e-4 * (bounds[1] - bounds[0]))
        assert not measured[0] or given.disparity == near


def records_disparity(scores, groups):
    """The variance of quantile functions around their mean, between all levels at which one steps."""
    names, sizes = np.unique(groups, return_counts=True)
    ends = np.unique(np.concatenate([np.arange(1, size + 1) / size for size in sizes]))
    widths, levels = np.diff(ends, prepend=0.0), ends - np.diff(ends, prepend=0.0) / 2
    table = np.array(
        [
            np.sort(scores[groups == name])[np.ceil(levels * size).astype(int) - 1]
            for name, size in zip(names, sizes, strict=True)
        ]
    )
    shares = (sizes / sizes.sum())[:, None]
    spread = np.sum(shares * (table - np.sum(shares * table, axis=0)) ** 2, axis=0)
    return float(np.sum(widths * spread))
