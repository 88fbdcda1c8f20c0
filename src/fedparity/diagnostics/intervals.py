r"""Confidence intervals of measures that cannot be negative.

A disparity is a squared length. Estimated from a sample it is biased upwards, most near zero: noise
has a length too. So the interval is not read off the redraws directly. It holds every value g that
could have produced the observed one: redraws tell how the estimate would scatter if the true
curves were the estimated ones shrunk or stretched to length g,

.. math:: T(g) = g + 2 \sqrt{g / \hat\theta} \, A + B,

with B the length of the redrawn noise and A its product with the estimated curves (order 2; for
order 1 the straight line from the noise at g = 0 to the redraws at the estimate). Curves of scores on a
coarse grid move by whole steps, so lengths change with the first power of the noise, not its
square: then T(g) goes from the noise at g = 0 to the redraws at the estimate, both in order of size. The value g
is kept if the observed one lies in the central part of T(g). At g = 0 the whole error
probability is put on observing too much, since one cannot observe too little there; it moves to both
sides in equal parts as g leaves zero. Every g then keeps the same probability.
"""

from __future__ import annotations

import math

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.laws.bounds import Interval

__all__ = [
    "basic_interval",
    "interval_of_difference",
    "interval_of_length",
    "p_value",
]

_CANDIDATES = 500
_FEW, _STUDENT = 20, 2.2
"""Below so many redraws, this many of their standard deviations (Student's law, 11 degrees)."""


def interval_of_length(
    observed: float,
    base: float,
    redrawn: FloatArray,
    noise: FloatArray | None,
    null: FloatArray,
    *,
    confidence: float,
    order: int,
) -> Interval:
    """Return the values of a non-negative measure that explain the ``observed`` one.

    ``base`` is the measure around which ``redrawn`` scatter; ``noise`` is the measure of the
    redrawn noise alone, None where curves move by steps; ``null`` that of noise around one common law.
    """
    if noise is None:
        redrawn, noise = np.sort(redrawn), (null := np.sort(null))
    candidates = _candidates(observed, base, redrawn, null)
    product = (redrawn - base - noise) / 2
    scattered = _scatter(candidates, base, product, null, order)
    error = 1 - confidence
    away = np.minimum(candidates / max(float(np.quantile(null, confidence)), 1e-300), 1.0)
    too_much = error * (1 - away / 2)
    share_above = _share(scattered >= observed)
    share_below = _share(scattered <= observed)
    kept = candidates[(share_above >= too_much) & (share_below >= error - too_much)]
    if kept.size == 0:  # hardly any redraws: nothing fits exactly
        return Interval(observed, observed)
    return Interval(float(kept[0]), float(kept[-1]))


def basic_interval(
    observed: float, base: float, redrawn: FloatArray, confidence: float
) -> Interval:
    """Return the interval of a measure of any sign: the redraws, turned around the estimate.

    It holds the estimate. A handful of redraws tell no quantiles, only how far they scatter.
    """
    moved = redrawn - base
    if moved.size < _FEW:
        reach = _STUDENT * float(moved.std(ddof=1))
        low, high = float(moved.mean()) - reach, float(moved.mean()) + reach
    else:
        low, high = np.quantile(moved, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return Interval(min(observed - high, observed), max(observed - low, observed))


def interval_of_difference(
    first: float, first_interval: Interval, second: float, second_interval: Interval
) -> Interval:
    r"""Return the interval of a difference from those of its two parts.

    The method of variance estimates recovery: the limits of both lie as far from their
    estimates as their errors reach on that side, and errors add like standard deviations,
    :math:`L = a - b - \sqrt{(a - l_a)^2 + (u_b - b)^2}`, and U likewise.
    """
    difference = first - second
    below = math.hypot(first - first_interval.lower, second_interval.upper - second)
    above = math.hypot(first_interval.upper - first, second - second_interval.lower)
    return Interval(difference - below, difference + above)


def p_value(observed: float, null: FloatArray) -> float:
    """Return how often noise alone is at least as large as what was observed."""
    return float((1 + np.count_nonzero(null >= observed)) / (1 + null.size))


def _candidates(observed: float, base: float, redrawn: FloatArray, null: FloatArray) -> FloatArray:
    """Zero, and values as far from the observed one as any redraw could explain."""
    reach = 1.5 * float(np.abs(redrawn - base).max()) + float(null.max())
    around = np.linspace(max(0.0, observed - reach), observed + 2 * reach, _CANDIDATES)
    return np.concatenate(([0.0], around))


def _scatter(
    candidates: FloatArray, base: float, product: FloatArray, null: FloatArray, order: int
) -> FloatArray:
    """The redrawn measure (columns) if the truth were each candidate (rows)."""
    truth = candidates[:, None]
    if base <= 0:
        return truth + null
    pull = 2 * np.sqrt(truth / base) if order == 2 else np.minimum(truth / base, 1.0) * 2
    scattered = pull * product
    scattered += truth  # in place: fresh memory of this size costs more than the sums
    scattered += null
    return scattered


def _share(hits: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> FloatArray:
    """Share of hits in each row, counting the observation itself as one of them."""
    share: FloatArray = (1 + np.count_nonzero(hits, axis=1)) / (1 + hits.shape[1])
    return share
