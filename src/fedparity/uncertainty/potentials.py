r"""Lower bounds of a disparity by duality, which unseen records change by little.

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

from typing import Literal, NamedTuple

import numpy as np

from fedparity.federated.federation import Federation
from fedparity.functionals.curves import center
from fedparity.laws.arrays import FloatArray, IntArray
from fedparity.laws.law import Law, common_refinement
from fedparity.uncertainty.checks import Evidence
from fedparity.uncertainty.convex_order import (
    Bins,
    bins_of,
    dual_signs,
    mean_curves,
    variance_inside,
)
from fedparity.uncertainty.envelopes import closest

__all__ = ["Pieces", "least_from_potentials", "pieces_of"]

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
