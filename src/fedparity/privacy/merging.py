"""Counts of neighbours merged until none is small: at the points of a score, or between thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.privacy.disclosure import Disclosure

__all__ = ["MergedCounts", "counted_sizes", "merge_counts", "merged_ends", "run_minimum"]

_ROUNDING = 1e-9
"""Eleven records of weight 0.1 amount to 10.999999999999998 in floats."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MergedCounts:
    """What a cell of counts may send."""

    values: FloatArray
    """The highest point of each run, increasing; the last one is the top of the range."""
    counts: npt.NDArray[Any]
    """Records of each run, or their weight; they sum to those of the cell."""
    above: tuple[int | float | None, ...]
    """Records at or above each threshold, or None where it lies inside a run."""


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
    ...     np.array([1.0, 2.0, 3.0, 4.0]), [20, 5, 30, 12], Disclosure(), thresholds=[3.0, 4.0]
    ... )
    >>> merged.values, merged.counts, merged.above
    (array([2., 3., 4.]), array([25, 30, 12]), (42, 12))
    """
    cuts = np.searchsorted(points, thresholds, side="left")
    sizes = counted_sizes(records, weights, effective)
    ends = merged_ends(sizes, run_minimum(disclosure), cuts=cuts.tolist())
    amounts = np.asarray(records if weights is None else weights)
    starts = np.append(0, ends[:-1] + 1)
    counts = np.add.reduceat(amounts, starts)
    above = dict(zip(starts.tolist(), np.cumsum(counts[::-1])[::-1].tolist(), strict=True))
    return MergedCounts(
        values=points[ends],
        counts=counts,
        above=tuple(above.get(cut) for cut in cuts.tolist()),
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


def merged_ends(
    sizes: npt.ArrayLike, minimum: int, *, cuts: Sequence[int] = ()
) -> npt.NDArray[np.int64]:
    """Return the last place of each run of neighbours that are counted together.

    From the lowest place upwards, a run ends as soon as it holds ``minimum``; what is left over at
    the top joins the last run. Every run then holds the minimum, unless all places together do
    not: then they are one run. With a minimum of 1 every place is a run of its own.

    Somebody who knows the rule learns that a run without its last place holds less than the
    minimum, which leaves every number from 0 to below it possible for it, and so for each place
    (tested by enumeration).

    Parameters
    ----------
    sizes : array of numbers
        What the rules count at each place, see :func:`counted_sizes`.
    minimum : int
        What every run must hold.
    cuts : sequence of int
        Places before which a run should end if possible: those of thresholds, in increasing order.
        The parts between cuts are merged first, by the same rule, and then the places inside
        each part: a cut that the first merging removed may lie inside a run.

    Examples
    --------
    >>> merged_ends([3, 9, 0, 20, 4], 11)
    array([1, 4])
    >>> merged_ends([20, 3, 20, 20], 11, cuts=[2])
    array([1, 2, 3])
    """
    amounts = np.asarray(sizes, dtype=np.float64)
    if minimum <= 1:
        return np.arange(amounts.size)
    starts = np.unique([0, *(cut for cut in cuts if 0 < cut < amounts.size)])
    parts = np.append(starts[1:], amounts.size)
    kept = parts[_greedy(np.add.reduceat(amounts, starts), minimum)]
    ends: list[int] = []
    start = 0
    for stop in kept.tolist():
        ends += [start + end for end in _greedy(amounts[start:stop], minimum)]
        start = stop
    return np.array(ends, dtype=np.int64)


def _greedy(amounts: FloatArray, minimum: int) -> list[int]:
    """The last place of each run, from the lowest place upwards."""
    ends: list[int] = []
    held = 0.0
    for place, amount in enumerate(amounts.tolist()):
        held += amount
        if held >= minimum * (1 - _ROUNDING):
            ends.append(place)
            held = 0.0
    last = amounts.size - 1
    return [*ends[:-1], last] if ends else [last]
