"""Envelopes of a cell: the smallest and largest laws that its sketch allows.

A quantile function is non-decreasing and stays in the public score range. Knowing it at k
levels, or its mean over k bins, leaves it between two step functions; every data set that
gives the sketch has its quantile function between them. Counts at known scores leave it nothing
but the error of the scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.federated.federation import Federation
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law

__all__ = ["Envelope", "group_envelopes", "mean_envelopes"]

_ROUNDING = 1e-9
"""Ranks computed with a rank error are moved outwards by this many records."""


class Envelope(NamedTuple):
    """Two laws between which a group's mixture lies, quantile by quantile."""

    lower: Law
    upper: Law


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
    levels: npt.NDArray[np.int64],
    position: npt.NDArray[np.int64],
    errors: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The value is the record of rank ceil(n u), or one whose rank is near n u."""
    rank = -(-counts * (2 * position - 1) // (2 * levels))
    near = counts * (2 * position - 1) / (2 * levels)
    most = np.minimum(np.floor(near + counts * errors + _ROUNDING), counts)
    least = np.maximum(np.ceil(near - counts * errors - _ROUNDING), 0)
    exact = errors == 0
    return np.where(exact, rank - 1, most), np.where(exact, rank, least)


def _steps(below: FloatArray, counts: npt.NDArray[Any], ends: npt.NDArray[np.int64]) -> FloatArray:
    """Mass at each value of the lower laws: from its own bound to that of the next value."""
    following = np.append(below[1:], 0.0)
    following[ends - 1] = counts
    steps: FloatArray = following - below
    return steps


def _first_steps(upto: FloatArray, starts: npt.NDArray[np.int64]) -> FloatArray:
    """Mass at each value of the upper laws: from the bound of the value before to its own."""
    before = np.concatenate(([0.0], upto[:-1]))
    before[starts] = 0.0
    steps: FloatArray = upto - before
    return steps
