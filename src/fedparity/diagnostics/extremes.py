"""The least and the most that numbers known up to intervals can be dispersed."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.functionals.barycenter import center
from fedparity.functionals.dispersion import around_center
from fedparity.functionals.order import power
from fedparity.laws.arrays import FloatArray

__all__ = [
    "NOBODY",
    "Newcomers",
    "closest",
    "integrated_extremes",
    "largest_dispersion",
    "smallest_dispersion",
]

_BLOCK = 1 << 14
_ENUMERATED_GROUPS = 5
_POINTS = 4


class Newcomers(NamedTuple):
    """Records that may change the shares of the groups: how many, and of which."""

    share: float
    """The largest share that they can have of all."""
    groups: npt.NDArray[np.bool_]
    """Which groups they can belong to."""


NOBODY = Newcomers(0.0, np.zeros(0, dtype=np.bool_))
"""No newcomers: the shares are known."""


def smallest_dispersion(
    lower: FloatArray, upper: FloatArray, shares: FloatArray, order: int
) -> FloatArray:
    r"""Return :math:`\min_q \min_z \sum_s \alpha_s |q_s - z|^p` over boxes, for each column."""
    z = _nearest_point(lower, upper, shares[:, None], order)
    return _excess(lower, upper, z, shares[:, None], order)


def closest(lower: FloatArray, upper: FloatArray, shares: FloatArray, order: int) -> FloatArray:
    """Return the numbers in the boxes that are dispersed least, column by column."""
    z = _nearest_point(lower, upper, shares[:, None], order)
    nearest: FloatArray = np.clip(z, lower, upper)
    return nearest


def integrated_extremes(
    widths: FloatArray,
    boxes: tuple[FloatArray, FloatArray],
    shares: FloatArray,
    order: int,
    newcomers: Newcomers = NOBODY,
) -> tuple[float, float]:
    """Integrate the smallest and the largest dispersion over columns of these ``widths``.

    With newcomers each group weighs at least what it weighed without them, among all records: the
    smallest dispersion is then shared among these.
    """
    lower = upper = 0.0
    for start in range(0, widths.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        low, high = (side[:, part] for side in boxes)
        least = smallest_dispersion(low, high, shares, order)
        largest = largest_dispersion(low, high, shares, order, newcomers)
        lower += float(np.sum(least * widths[part]))
        upper += float(np.sum(largest * widths[part]))
    return lower * (1 - newcomers.share), upper


def _nearest_point(
    lower: FloatArray, upper: FloatArray, weights: FloatArray, order: int
) -> FloatArray:
    r"""The z from which the boxes are least far.

    Every :math:`q_s` moves as near to z as its interval allows, which leaves a convex function
    of z alone: its minimum is found among the ends of the intervals (p = 1), or between two
    consecutive ends, where its derivative is linear (p = 2).
    """
    ends = np.sort(np.concatenate((lower, upper)), axis=0)
    if order == 1:
        far = [_excess(lower, upper, z, weights, 1) for z in ends]
        best: FloatArray = np.take_along_axis(ends, np.argmin(far, axis=0)[None], axis=0)[0]
        return best
    slopes = np.stack([_slope(lower, upper, z, weights) for z in ends])
    after = np.clip(np.argmax(slopes >= 0, axis=0), 1, len(ends) - 1)[None]
    left, right = (np.take_along_axis(ends, after - shift, axis=0)[0] for shift in (1, 0))
    fall, rise = (np.take_along_axis(slopes, after - shift, axis=0)[0] for shift in (1, 0))
    change = np.where(rise > fall, rise - fall, 1.0)
    between: FloatArray = left + (right - left) * np.clip(-fall / change, 0.0, 1.0)
    at_left = _excess(lower, upper, left, weights, 2)
    return np.where(at_left < _excess(lower, upper, between, weights, 2), left, between)


def largest_dispersion(
    lower: FloatArray,
    upper: FloatArray,
    shares: FloatArray,
    order: int,
    newcomers: Newcomers = NOBODY,
) -> FloatArray:
    r"""Return :math:`\max_q \min_z \sum_s \alpha_s |q_s - z|^p` over boxes, for each column.

    The dispersion is convex in q, so its maximum is at a corner of the box. Corners are tried
    one by one for up to five groups; beyond, the farther end of every interval from one common
    z gives an upper bound, and the best of a few z is kept.

    With ``newcomers`` the shares are not known either: they are a mixture of the ``shares`` and of
    others. For any z the sum is then at most that of the ``shares`` and the largest of its terms,
    mixed in the same way.
    """
    if len(shares) > _ENUMERATED_GROUPS:
        return _around_points(lower, upper, shares, order, newcomers)
    largest = np.zeros(lower.shape[1])
    for corner in product((False, True), repeat=len(shares)):
        values = np.where(np.array(corner)[:, None], upper, lower)
        np.maximum(largest, _mixed_dispersion(values, shares, order, newcomers), out=largest)
    return largest


def _mixed_dispersion(
    values: FloatArray, shares: FloatArray, order: int, newcomers: Newcomers
) -> FloatArray:
    """Dispersion of known values whose shares are known up to newcomers."""
    weights = shares[:, None]
    if not newcomers.share:
        return around_center(values, weights, order)
    distances = power(values - center(values, shares, order), order)
    return _mixed(distances, weights, newcomers)


def _around_points(
    lower: FloatArray, upper: FloatArray, shares: FloatArray, order: int, newcomers: Newcomers
) -> FloatArray:
    """The least, over a few z, of the largest sum of distances to z."""
    weights = shares[:, None]
    middles = (lower + upper) / 2
    z = center(middles, shares, order)
    least = np.full(lower.shape[1], np.inf)
    for _ in range(_POINTS):
        farther = np.maximum(np.abs(lower - z), np.abs(upper - z))
        np.minimum(least, _mixed(power(farther, order), weights, newcomers), out=least)
        z = center(np.where(middles > z, upper, lower), shares, order)
    return least


def _mixed(distances: FloatArray, weights: FloatArray, newcomers: Newcomers) -> FloatArray:
    known: FloatArray = np.sum(weights * distances, axis=0)
    if not newcomers.share:
        return known
    farthest = distances[newcomers.groups].max(axis=0)
    mixed: FloatArray = known + newcomers.share * np.maximum(farthest - known, 0.0)
    return mixed


def _excess(
    lower: FloatArray, upper: FloatArray, z: FloatArray, weights: FloatArray, order: int
) -> FloatArray:
    distance = np.maximum(np.maximum(lower - z, z - upper), 0.0)
    total: FloatArray = np.sum(weights * power(distance, order), axis=0)
    return total


def _slope(lower: FloatArray, upper: FloatArray, z: FloatArray, weights: FloatArray) -> FloatArray:
    pull: FloatArray = np.maximum(z - upper, 0.0) - np.maximum(lower - z, 0.0)
    total: FloatArray = np.sum(weights * pull, axis=0)
    return total
