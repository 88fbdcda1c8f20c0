"""The published numbers on COMPAS, up to the jitter and the allocation, which are random."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm, rankdata
from tests.tiers import DATA

import fedparity as fp

DRAWS = 30
pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def compas():
    with (Path(DATA) / "compas-scores-two-years.csv").open(newline="") as file:
        rows = [
            (float(row["decile_score"]), row["race"])
            for row in csv.DictReader(file)
            if row["race"] in ("African-American", "Caucasian")
        ]
    deciles, races = zip(*rows, strict=True)
    return np.array(deciles), np.array(races)


def jittered(deciles, seed):
    random = np.random.default_rng(seed)
    return deciles - random.random(deciles.size), random


def allocate(scores, races, regime, random, *, silos=5, rho=0.8):
    """The paper's Gaussian-copula allocation (`app:compas:alloc`), cut as it is written."""
    baseline = random.integers(0, silos, scores.size)
    if regime == "random":
        return baseline
    ranks = rankdata(scores, method="ordinal") / (scores.size + 1)
    noise = random.normal(size=scores.size)
    uniform = norm.cdf(rho * norm.ppf(ranks) + np.sqrt(1 - rho**2) * noise)
    if regime == "negative":
        uniform = np.where(races == "Caucasian", 1 - uniform, uniform)
    allocation = np.empty(scores.size, dtype=int)
    for race in np.unique(races):
        own = races == race
        cuts = np.cumsum(np.bincount(baseline[own], minlength=silos)) / own.sum()
        allocation[own] = np.minimum(np.searchsorted(cuts, uniform[own]), silos - 1)
    return allocation


def within_noise(draws, published):
    """Whether each published number is a plausible draw from the same distribution."""
    draws = np.array(draws)
    return np.abs(draws.mean(axis=0) - published) / draws.std(axis=0, ddof=1) < 3.5


def test_counts_are_those_of_the_paper(compas):
    _, races = compas

    assert {race: int((races == race).sum()) for race in np.unique(races)} == {
        "African-American": 3696,
        "Caucasian": 2454,
    }


def test_pooled_measures_are_the_papers_up_to_the_jitter(compas):
    """Mean gap 1.6357, W₂ 1.7813, U₂ 0.7609; H₂ is printed divided by the range, 10."""
    deciles, races = compas
    draws = []
    for seed in range(DRAWS):
        scores, _ = jittered(deciles, seed)
        laws = [fp.Law.from_scores(scores[races == race]) for race in np.unique(races)]
        draws.append(
            (
                laws[0].mean - laws[1].mean,
                fp.wasserstein(*laws),
                fp.disparity(scores, sensitive_features=races),
                fp.heterogeneity(scores, sensitive_features=races) / 10,
            )
        )

    assert within_noise(draws, (1.6357, 1.7813, 0.7609, 0.0077)).all()


@pytest.mark.parametrize(
    ("regime", "terms", "parts"),
    [
        ("positive", (1.034, 1.660, -1.941), (0.455, 0.298)),
        ("negative", (1.039, 1.665, -1.952), (0.010, 0.743)),
    ],
)
def test_decomposition_and_attribution_of_selected_silos(compas, regime, terms, parts):
    """One draw published for each regime: V_mix, V_bar, R, and selection, within."""
    deciles, races = compas
    draws = []
    for seed in range(DRAWS):
        scores, random = jittered(deciles, seed)
        silos = allocate(scores, races, regime, random)
        federation = fp.Federation.from_scores(scores, groups=races, silos=silos, levels=100)
        found, split = fp.theory.decompose(federation), fp.theory.attribute(federation)
        draws.append((found.v_mix, found.v_bar, found.remainder, split.selection, split.within))

    assert within_noise(draws, (*terms, *parts)).all()


def test_random_silos_have_no_selection(compas):
    """Random allocation: selection 0.001, within 0.752, up to sampling."""
    deciles, races = compas
    draws = []
    for seed in range(DRAWS):
        scores, random = jittered(deciles, seed)
        silos = allocate(scores, races, "random", random)
        federation = fp.Federation.from_scores(scores, groups=races, silos=silos, levels=100)
        split = fp.theory.attribute(federation)
        draws.append((split.selection, split.within))

    assert within_noise(draws, (0.001, 0.752)).all()


def test_positive_and_negative_selection_look_alike_to_the_anova_terms_only(compas):
    """V_mix, V_bar and R cannot tell the two regimes apart; the attribution does."""
    deciles, races = compas
    scores, random = jittered(deciles, 0)
    found = {
        regime: fp.Federation.from_scores(
            scores, groups=races, silos=allocate(scores, races, regime, random), levels=100
        )
        for regime in ("positive", "negative")
    }
    positive, negative = (fp.theory.decompose(federation) for federation in found.values())
    split_positive, split_negative = (
        fp.theory.attribute(federation) for federation in found.values()
    )

    assert positive.v_mix == pytest.approx(negative.v_mix, rel=0.15)
    assert positive.v_bar == pytest.approx(negative.v_bar, rel=0.15)
    assert split_positive.selection > 10 * split_negative.selection
