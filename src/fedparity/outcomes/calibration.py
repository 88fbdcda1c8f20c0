r"""Outcomes by public bins of the score: observed rates, expected calibration error, Brier score.

Bins are half open, but for the last. Where cells count their records at the edges, the observed rates
are exact; the mean score of a bin is known as far as the sketches tell. With :math:`S(x)` records at or
above x, the scores of the bin [a, b) add up to

.. math:: \sum (z - a) = \int_a^b [S(x) - S(b)] \, dx ,

and S lies between those of two laws, and between S(b) and S(a).

The expected calibration error :math:`\sum_b \frac{n_b}{n} |p_b - \bar z_b|` and the Brier score
:math:`E(Z - Y)^2` take scores for probabilities, so they need a range inside [0, 1]. The second needs no
bins: :math:`(1 - z)^2` falls with the score of a positive, and :math:`z^2` rises with that of a negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from fedparity.documents.outcome_parts import CalibrationBin, CalibrationResult
from fedparity.documents.outcome_parts import Known as KnownNumber
from fedparity.documents.result_parts import Sampled
from fedparity.federated.federation import Federation
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray, Law
from fedparity.outcomes.discrimination import Discrimination
from fedparity.outcomes.error_rates import (
    Flagged,
    RateTable,
    Shared,
    Side,
    is_there,
    limited,
    share_of,
)
from fedparity.thresholds.rates import records_above
from fedparity.uncertainty.checks import Known

__all__ = [
    "InBins",
    "are_probabilities",
    "bin_rates",
    "brier_score",
    "calibrated",
    "calibration",
    "edges_of",
    "noise_reach",
]

_ROUNDING = 1e-12


def are_probabilities(score_range: tuple[float, float]) -> bool:
    """Return whether scores can be taken for probabilities."""
    return score_range[0] >= 0 and score_range[1] <= 1


def edges_of(bins: Sequence[float], score_range: tuple[float, float]) -> tuple[float, ...]:
    """Return the edges of the bins with the ends of the range; none without inner edges."""
    low, high = score_range
    inner = sorted({float(edge) for edge in bins if low < edge < high})
    return (low, *inner, high) if inner else ()


class InBins(NamedTuple):
    """The records of one outcome in public bins, from those at or above each inner edge."""

    flagged: Sequence[Flagged]

    def side(self, group: int, number: int) -> Side:
        """Return the records of a group in a bin."""
        low, high = self._from(group, number), self._from(group, number + 1)
        noise = low.noise - high.noise
        fewest, value, most = low.least - high.most, low.value - high.value, low.most - high.least
        if not noise:
            fewest = max(0.0, fewest)
            most = max(fewest, most)
        return low._replace(
            least=fewest, value=min(max(value, fewest), most), most=most, noise=noise
        )

    def _from(self, group: int, edge: int) -> Side:
        """The records of a group at or above an edge: all of them above the first, none above the last."""
        nearest = self.flagged[min(max(edge - 1, 0), len(self.flagged) - 1)]
        above = nearest.side(group, above=True)
        if 0 < edge <= len(self.flagged):
            return above
        if edge:
            return above._replace(least=0.0, value=0.0, most=0.0, noise=0.0)
        total = float(nearest.totals[group])
        return above._replace(least=total, value=total, most=total, noise=sum(nearest.noise))

    def reach(self, group: int, number: int) -> tuple[Bounds, Bounds]:
        """Return the records at or above both ends of a bin, each as bounds."""
        low, high = (self._from(group, edge) for edge in (number, number + 1))
        return Bounds(low.least, low.most), Bounds(high.least, high.most)


def bin_rates(positives: InBins, negatives: InBins, number: int) -> RateTable:
    """Return the observed rate of each group in a bin: the predictive value of a score there."""
    groups = positives.flagged[0].groups
    pairs = [
        (positives.side(place, number), negatives.side(place, number))
        for place in range(len(groups))
    ]
    return RateTable(
        "ppv",
        {
            group: share_of(*pair) if is_there(*pair) else None
            for group, pair in zip(groups, pairs, strict=True)
        },
    )


def calibration(
    positives: Federation,
    negatives: Federation,
    laws: Mapping[Group, Discrimination],
    *,
    edges: Sequence[float],
    score_range: tuple[float, float],
    unseen: tuple[Mapping[Group, float] | None, Mapping[Group, float] | None],
    confidence: float,
) -> tuple[CalibrationResult, ...]:
    """Return the observed rates and mean scores of each group by bin, and how far they are apart.

    Intervals of rates hold one by one; that of the expected calibration error is made of limits that
    hold in all bins at once, and takes the shares of the bins for known.
    """
    outcomes = [
        InBins(
            [
                Flagged.from_cells(federation, records_above(federation, edge, score_range), more)
                for edge in edges[1:-1]
            ]
        )
        for federation, more in zip((positives, negatives), unseen, strict=True)
    ]
    number = len(edges) - 1
    return tuple(
        calibrated(
            group,
            [[each.side(position, b) for each in outcomes] for b in range(number)],
            [
                _mean_score(outcomes, laws[group], position, b, edges[b : b + 2])
                for b in range(number)
            ],
            score_range=score_range,
            confidence=confidence,
        )
        for position, group in enumerate(positives.groups)
    )


def calibrated(
    group: Group,
    sides: Sequence[Sequence[Side]],
    means: Sequence[Sampled | None],
    *,
    score_range: tuple[float, float],
    confidence: float,
) -> CalibrationResult:
    """Return the rates of a group from its positives and negatives in each bin, with mean scores."""
    tail = (1 - confidence) / 2
    shares = [share_of(*pair) if is_there(*pair) else None for pair in sides]
    return CalibrationResult(
        group=group,
        bins=tuple(
            CalibrationBin(
                n=_records(pair),
                rate=None if share is None else limited(share, tail),
                mean_score=mean,
            )
            for pair, share, mean in zip(sides, shares, means, strict=True)
        ),
        ece=_ece(sides, shares, means, tail) if are_probabilities(score_range) else None,
    )


def _records(pair: Sequence[Side]) -> Sampled:
    """How many records a bin has; with noise, at the confidence of the sides."""
    reach = noise_reach(pair)
    lower, value, upper = (
        max(0.0, sum(getattr(side, name) for side in pair) + off)
        for name, off in (("least", -reach), ("value", 0.0), ("most", reach))
    )
    return Sampled(value=value, lower=lower, upper=upper, interval=Bounds(lower, upper))


def _mean_score(
    outcomes: Sequence[InBins],
    laws: Discrimination,
    group: int,
    number: int,
    ends: Sequence[float],
) -> Sampled | None:
    """The mean score of a group's records in a bin; ``None`` if there may be no record."""
    sides = [outcome.side(group, number) for outcome in outcomes]
    fewest, most = (sum(getattr(side, name) for side in sides) for name in ("least", "most"))
    if fewest <= 0:
        return None
    low, high = ends
    totals = np.zeros(3)
    for outcome, known in zip(outcomes, (laws.positives, laws.negatives), strict=True):
        at_low, at_high = outcome.reach(group, number)
        total = float(outcome.flagged[0].totals[group])
        sums = [
            _integral(law, ends, total, at_high.lower, at_low.upper)
            for law in (known.envelope.lower, known.law, known.envelope.upper)
        ]
        middle = (at_high.lower + at_high.upper) / 2
        totals += np.array(sums) - (high - low) * np.array([at_high.upper, middle, at_high.lower])
    slack = _ROUNDING * (high - low)
    lower = min(max(low, low + totals[0] / most - slack), high)
    upper = max(min(high, low + totals[2] / fewest + slack), lower)
    records = max(sum(side.value for side in sides), fewest)
    value = min(max(low + totals[1] / records, lower), upper)
    return Sampled(value=value, lower=lower, upper=upper, interval=Bounds(lower, upper))


