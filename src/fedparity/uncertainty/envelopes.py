"""Envelopes: the smallest and largest laws that sketches allow, and the dispersions between them.

A quantile function is non-decreasing and stays in the public score range. Knowing it at k
levels, or its mean over k bins, leaves it between two step functions; every data set that
gives the sketch has its quantile function between them. Counts at known scores leave it nothing
but the error of the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.federated.federation import Federation
from fedparity.functionals.curves import around_center, center, integral, power
from fedparity.laws.law import FloatArray, IntArray, Law, common_refinement

__all__ = [
    "NOBODY",
    "Boxes",
    "Envelope",
    "Newcomers",
    "closest",
    "group_envelopes",
    "integrated_extremes",
    "largest_dispersion",
    "mean_envelopes",
    "smallest_dispersion",
]

_BLOCK = 1 << 14
_ENUMERATED_GROUPS = 5
_POINTS = 4
_ROUNDING = 1e-9
"""Ranks computed with a rank error are moved outwards by this many records."""


class Envelope(NamedTuple):
    """Two laws between which a group's mixture lies, quantile by quantile."""

    lower: Law
    upper: Law


class Boxes(NamedTuple):
    """Intervals in which the curves of the groups lie, on consecutive intervals of levels or scores."""

    widths: FloatArray
    low: FloatArray
    """One row per group, one column per interval."""
    high: FloatArray

    @classmethod
    def from_envelopes(cls, envelopes: Sequence[Envelope], *, trim: float = 0.0) -> Boxes:
        """Return the quantile functions of the lower and upper laws on their common refinement."""
        laws = [law for envelope in envelopes for law in envelope]
        widths, values = common_refinement(laws, trim=trim)
        return cls(widths, values[0::2], values[1::2])


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
    boxes: Boxes, shares: FloatArray, order: int, newcomers: Newcomers = NOBODY
) -> tuple[float, float]:
    """Integrate the smallest and the largest dispersion that the ``boxes`` allow.

    With newcomers each group weighs at least what it weighed without them, among all records: the
    smallest dispersion is then shared among these.
    """
    lower = upper = 0.0
    for start in range(0, boxes.widths.size, _BLOCK):
        widths, low, high = (side[..., start : start + _BLOCK] for side in boxes)
        lower += float(integral(smallest_dispersion(low, high, shares, order), widths))
        upper += float(integral(largest_dispersion(low, high, shares, order, newcomers), widths))
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


def group_envelopes(
    federation: Federation,
    score_range: tuple[float, float],
    unseen: npt.NDArray[np.float64],
) -> list[Envelope]:
    """Return the envelope of each group's mixture across silos.

    Mixing keeps the order of quantile functions, so the mixture of the lowest laws of the
    cells is the lowest mixture. ``unseen`` records of each group, of which nothing is known,
    lie at the bottom of the range in the lower law and at its top in the upper one. Values that
    were rounded are lowered and raised by their ``value_errors``, inside the range.

    Proof. Let ``below`` be the most records a cell can have strictly below its value l, and
    ``upto`` the least it has up to it. Then the record of rank ``below + 1`` is at least that
    value, and the record of rank ``upto`` at most. Either bound only moves outwards when the value
    is replaced by a lower or a higher one.
    """
    low, high = score_range
    lowest = np.maximum(federation.values - federation.value_errors, low)
    highest = np.minimum(federation.values + federation.value_errors, high)
    below, upto = _bracketed_ranks(federation)
    envelopes = []
    for group in range(len(federation.groups)):
        cells = np.flatnonzero(federation.group_of == group)  # consecutive
        counts = federation.counts[cells]
        ends = np.cumsum(federation.levels[cells])
        starts = ends - federation.levels[cells]
        span = slice(federation.offsets[cells[0]], federation.offsets[cells[-1] + 1])
        under, within = below[span], upto[span]
        at_bottom = unseen[group] + under[starts].sum()
        at_top = unseen[group] + (counts - within[ends - 1]).sum()
        envelopes.append(
            Envelope(
                lower=Law(
                    np.append(lowest[span], low), np.append(_steps(under, counts, ends), at_bottom)
                ),
                upper=Law(
                    np.append(highest[span], high), np.append(_first_steps(within, starts), at_top)
                ),
            )
        )
    return envelopes


