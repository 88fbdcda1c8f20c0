r"""Magnitudes people can read: a disparity in score points, in standard deviations, as shares.

All are of order 2, of the whole laws (nothing is trimmed), and rest on one identity: moving
everybody's score Z to the barycenter, :math:`Z^*`, changes scores by :math:`\sqrt{U_2}` in root mean
square, and :math:`U_2 = \operatorname{Var}(Z) - \operatorname{Var}(Z^*)`. So
:math:`B \le U_2 \le \operatorname{Var}(Z)` with B the variance of the group means, and shares of the
variance lie between 0 and 1.

Every number comes as a :class:`~fedparity.laws.bounds.Bracket`: the audit's estimate, and bounds
that the raw data cannot leave. The bounds are proofs, so they hold for all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from fedparity.federated.estimate import Method, mixture_table, mixtures
from fedparity.federated.federation import Federation, takes_federation
from fedparity.functionals.curves import (
    around_mean,
    cdf_table,
    distance_in_table,
    from_center,
    heterogeneities,
    spread,
)
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray, Law, QuantileTable, common_refinement
from fedparity.text import OneLine
from fedparity.uncertainty.certificate import bounds_of_disparity, bounds_of_distance
from fedparity.uncertainty.checks import Evidence
from fedparity.uncertainty.envelopes import Boxes, integrated_extremes
from fedparity.uncertainty.potentials import Pieces, pieces_of

__all__ = ["Magnitudes", "PairMagnitude", "Standardized", "WorstPair", "magnitudes"]

_ROUNDING = 1e-11
"""Bounds are moved outwards by this, relative to them and to the range, against rounding."""


@dataclass(frozen=True, kw_only=True)
class PairMagnitude(OneLine):
    """How far two groups are from each other, in score points."""

    groups: tuple[Group, Group]
    distance: Bracket
    """The Wasserstein distance of order 2."""
    mean_gap: Bracket
    """Mean of the first group minus mean of the second."""

    @property
    def higher(self) -> Group | None:
        """The group whose mean score is higher; None if they are equal."""
        return _higher(self.groups, self.mean_gap)


@dataclass(frozen=True, kw_only=True)
class WorstPair(OneLine):
    """The two groups that are farthest from each other."""

    groups: tuple[Group, Group]
    distance: Bracket
    """The largest distance of all pairs; its bounds hold whichever pair that is."""
    share_of_range: Bracket
    """The same as a share of the score range."""
    mean_gap: Bracket
    """Mean of the first group minus mean of the second."""

    @property
    def higher(self) -> Group | None:
        """The group whose mean score is higher; None if they are equal."""
        return _higher(self.groups, self.mean_gap)


@dataclass(frozen=True, kw_only=True)
class Standardized(OneLine):
    """The worst pair in standard deviations; bounds are infinite where that may be zero."""

    deviation: Bracket
    """The standard deviation of the scores within groups, in score points."""
    mean_gap: Bracket
    """The mean gap of the worst pair, divided by it."""
    distance: Bracket
    """The distance of the worst pair, divided by it."""


@dataclass(frozen=True, kw_only=True)
class Magnitudes(OneLine):
    r"""A disparity as numbers people can read, each with bounds that the raw data cannot leave."""

    points: Bracket
    r"""Score points by which scores must change to make the groups alike, in root mean square:
    :math:`\sqrt{U_2}`."""
    worst_pair: WorstPair
    pairs: tuple[PairMagnitude, ...]
    """Every two groups, in their order."""
    standardized: Standardized
    variance: Bracket
    """The variance of all scores."""
    variance_share: Bracket
    r"""The share of it that the groups explain, rank by rank: :math:`U_2 / \operatorname{Var}(Z)`."""
    location_share: Bracket
    """How much of the disparity is a difference of means, :math:`B / U_2`; 0 if there is none."""
    burden: Mapping[Group, Bracket]
    r"""By group, how far its scores are from the barycenter: :math:`W_2(\nu_s, \nu^*)`."""
    equal_weights: Bracket
    r"""What the disparity would be if all groups were equally large:
    :math:`S^{-2} \sum_{s<t} W_2^2(\nu_s, \nu_t)`. It does not depend on their sizes."""
    cramer_index: Bracket
    r""":math:`H_2 / \int F (1 - F)`: the share of the mean difference of two scores that groups explain."""

    @property
    def shape_share(self) -> Bracket:
        """How much of the disparity is a difference of spread and shape."""
        part = self.location_share
        return Bracket(value=1 - part.value, lower=1 - part.upper, upper=1 - part.lower)

    @property
    def higher(self) -> Group | None:
        """The group of the worst pair whose mean score is higher."""
        return self.worst_pair.higher

    @property
    def differs_in(self) -> Literal["level", "spread"] | None:
        """Whether the groups differ in level or in spread, by the larger part; None if in nothing."""
        if not self.points.value:
            return None
        return "spread" if self.location_share.value < 0.5 else "level"


@takes_federation
def magnitudes(
    federation: Federation,
    method: Method | None = None,
    *,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None = None,
    unseen_total: float | None = None,
) -> Magnitudes:
    r"""Return the magnitudes of a federation's disparity, each with its bounds.

    The estimates are read from the same mixtures as the audit's disparity. An audit of order 1, or
    with trimmed levels, has magnitudes of order 2 of the whole laws all the same.

    Parameters
    ----------
    score_range, unseen, unseen_total
        As in :func:`fedparity.theory.certify`.

    Raises
    ------
    OptionError
        As in :func:`fedparity.theory.certify`.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.2, 0.4, 0.5, 0.9], groups=list("aabb"), silos=[1, 2, 1, 2], levels=1, kind="counts"
    ... )
    >>> found = magnitudes(federation, Method(estimator="exact"), score_range=(0, 1))
    >>> round(found.points.value, 6), round(found.worst_pair.distance.value, 6)
    (0.206155, 0.412311)
    >>> found.higher, found.differs_in, round(found.variance_share.value, 6)
    ('b', 'level', 0.653846)
    """
    method = replace(method or Method(), order=2, trim=0.0)
    evidence = Evidence.from_federation(federation, score_range, unseen, unseen_total)
    known = _Known.from_evidence(evidence)
    read = _Read.from_federation(evidence.federation, method)
    pairs = _pairs(evidence, known, read)
    worst = _worst(pairs, evidence.width)
    deviation = _bracket(math.sqrt(read.within), *map(math.sqrt, known.within), slack=known.slack)
    return Magnitudes(
        points=Bracket(
            value=math.sqrt(read.disparity),
            lower=math.sqrt(known.disparity.lower),
            upper=math.sqrt(known.disparity.upper),
        ),
        worst_pair=worst,
        pairs=pairs,
        standardized=Standardized(
            deviation=deviation,
            mean_gap=_quotient(worst.mean_gap, deviation),
            distance=_quotient(worst.distance, deviation),
        ),
        variance=_bracket(read.variance, *known.variance, slack=known.slack * evidence.width),
        variance_share=_share(
            read.disparity / read.variance if read.variance else 0.0,
            (known.disparity.lower, known.disparity.upper),
            known.variance,
        ),
        location_share=_share(
            read.of_means / read.disparity if read.disparity else 0.0,
            known.of_means,
            (known.disparity.lower, known.disparity.upper),
        ),
        burden=_burdens(evidence, known, read, pairs),
        equal_weights=_equal_weights(pairs, len(federation.groups)),
        cramer_index=_cramer_index(evidence, read),
    )


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What the estimator reads from the sketches, with scores counted from the end of the range."""

    table: QuantileTable
    laws: list[Law]
    shares: FloatArray
    means: FloatArray
    disparity: float
    of_means: float
    within: float

    @property
    def variance(self) -> float:
        return self.within + self.of_means

    @classmethod
    def from_federation(cls, federation: Federation, method: Method) -> _Read:
        table = mixture_table(federation, method)
        laws = list(mixtures(federation, reconstruct=method.estimator == "exact").values())
        means = np.array([law.mean for law in laws])
        shares = federation.shares
        return cls(
            table=table,
            laws=laws,
            shares=shares,
            means=means,
            disparity=spread(table, shares, 2),
            of_means=float(around_mean(means[:, None], shares[:, None], 2)[0]),
            within=_variance_within(federation, table),
        )


