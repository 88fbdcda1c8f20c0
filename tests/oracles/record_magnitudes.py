"""Magnitudes of the records themselves, in rational numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any

from tests.oracles import rational


@dataclass(frozen=True)
class RecordMagnitudes:
    """What the magnitudes of these records are; by group, or by pair of groups, where plural."""

    disparity: float
    distances: dict[tuple[Any, Any], float]
    mean_gaps: dict[tuple[Any, Any], float]
    variance: float
    within: float
    of_means: float
    of_targets: float
    """The variance of the scores once all have moved to the barycenter."""
    burdens: dict[Any, float]
    cramer_index: float

    @property
    def deviation(self) -> float:
        """The standard deviation within groups."""
        return sqrt(self.within)

    @property
    def worst(self) -> float:
        """The largest distance."""
        return max(self.distances.values())

    @property
    def equal_weights(self) -> float:
        """The disparity of groups of the same size."""
        return sum(d**2 for d in self.distances.values()) / len(self.burdens) ** 2


def record_magnitudes(scores: Sequence[float], groups: Sequence[Any]) -> RecordMagnitudes:
    """Return them, level by level and score by score."""
    members: dict[Any, list[float]] = {}
    for score, group in zip(scores, groups, strict=True):
        members.setdefault(group, []).append(score)
    labels = sorted(members)
    laws = [rational.law(members[label]) for label in labels]
    shares = [Fraction(len(members[label]), len(scores)) for label in labels]
    means = [law.mean for law in laws]
    mean = rational.center(means, shares, 2)
    pooled = rational.law(scores)

    def variance(law: rational.Steps) -> Fraction:
        return rational.over_levels([law], lambda q: (q[0] - law.mean) ** 2)

    def burden(position: int) -> Fraction:
        return rational.over_levels(
            laws, lambda q: (q[position] - rational.center(q, shares, 2)) ** 2
        )

    pairs = list(combinations(range(len(labels)), 2))
    whole = rational.over_scores([pooled], lambda f: f[0] * (1 - f[0]))
    between = rational.over_scores(laws, rational.dispersion(shares, 2))
    return RecordMagnitudes(
        disparity=float(rational.over_levels(laws, rational.dispersion(shares, 2))),
        distances={
            (labels[i], labels[j]): sqrt(rational.wasserstein_power(laws[i], laws[j], 2))
            for i, j in pairs
        },
        mean_gaps={(labels[i], labels[j]): float(means[i] - means[j]) for i, j in pairs},
        variance=float(variance(pooled)),
        within=float(sum(s * variance(law) for s, law in zip(shares, laws, strict=True))),
        of_means=float(rational.around(mean, means, shares, 2)),
        of_targets=float(
            rational.over_levels(laws, lambda q: (rational.center(q, shares, 2) - mean) ** 2)
        ),
        burdens={label: sqrt(burden(position)) for position, label in enumerate(labels)},
        cramer_index=float(between / whole) if whole else 0.0,
    )
