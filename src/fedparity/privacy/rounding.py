"""Rounding of released values to a public grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fedparity.laws.arrays import FloatArray

__all__ = ["round_values", "rounding_error"]

_EXACT = 2**53
"""Whole numbers up to here are floats, and the quotient of two is rounded once."""
_NEAR_TIE = 1e-4
"""Nearer to a tie than this, a float's position between two points of the grid is not trusted."""


def round_values(
    values: FloatArray, score_range: tuple[float, float], rounding: float
) -> FloatArray:
    r"""Return the values moved to the nearest point of the grid, ties to the even one.

    The grid has the points :math:`a + i \, \rho (b - a)` for whole i, and the end b where a value
    would be moved beyond it. All three numbers are read as the decimals they print as, so that
    the result is the float of a decimal number: 0.123, not 0.12300000000000001. No value moves
    by more than :func:`rounding_error`; order is kept; rounding twice changes nothing.

    Parameters
    ----------
    values : array of numbers in the range
    score_range : pair of numbers
        The public bounds a and b.
    rounding : float
        The share :math:`\rho` of the range; 0 leaves the values as they are.

    Examples
    --------
    >>> round_values(np.array([0.12345, 0.9996]), (0.0, 1.0), 0.001)
    array([0.123, 1.   ])
    """
    if not rounding:
        return values
    grid = _Grid.of(score_range, rounding)
    rounded = grid.fast(values) if grid.fits else grid.exact(values)
    return np.clip(rounded, *score_range) + 0.0  # no negative zero


def rounding_error(score_range: tuple[float, float], rounding: float) -> float:
    """Return how far from its value a rounded one may be: half a step, rounded upwards.

    Examples
    --------
    >>> rounding_error((0.0, 1.0), 0.0), round(rounding_error((0.0, 1.0), 0.001), 12)
    (0.0, 0.0005)
    """
    if not rounding:
        return 0.0
    low, high = score_range
    return rounding * (high - low) / 2 + 4 * math.ulp(max(abs(low), abs(high)))


@dataclass(frozen=True)
class _Grid:
    """The points low + i·step, as whole numbers over a common denominator."""

    low: int
    high: int
    step: int
    denominator: int

    @classmethod
    def of(cls, score_range: tuple[float, float], rounding: float) -> _Grid:
        low, high, share = (_decimal(number) for number in (*score_range, rounding))
        step = share * (high - low)
        denominator = math.lcm(low.denominator, high.denominator, step.denominator)
        low, high, step = low * denominator, high * denominator, step * denominator
        return cls(int(low), int(high), int(step), denominator)

    @property
    def fits(self) -> bool:
        """Whether floats hold the whole numbers, and positions to far below ``_NEAR_TIE``."""
        largest = max(abs(self.low), abs(self.high)) + self.step
        return max(largest, self.denominator) < _EXACT and largest < self.step << 32

    def fast(self, values: FloatArray) -> FloatArray:
        """Round all values at once, and those near a tie one by one."""
        position = (values - self.low / self.denominator) / (self.step / self.denominator)
        rounded: FloatArray = (self.low + np.rint(position) * self.step) / self.denominator
        unsure = np.abs(position - np.floor(position) - 0.5) < _NEAR_TIE
        rounded[unsure] = self.exact(values[unsure])
        return rounded

    def exact(self, values: FloatArray) -> FloatArray:
        return np.array([self._nearest(value) for value in values.tolist()], dtype=np.float64)

    def _nearest(self, value: float) -> float:
        steps = round((_decimal(value) * self.denominator - self.low) / self.step)
        return float(Fraction(self.low + steps * self.step, self.denominator))


def _decimal(number: float) -> Fraction:
    """The decimal number that a float prints as."""
    return Fraction(repr(float(number)))
