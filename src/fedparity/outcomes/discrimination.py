r"""ROC curves and the area under them, from the laws of positives and of negatives.

.. math:: A = P(Z_1 > Z_0) + \tfrac12 P(Z_1 = Z_0)

A sketch leaves each law between two others. The area rises when positives rise and falls when
negatives rise, so it lies between that of the lowest positives with the highest negatives and that of
the highest with the lowest; and so does the curve, at every false positive rate.

The interval is a score interval: it holds the areas t from which the observed one is no farther than
:math:`z \sqrt{V(t)}`. V is the variance that exponential laws would give, made symmetric (Newcombe's fifth
method), times how much larger the variance of these laws is by DeLong's estimate. That quotient is
itself estimated from the few records that are out of order, e of them at most; it counts
with the weight :math:`e / (e + 2)`. ``benchmarks/outcome_coverage.py`` measures how often it holds.

References
----------
.. [1] DeLong, DeLong, Clarke-Pearson (1988). Comparing the areas under two or more correlated
   receiver operating characteristic curves. Biometrics 44.
.. [2] Newcombe (2006). Confidence intervals for an effect size measure based on the Mann-Whitney
   statistic. Part 2. Statistics in Medicine 25.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from fedparity.documents.outcome_parts import AucResult, RocCurve
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray, Law
from fedparity.thresholds.proportions import RateLimits, difference_lower, ratio_lower, tails
from fedparity.thresholds.rates import Comparison, compare_limits
from fedparity.uncertainty.checks import Known

__all__ = [
    "Discrimination",
    "area",
    "area_limits",
    "auc_results",
    "compare_areas",
    "placement_variance",
    "roc_curve",
]

_PRIOR = 2.0
"""Records out of order that the variance of exponential laws counts as."""
_HALVINGS = 60
_CURVE = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True, kw_only=True, eq=False)
class Discrimination:
    """What sketches say of the positives and the negatives of one group, or of one silo's."""

    positives: Known
    negatives: Known
    sizes: tuple[float, float]
    """Records that the positives and the negatives amount to."""
    rough: float
    """The area that another reading of the same sketches gives."""

    @property
    def bracket(self) -> Bracket:
        """The area, and bounds that it cannot leave."""
        slack = self.positives.slack + self.negatives.slack
        (low, high), (under, over) = self.positives.envelope, self.negatives.envelope
        lower = max(0.0, area(low, over) - slack)
        upper = min(1.0, area(high, under) + slack)
        value = area(self.positives.law, self.negatives.law)
        return Bracket(value=min(max(value, lower), upper), lower=lower, upper=upper)

    def limits(self, bracket: Bracket, tail: float) -> Bounds:
        """Return what the population's area could be, a limit missing with probability ``tail``."""
        excess = placement_variance(self.positives.law, self.negatives.law, self.sizes)
        lower = area_limits(bracket.lower, self.sizes, excess, tail, about=bracket.value).lower
        upper = area_limits(bracket.upper, self.sizes, excess, tail, about=bracket.value).upper
        return Bounds(min(lower, bracket.lower), max(upper, bracket.upper))


def area(positives: Law, negatives: Law) -> float:
    """Return the probability that a positive scores higher than a negative, ties counting half.

    Examples
    --------
    >>> area(Law.from_scores([2.0, 3.0]), Law.from_scores([1.0, 2.0]))
    0.875
    """
    return float(np.sum(positives.masses * _placements(positives, negatives)))


def _placements(law: Law, other: Law) -> FloatArray:
    """For each atom, the mass of the other law below it and half of that at it."""
    running = np.concatenate(([0.0], other.cumulative))
    below = running[np.searchsorted(other.atoms, law.atoms, side="left")]
    upto = running[np.searchsorted(other.atoms, law.atoms, side="right")]
    placements: FloatArray = (below + upto) / 2
    return placements


def placement_variance(positives: Law, negatives: Law, sizes: tuple[float, float]) -> float:
    """Return DeLong's variance of the area, from the placements of both samples in each other."""
    total = 0.0
    for law, other, size in zip(
        (positives, negatives), (negatives, positives), sizes, strict=True
    ):
        placements = _placements(law, other)
        spread = float(np.sum(law.masses * (placements - np.sum(law.masses * placements)) ** 2))
        total += spread / max(size - 1, 1.0)
    return total


def _exponential_variance(area: float, sizes: tuple[float, float]) -> float:
    """Newcombe's variance of the area: that of exponential laws, both ways round."""
    first, second = sizes
    inside = area / (2 - area) + 2 * area**2 / (1 + area) - 2 * area**2
    others = max((first + second) / 2 - 1, 0.0)
    return (area * (1 - area) + others * inside) / (first * second)


