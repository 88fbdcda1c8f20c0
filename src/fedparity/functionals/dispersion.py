"""Dispersion of several curves around their weighted centre, column by column.

Every disparity in this package is an integral of one of these two: quantile functions around
their mean or median, cdfs around their mean.
"""

from __future__ import annotations

import numpy as np

from fedparity.functionals.order import power
from fedparity.laws.arrays import FloatArray

__all__ = ["around_center", "around_mean", "lower_weighted_median"]

_ROUNDING = 1e-12
"""Shares that reach one half up to this are taken to reach it: five times 0.1 is one half."""


def around_center(values: FloatArray, shares: FloatArray, order: int) -> FloatArray:
    r"""Return :math:`\min_z \sum_s \alpha_s |q_s - z|^p` for each column of ``values``.

    The minimiser is the mean for p = 2 and a weighted median for p = 1 (paper,
    `eq:bar-quantile-pointwise`).
    """
    return _around_median(values, shares) if order == 1 else around_mean(values, shares, 2)


def around_mean(values: FloatArray, shares: FloatArray, order: int) -> FloatArray:
    r"""Return :math:`\sum_s \alpha_s |x_s - \bar x|^p` for each column of ``values``.

    ``shares`` add up to one over the rows and broadcast against ``values``: a column of them,
    or one per entry. Differences between rows come first: equal rows then have exactly zero
    dispersion, and no digit is lost when rows are close to each other and far from zero. Two
    rows need one difference only (`rem:two-groups`).
    """
    if values.shape[-2] == 2:
        factor = shares[..., 0, :] * shares[..., 1, :] * (2 if order == 1 else 1)
        gaps = values[..., 1, :] - values[..., 0, :]
        return np.multiply(factor, power(gaps, order, out=gaps), out=gaps)
    relative = values - _row_with_share(values, shares)
    relative -= np.sum(shares * relative, axis=-2, keepdims=True)
    total: FloatArray = np.sum(shares * power(relative, order), axis=-2)
    return total


def _row_with_share(values: FloatArray, shares: FloatArray) -> FloatArray:
    """The first row whose share is not zero, in each column: where differences start from.

    A row without share counts nothing, and differences to it must cost no digit.
    """
    if (shares[..., 0, :] > 0).all():
        return values[..., :1, :]
    first = np.argmax(np.broadcast_to(shares, values.shape) > 0, axis=-2)
    return np.take_along_axis(values, first[..., None, :], axis=-2)


def _around_median(values: FloatArray, shares: FloatArray) -> FloatArray:
    if values.shape[-2] == 2:
        smaller = np.minimum(shares[..., 0, :], shares[..., 1, :])
        return smaller * np.abs(values[..., 1, :] - values[..., 0, :])
    gaps = values - lower_weighted_median(values, shares)[..., None, :]
    total: FloatArray = np.sum(shares * np.abs(gaps), axis=-2)
    return total


def lower_weighted_median(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Return, for each column, the smallest value at which half of the shares is reached.

    The weighted median is not unique when a share adds up to one half exactly; this is the
    lowest (paper, `rem:p1`, holds for any choice).
    """
    order = np.argsort(values, axis=-2, kind="stable")
    weights = np.broadcast_to(shares, values.shape)
    reached = np.cumsum(np.take_along_axis(weights, order, axis=-2), axis=-2)
    half = reached[..., -1:, :] * (0.5 - _ROUNDING)
    first = np.argmax(reached >= half, axis=-2)[..., None, :]
    median = np.take_along_axis(values, np.take_along_axis(order, first, axis=-2), axis=-2)
    return median[..., 0, :]
