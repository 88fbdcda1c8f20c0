"""What counts of runs say of the scores behind them, given the rule that merged them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray

__all__ = ["ReadCounts", "read_counts"]


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

    By the rule of :func:`~fedparity.privacy.merging.merged_runs`, fewer than the minimum are below the
    highest point of a run, and fewer in a run without a count of its own. So all others are at that
    point exactly, and those few in the middle of where they may be. Of a run that may have taken in
    what was left over nothing is known but its ends, and so of every run of weights: all its
    records are in its middle, and estimates spread them (:mod:`fedparity.federated.merged_counts`).

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