def area_limits(
    found: float,
    sizes: tuple[float, float],
    variance: float,
    tail: float,
    *,
    about: float,
    noise: float = 0.0,
) -> Bounds:
    """Return the areas that explain an observed one.

    Parameters
    ----------
    found : float in [0, 1]
        The area of the sample.
    sizes : pair of positive numbers
        Its positives and negatives.
    variance : float
        DeLong's variance of the area ``about``.
    tail : float in (0, 0.5)
        How often each limit may miss.
    noise : float, default 0
        The variance that noise adds, whatever the area of the population is.

    Examples
    --------
    >>> low, high = area_limits(0.7, (50, 50), 0.0028, 0.025, about=0.7)
    >>> round(low, 3), round(high, 3)
    (0.587, 0.79)
    """
    usual = _exponential_variance(about, sizes)
    disordered = 2 * min(sizes) * min(about, 1 - about)
    weight = disordered / (disordered + _PRIOR)
    factor = weight * variance / usual + 1 - weight if usual > 0 else 1.0
    z = NormalDist().inv_cdf(1 - tail)
    square, more = z**2 * factor, z**2 * noise

    def explained(candidate: float) -> bool:
        return (found - candidate) ** 2 <= square * _exponential_variance(candidate, sizes) + more

    ends = []
    for end in (0.0, 1.0):
        inside, outside = (end if explained(end) else found), end
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if explained(middle) else (inside, middle)
        ends.append(inside)
    return Bounds(*ends)


def auc_results(
    groups: Mapping[Group, Discrimination],
    outer: Mapping[Group, Discrimination],
    confidence: float,
) -> dict[Group, AucResult]:
    """Return the area of each group; ``outer`` counts the records that nobody described."""
    tail = (1 - confidence) / 2
    results = {}
    for group, found in groups.items():
        bracket, widest = found.bracket, outer[group].bracket
        point = Bracket(value=bracket.value, lower=bracket.value, upper=bracket.value)
        near, off = found.limits(point, tail), abs(found.rough - bracket.value)
        results[group] = AucResult(
            value=bracket.value,
            lower=bracket.lower,
            upper=bracket.upper,
            interval=found.limits(bracket, tail),
            outer=Bounds(min(widest.lower, bracket.lower), max(widest.upper, bracket.upper)),
            sampling=Bounds(
                max(0.0, bracket.value - math.hypot(bracket.value - near.lower, off)),
                min(1.0, bracket.value + math.hypot(near.upper - bracket.value, off)),
            ),
        )
    return results


def compare_areas(groups: Mapping[Group, Discrimination], confidence: float) -> Comparison:
    """Return the areas of all groups side by side, with their largest difference."""
    brackets = {group: found.bracket for group, found in groups.items()}
    alone, together = (_limits(groups, brackets, tail) for tail in tails(confidence, len(groups)))
    return compare_limits(brackets, alone, together, largest=next(iter(groups)))


def _limits(
    groups: Mapping[Group, Discrimination], brackets: Mapping[Group, Bracket], tail: float
) -> RateLimits:
    ends = [found.limits(brackets[group], tail) for group, found in groups.items()]
    least, most = (np.array(side) for side in zip(*ends, strict=True))
    low = np.array([bracket.lower for bracket in brackets.values()])
    high = np.array([bracket.upper for bracket in brackets.values()])
    sides = low[:, None], least[:, None], high, most
    return RateLimits(least, most, difference_lower(*sides), ratio_lower(*sides))


def roc_curve(found: Discrimination) -> RocCurve:
    """Return the curve of a group at false positive rates from 0 to 1, between its bounds.

    Moving the threshold through a tie in small steps draws a straight line, as scikit-learn does.
    """
    slack = found.positives.slack + found.negatives.slack
    (low, high), (under, over) = found.positives.envelope, found.negatives.envelope
    lower = np.clip(_power(low, over, -slack) - slack, 0.0, 1.0)
    upper = np.clip(_power(high, under, slack) + slack, 0.0, 1.0)
    middle = np.clip(_power(found.positives.law, found.negatives.law, 0.0), lower, upper)
    return RocCurve(
        false_positive=tuple(_CURVE.tolist()),
        true_positive=tuple(middle.tolist()),
        lower=tuple(lower.tolist()),
        upper=tuple(upper.tolist()),
    )


def _power(positives: Law, negatives: Law, moved: float) -> FloatArray:
    """The true positive rate at each false positive rate, read to the right of it by ``moved``.

    Where a curve rises straight up its highest point counts, or its lowest if it is read to the left.
    """
    scores = np.union1d(positives.atoms, negatives.atoms)[::-1]
    across, up = (
        np.concatenate(([0.0], 1 - _mass_below(law, scores))) for law in (negatives, positives)
    )
    at = np.clip(_CURVE + moved, 0.0, 1.0)
    if moved < 0:
        after = np.searchsorted(across, at, side="left")
        before = np.where(across[after] == at, after, after - 1)
    else:
        before = np.searchsorted(across, at, side="right") - 1
        after = np.minimum(np.where(across[before] == at, before, before + 1), up.size - 1)
    width = across[after] - across[before]
    part = np.divide(at - across[before], width, out=np.zeros(at.size), where=width > 0)
    power: FloatArray = up[before] + part * (up[after] - up[before])
    return power


def _mass_below(law: Law, scores: FloatArray) -> FloatArray:
    running = np.concatenate(([0.0], law.cumulative))
    below: FloatArray = running[np.searchsorted(law.atoms, scores, side="left")]
    return below
