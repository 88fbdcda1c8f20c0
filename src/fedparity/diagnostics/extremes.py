"""The least and the most that numbers known up to intervals can be dispersed."""

from __future__ import annotations

from itertools import product

import numpy as np

from fedparity.functionals.dispersion import around_center
from fedparity.functionals.order import power
from fedparity.laws.arrays import FloatArray

__all__ = ["largest_dispersion", "smallest_dispersion"]

_ENUMERATED_GROUPS = 5


def smallest_dispersion(
    lower: FloatArray, upper: FloatArray, shares: FloatArray, order: int
) -> FloatArray:
    r"""Return :math:`\min_q \min_z \sum_s \alpha_s |q_s - z|^p` over boxes, for each column.

    Every :math:`q_s` moves as near to z as its interval allows, which leaves a convex function
    of z alone: its minimum is found among the ends of the intervals (p = 1), or between two
    consecutive ends, where its derivative is linear (p = 2).
    """
    weights = shares[:, None]
    ends = np.sort(np.concatenate((lower, upper)), axis=0)
    if order == 1:
        least: FloatArray = np.min([_excess(lower, upper, z, weights, 1) for z in ends], axis=0)
        return least
    slopes = np.stack([_slope(lower, upper, z, weights) for z in ends])
    after = np.clip(np.argmax(slopes >= 0, axis=0), 1, len(ends) - 1)[None]
    left, right = (np.take_along_axis(ends, after - shift, axis=0)[0] for shift in (1, 0))
    fall, rise = (np.take_along_axis(slopes, after - shift, axis=0)[0] for shift in (1, 0))
    change = np.where(rise > fall, rise - fall, 1.0)
    center = left + (right - left) * np.clip(-fall / change, 0.0, 1.0)
    return np.minimum(
        _excess(lower, upper, center, weights, 2), _excess(lower, upper, left, weights, 2)
    )


def largest_dispersion(
    lower: FloatArray, upper: FloatArray, shares: FloatArray, order: int
) -> FloatArray:
    r"""Return :math:`\max_q \min_z \sum_s \alpha_s |q_s - z|^p` over boxes, for each column.

    The dispersion is convex in q, so its maximum is at a corner of the box. Corners are tried
    one by one for up to five groups; beyond, the farther end of every interval from one common
    z gives an upper bound.
    """
    weights = shares[:, None]
    if len(shares) > _ENUMERATED_GROUPS:
        center = np.sum(weights * (lower + upper) / 2, axis=0)
        farther = np.maximum(np.abs(lower - center), np.abs(upper - center))
        bound: FloatArray = np.sum(weights * power(farther, order), axis=0)
        return bound
    largest = np.zeros(lower.shape[1])
    for corner in product((False, True), repeat=len(shares)):
        values = np.where(np.array(corner)[:, None], upper, lower)
        np.maximum(largest, around_center(values, weights, order), out=largest)
    return largest


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
