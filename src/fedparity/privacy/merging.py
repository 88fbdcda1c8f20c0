"""Counts of neighbours merged until none is small: at the points of a score, or between thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.privacy.disclosure import Disclosure

__all__ = [
    "MergedCounts",
    "Runs",
    "counted_sizes",
    "merge_counts",
    "merged_ends",
    "merged_runs",
    "run_minimum",
]

_ROUNDING = 1e-9
"""Eleven records of weight 0.1 amount to 10.999999999999998 in floats."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MergedCounts:
    """What a cell of counts may send."""

    values: FloatArray
    """The highest point of each run, increasing; the last one is the top of the range."""
    counts: tuple[int | float | None, ...]
    """Records of each run, or their weight; None where they are counted with the run before."""
    above: tuple[int | float | None, ...]
    """Records at or above each threshold, or None where that is not sent."""


def merge_counts(
    points: FloatArray,
    records: npt.ArrayLike,
    disclosure: Disclosure,
    *,
    thresholds: Sequence[float] = (),
    weights: npt.ArrayLike | None = None,
    effective: float | None = None,
) -> MergedCounts:
    """Return the counts of a cell at the points of its score, small ones merged with neighbours.

    Parameters
    ----------
    points : array of numbers
        The scores there can be, increasing.
    records : array of whole numbers
        Records at each point.
    thresholds : sequence of float
        Runs end at thresholds where that is possible, so that the counts there are sums of runs
        and tell nothing more.
    weights : array of numbers, optional
        The weight of the records at each point, which is then what is sent.
    effective : float, optional
        How many equally weighted records the weights of the cell amount to.

    Examples
    --------
    >>> merged = merge_counts(
    ...     np.array([1.0, 2.0, 3.0, 4.0]), [20, 5, 30, 2], Disclosure(), thresholds=[3.0, 4.0]
    ... )
    >>> merged.values, merged.counts, merged.above
    (array([1., 2., 3., 4.]), (25, None, 32, None), (32, None))
    """
    cuts = np.searchsorted(points, thresholds, side="left").tolist()
    sizes = counted_sizes(records, weights, effective)
    runs = merged_runs(sizes, run_minimum(disclosure), cuts=cuts)
    amounts = np.asarray(records if weights is None else weights)
    starts = np.append(0, runs.ends[:-1] + 1)
    counts = np.add.reduceat(amounts, starts[runs.counted]).tolist()
    above = np.cumsum(counts[::-1])[::-1].tolist()
    from_start = dict(zip(starts[runs.counted].tolist(), above, strict=True))
    sent = iter(counts)
    return MergedCounts(
        values=points[runs.ends],
        counts=tuple(next(sent) if counted else None for counted in runs.counted.tolist()),
        above=tuple(from_start.get(cut) for cut in cuts),
    )


def run_minimum(disclosure: Disclosure) -> int:
    """Return how many records a count that is sent must hold; 1 if it may hold any number, or none.

    A count at one score is a cell of a table like any other, so it obeys ``minimum_cell``; and it
    is a level of a sketch, so it obeys ``records_per_level``.

    Examples
    --------
    >>> run_minimum(Disclosure()), run_minimum(Disclosure.off())
    (11, 1)
    """
    return max(disclosure.minimum_cell, disclosure.records_per_level, 1)


def counted_sizes(
    records: npt.ArrayLike, weights: npt.ArrayLike | None = None, effective: float | None = None
) -> FloatArray:
    """Return what the rules count at each place: records, or no more than their weights amount to.

    Parameters
    ----------
    records : array of whole numbers
        Records of positive weight at each place.
    weights : array of numbers, optional
        Their total weight at each place.
    effective : float, optional
        How many equally weighted records all the weights together amount to.

    Examples
    --------
    >>> counted_sizes([10, 10], [30.0, 10.0], effective=16.0)
    array([10.,  4.])
    """
    sizes = np.asarray(records, dtype=np.float64)
    if weights is None or effective is None:
        return sizes
    masses = np.asarray(weights, dtype=np.float64)
    total = masses.sum()
    return np.minimum(sizes, masses * (effective / total)) if total else sizes