def _variance_within(federation: Federation, table: QuantileTable) -> float:
    """The mean variance of groups: bin means and mean squares where they are known."""
    if np.isnan(federation.mean_squares).any():
        widths, values = table
        centered = values - np.sum(values * widths, axis=1, keepdims=True)
        return float(np.sum(federation.shares[:, None] * widths * centered**2))
    laws = mixtures(federation, reconstruct=False).values()
    of_values = [np.sum(law.masses * (law.atoms - law.mean) ** 2) for law in laws]
    inside = np.sum(federation.counts * federation.mean_squares) / np.sum(federation.counts)
    return float(np.sum(federation.shares * of_values) + inside)


@dataclass(frozen=True, kw_only=True)
class _Known:
    """Bounds that several magnitudes share, as pairs of a lower and an upper one."""

    slack: float
    disparity: Bounds
    means: tuple[FloatArray, FloatArray]
    of_means: tuple[float, float]
    within: tuple[float, float]
    variance: tuple[float, float]

    @classmethod
    def from_evidence(cls, evidence: Evidence) -> _Known:
        disparity = bounds_of_disparity(evidence)
        low, high = means = _mean_bounds(evidence)
        least, most = integrated_extremes(
            Boxes(np.ones(1), low[:, None], high[:, None]), evidence.shares, 2, evidence.newcomers
        )
        of_means = min(least, disparity.upper), min(most, disparity.upper)
        within = _bounds_within(evidence)
        widest = evidence.width**2 / 4
        return cls(
            slack=_ROUNDING * evidence.width,
            disparity=disparity,
            means=means,
            of_means=of_means,
            within=within,
            variance=(within[0] + of_means[0], min(within[1] + of_means[1], widest)),
        )


