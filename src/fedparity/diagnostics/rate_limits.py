"""Limits of the rates of several groups, and of the difference and ratio of every pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fedparity.diagnostics.brackets import Bracket
from fedparity.diagnostics.intervals import Interval
from fedparity.diagnostics.proportions import difference_lower, proportion_limits, ratio_lower
from fedparity.laws.arrays import FloatArray

__all__ = ["RateLimits", "rate_limits", "tails"]


class RateLimits(NamedTuple):
    """Limits of the population's rates, and of every pair of them (row compared with column)."""

    least: FloatArray
    most: FloatArray
    differences: FloatArray
    """Lower limits; the upper ones are minus those of the pair turned around."""
    ratios: FloatArray
    """Lower limits; the upper ones are the inverse of those of the pair turned around."""

    def rate(self, group: int) -> Interval:
        """Return the limits of one rate."""
        return Interval(float(self.least[group]), float(self.most[group]))

    def difference(self, one: int, other: int) -> Interval:
        """Return the limits of one rate minus another."""
        return Interval(float(self.differences[one, other]), float(-self.differences[other, one]))

    def ratio(self, one: int, other: int) -> Interval:
        """Return the limits of one rate divided by another; the upper one may be infinite."""
        inverse = float(self.ratios[other, one])
        return Interval(float(self.ratios[one, other]), 1 / inverse if inverse else math.inf)


def tails(confidence: float, groups: int) -> tuple[float, float]:
    """Return how often a limit may miss: one by itself, and one among those of all pairs.

    Examples
    --------
    >>> [round(tail, 4) for groups in (2, 3, 6) for tail in tails(0.95, groups)]
    [0.025, 0.025, 0.025, 0.0167, 0.025, 0.0033]
    """
    error = 1 - confidence
    return error / 2, min(error / 2, error / math.comb(groups, 2))


def rate_limits(
    rates: Sequence[Bracket], sizes: FloatArray, tail: float, moved: FloatArray | None = None
) -> RateLimits:
    """Return the limits that miss with probability ``tail`` each, or more rarely.

    They are those of samples at the ends of the brackets: a lower limit rises with the rate of
    the sample, so the one at the lower end is below that of the raw data, whatever they are.

    Parameters
    ----------
    rates : sequence of Bracket
    sizes : array
        How many equally weighted records each group's sample amounts to.
    tail : float in (0, 0.5)
    moved : array of any number of rows by groups, optional
        The rates at thresholds at which the one that was estimated may lie as well. A number is
        then as far off as sampling at a known threshold and the move of the threshold, taken
        together in quadrature. They are not independent, but what records raise the threshold also
        raises the shares above a fixed one, which cancels in part.
    """
    value, low, high = (
        np.array([getattr(rate, name) for rate in rates]) for name in ("value", "lower", "upper")
    )
    least, most = proportion_limits(low, high, sizes, tail)
    differences = difference_lower(low[:, None], least[:, None], high, most)
    ratios = ratio_lower(low[:, None], least[:, None], high, most)
    if moved is None:
        return RateLimits(least, most, differences, ratios)
    return RateLimits(
        np.maximum(_lowered(low, least, value, moved), 0.0),
        np.minimum(-_lowered(-high, -most, -value, -moved), 1.0),
        _lowered(_gaps(low, high), differences, _gaps(value, value), _gaps(moved, moved)),
        np.maximum(
            _lowered(
                _quotients(low, high), ratios, _quotients(value, value), _quotients(moved, moved)
            ),
            0.0,
        ),
    )


def _lowered(
    end: FloatArray, limit: FloatArray, value: FloatArray, moved: FloatArray
) -> FloatArray:
    """A lower limit below ``end`` that counts the fall of the value as the threshold moves."""
    fall = np.maximum(value - moved.min(axis=0), 0.0)
    lowered: FloatArray = end - np.hypot(end - limit, fall)
    return lowered


def _gaps(rates: FloatArray, others: FloatArray) -> FloatArray:
    gaps: FloatArray = rates[..., :, None] - others[..., None, :]
    return gaps


def _quotients(rates: FloatArray, others: FloatArray) -> FloatArray:
    """Every quotient along the last axis; zero where it is one to zero."""
    above, below = np.broadcast_arrays(rates[..., :, None], others[..., None, :])
    quotients: FloatArray = np.divide(above, below, out=np.zeros(above.shape), where=below > 0)
    return quotients
