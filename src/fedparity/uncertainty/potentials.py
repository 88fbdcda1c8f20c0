r"""What known bin means say beyond the envelope, and lower bounds by duality.

**Known bin means** leave an error of order 1/k². The law of a cell with known bin means is more spread
than the law of its means, and less than the law in which every bin lies at the means of its neighbors, both
in the convex order. That brackets the integrals :math:`I_s(t) = \int_0^t Q_s` of a group's mixture, and its
variance around the means, to second order in 1/k; and the disparity is convex in the quantile functions.
The mean square of a cell says what the variance inside its bins is.

**Duality** gives lower bounds of a disparity, which unseen records change by little.

:math:`G_p` is the least mean of :math:`|Z - B|^p` over all targets B that are independent of the
group: everybody's score is moved to a target, and the targets have the same law in every group.
Potentials :math:`\phi_s(x) + \psi_s(b) \le |x - b|^p` with :math:`\sum_s \alpha_s \psi_s = 0` then give

.. math:: G_p \ge \sum_s \alpha_s \int \phi_s \, d\nu_s ,

for the targets contribute :math:`\sum_s \alpha_s E[\psi_s(B) \mid s] = E \sum_s \alpha_s \psi_s(B) = 0`.
The bound is linear in the records. That is what makes it hold where some were not seen.

**Unseen records**, :math:`h_s` in units of all that was seen. Drop their cost, which is not negative. The
targets of all records of a group have the common law :math:`\mu`, those seen :math:`\mu_s` and those unseen
:math:`\kappa_s`, with :math:`(\alpha_s + h_s) \mu = \alpha_s \mu_s + h_s \kappa_s`. So the targets of the
records seen contribute :math:`\sum_s \alpha_s \int \psi_s d(\mu_s - \mu) = \sum_s \alpha_s h_s / (\alpha_s +
h_s) \int \psi_s d(\mu_s - \kappa_s)`, since :math:`\sum_s \alpha_s \psi_s = 0`. Hence

.. math:: (1 + \sum_s h_s) G_p \ge \sum_s \alpha_s \int \phi_s \, d\nu_s
          - \sum_s \frac{\alpha_s h_s}{\alpha_s + h_s} (\max \psi_s - \min \psi_s).

**Which potentials.** For p = 2 take non-decreasing maps :math:`x_s(b) = b + D_s(b)` from targets to scores
with :math:`\sum_s \alpha_s D_s = 0`: then :math:`\psi_s' = -2 D_s` and :math:`\phi_s'(x_s(b)) = 2 D_s(b)`,
since :math:`(x - b)^2 - \psi_s(b)` is least where :math:`x_s(b) = x`. For p = 1 any
:math:`|\phi_s'| \le 1` with :math:`\sum_s \alpha_s \phi_s' = 0` will do, and :math:`\psi_s = -\phi_s`. All
slopes here are continuous and linear between knots.

**What is known of the integrals.** Records of a piece of mass m lie between a and b, their mean is at most
:math:`\delta` away from r, and with c half the least curvature of :math:`\phi` between a and b,
:math:`\phi(x) \ge \phi(r) + \phi'(r)(x - r) + c (x - r)^2`. So the piece contributes at least
:math:`m (\phi(r) - \delta |\phi'(r)| + c M)`, where M is the mean square of its records around r. Each
M is at most what the ends of the piece allow, and their sum over a cell is stated by its mean square: the
least that these allow is found by giving to the smallest c first.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from fedparity.federated.estimate import mixtures
from fedparity.federated.federation import Federation
from fedparity.functionals.curves import center, lower_weighted_median
from fedparity.laws.law import FloatArray, IntArray, Law, common_refinement
from fedparity.uncertainty.checks import Evidence
from fedparity.uncertainty.envelopes import Boxes, closest, integrated_extremes

__all__ = [
    "Bins",
    "Pieces",
    "bins_of",
    "dual_signs",
    "least_from_potentials",
    "least_from_tangents",
    "mean_curves",
    "most_from_coupling",
    "pieces_of",
    "variance_inside",
]


_TANGENT_BINS = (8, 32, 128, 512)
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
    return max(0.0, *(_tangent_bound(laws, shares, moves, bins, order) for bins in _TANGENT_BINS))


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


_BIN_COUNTS = (8, 32, 128)
"""Numbers of level bins of the reference curves; each gives a valid bound, the best is kept."""
_SCALES = (0.999, 0.9)
"""Parts of the deviations that are tried; below one, maps increase and curvatures are finite."""
_TINY = 1e-300
_APART = 1e-9
"""Knots nearer to each other than this, relative to the range, count as one."""


class Pieces(NamedTuple):
    """The records of one group in pieces, and what is known of each."""

    masses: FloatArray
    """Shares of the group; they add up to one."""
    values: FloatArray
    errors: FloatArray
    """How far the mean of a piece may be from its value."""
    low: FloatArray
    high: FloatArray
    squares: FloatArray
    """The largest mean square of a piece's records around its value."""
    cells: IntArray
    """Which budget each piece draws on."""
    least: FloatArray
    """By budget: the least that masses times mean squares add up to."""
    most: FloatArray
    """By budget: the most."""