class Runs(NamedTuple):
    """Runs of neighbouring places that are counted together."""

    ends: npt.NDArray[np.int64]
    """The last place of each."""
    counted: npt.NDArray[np.bool_]
    """Whether it has a count of its own; if not, it is counted with the run before."""


def merged_runs(sizes: npt.ArrayLike, minimum: int, *, cuts: Sequence[int] = ()) -> Runs:
    r"""Return runs of neighbouring places whose counts may be sent.

    From the lowest place upwards, a run ends as soon as it holds the minimum m. What is left over
    at the top holds less. If the last run would hold less than :math:`2m - 1` with it, it is part
    of that run; else it is a run without a count of its own, counted with the run before: then it
    is known where most of them are. Every count that is sent is at least m, unless all
    places together hold less: then they are one run. With a minimum of 1 every place is a run.

    A run that ended with its last place holds less than m without that place, and a run
    without a count less than m: whoever knows the rule learns this much, to which every number
    from 0 to m - 1 still fits (tested by enumeration); and an auditor learns that all
    but so few of the records are at the highest point of their run.

    Parameters
    ----------
    sizes : array of numbers
        What the rules count at each place, see :func:`counted_sizes`.
    minimum : int
        What every count must hold.
    cuts : sequence of int
        Places before which a run should end if possible: those of thresholds, in increasing order.
        What lies between cuts is merged first, see :func:`merged_ends`, and then the places inside
        each part.

    Examples
    --------
    >>> merged_runs([3, 9, 0, 20, 4], 11)
    Runs(ends=array([1, 3, 4]), counted=array([ True,  True, False]))
    >>> merged_runs([3, 9, 0, 12, 4], 11).ends, merged_runs([20, 3, 20], 11, cuts=[2]).ends
    (array([1, 4]), array([0, 1, 2]))
    """
    amounts = np.asarray(sizes, dtype=np.float64)
    if minimum <= 1:
        return Runs(np.arange(amounts.size), np.ones(amounts.size, dtype=bool))
    starts = np.unique([0, *(cut for cut in cuts if 0 < cut < amounts.size)])
    stops = np.append(starts[1:], amounts.size)
    kept = stops[merged_ends(np.add.reduceat(amounts, starts), minimum)].tolist()
    ends: list[int] = []
    counted: list[bool] = []
    for start, stop in pairwise([0, *kept]):
        closed = [start + place for place in _closed(amounts[start:stop], minimum)]
        last = [start, *(place + 1 for place in closed)][-2 if closed else -1]
        enough = float(amounts[last:stop].sum()) >= (2 * minimum - 1) * (1 - _ROUNDING)
        apart = bool(closed) and closed[-1] < stop - 1 and enough
        own = [*closed[: None if apart else -1], stop - 1]
        ends += own
        counted += [True] * (len(own) - 1) + [not apart]
    return Runs(np.array(ends, dtype=np.int64), np.array(counted))


def merged_ends(sizes: npt.ArrayLike, minimum: int) -> npt.NDArray[np.int64]:
    """Return the last place of each run, where what is left over at the top joins the last run.

    Examples
    --------
    >>> merged_ends([3, 9, 0, 20, 4], 11)
    array([1, 4])
    """
    amounts = np.asarray(sizes, dtype=np.float64)
    if minimum <= 1:
        return np.arange(amounts.size)
    return np.array([*_closed(amounts, minimum)[:-1], amounts.size - 1], dtype=np.int64)


def _closed(amounts: FloatArray, minimum: int) -> list[int]:
    """The last place of each run that holds the minimum, from the lowest place upwards."""
    ends: list[int] = []
    held = 0.0
    for place, amount in enumerate(amounts.tolist()):
        held += amount
        if held >= minimum * (1 - _ROUNDING):
            ends.append(place)
            held = 0.0
    return ends
