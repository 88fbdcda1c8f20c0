"""Rounding of released numbers to public grids."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import BoolArray, FloatArray

__all__ = [
    "SHARED",
    "Grid",
    "decimal",
    "grid_of_shares",
    "grid_of_steps",
    "largest_mean_square",
    "mean_square_error",
    "mean_square_step",
    "round_mean_square",
    "round_to_points",
    "round_values",
    "rounding_error",
    "score_points",
    "whole_steps",
]

_EXACT = 2**53
"""Whole numbers up to here are floats, and the quotient of two is rounded once."""
_NEAR_TIE = 1e-4
"""Nearer to a tie than this, a float's position between two points of the grid is not trusted."""
Number = TypeVar("Number", float, FloatArray)

SHARED = 10
"""The mean square is rounded so that it discloses no more of a record than a mean of this many records does."""


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
    return grid_of_shares(score_range, rounding).nearest(values, score_range)


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


def whole_steps(score_range: tuple[float, float], step: float) -> int | None:
    """Return how many steps the range is long, or None if that is not a whole number.

    All three numbers are read as the decimals they print as.

    Examples
    --------
    >>> whole_steps((1.0, 10.0), 1.0), whole_steps((0.0, 1.0), 0.1), whole_steps((0.0, 1.0), 0.3)
    (9, 10, None)
    """
    low, high = map(decimal, score_range)
    steps = (high - low) / decimal(step)
    return int(steps) if steps.denominator == 1 else None