def _integral(law: Law, ends: Sequence[float], total: float, least: float, most: float) -> float:
    """The records at or above x, between ``least`` and ``most``, integrated from end to end."""
    low, high = ends
    inside = law.atoms[(law.atoms > low) & (law.atoms < high)]
    points = np.concatenate(([low], inside, [high]))
    running = np.concatenate(([0.0], law.cumulative))
    above = total * (1 - running[np.searchsorted(law.atoms, points[1:], side="left")])
    return float(np.sum(np.diff(points) * np.clip(above, least, most)))


def noise_reach(pair: Sequence[Side]) -> float:
    """Return how far the noise of both sides may have moved their sum."""
    noise = sum(side.noise for side in pair)
    return NormalDist().inv_cdf(1 - pair[0].tail) * math.sqrt(noise) if noise else 0.0


def _ece(
    sides: Sequence[Sequence[Side]],
    shares: Sequence[Shared | None],
    means: Sequence[Sampled | None],
    tail: float,
) -> Sampled:
    """Add up how far rates are from mean scores; a bin that may be empty counts nothing at least."""
    together = tail / len(shares)
    everyone = sum(side.value for pair in sides for side in pair)
    value = lower = upper = least = most = 0.0
    for pair, share, mean in zip(sides, shares, means, strict=True):
        found = _records(pair)
        fewest, records, largest = (
            each / everyone for each in (found.lower, found.value, found.upper)
        )
        if share is None or mean is None:
            upper, most = upper + largest, most + largest
            continue
        limits = share.limits(together)
        near, far = _apart(share.bracket, mean)
        nearest, farthest = _apart(limits, mean)
        value += records * abs(share.bracket.value - mean.value)
        lower, upper = lower + fewest * near, upper + largest * far
        least, most = least + fewest * nearest, most + largest * farthest
    upper, most = min(upper, 1.0), min(most, 1.0)
    value = min(max(value, lower), upper)
    return Sampled(
        value=value, lower=lower, upper=upper, interval=Bounds(min(least, lower), max(most, upper))
    )


