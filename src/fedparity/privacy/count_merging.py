"""Counts of neighbors merged until none is small: at the points of a score, or between thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.law import FloatArray
from fedparity.privacy.disclosure import Disclosure

__all__ = [
    "MergedCounts",
    "ReadCounts",
    "Runs",
    "counted_sizes",
    "counts_above",
    "counts_at",
    "joint_ends",
    "merge_counts",
    "merged_ends",
    "merged_runs",
    "read_counts",
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
    """Return the counts of a cell at the points of its score, small ones merged with neighbors.

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
    """Runs of neighboring places that are counted together."""

    ends: npt.NDArray[np.int64]
    """The last place of each."""
    counted: npt.NDArray[np.bool_]
    """Whether it has a count of its own; if not, it is counted with the run before."""


def merged_runs(sizes: npt.ArrayLike, minimum: int, *, cuts: Sequence[int] = ()) -> Runs:
    r"""Return runs of neighboring places whose counts may be sent.

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


def joint_ends(
    sizes: npt.ArrayLike, minimum: int, *, cuts: Sequence[int] = ()
) -> npt.NDArray[np.int64]:
    """Return the last place of each run that holds the minimum in each of several parts.

    The parts of a cell that are sent beside it, such as its outcomes, are counted in the same runs:
    no difference of theirs is then a smaller number.

    Parameters
    ----------
    sizes : array of parts by places
        What the rules count of each part at each place.
    cuts : sequence of int
        Places before which a run should end if possible, as in :func:`merged_runs`.

    Examples
    --------
    >>> joint_ends([[20, 5, 30, 11], [15, 15, 15, 15]], 11)
    array([0, 2, 3])
    """
    amounts = np.atleast_2d(np.asarray(sizes, dtype=np.float64))
    size = amounts.shape[1]
    if minimum <= 1:
        return np.arange(size)
    starts = np.unique([0, *(cut for cut in cuts if 0 < cut < size)])
    stops = np.append(starts[1:], size)
    kept = _joined_at_the_top(np.add.reduceat(amounts, starts, axis=1), minimum)
    ends: list[int] = []
    for start, stop in pairwise([0, *stops[kept].tolist()]):
        ends += [start + place for place in _joined_at_the_top(amounts[:, start:stop], minimum)]
    return np.array(ends, dtype=np.int64)


def _joined_at_the_top(amounts: FloatArray, minimum: int) -> list[int]:
    """The last place of each run that holds the minimum in every row; the rest joins the last run."""
    ends: list[int] = []
    held = np.zeros(amounts.shape[0])
    for place in range(amounts.shape[1]):
        held += amounts[:, place]
        if (held >= minimum * (1 - _ROUNDING)).all():
            ends.append(place)
            held = np.zeros(amounts.shape[0])
    return [*ends[:-1], amounts.shape[1] - 1]


def counts_at(
    points: FloatArray,
    records: npt.ArrayLike,
    ends: npt.NDArray[np.int64],
    *,
    thresholds: Sequence[float] = (),
) -> MergedCounts:
    """Return the counts of a cell in given runs of the points of its score.

    Examples
    --------
    >>> counts_at(np.array([1.0, 2.0, 3.0]), [20, 5, 30], np.array([1, 2]), thresholds=[3.0]).counts
    (25, 30)
    """
    starts = np.append(0, ends[:-1] + 1)
    counts = np.add.reduceat(np.asarray(records), starts).tolist()
    above = dict(zip(starts.tolist(), np.cumsum(counts[::-1])[::-1].tolist(), strict=True))
    cuts = np.searchsorted(points, thresholds, side="left").tolist()
    return MergedCounts(
        values=points[ends],
        counts=tuple(counts),
        above=tuple(above.get(cut) for cut in cuts),
    )


def counts_above(
    records: npt.ArrayLike,
    disclosure: Disclosure,
    *,
    weights: npt.ArrayLike | None = None,
    effective: float | None = None,
) -> tuple[int | float | None, ...]:
    """Return for each threshold how many records lie at or above it, or None if it is not sent.

    Thresholds count as levels: where fewer than ``minimum_cell`` records lie between two of them,
    or beyond the lowest or the highest, a threshold is left out, so that no difference of what
    is sent, the count of the cell included, is a smaller number. Which one is left out follows the
    rule of :func:`~fedparity.privacy.count_merging.merged_ends`.

    Parameters
    ----------
    records : array of whole numbers, one more than there are thresholds
        Records below the lowest threshold, between neighbors, and from the highest upwards; a
        score equal to a threshold is above it.
    weights : array of numbers, optional
        Their weight, which is then what is sent.
    effective : float, optional
        How many equally weighted records the weights of the cell amount to.

    Examples
    --------
    >>> counts_above([40, 30, 25], Disclosure())
    (55, 25)
    >>> counts_above([40, 3, 25], Disclosure()), counts_above([4, 60], Disclosure())
    ((28, None), (None,))
    """
    sizes = counted_sizes(records, weights, effective)
    ends = set(merged_ends(sizes, disclosure.minimum_cell).tolist())
    amounts = np.asarray(records if weights is None else weights)
    above = np.cumsum(amounts[::-1])[::-1][1:].tolist()
    return tuple(number if place in ends else None for place, number in enumerate(above))


class ReadCounts(NamedTuple):
    """Where the records of a cell are."""

    values: FloatArray
    """Scores, increasing."""
    masses: npt.NDArray[Any]
    """Records at each, or their weight."""
    errors: FloatArray
    """How far from it they may be."""


class _Run(NamedTuple):
    """A count, and the places that it speaks of."""

    records: int | float
    first: int
    last: int
    """The last place of the run that has the count."""
    top: int
    """The last place of what is counted with it."""
    known: bool
    """Whether all but a few records are at the last place."""


def read_counts(
    values: FloatArray,
    counts: Sequence[int | float | None],
    points: FloatArray,
    *,
    minimum: int,
    thresholds: Sequence[float] = (),
    weighted: bool = False,
) -> ReadCounts:
    """Return where the records of merged counts are, and how far from there they may be.

    By the rule of :func:`~fedparity.privacy.count_merging.merged_runs`, fewer than the minimum are below the
    highest point of a run, and fewer in a run without a count of its own. So all others are at that
    point exactly, and those few in the middle of where they may be. Of a run that may have taken in
    what was left over nothing is known but its ends, and so of every run of weights: all its
    records are in its middle, and estimates spread them (:mod:`fedparity.federated.reconstruction`).

    Parameters
    ----------
    values : array of numbers
        The highest point of each run.
    counts : sequence of numbers or None
        Its records; None where they are counted with the run before.
    points : array of numbers
        The scores there can be.
    minimum : int
        What every count holds at least, by the rule.
    thresholds : sequence of float
        Those of the plan, at which runs may have been cut.
    weighted : bool
        Whether counts are weights, of which the rule says less.

    Examples
    --------
    >>> read_counts(np.array([2.0, 3.0]), [25, 30], np.array([1.0, 2.0, 3.0]), minimum=11)
    ReadCounts(values=array([1.5, 2. , 3. ]), masses=array([10, 15, 30]), errors=array([0.5, 0. , 0. ]))
    """
    cuts = {0, points.size, *np.searchsorted(points, thresholds, side="left").tolist()}
    runs = _runs(np.searchsorted(points, values).tolist(), counts, minimum, cuts)
    found = [
        each
        for run in runs
        for each in (_middle(run) if weighted or not run.known else _anchored(run, minimum))
    ]
    lows, highs, masses = (np.array(column) for column in zip(*found, strict=True))
    low, width = points[lows], points[highs] - points[lows]
    return ReadCounts(low + width / 2, masses, width / 2)


def _runs(
    ends: Sequence[int], counts: Sequence[int | float | None], minimum: int, cuts: set[int]
) -> Iterator[_Run]:
    """The counts that are not 0, each with its places."""
    for place, (before, last) in enumerate(pairwise([-1, *ends])):
        count = counts[place]
        if not count:
            continue
        alone = place + 1 == len(ends) or counts[place + 1] is not None
        top = last if alone else ends[place + 1]
        took_in = alone and top + 1 in cuts and count < 2 * minimum - 1
        yield _Run(count, before + 1, last, top, known=not took_in or before + 1 == last)


def _middle(run: _Run) -> Iterator[tuple[int, int, int | float]]:
    """All records between the ends of the run."""
    yield run.first, run.top, run.records


def _anchored(run: _Run, minimum: int) -> Iterator[tuple[int, int, int | float]]:
    """Some records below the last place, some above it, all others there: lowest, highest, number."""
    below = minimum - 1 if run.first < run.last else 0
    above = minimum - 1 if run.last < run.top else 0
    if below:
        yield run.first, run.last, below
    yield run.last, run.last, run.records - below - above
    if above:
        yield run.last, run.top, above