def score_points(score_range: tuple[float, float], step: float) -> FloatArray:
    """Return the scores low, low + step, ... up to high: the float of each decimal number.

    Examples
    --------
    >>> score_points((0.0, 0.5), 0.1)
    array([0. , 0.1, 0.2, 0.3, 0.4, 0.5])
    """
    grid = grid_of_steps(score_range, step)
    return grid.points(np.arange((grid.high - grid.low) // grid.step + 1))


def round_to_points(
    values: FloatArray, score_range: tuple[float, float], step: float
) -> FloatArray:
    """Return the nearest of the :func:`score_points` to each value in the range.

    Examples
    --------
    >>> round_to_points(np.array([0.1 + 0.2, 0.44]), (0.0, 1.0), 0.1).tolist()
    [0.3, 0.4]
    """
    return grid_of_steps(score_range, step).nearest(values, score_range)


def round_mean_square(
    value: Number,
    *,
    values: FloatArray,
    count: float | FloatArray,
    score_range: tuple[float, float],
    rounding: float,
) -> Number:
    r"""Return the mean square of a cell moved to a multiple of its step.

    The step is :math:`20 \, \rho (b - a) w / n`, where w is the farthest that a record can be from
    the value of its bin: bins follow each other, so no record lies beyond the values of the bins
    beside its own, or beyond the ends of the range. Somebody who knows all records but one, and all
    bins, finds from the sum of the squares that :math:`(x - v)^2` lies in an interval of length
    :math:`20 \rho (b - a) w`; with :math:`|x - v| \le w` that is :math:`10 \rho (b - a)` of x at least, as
    from the rounded mean of ten records. The step depends only on what the message says anyway.

    Parameters
    ----------
    value : float
        The mean squared distance of the records from the values of their bins.
    values : array of k numbers
        The bin means as they are sent; those of several cells lie along the last axis.
    count : float
        The n: the cell's number of records, or what its weights amount to.
    score_range : pair of numbers
        The public bounds a and b.
    rounding : float
        The share :math:`\rho` of the range; 0 leaves the value as it is.

    Examples
    --------
    >>> values = np.array([0.25, 0.5, 0.75])
    >>> step = dict(values=values, count=30, score_range=(0.0, 1.0), rounding=0.005)
    >>> round(float(round_mean_square(0.0123, **step)), 9)
    0.012625
    """
    step = mean_square_step(values, count, score_range, rounding)
    steps = np.rint(np.divide(value, step, out=np.zeros(step.shape), where=step > 0))
    return np.where(step > 0, steps * step, value)[()]  # type: ignore[return-value]  # as many as given


def mean_square_error(
    *,
    values: FloatArray,
    count: float | FloatArray,
    score_range: tuple[float, float],
    rounding: float,
) -> FloatArray:
    """Return how far from the true one a rounded mean square may be: half a step, rounded upwards.

    Several cells have their values along the last axis, and one entry each of ``count``.
    """
    low, high = score_range
    step = mean_square_step(values, count, score_range, rounding)
    return np.where(step > 0, step / 2 + 4 * math.ulp((high - low) ** 2), 0.0)


def largest_mean_square(
    *,
    values: FloatArray,
    count: float | FloatArray,
    score_range: tuple[float, float],
    rounding: float,
    ordered: bool | BoolArray = True,
) -> FloatArray:
    r"""Return the largest mean square that can be sent with these bin means.

    Bins follow each other, so the records of bin l lie between the means of its neighbors, or the
    ends of the range; with mean :math:`m_l` their mean square is at most :math:`(m_l - m_{l-1})
    (m_{l+1} - m_l)` (Bhatia and Davis). Each mean may have been moved by half a step of rounding. It
    is never above a quarter of the squared range; where bins may overlap, since their ranks are not
    exact, that alone is known.

    Several cells have their values along the last axis, and one entry each of ``count`` and ``ordered``.

    Examples
    --------
    >>> exact = dict(values=np.array([0.2, 0.6]), count=20, score_range=(0.0, 1.0), rounding=0.0)
    >>> round(float(largest_mean_square(**exact)), 6)
    0.12
    """
    low, high = score_range
    moved = rounding_error(score_range, rounding)
    widest = (high - low) ** 2 / 4
    gaps = np.diff(values, prepend=low, append=high, axis=-1) + 2 * moved
    own = np.mean(gaps[..., :-1] * gaps[..., 1:], axis=-1)
    largest = np.where(ordered, np.minimum(widest, own), widest)
    error = mean_square_error(
        values=values, count=count, score_range=score_range, rounding=rounding
    )
    return np.asarray(largest + moved**2 + error + 1e-9 * (high - low) ** 2)


def mean_square_step(
    values: FloatArray,
    count: float | FloatArray,
    score_range: tuple[float, float],
    rounding: float,
    *,
    shared: float = SHARED,
) -> FloatArray:
    """Return the step of the mean square for the values in the last axis; 0 if there is no rounding."""
    low, high = score_range
    ends = np.maximum(values[..., 0] - low, high - values[..., -1])
    inner = np.max(values[..., 1:] - values[..., :-1], axis=-1, initial=-np.inf)
    gaps = np.maximum(ends, inner)
    farthest = np.minimum(gaps + rounding_error(score_range, rounding), high - low)
    return np.asarray(2 * shared * rounding * (high - low) * farthest / count)


@dataclass(frozen=True)
class Grid:
    """The points low + i·step, as whole numbers over a common denominator."""

    low: int
    high: int
    step: int
    denominator: int

    @classmethod
    def of(cls, score_range: tuple[float, float], step: Fraction) -> Grid:
        """Return the grid from the low end of the range on."""
        low, high = map(decimal, score_range)
        denominator = math.lcm(low.denominator, high.denominator, step.denominator)
        low, high, step = low * denominator, high * denominator, step * denominator
        return cls(int(low), int(high), int(step), denominator)

    @property
    def fits(self) -> bool:
        """Whether floats hold the whole numbers, and positions to far below ``_NEAR_TIE``."""
        largest = max(abs(self.low), abs(self.high)) + self.step
        return max(largest, self.denominator) < _EXACT and largest < self.step << 32

    def nearest(self, values: FloatArray, score_range: tuple[float, float]) -> FloatArray:
        """Round to the points, and to an end of the range what would be moved beyond it."""
        rounded = self.fast(values) if self.fits else self.exact(values)
        return np.clip(rounded, *score_range) + 0.0  # no negative zero

    def points(self, steps: npt.NDArray[np.int64]) -> FloatArray:
        """Return the points that are this many steps above the lowest."""
        if self.fits:
            return (self.low + steps * self.step) / self.denominator
        numbers = [
            Fraction(self.low + step * self.step, self.denominator) for step in steps.tolist()
        ]
        return np.array([float(number) for number in numbers])

    def fast(self, values: FloatArray) -> FloatArray:
        """Round all values at once, and those near a tie one by one."""
        position = (values - self.low / self.denominator) / (self.step / self.denominator)
        rounded: FloatArray = (self.low + np.rint(position) * self.step) / self.denominator
        unsure = np.abs(position - np.floor(position) - 0.5) < _NEAR_TIE
        rounded[unsure] = self.exact(values[unsure])
        return rounded

    def exact(self, values: FloatArray) -> FloatArray:
        """Round one by one, in whole numbers."""
        nearest = [self._nearest(value) for value in values.ravel().tolist()]
        return np.array(nearest, dtype=np.float64).reshape(values.shape)

    def _nearest(self, value: float) -> float:
        steps = round((decimal(value) * self.denominator - self.low) / self.step)
        return float(Fraction(self.low + steps * self.step, self.denominator))


@lru_cache(maxsize=64)  # a plan has one, and every cell of every message is compared with it
def grid_of_shares(score_range: tuple[float, float], rounding: float) -> Grid:
    """Return the grid whose step is this share of the range."""
    low, high = map(decimal, score_range)
    return Grid.of(score_range, decimal(rounding) * (high - low))


def grid_of_steps(score_range: tuple[float, float], step: float) -> Grid:
    """Return the grid of this step."""
    return Grid.of(score_range, decimal(step))


def decimal(number: float) -> Fraction:
    """Return the decimal number that a float prints as."""
    return Fraction(repr(float(number)))