def _mean_bounds(evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    """Bounds of the group means: those of the two laws between which each group lies."""
    envelopes = evidence.envelopes_of_means
    slack = _ROUNDING * evidence.width
    low = np.array([envelope.lower.mean for envelope in envelopes]) - slack
    high = np.array([envelope.upper.mean for envelope in envelopes]) + slack
    return low, high


def _bounds_within(evidence: Evidence) -> tuple[float, float]:
    r"""Bounds of the mean variance of groups.

    Unseen records cannot lower the sum of squares around the group means, and raise it by at most the
    square of the distance from the center of their group's values to the farther end of the range.
    """
    pieces = pieces_of(evidence)
    bounds = np.array([_variance_of(group) for group in pieces])
    lower, upper = (float(np.sum(evidence.shares * side)) for side in bounds.T)
    centers = np.array([np.sum(group.masses * group.values) for group in pieces])
    farther = float(np.maximum(centers, evidence.width - centers).max()) ** 2
    share = evidence.unseen_share
    most = upper + share * max(farther - upper, 0.0)
    return lower * (1 - share), min(most, evidence.width**2 / 4)


def _variance_of(pieces: Pieces) -> tuple[float, float]:
    r"""Bounds of the variance of a group from what is known of its pieces.

    Let c be the mean of the values r. A record X of a piece whose mean is off by e has
    :math:`E(X - c)^2 = (r - c)^2 + 2 e (r - c) + E(X - r)^2`, and is at least as far from c as its
    piece's mean. The variance is the mean of that, less :math:`(EX - c)^2`, which is at most the
    square of the mean error.
    """
    masses, errors = pieces.masses, pieces.errors
    away = np.abs(pieces.values - np.sum(masses * pieces.values))
    off = float(np.sum(masses * errors)) ** 2
    moved = 2 * float(np.sum(masses * errors * away))
    of_values = float(np.sum(masses * away**2))
    nearest = float(np.sum(masses * np.maximum(away - errors, 0.0) ** 2))
    least = max(nearest, of_values - moved + float(pieces.least.sum()))
    return max(least - off, 0.0), of_values + moved + _most_square(pieces)


def _pairs(evidence: Evidence, known: _Known, read: _Read) -> tuple[PairMagnitude, ...]:
    low, high = known.means
    groups = evidence.federation.groups
    found = []
    for i, j in combinations(range(len(groups)), 2):
        certain = bounds_of_distance(evidence.between(i, j))
        found.append(
            PairMagnitude(
                groups=(groups[i], groups[j]),
                distance=Bracket(
                    value=distance_in_table(read.table, 2, (i, j)),
                    lower=certain.lower,
                    upper=certain.upper,
                ),
                mean_gap=Bracket(
                    value=float(read.means[i] - read.means[j]),
                    lower=float(low[i] - high[j]),
                    upper=float(high[i] - low[j]),
                ),
            )
        )
    return tuple(found)


def _worst(pairs: Sequence[PairMagnitude], width: float) -> WorstPair:
    worst = max(pairs, key=lambda pair: pair.distance.value)
    distance = Bracket(
        value=worst.distance.value,
        lower=max(pair.distance.lower for pair in pairs),
        upper=max(pair.distance.upper for pair in pairs),
    )
    return WorstPair(
        groups=worst.groups,
        distance=distance,
        share_of_range=Bracket(
            value=distance.value / width,
            lower=distance.lower / width,
            upper=distance.upper / width,
        ),
        mean_gap=worst.mean_gap,
    )


def _equal_weights(pairs: Sequence[PairMagnitude], groups: int) -> Bracket:
    squares = [
        math.fsum(getattr(pair.distance, end) ** 2 for pair in pairs) / groups**2
        for end in ("value", "lower", "upper")
    ]
    return Bracket(value=squares[0], lower=squares[1], upper=squares[2])


def _burdens(
    evidence: Evidence, known: _Known, read: _Read, pairs: Sequence[PairMagnitude]
) -> dict[Group, Bracket]:
    r"""How far each group is from the barycenter of all, :math:`b_s`.

    Bounds are the best of three: those of the curves, where all records were seen; the identity
    :math:`b_s^2 = \sum_t \alpha_t W_2^2(s, t) - U_2`; and the mean of the distances,
    :math:`b_s \le \sum_t \alpha_t W_2(s, t)` (Minkowski), to which it is equal for two groups.
    """
    groups = evidence.federation.groups
    near, far = (_matrix(pairs, groups, end) for end in ("lower", "upper"))
    estimates = from_center(read.table, read.shares, 2)
    lower, upper = _curve_burdens(evidence)
    lower = np.maximum(lower, _least_mean(near**2, evidence) - known.disparity.upper)
    upper = np.minimum(upper, _most_mean(far**2, evidence) - known.disparity.lower)
    upper = np.minimum(upper, _most_mean(far, evidence) ** 2)
    if len(groups) == 2:
        lower = np.maximum(lower, _least_mean(near, evidence) ** 2)
    ends = (np.sqrt(np.maximum(squares, 0.0)).tolist() for squares in (estimates, lower, upper))
    return {
        group: _bracket(value, least, most, slack=known.slack)
        for group, value, least, most in zip(groups, *ends, strict=True)
    }


def _curve_burdens(evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    r"""Bounds of the squared burdens from the curves of the groups.

    At every level :math:`q_s - \sum_t \alpha_t q_t` lies between the extremes that the envelopes allow.
    Exact means say more: the law of group t is at most :math:`m_t` away from that of its released
    means, the root of its mean square around them, so a burden is at most
    :math:`m_s + \sum_t \alpha_t m_t`, less what counts twice, away from that of the released means.
    """
    shares = evidence.shares
    if evidence.total:
        return np.zeros(shares.size), np.full(shares.size, evidence.width**2)
    if evidence.exact_means:
        laws = list(mixtures(evidence.federation, reconstruct=False).values())
        burdens = np.sqrt(from_center(common_refinement(laws), shares, 2))
        away = np.array([math.sqrt(_most_square(group)) for group in pieces_of(evidence)])
        moves = (1 - 2 * shares) * away + float(np.sum(shares * away))
        return np.maximum(burdens - moves, 0.0) ** 2, (burdens + moves) ** 2
    widths, low, high = Boxes.from_envelopes(evidence.envelopes)
    weights = shares[:, None]
    least = low - (np.sum(weights * high, axis=0) - weights * (high - low))
    most = high - (np.sum(weights * low, axis=0) + weights * (high - low))
    nearest = np.maximum(np.maximum(least, -most), 0.0)
    farthest = np.maximum(np.abs(least), np.abs(most))
    return np.sum(widths * nearest**2, axis=1), np.sum(widths * farthest**2, axis=1)


def _most_square(pieces: Pieces) -> float:
    """The largest mean square of a group's records around the values of their pieces."""
    return min(float(pieces.most.sum()), float(np.sum(pieces.masses * pieces.squares)))


def _matrix(pairs: Sequence[PairMagnitude], groups: Sequence[Group], end: str) -> FloatArray:
    """One end of the bounds of the distances between all groups, by group twice."""
    matrix = np.zeros((len(groups), len(groups)))
    for pair, (i, j) in zip(pairs, combinations(range(len(groups)), 2), strict=True):
        matrix[i, j] = matrix[j, i] = getattr(pair.distance, end)
    return matrix


def _least_mean(rows: FloatArray, evidence: Evidence) -> FloatArray:
    """The least mean of each row over all groups, whatever their shares may be."""
    mean: FloatArray = np.sum(rows * evidence.shares, axis=1) * (1 - evidence.unseen_share)
    return mean


def _most_mean(rows: FloatArray, evidence: Evidence) -> FloatArray:
    """The largest mean of each row over all groups, whatever their shares may be."""
    mean: FloatArray = np.sum(rows * evidence.shares, axis=1)
    largest: FloatArray = mean + evidence.unseen_share * np.maximum(rows.max(axis=1) - mean, 0.0)
    return largest


def _cramer_index(evidence: Evidence, read: _Read) -> Bracket:
    """The Cramér index, with bounds from what the envelopes allow of all cdfs at every score."""
    table = cdf_table(read.laws)
    widths, values = table
    between = float(heterogeneities(table, read.shares, 2))
    pooled = np.sum(read.shares[:, None] * values, axis=0)
    whole = float(np.sum(widths * pooled * (1 - pooled)))
    upper, lower = zip(*evidence.envelopes, strict=True)  # lower scores have higher cdfs
    widths, values = cdf_table([*lower, *upper])
    boxes = Boxes(widths, *np.split(values, 2))
    return _share(
        between / whole if whole else 0.0,
        integrated_extremes(boxes, evidence.shares, 2, evidence.newcomers),
        _bounds_of_difference(boxes, evidence),
    )


def _bounds_of_difference(boxes: Boxes, evidence: Evidence) -> tuple[float, float]:
    """Bounds of the integral of F (1 - F) for the cdf F of all records."""
    widths, low, high = boxes
    weights, share = evidence.shares[:, None], evidence.unseen_share
    least = (1 - share) * np.sum(weights * low, axis=0) + share * low.min(axis=0)
    most = (1 - share) * np.sum(weights * high, axis=0) + share * high.max(axis=0)
    middle = np.clip(0.5, least, most)
    smallest = np.minimum(least * (1 - least), most * (1 - most))
    return float(np.sum(widths * smallest)), float(np.sum(widths * middle * (1 - middle)))


def _higher(groups: tuple[Group, Group], mean_gap: Bracket) -> Group | None:
    if not mean_gap.value:
        return None
    return groups[0] if mean_gap.value > 0 else groups[1]


def _bracket(value: float, lower: float, upper: float, *, slack: float) -> Bracket:
    """A magnitude that is not negative, with its bounds moved outwards against rounding."""
    return Bracket(
        value=value,
        lower=max(0.0, lower * (1 - _ROUNDING) - slack),
        upper=upper * (1 + _ROUNDING) + slack,
    )


def _share(value: float, part: tuple[float, float], whole: tuple[float, float]) -> Bracket:
    """A part of a whole that is at least as large, each known up to bounds."""
    lower = part[0] / whole[1] if whole[1] > 0 else 0.0
    upper = part[1] / whole[0] if whole[0] > part[1] else 1.0
    return Bracket(
        value=min(value, 1.0),
        lower=max(0.0, min(1.0, lower) - _ROUNDING),
        upper=min(1.0, upper + _ROUNDING),
    )


def _quotient(length: Bracket, deviation: Bracket) -> Bracket:
    """A length, or a signed gap, in units of a deviation; without limit where that may be zero."""
    largest = math.inf if deviation.lower <= 0 else 1 / deviation.lower
    least = 1 / deviation.upper
    return Bracket(
        value=_over(length.value, deviation.value),
        lower=length.lower * (least if length.lower > 0 else largest) if length.lower else 0.0,
        upper=length.upper * (largest if length.upper > 0 else least) if length.upper else 0.0,
    )


def _over(length: float, deviation: float) -> float:
    if not length:
        return 0.0
    return length / deviation if deviation else math.copysign(math.inf, length)
