r"""What known bin means say beyond the envelope: an error of order 1/k².

The law of a cell with known bin means is more spread than the law of its means, and less than
the law in which every bin lies at the means of its neighbors, both in the convex order. That
brackets the integrals :math:`I_s(t) = \int_0^t Q_s` of a group's mixture, and its variance
around the means, to second order in 1/k; and the disparity is convex in the quantile functions.
The mean square of a cell says what the variance inside its bins is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import mixtures
from fedparity.functionals.curves import center, lower_weighted_median
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law
from fedparity.uncertainty.checks import Evidence
from fedparity.uncertainty.envelopes import Boxes, integrated_extremes

__all__ = [
    "Bins",
    "bins_of",
    "dual_signs",
    "least_from_tangents",
    "mean_curves",
    "most_from_coupling",
    "variance_inside",
]

_BIN_COUNTS = (8, 32, 128, 512)
"""Numbers of level bins of the reference curves; each gives a valid bound, the best is kept."""


class Bins(NamedTuple):
    """The bins of all cells: released means, and where their records can lie."""

    values: FloatArray
    errors: FloatArray
    """How far each mean may be from the true one."""
    low: FloatArray
    """The least that a record of the bin can be: at least the true mean of the bin before."""
    high: FloatArray
    """The most that it can be."""

    @property
    def moved(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the bins once their records have moved with the means to the released ones."""
        return self.low - self.errors, self.high + self.errors

    @property
    def variances(self) -> FloatArray:
        """The largest variance inside each bin: all records at its two ends."""
        low, high = self.moved
        largest: FloatArray = (self.values - low) * (high - self.values)
        return largest


class _ConvexOrder(NamedTuple):
    """Laws between which those of the groups lie in the convex order."""

    means: list[Law]
    """Every record at the mean of its bin."""
    spread_out: list[Law]
    """Every bin at the means of its two neighbors."""


def bins_of(evidence: Evidence) -> Bins:
    """Return the bins of exact means, up to their rounding.

    Records of a bin lie between the true means of its neighbors, or the ends of the range; true
    means lie as far from those released as these may be off.
    """
    federation = evidence.federation
    values, errors = federation.values, federation.value_errors
    low = np.concatenate(([0.0], (values - errors)[:-1]))
    high = np.append((values + errors)[1:], 0.0)
    low[federation.offsets[:-1]], high[federation.offsets[1:] - 1] = evidence.range
    return Bins(values, errors, np.maximum(low, 0.0), np.minimum(high, evidence.width))


def most_from_coupling(evidence: Evidence, order: int) -> float:
    r"""Return an upper bound of :math:`G_p` of the raw data from exact bin means.

    Couple the groups as the laws of their bin means are coupled best, and the records of paired
    bins independently. A record is the mean of its bin plus a rest whose mean is zero, so the rests
    add only variances: :math:`G_2 \le \bar G_2 + \sum_s \alpha_s (1 - \alpha_s) V_s`, with
    :math:`V_s` the largest mean variance inside bins. For p = 1 the dispersion grows by at most
    :math:`\min(\alpha_s, 1 - \alpha_s)` times as much as one of its numbers is moved, so
    :math:`G_1 \le \bar G_1 + \sum_s \min(\alpha_s, 1 - \alpha_s) D_s` with :math:`D_s` the
    largest mean absolute deviation inside bins.

    **Rounded means.** :math:`\bar G` is that of the true means, which lie as far from the
    released ones as these may be off. At every level it is at most the largest dispersion that
    this allows; the variances do not depend on where a bin lies, and need no more room.

    **Unseen records** are means of themselves, without a rest. Where they lie is not known, so
    :math:`\bar G` is bounded between the envelopes of the laws of means with them. The records seen
    of a group then have a share :math:`\beta_s \le \alpha_s` of all records and its rests weigh
    :math:`\beta_s (1 - \beta_s)` at most, or :math:`\min(\beta_s, 1 - \beta_s)`: the more the
    nearer :math:`\beta_s` is to one half.
    """
    federation, shares = evidence.federation, evidence.shares
    boxes = Boxes.from_envelopes(evidence.envelopes_of_means)
    _, of_means = integrated_extremes(boxes, shares, order, evidence.newcomers)
    weights = np.clip(0.5, shares / (1 + evidence.total), shares)
    if order == 1:
        rests = np.minimum(weights, 1 - weights) * _deviation_inside(evidence)
    else:
        rests = weights * (1 - weights) * _by_group(federation, variance_inside(evidence))
    return of_means + float(rests.sum())


def least_from_tangents(evidence: Evidence, order: int) -> float:
    r"""Return a lower bound of :math:`G_p` of the raw data from exact bin means, all of them seen.

    :math:`G` is convex, so it lies above its tangent at any reference curves:
    :math:`G_2 \ge 2 \sum_s \alpha_s \langle Q_s, E_s \rangle - \sum_s \alpha_s \|E_s\|^2` for any
    deviations :math:`E_s`, and :math:`G_1 \ge \sum_s \langle Q_s, \sigma_s \rangle` for any
    :math:`|\sigma_s| \le \alpha_s` with sum zero. With steps for :math:`E_s` the products are sums of
    :math:`I_s` at the edges of the steps, each bracketed by the two convex orders.

    **Rounded means**, off by at most :math:`\delta_s` in group s. Move all records of a bin by
    the released mean minus the true one. The bin means of the moved records are exactly those
    released; bins may now overlap, but the convex orders do not need their order, only the mean of a
    bin and the interval that holds it, which moves with it. No quantile of the group has moved by more than
    :math:`\delta_s`, so each product changes by at most :math:`\delta_s \int |E_s|`.

    For p = 2 the deviations may be multiplied by any number; the best one is known.
    """
    federation, shares = evidence.federation, evidence.shares
    laws = _ConvexOrder(
        list(mixtures(federation, reconstruct=False).values()),
        _most_spread(federation, bins_of(evidence)),
    )
    moves = np.maximum.reduceat(
        np.maximum.reduceat(federation.value_errors, federation.offsets[:-1]),
        np.searchsorted(federation.group_of, np.arange(shares.size)),
    )
    return max(0.0, *(_tangent_bound(laws, shares, moves, bins, order) for bins in _BIN_COUNTS))


