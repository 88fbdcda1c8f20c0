"""What a sketch should hold, by sorting Python objects and adding fractions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction


def exact_sketch(
    scores: Iterable[float], weights: Iterable[float] | None, levels: int, kind: str
) -> tuple[float, list[float]] | None:
    """Return the total mass and the numbers of one group, or None if nobody counts."""
    records = _records(scores, weights)
    if not records:
        return None
    total = _total(records)
    if kind == "quantile":
        return float(total), _quantiles(records, total, levels)
    return float(total), [_rounded(mean) + 0.0 for mean in _means(records, total, levels)]


def exact_inside(
    scores: Iterable[float], weights: Iterable[float] | None, levels: int
) -> float | None:
    """Return the mean square of the scores less that of the bin means, rounded once."""
    records = _records(scores, weights)
    if not records:
        return None
    total = _total(records)
    square = sum((mass * Fraction(score) ** 2 for score, mass in records), Fraction(0)) / total
    means = _means(records, total, levels)
    return _rounded(square - sum(mean**2 for mean in means) / levels)


def exact_above(
    scores: Iterable[float], weights: Iterable[float] | None, thresholds: Iterable[float]
) -> tuple[float, ...] | None:
    """Return the mass at or above each threshold, rounded once."""
    records = _records(scores, weights)
    if not records:
        return None
    return tuple(
        float(_total([record for record in records if record[0] >= threshold]))
        for threshold in thresholds
    )


def exact_counts(
    scores: Iterable[float], weights: Iterable[float] | None, points: Iterable[float]
) -> list[float] | None:
    """Return the mass at each point, rounded once."""
    records = _records(scores, weights)
    if not records:
        return None
    return [
        float(_total([record for record in records if record[0] == point])) for point in points
    ]


def exact_effective(weights: Iterable[float]) -> float:
    """Return how many equally weighted records the weights amount to, rounded once; 0 if to none."""
    masses = [Fraction(weight) for weight in weights]
    squares = sum(mass**2 for mass in masses)
    return float(sum(masses) ** 2 / squares) if squares else 0.0


def _records(
    scores: Iterable[float], weights: Iterable[float] | None
) -> list[tuple[float, Fraction]]:
    """The scores of those who count, in order, with their masses."""
    values = [float(score) + 0.0 for score in scores]
    masses = [1] * len(values) if weights is None else list(weights)
    return sorted((v, Fraction(m)) for v, m in zip(values, masses, strict=True) if m > 0)


def _total(records: Iterable[tuple[float, Fraction]]) -> Fraction:
    return sum((mass for _, mass in records), Fraction(0))


def _rounded(value: Fraction) -> float:
    """The nearest float; a quotient of whole numbers is rounded once."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf


def _quantiles(
    records: Sequence[tuple[float, Fraction]], total: Fraction, levels: int
) -> list[float]:
    """The lowest score up to which the share u_l of the mass lies."""
    found, running = [], Fraction(0)
    wanted = [total * (2 * level - 1) / (2 * levels) for level in range(1, levels + 1)]
    for score, mass in records:
        running += mass
        while len(found) < levels and running >= wanted[len(found)]:
            found.append(score)
    return found


def _means(
    records: Sequence[tuple[float, Fraction]], total: Fraction, levels: int
) -> list[Fraction]:
    """The mean over each bin; bins cut through a record take their part of it."""
    sums = [Fraction(0)] * levels
    running = Fraction(0)
    for score, mass in records:
        start, stop = running * levels / total, (running + mass) * levels / total
        for bin_ in range(int(start), min(levels, int(stop) + 1)):
            part = min(stop, bin_ + 1) - max(start, bin_)
            sums[bin_] += Fraction(score) * max(part, 0)
        running += mass
    return sums
