"""What a sketch should hold, by sorting Python objects and adding fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction


def exact_sketch(
    scores: Iterable[float], weights: Iterable[float] | None, levels: int, kind: str
) -> tuple[float, list[float]] | None:
    """Return the total mass and the numbers of one group, or None if nobody counts."""
    values = [float(score) + 0.0 for score in scores]
    masses = [1] * len(values) if weights is None else list(weights)
    records = sorted((v, Fraction(m)) for v, m in zip(values, masses, strict=True) if m > 0)
    if not records:
        return None
    total = sum((mass for _, mass in records), Fraction(0))
    read = _quantiles if kind == "quantile" else _means
    return float(total), read(records, total, levels)


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


def _means(records: Sequence[tuple[float, Fraction]], total: Fraction, levels: int) -> list[float]:
    """The mean over each bin; bins cut through a record take their part of it."""
    sums = [Fraction(0)] * levels
    running = Fraction(0)
    for score, mass in records:
        start, stop = running * levels / total, (running + mass) * levels / total
        for bin_ in range(int(start), min(levels, int(stop) + 1)):
            part = min(stop, bin_ + 1) - max(start, bin_)
            sums[bin_] += Fraction(score) * max(part, 0)
        running += mass
    return [value.numerator / value.denominator + 0.0 for value in sums]