def variance_inside(evidence: Evidence) -> FloatArray:
    r"""Return the largest mean variance inside the bins of each cell.

    It is the least of two bounds. **Neighbors**: a bin with mean m between e and f has variance at most
    (m - e)(f - m), and where two bins meet they share an end. The sum is linear in each shared
    end, so each is best at the mean of one of the two bins, whose variance is then zero: of two
    neighbors one counts at the most. The best choice is found by running over the bins with
    two states. **Mean square**: records are at a mean squared distance from the released means of their
    bins that the cell states; from the true means they are at less, since a mean is the
    point of the least mean square.
    """
    return evidence.federation.once(("inside", evidence.range), lambda: _variance_inside(evidence))


def _variance_inside(evidence: Evidence) -> FloatArray:
    federation = evidence.federation
    gain = bins_of(evidence).variances
    most = np.empty(federation.levels.size)
    for size in np.unique(federation.levels):
        cells = np.flatnonzero(federation.levels == size)
        rows = gain[federation.offsets[cells, None] + np.arange(size)]
        skipped, taken = np.zeros(cells.size), np.zeros(cells.size)
        for column in rows.T:
            skipped, taken = np.maximum(skipped, taken), skipped + column
        most[cells] = np.maximum(skipped, taken) / size
    stated = federation.mean_squares + federation.mean_square_errors
    least: FloatArray = np.fmin(most, stated)  # the other one where no mean square is known
    return least


def mean_curves(laws: list[Law], bins: int) -> FloatArray:
    """Return the means of the laws' quantile functions (rows) over equal bins of levels."""
    return np.diff(_integrals(laws, bins), axis=1, prepend=0.0) * bins


def dual_signs(curves: FloatArray, shares: FloatArray) -> FloatArray:
    r"""Return dual variables of the weighted median: :math:`\pm\alpha_s`, and what is left at it."""
    median = lower_weighted_median(curves, shares[:, None])
    signs: FloatArray = shares[:, None] * np.sign(curves - median)
    at_median = curves == median
    left = -signs.sum(axis=0)
    room = np.sum(shares[:, None] * at_median, axis=0)
    balance: FloatArray = at_median * shares[:, None] * (left / np.where(room > 0, room, 1.0))
    return signs + balance


def _by_group(federation: Federation, per_cell: FloatArray) -> FloatArray:
    """Mean of a number per cell over the records of each group."""
    totals = federation.count_table.sum(axis=0)
    sums = np.bincount(
        federation.group_of, weights=per_cell * federation.counts, minlength=totals.size
    )
    mean: FloatArray = sums / totals
    return mean


def _deviation_inside(evidence: Evidence) -> FloatArray:
    """Largest mean absolute deviation inside bins: two atoms at the ends of each.

    It is never more than the root of the mean variance (Jensen), cell by cell.
    """
    federation, bins = evidence.federation, bins_of(evidence)
    low, high = bins.moved
    width = np.where(high > low, high - low, 1.0)
    sums = np.add.reduceat(2 * bins.variances / width, federation.offsets[:-1])
    most = np.minimum(sums / federation.levels, np.sqrt(variance_inside(evidence)))
    return _by_group(federation, most)


def _most_spread(federation: Federation, bins: Bins) -> list[Law]:
    """The mixtures when every bin lies at the means of its two neighbors."""
    values, (low, high) = bins.values, bins.moved
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
    laws: _ConvexOrder, shares: FloatArray, moves: FloatArray, bins: int, order: int
) -> float:
    """The lower bound from reference curves with this many steps."""
    high, low = (_integrals(each, bins) for each in laws)
    low[:, -1] = high[:, -1]  # the means of the groups are known
    curves = np.diff(high, axis=1, prepend=0.0) * bins
    if order == 1:
        slopes = dual_signs(curves, shares)
    else:
        slopes = 2 * shares[:, None] * (curves - center(curves, shares, 2))
    drops = slopes - np.concatenate((slopes[:, 1:], np.zeros((len(shares), 1))), axis=1)
    rounded = float(np.sum(moves[:, None] * np.abs(slopes)) / bins)
    linear = float(np.sum(np.where(drops > 0, drops * low, drops * high))) - rounded
    if order == 1:
        return linear
    square = float(np.sum(slopes**2 / shares[:, None]) / bins)  # four times that of deviations
    return (max(linear, 0.0) / math.sqrt(square)) ** 2 if square else 0.0


def _integrals(laws: list[Law], bins: int) -> FloatArray:
    """Integrals of the laws' quantile functions (rows) up to the ends of equal bins of levels."""
    edges = np.arange(1, bins + 1) / bins
    return np.stack([_integral(law, edges) for law in laws])


def _integral(law: Law, levels: FloatArray) -> FloatArray:
    r"""Return :math:`\int_0^t Q` at ``levels``."""
    masses = np.diff(law.cumulative, prepend=0.0)
    running = np.concatenate(([0.0], np.cumsum(law.atoms * masses)))
    index = np.searchsorted(law.cumulative, levels, side="left")
    before = np.concatenate(([0.0], law.cumulative))[index]
    integral: FloatArray = running[index] + law.atoms[index] * (levels - before)
    return integral
