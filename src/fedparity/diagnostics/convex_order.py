r"""What known bin means say beyond the envelope: an error of order 1/k².

The law of a cell with known bin means is more spread than the law of its means, and less than
the law in which every bin lies at the means of its neighbours, both in the convex order. That
brackets the integrals :math:`I_s(t) = \int_0^t Q_s` of a group's mixture, and its variance
around the means, to second order in 1/k; and the disparity is convex in the quantile functions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import mixture_table, mixtures, observed_weights
from fedparity.functionals.disparity import spread
from fedparity.functionals.dispersion import lower_weighted_median
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law

__all__ = ["bounds_from_bin_means", "moved_by"]

_BINS = (8, 32, 128, 512)
"""Numbers of level bins of the reference curves; each gives a valid bound, the best is kept."""


class _Neighbours(NamedTuple):
    """The values of all cells with the lowest and highest values that their bins can hold."""

    values: FloatArray
    low: FloatArray
    high: FloatArray


def bounds_from_bin_means(
    federation: Federation,
    score_range: tuple[float, float],
    order: int,
) -> tuple[float, float]:
    r"""Return bounds of :math:`G_p` of the raw data from exact bin means.

    **Above.** Couple two groups as their laws of means are coupled optimally, and the records of
    paired bins independently: their means are right, so only variances are added,
    :math:`G_2 \le \bar G_2 + \sum_s \alpha_s (1 - \alpha_s) V_s`, with :math:`V_s` the largest
    mean variance inside bins. For p = 1, :math:`G_1 \le \bar G_1 + \sum_s \alpha_s D_s` with
    :math:`D_s` the largest mean absolute deviation.

    **Below.** :math:`G` is convex, so it lies above its tangent at any reference curves:
    :math:`G_2 \ge 2 \sum_s \alpha_s \langle Q_s, E_s \rangle - \sum_s \alpha_s \|E_s\|^2` for any
    deviations :math:`E_s`, and :math:`G_1 \ge \sum_s \langle Q_s, \sigma_s \rangle` for any
    :math:`|\sigma_s| \le \alpha_s` with sum zero. With steps for :math:`E_s` the products are sums of
    :math:`I_s` at the edges of the steps, each bracketed by the two convex orders.

    **Rounded means**, off by at most :math:`\delta`. Move all records of a bin by
    the released mean minus the true one. The bin means of the moved records are exactly those
    released; bins may now overlap, but neither argument needs their order, only the mean of a
    bin and the interval that holds it. True records of a bin lie between the true means of its
    neighbours, so moved ones lie between the released means of the neighbours moved outwards
    by :math:`2\delta`. Hence both bounds hold for the moved records with these wider intervals, and
    no record moved by more than :math:`\delta`: see :func:`moved_by`.
    """
    value_error = float(federation.value_errors.max())
    around = _neighbours(federation, score_range, value_error)
    method = Method(order=1 if order == 1 else 2, estimator="exact")
    table = mixture_table(federation, observed_weights(federation), method, reconstruct=False)
    of_means = spread(table, federation.shares, order)
    shares = federation.shares
    if order == 1:
        upper = of_means + float(np.sum(shares * _deviation_inside(federation, around)))
    else:
        inside = _variance_inside(federation, around)
        upper = of_means + float(np.sum(shares * (1 - shares) * inside))
    means = list(mixtures(federation, reconstruct=False).values())
    spread_out = _most_spread(federation, around)
    lower = max(_tangent_bound(means, spread_out, shares, bins, order) for bins in _BINS)
    return moved_by(value_error, max(lower, 0.0), upper, order)


def moved_by(distance: float, lower: float, upper: float, order: int) -> tuple[float, float]:
    r"""Return bounds of :math:`G_p` after every record has moved by at most ``distance``.

    Proof. Quantile functions of the groups move by at most :math:`\delta` at every level. For
    p = 2, :math:`\sqrt{G_2}` is the norm of the deviations from the mean curve, a projection of
    the curves, and the norm of a projection of the moves is at most :math:`\delta` (Minkowski).
    For p = 1, :math:`G_1` is at most the mean distance to the medians of the other curves, since
    its own medians are the best centres: at most :math:`\delta` more. Both ways round.
    """
    if not distance:
        return lower, upper
    return (
        max(lower ** (1 / order) - distance, 0.0) ** order,
        (upper ** (1 / order) + distance) ** order,
    )


def _neighbours(
    federation: Federation, score_range: tuple[float, float], value_error: float
) -> _Neighbours:
    """The ends of the interval in which the records of each bin lie, once moved to its mean."""
    values = federation.values
    low = np.concatenate(([0.0], values[:-1]))
    high = np.append(values[1:], 0.0)
    low[federation.offsets[:-1]], high[federation.offsets[1:] - 1] = score_range
    low = np.maximum(low - value_error, score_range[0]) - value_error
    high = np.minimum(high + value_error, score_range[1]) + value_error
    return _Neighbours(values, low, high)


def _by_group(federation: Federation, per_value: FloatArray) -> FloatArray:
    """Mean of a number per value over the records of each group."""
    per_cell = np.add.reduceat(per_value, federation.offsets[:-1]) / federation.levels
    totals = federation.count_table.sum(axis=0)
    sums = np.bincount(
        federation.group_of, weights=per_cell * federation.counts, minlength=totals.size
    )
    mean: FloatArray = sums / totals
    return mean


def _deviation_inside(federation: Federation, around: _Neighbours) -> FloatArray:
    """Largest mean absolute deviation inside bins: two atoms at the ends of each."""
    values, low, high = around
    width = np.where(high > low, high - low, 1.0)
    return _by_group(federation, 2 * (values - low) * (high - values) / width)


def _variance_inside(federation: Federation, around: _Neighbours) -> FloatArray:
    r"""Largest mean variance inside bins that a non-decreasing quantile function allows.

    A bin with mean m between e and f has variance at most (m - e)(f - m), and where two bins meet
    they share an end. The sum is linear in each shared end, so each is best at the mean of
    one of the two bins, whose variance is then zero: of two neighbours one counts at the most.
    The best choice is found by running over the bins with two states.
    """
    values, low, high = around
    gain = (values - low) * (high - values)
    most = np.empty(federation.levels.size)
    for size in np.unique(federation.levels):
        cells = np.flatnonzero(federation.levels == size)
        rows = gain[federation.offsets[cells, None] + np.arange(size)]
        skipped, taken = np.zeros(cells.size), np.zeros(cells.size)
        for column in rows.T:
            skipped, taken = np.maximum(skipped, taken), skipped + column
        most[cells] = np.maximum(skipped, taken)
    per_value = np.zeros(values.size)
    per_value[federation.offsets[:-1]] = most
    return _by_group(federation, per_value)


def _most_spread(federation: Federation, around: _Neighbours) -> list[Law]:
    """The mixtures when every bin lies at the means of its two neighbours."""
    values, low, high = around
    width = high - low
    to_low = np.divide(high - values, width, out=np.ones_like(values), where=width > 0)
    mass = np.repeat(federation.counts / federation.levels, federation.levels)
    laws = []
    for group in range(len(federation.groups)):
        cells = np.flatnonzero(federation.group_of == group)
        span = slice(federation.offsets[cells[0]], federation.offsets[cells[-1] + 1])
        laws.append(
            Law(
                np.concatenate((low[span], high[span])),
                np.concatenate((mass[span] * to_low[span], mass[span] * (1 - to_low[span]))),
            )
        )
    return laws


def _tangent_bound(
    means: list[Law], spread_out: list[Law], shares: FloatArray, bins: int, order: int
) -> float:
    """The lower bound from reference curves with this many steps."""
    edges = np.arange(1, bins + 1) / bins
    high = np.stack([_integral(law, edges) for law in means])
    low = np.stack([_integral(law, edges) for law in spread_out])
    low[:, -1] = high[:, -1]  # the means of the groups are known
    curves = np.diff(high, axis=1, prepend=0.0) * bins
    if order == 1:
        slopes, constant = _signs(curves, shares), 0.0
    else:
        deviations = curves - np.average(curves, axis=0, weights=shares)
        slopes = 2 * shares[:, None] * deviations
        constant = float(np.sum(shares[:, None] * deviations**2) / bins)
    drops = slopes - np.concatenate((slopes[:, 1:], np.zeros((len(shares), 1))), axis=1)
    return float(np.sum(np.where(drops > 0, drops * low, drops * high))) - constant


def _signs(curves: FloatArray, shares: FloatArray) -> FloatArray:
    r"""Dual variables of the weighted median: :math:`\pm\alpha_s`, and what is left at it."""
    median = lower_weighted_median(curves, shares[:, None])
    signs: FloatArray = shares[:, None] * np.sign(curves - median)
    at_median = curves == median
    left = -signs.sum(axis=0)
    room = np.sum(shares[:, None] * at_median, axis=0)
    balance: FloatArray = at_median * shares[:, None] * (left / np.where(room > 0, room, 1.0))
    return signs + balance


def _integral(law: Law, levels: FloatArray) -> FloatArray:
    r"""Return :math:`\int_0^t Q` at ``levels``."""
    masses = np.diff(law.cumulative, prepend=0.0)
    running = np.concatenate(([0.0], np.cumsum(law.atoms * masses)))
    index = np.searchsorted(law.cumulative, levels, side="left")
    before = np.concatenate(([0.0], law.cumulative))[index]
    integral: FloatArray = running[index] + law.atoms[index] * (levels - before)
    return integral