def _apart(one: Bounds, other: Bounds) -> tuple[float, float]:
    """The least and the largest distance of two numbers in bounds."""
    nearest = max(0.0, one.lower - other.upper, other.lower - one.upper)
    return nearest, max(one.upper - other.lower, other.upper - one.lower)


def brier_score(
    found: Discrimination,
    records: tuple[float, float],
    unseen: tuple[float, float],
    confidence: float,
) -> KnownNumber:
    """Return the mean squared distance of scores and outcomes.

    The interval adds to the bracket how far the mean of a sample may be off, by Student's law.
    """
    positives, negatives = found.positives, found.negatives
    total = sum(records)
    parts = [
        (_mean(positives.law, _missed), _mean(negatives.law, np.square)),
        (_mean(positives.envelope.upper, _missed), _mean(negatives.envelope.lower, np.square)),
        (_mean(positives.envelope.lower, _missed), _mean(negatives.envelope.upper, np.square)),
    ]
    value, lower, upper = (
        sum(n * part for n, part in zip(records, pair, strict=True)) / total for pair in parts
    )
    slack = _slack(positives) + _slack(negatives)
    lower, upper = max(0.0, lower - slack), min(1.0, upper + slack)
    value = min(max(value, lower), upper)
    squares = [
        _mean(positives.law, lambda z: _missed(z) ** 2),
        _mean(negatives.law, lambda z: np.square(z) ** 2),
    ]
    spread = max(
        0.0, sum(n * part for n, part in zip(records, squares, strict=True)) / total - value**2
    )
    size = sum(found.sizes)
    reach = _student(confidence, size) * math.sqrt(spread / max(size - 1, 1.0))
    more = sum(unseen)
    outer = Bounds(0.0, 1.0)
    if math.isfinite(more):
        outer = Bounds(lower * total / (total + more), (upper * total + more) / (total + more))
    return KnownNumber(
        value=value,
        lower=lower,
        upper=upper,
        interval=Bounds(max(0.0, lower - reach), min(1.0, upper + reach)),
        outer=Bounds(min(outer.lower, lower), max(outer.upper, upper)),
    )


def _missed(scores: FloatArray) -> FloatArray:
    missed: FloatArray = (1 - scores) ** 2
    return missed


def _mean(law: Law, function: Callable[[FloatArray], FloatArray]) -> float:
    return float(np.sum(law.masses * function(law.atoms)))


def _slack(known: Known) -> float:
    return known.slack + _ROUNDING


def _student(confidence: float, size: float) -> float:
    """The quantile of Student's law, by the first term of its expansion around the normal one."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return z + (z**3 + z) / (4 * max(size - 1, 1.0))