class _Potential(NamedTuple):
    """A function whose slope is linear between knots and constant beyond them."""

    knots: FloatArray
    slopes: FloatArray
    values: FloatArray

    @classmethod
    def from_slopes(
        cls, knots: FloatArray, slopes: FloatArray, width: float, start: float
    ) -> _Potential:
        """Return the function with these slopes whose value at the first knot is ``start``.

        Two more knots, beyond both ends of the range, make every score lie between two.
        """
        knots = np.concatenate(([knots[0] - width], knots, [knots[-1] + width]))
        slopes = np.concatenate((slopes[:1], slopes, slopes[-1:]))
        rises = np.diff(knots) * (slopes[1:] + slopes[:-1]) / 2
        values = start + np.concatenate(([-rises[0], 0.0], np.cumsum(rises[1:])))
        return cls(knots, slopes, values)

    def at(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values and slopes at ``points`` of the range."""
        index = self._segment(points, "right")
        beyond = points - self.knots[index]
        curvature = self.curvatures[index]
        slope = self.slopes[index] + curvature * beyond
        value = self.values[index] + beyond * (self.slopes[index] + slope) / 2
        return value, slope

    @property
    def curvatures(self) -> FloatArray:
        """The change of slope between every two knots."""
        curvatures: FloatArray = np.diff(self.slopes) / np.diff(self.knots)
        return curvatures

    def least_curvature(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the least curvature between ``low`` and ``high``, for each two of them."""
        curvatures = np.append(self.curvatures, np.inf)
        ends = np.empty(2 * low.size, dtype=np.int64)
        ends[0::2] = self._segment(low, "right")
        ends[1::2] = np.maximum(self._segment(high, "left"), ends[0::2]) + 1
        least: FloatArray = np.minimum.reduceat(curvatures, ends)[0::2]
        return least

    def variation(self, width: float) -> float:
        """Return the largest value minus the smallest, for scores from 0 to ``width``."""
        left, right = self.slopes[:-1], self.slopes[1:]
        turns = (left < 0) != (right < 0)
        gap = np.where(turns, right - left, 1.0)
        crossing = self.knots[:-1] - np.where(turns, left / gap, 0.0) * np.diff(self.knots)
        inside = np.concatenate((crossing, self.knots, [0.0, width]))
        values, _ = self.at(np.clip(inside, 0.0, width))
        return float(values.max() - values.min())

    def _segment(self, points: FloatArray, side: Literal["left", "right"]) -> IntArray:
        index = np.searchsorted(self.knots, points, side=side) - 1
        return np.clip(index, 0, self.knots.size - 2)


class _Reference(NamedTuple):
    """Curves from which potentials are made: one row of slopes per group, zero on average."""

    knots: FloatArray
    """Targets for p = 2, scores for p = 1."""
    slopes: FloatArray
    """Deviations from the target for p = 2, slopes of the potentials for p = 1."""


def least_from_potentials(evidence: Evidence, order: int) -> float:
    """Return a lower bound of the disparity of all records, seen and unseen."""
    pieces = pieces_of(evidence)
    best = 0.0
    for bins in _BIN_COUNTS:
        reference = _reference(evidence, bins, order)
        for scale in _SCALES:
            best = max(best, _bound(reference, scale, pieces, evidence, order))
    return best / (1 + evidence.total)


def _bound(
    reference: _Reference,
    scale: float,
    pieces: list[Pieces],
    evidence: Evidence,
    order: int,
) -> float:
    """The bound from the reference curves times ``scale``, not yet divided among all records."""
    value = 0.0
    variations = np.zeros(evidence.shares.size)
    for group, slopes in enumerate(reference.slopes * scale):
        scores, targets = _potentials(reference.knots, slopes, evidence.width, order)
        value += float(evidence.shares[group]) * _least_integral(scores, pieces[group])
        if evidence.total:
            variations[group] = targets.variation(evidence.width)
    return value - _dearest(variations, evidence)


def _reference(evidence: Evidence, bins: int, order: int) -> _Reference:
    """How the groups differ, over equal bins of levels, in the closest laws that are possible.

    Where rounding or unseen records may have made a difference, potentials had better be flat.
    Any curves will do that do not decrease.
    """
    lower, upper = (list(laws) for laws in zip(*evidence.envelopes_of_means, strict=True))
    shares = evidence.shares
    nearest = closest(mean_curves(lower, bins), mean_curves(upper, bins), shares, order)
    curves = np.maximum.accumulate(nearest, axis=1)
    middle = center(curves, shares, 2)
    apart = np.diff(middle, prepend=-np.inf) > _APART * evidence.width
    knots = middle[apart]
    if order == 2:
        return _Reference(knots, (curves - middle)[:, apart])
    least, most = (np.stack([law.cdf(knots) for law in laws]) for laws in (upper, lower))
    cdfs = closest(least, most, shares, order)
    return _Reference(knots, -dual_signs(cdfs, shares) / shares[:, None])


def _potentials(
    knots: FloatArray, slopes: FloatArray, width: float, order: int
) -> tuple[_Potential, _Potential]:
    """The potentials of one group: of its scores, and of its targets."""
    if order == 1:
        scores = _Potential.from_slopes(knots, slopes, width, 0.0)
        return scores, scores  # that of the targets has the other sign
    scores = _Potential.from_slopes(knots + slopes, 2 * slopes, width, float(slopes[0] ** 2))
    return scores, _Potential.from_slopes(knots, -2 * slopes, width, 0.0)


def pieces_of(evidence: Evidence) -> list[Pieces]:
    """The records of each group: bins where their means are known, else parts of the envelope."""
    if not evidence.exact_means:
        return [_pieces_between(*envelope) for envelope in evidence.as_if_complete.envelopes]
    return evidence.federation.once(("pieces", evidence.range), lambda: _pieces_of_bins(evidence))


def _pieces_of_bins(evidence: Evidence) -> list[Pieces]:
    bins, inside = bins_of(evidence), variance_inside(evidence)
    return [
        _bins_of_group(evidence.federation, group, bins, inside)
        for group in range(evidence.shares.size)
    ]


def _bins_of_group(federation: Federation, group: int, bins: Bins, inside: FloatArray) -> Pieces:
    cells = np.flatnonzero(federation.group_of == group)
    own = slice(federation.offsets[cells[0]], federation.offsets[cells[-1] + 1])
    sizes = federation.levels[cells]
    weights = federation.counts[cells] / federation.counts[cells].sum()
    rounding = np.add.reduceat(bins.errors**2, federation.offsets[:-1])[cells] / sizes
    stated, errors = federation.mean_squares[cells], federation.mean_square_errors[cells]
    return Pieces(
        masses=np.repeat(weights / sizes, sizes),
        values=bins.values[own],
        errors=bins.errors[own],
        low=bins.low[own],
        high=bins.high[own],
        squares=(bins.variances + bins.errors**2)[own],
        cells=np.repeat(np.arange(cells.size), sizes),
        least=weights * np.fmax(stated - errors, 0.0),
        most=weights * np.fmin(stated + errors, inside[cells] + rounding),
    )


def _pieces_between(lower: Law, upper: Law) -> Pieces:
    """Parts of levels on which both laws of an envelope are constant."""
    widths, values = common_refinement([lower, upper])
    masses, (low, high) = widths[widths > 0], values[:, widths > 0]
    middles = (low + high) / 2
    errors = high - middles
    return Pieces(
        masses=masses,
        values=middles,
        errors=errors,
        low=low,
        high=high,
        squares=errors**2,
        cells=np.zeros(masses.size, dtype=np.int64),
        least=np.zeros(1),
        most=np.full(1, np.inf),
    )


def _least_integral(potential: _Potential, pieces: Pieces) -> float:
    """The least integral of a potential over the records of a group."""
    values, slopes = potential.at(pieces.values)
    least = values - pieces.errors * np.abs(slopes)
    bend = potential.least_curvature(pieces.low, pieces.high) / 2
    order = np.lexsort((bend, pieces.cells))
    bend, cells = bend[order], pieces.cells[order]
    room = (pieces.masses * pieces.squares)[order]
    filled = np.cumsum(room)
    first = np.searchsorted(cells, np.arange(pieces.least.size))
    before = filled - room - (filled - room)[first][cells]
    budget = np.where(bend < 0, pieces.most[cells], pieces.least[cells])
    spread = np.clip(budget - before, 0.0, room)
    return float(np.sum(pieces.masses * least) + np.sum(bend * spread))


def _dearest(prices: FloatArray, evidence: Evidence) -> float:
    r"""An upper bound of :math:`\sum_s p_s \alpha_s h_s / (\alpha_s + h_s)` over all unseen records.

    At most ``extra`` of each group and ``total`` of all. For any :math:`\lambda \ge 0` the sum is at
    most its maximum less :math:`\lambda \sum_s h_s`, group by group, plus :math:`\lambda` times the total.
    """
    shares, prices = evidence.shares[:, None], prices[:, None]
    multipliers = np.concatenate(([0.0], float(prices.max()) * np.geomspace(1e-3, 1.0, 60)))
    best = shares * (np.sqrt(prices / np.maximum(multipliers, _TINY)) - 1)
    taken = np.clip(best, 0.0, evidence.extra[:, None])
    gains = prices * shares * taken / (shares + taken) - multipliers * taken
    return float(np.min(np.sum(gains, axis=0) + multipliers * evidence.total))
