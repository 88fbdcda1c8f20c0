"""Appendix G, steps 1 to 3: what cutting a copula does to the number of records per silo.

The paper says that it preserves it. Nothing of the library is under test, only the claim.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

SILOS = 5
SELECTION = 0.8


@pytest.fixture(scope="module")
def population():
    """Scores of two groups, one of them higher, their groups, and baseline silos."""
    rng = np.random.default_rng(6)
    groups = np.repeat([0, 1], [3000, 2000])
    scores = rng.normal(groups, 1.0)
    baseline = rng.integers(0, SILOS, groups.size)
    return scores, groups, baseline, latent(scores, rng)


def latent(scores, rng):
    """Return U = Φ(ρ Φ⁻¹(R) + √(1 - ρ²) ε), R the ranks of all scores together."""
    ranks = stats.rankdata(scores) / (scores.size + 1)
    noise = rng.normal(size=scores.size)
    mixed = SELECTION * stats.norm.ppf(ranks) + np.sqrt(1 - SELECTION**2) * noise
    return stats.norm.cdf(mixed)


def margins(silos, groups):
    """Return the number of records of each group (rows) in each silo (columns)."""
    return np.stack([np.bincount(silos[groups == g], minlength=SILOS) for g in (0, 1)])


def cut(positions, counts):
    """Return the silo of each position in (0, 1], cut at the shares of the baseline."""
    return np.searchsorted(np.cumsum(counts) / counts.sum(), positions, side="left")


def test_copula_cut_as_written_moves_the_margins_with_the_scores(population):
    """U is uniform over everyone and not within a group, so the counts per silo drift.

    The lower group fills the first silo and leaves the last, the higher one the other way round,
    each by far more than the six standard errors that chance would allow.
    """
    scores, groups, baseline, positions = population
    before = margins(baseline, groups)
    silos = np.empty_like(groups)
    for g in (0, 1):
        silos[groups == g] = cut(positions[groups == g], before[g])

    drift = (margins(silos, groups) - before) / np.sqrt(before)

    assert stats.spearmanr(scores, silos).statistic > 0.5
    assert min(drift[0, 0], -drift[0, -1], -drift[1, 0], drift[1, -1]) > 6


@pytest.mark.parametrize("flipped", [False, True])
def test_copula_cut_of_ranks_within_the_group_preserves_the_margins(population, flipped):
    """Cutting the ranks of U within the group gives the baseline counts, to the last record."""
    scores, groups, baseline, positions = population
    before = margins(baseline, groups)
    silos = np.empty_like(groups)
    for g in (0, 1):
        own = positions[groups == g]
        own = 1 - own if flipped and g == 1 else own
        silos[groups == g] = cut(stats.rankdata(own) / own.size, before[g])

    dependence = [
        stats.spearmanr(scores[groups == g], silos[groups == g]).statistic for g in (0, 1)
    ]

    assert margins(silos, groups).tolist() == before.tolist()
    assert dependence[0] > 0.5
    assert dependence[1] < -0.5 if flipped else dependence[1] > 0.5