def mean_envelopes(
    federation: Federation,
    score_range: tuple[float, float],
    unseen: npt.NDArray[np.float64],
) -> list[Envelope]:
    """Return the envelope of the law of each group with every record moved to the mean of its bin.

    For exact bin means only. What is not known of this law is how the means were rounded, and
    where the ``unseen`` records lie, which are not moved.
    """
    low, high = score_range
    lowest = np.maximum(federation.values - federation.value_errors, low)
    highest = np.minimum(federation.values + federation.value_errors, high)
    masses = np.repeat(federation.counts / federation.levels, federation.levels)
    envelopes = []
    for group, more in enumerate(unseen):
        own = np.repeat(federation.group_of == group, federation.levels)
        weights = np.append(masses[own], more)
        envelopes.append(
            Envelope(
                lower=Law(np.append(lowest[own], low), weights),
                upper=Law(np.append(highest[own], high), weights),
            )
        )
    return envelopes


def _bracketed_ranks(federation: Federation) -> tuple[FloatArray, FloatArray]:
    """For each value: the most records strictly below it, and the least up to it."""
    counts = np.repeat(federation.counts, federation.levels)
    levels = np.repeat(federation.levels, federation.levels)
    errors = np.repeat(federation.rank_errors, federation.levels)
    if federation.kind == "counts":
        return _counted_ranks(federation, counts, errors)
    position = np.arange(levels.size) - np.repeat(federation.offsets[:-1], federation.levels) + 1
    if federation.kind == "mean":
        # The mean of bin l is at most the value at its right edge, at least that at its left.
        below = counts * np.minimum(position / levels + errors, 1.0)
        upto = counts * np.maximum((position - 1) / levels - errors, 0.0)
        return below, upto
    if counts.dtype.kind == "i":
        return _whole_ranks(counts, levels, position, errors)
    middle = (2 * position - 1) / (2 * levels)
    return (
        counts * np.minimum(middle + errors, 1.0),
        counts * np.maximum(middle - errors, 0.0),
    )


def _counted_ranks(
    federation: Federation, counts: npt.NDArray[Any], errors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The records of the cell counted before each value, and those up to it."""
    running = np.cumsum(federation.parts)
    earlier_cells = np.concatenate(([0], running[federation.offsets[1:-1] - 1]))
    upto = running - np.repeat(earlier_cells, federation.levels)
    records = np.repeat(federation.counts / federation.units, federation.levels)
    return (
        np.clip((upto - federation.parts) * records + counts * errors, 0.0, counts),
        np.clip(upto * records - counts * errors, 0.0, counts),
    )


def _whole_ranks(
    counts: npt.NDArray[Any],
    levels: IntArray,
    position: IntArray,
    errors: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The value is the record of rank ceil(n u), or one whose rank is near n u."""
    rank = -(-counts * (2 * position - 1) // (2 * levels))
    near = counts * (2 * position - 1) / (2 * levels)
    most = np.minimum(np.floor(near + counts * errors + _ROUNDING), counts)
    least = np.maximum(np.ceil(near - counts * errors - _ROUNDING), 0)
    exact = errors == 0
    return np.where(exact, rank - 1, most), np.where(exact, rank, least)


def _steps(below: FloatArray, counts: npt.NDArray[Any], ends: IntArray) -> FloatArray:
    """Mass at each value of the lower laws: from its own bound to that of the next value."""
    following = np.append(below[1:], 0.0)
    following[ends - 1] = counts
    steps: FloatArray = following - below
    return steps


def _first_steps(upto: FloatArray, starts: IntArray) -> FloatArray:
    """Mass at each value of the upper laws: from the bound of the value before to its own."""
    before = np.concatenate(([0.0], upto[:-1]))
    before[starts] = 0.0
    steps: FloatArray = upto - before
    return steps
