"""Histograms on a public grid: the one object that noise and secure sums are made for.

Precondition: the grid comes from the plan, never from data. Postcondition: adding or removing one
record changes one count, of one group, by one; so the L1 distance between the counts of
neighboring tables is 1, over all groups together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.errors import InputError, ScoreError, TableError
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.laws.progress import RowProgress
from fedparity.sketches.kinds import ScoreGrid
from fedparity.sketches.records import (
    Batch,
    Faults,
    Records,
    RowCounts,
    available_threads,
    map_batches,
)

__all__ = [
    "CDFPieces",
    "Counts",
    "Grid",
    "GridTally",
    "grid_counts",
    "grid_quantiles",
    "running_shares",
]

Counts = npt.NDArray[np.int64]
"""Whole numbers by group (rows) and bin (columns)."""

_ROUNDING = 1e-9
"""A share of a bin that reaches a whole number of its points up to this reaches it."""
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Grid:
    """Bins over a score range: bin i holds the scores from its lower edge to below its upper one.

    The last bin holds the upper end of the range too. This is the rule of OpenDP's ``find_bin``.
    Where scores can only be some public :attr:`points`, a bin is one of them, or a run of them.
    :meth:`scores_at` and :meth:`cdfs` alone say where the mass of a bin lies.

    Examples
    --------
    >>> grid = Grid.of((0.0, 1.0), bins=4)
    >>> grid.edges, grid.positions(np.array([0.0, 0.25, 1.0]))
    (array([0.25, 0.5 , 0.75]), array([0, 1, 3]))
    """

    edges: FloatArray
    """Inner edges, increasing."""
    low: float
    high: float
    points: FloatArray | None = None
    """All scores that there can be, increasing; None where any number of the range can be one."""

    @classmethod
    def of(
        cls,
        score_range: tuple[float, float],
        *,
        bins: int | None = None,
        edges: Sequence[float] | None = None,
        thresholds: Sequence[float] = (),
    ) -> Grid:
        """Return the grid with these inner ``edges``, or with ``bins`` of equal width.

        Of equal bins the edges nearest to the ``thresholds`` are moved onto them, so that no bin
        holds scores on both sides of one.

        Examples
        --------
        >>> Grid.of((0.0, 1.0), bins=4, thresholds=[0.6]).edges
        array([0.25, 0.6 , 0.75])
        """
        low, high = score_range
        if edges is None:
            equal = np.linspace(low, high, (bins or 1) + 1)[1:-1].tolist()
            edges = _moved(equal, [score for score in thresholds if low < score < high])
        return cls(np.array(edges, dtype=np.float64), float(low), float(high))

    @classmethod
    def of_points(
        cls,
        points: npt.ArrayLike,
        *,
        bins: int | None = None,
        edges: Sequence[float] | None = None,
        thresholds: Sequence[float] = (),
    ) -> Grid:
        """Return the grid of scores that can only be ``points``, which increase.

        A bin is one point where ``bins`` are as many or absent. Fewer ``bins`` hold runs of whole
        points, nearly as many in each, and none on both sides of a threshold. ``edges`` say
        instead between which points bins meet.
        They are moved halfway, so that no rounding of a score decides where it is counted.

        Examples
        --------
        >>> Grid.of_points([1.0, 2.0, 3.0]).edges
        array([1.5, 2.5])
        >>> Grid.of_points(np.arange(10.0), bins=3).edges
        array([2.5, 5.5])
        """
        scores = np.array(points, dtype=np.float64)
        if edges is not None:
            cuts = np.searchsorted(scores, edges)
        else:
            held = min(bins or scores.size, scores.size)
            cuts = np.arange(1, held) * scores.size // held
            firsts = np.unique(np.searchsorted(scores, thresholds))
            inside = firsts[(firsts > 0) & (firsts < scores.size)]
            cuts = np.array(_moved(cuts.tolist(), inside.tolist()), dtype=np.int64)
        halfway = scores[cuts - 1] + (scores[cuts] - scores[cuts - 1]) / 2
        return cls(halfway, float(scores[0]), float(scores[-1]), scores)

    @property
    def bins(self) -> int:
        """The number of bins."""
        return self.edges.size + 1

    @property
    def pointwise(self) -> bool:
        """Whether every bin is one point: then it is known where each record lies."""
        return self.points is not None and self.points.size == self.bins

    @cached_property
    def bounds(self) -> FloatArray:
        """All edges, with both ends of the range."""
        return np.concatenate(([self.low], self.edges, [self.high]))

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where the points of each bin start, and where the last ones end; none without points."""
        if self.points is None:
            return np.zeros(0, dtype=np.int64)
        return np.concatenate(([0], np.searchsorted(self.points, self.edges), [self.points.size]))

    @property
    def lowest(self) -> FloatArray:
        """The lowest score that each bin can hold."""
        return self.bounds[:-1] if self.points is None else self.points[self.starts[:-1]]

    @property
    def highest(self) -> FloatArray:
        """The highest score that each bin can hold."""
        return self.bounds[1:] if self.points is None else self.points[self.starts[1:] - 1]

    @property
    def widest(self) -> float:
        """How far apart two scores of one bin can be; 0 if every bin is one point."""
        return float((self.highest - self.lowest).max())

    def positions(self, scores: FloatArray) -> npt.NDArray[np.int64]:
        """Return the bin of each score: the number of edges that are not above it."""
        return np.searchsorted(self.edges, scores, side="right")

    def first_from(self, score: float) -> int | None:
        """Return the first bin of scores at or above this one; None if a bin has some on both sides.

        Examples
        --------
        >>> grid = Grid.of((0.0, 1.0), bins=4)
        >>> grid.first_from(0.5), grid.first_from(0.6), Grid.of_points([1.0, 2.0]).first_from(1.5)
        (2, None, 1)
        """
        first = int(np.searchsorted(self.lowest, score))
        if self.points is None:
            meets = first < self.bins and bool(self.lowest[first] == score)
        else:
            meets = bool(self.highest[first - 1] < score)
        return first if meets or first == 0 else None

    def between(self, scores: FloatArray) -> npt.NDArray[np.bool_]:
        """Return whether each score of the range lies between points, so that it cannot be one."""
        if self.points is None:
            return np.zeros(scores.shape, dtype=np.bool_)
        between: npt.NDArray[np.bool_] = ScoreGrid(self.points).places(scores) % 2 == 0
        return between

    def scores_at(self, bins: npt.NDArray[np.int64], above: FloatArray) -> FloatArray:
        """Return the scores of these ``bins`` with a share ``above`` of their bin's mass above them.

        The mass of a bin lies evenly between its edges, or in equal parts on its points.

        Examples
        --------
        >>> at, above = np.array([0, 0]), np.array([0.75, 0.25])
        >>> Grid.of((0.0, 4.0), bins=2).scores_at(at, above)
        array([0.5, 1.5])
        >>> Grid.of_points([0.0, 1.0, 2.0, 3.0], bins=2).scores_at(at, above)
        array([0., 1.])
        """
        if self.points is None:
            return self.bounds[bins + 1] - above * np.diff(self.bounds)[bins]
        sizes = np.diff(self.starts)[bins]
        later = np.minimum((above * sizes + _ROUNDING).astype(np.int64), sizes - 1)
        scores: FloatArray = self.points[self.starts[bins + 1] - 1 - later]
        return scores

    def cdfs(self, masses: FloatArray) -> CDFPieces:
        """Return the distribution functions of ``masses`` in bins (last axis), piece by piece.

        Examples
        --------
        >>> Grid.of((0.0, 4.0), bins=2).cdfs(np.array([1.0, 3.0])).right
        array([0.25, 1.  ])
        >>> Grid.of_points([0.0, 1.0, 4.0]).cdfs(np.array([1.0, 2.0, 1.0]))
        CDFPieces(widths=array([1., 3.]), left=array([0.25, 0.75]), right=array([0.25, 0.75]))
        """
        if self.points is not None and not self.pointwise:
            sizes = np.diff(self.starts)
            masses = np.repeat(masses / sizes, sizes, axis=-1)
        reached = running_shares(masses)
        if self.points is not None:
            level = reached[..., :-1]
            return CDFPieces(np.diff(self.points), level, level)
        left = np.concatenate((np.zeros_like(reached[..., :1]), reached[..., :-1]), axis=-1)
        return CDFPieces(np.diff(self.bounds), left, reached)

    def coarser(self) -> Grid:
        """Return the grid with every second inner edge; an odd last bin stays alone."""
        return replace(self, edges=self.edges[1::2])

    def coarsened(self, counts: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return counts (last axis) on the :meth:`coarser` grid."""
        starts = np.arange(0, self.bins, 2)
        return np.add.reduceat(counts, starts, axis=-1)


class CDFPieces(NamedTuple):
    """Distribution functions that are linear over pieces of the score range."""

    widths: FloatArray
    """The length of each piece."""
    left: FloatArray
    """What they are at the lower end of each piece (last axis)."""
    right: FloatArray
    """What they rise to at its upper end; the same where they are constant."""


def _moved(edges: Sequence[float], onto: Sequence[float]) -> list[float]:
    """The edges, the nearest ones moved onto these scores; as many as before, if they suffice."""
    left = list(edges)
    for score in onto:
        if left:
            left.remove(min(left, key=lambda edge: abs(edge - score)))
    return sorted((*left, *onto))


def running_shares(masses: FloatArray) -> FloatArray:
    """Return the share of the mass up to each bin (last axis), itself included; the last is 1.

    Examples
    --------
    >>> running_shares(np.array([1.0, 3.0]))
    array([0.25, 1.  ])
    """
    running = np.cumsum(masses, axis=-1, dtype=np.float64)
    running /= np.maximum(running[..., -1:], _TINY)
    return running


class GridTally:
    """Counts that grow batch by batch; whole numbers, so that nothing depends on the order."""

    def __init__(self, groups: int, grid: Grid) -> None:
        self.grid = grid
        self.counts: Counts = np.zeros((groups, grid.bins), dtype=np.int64)
        self.faults = Faults()
        self.outside = self.off = 0

    def update(self, batch: Batch) -> None:
        """Count the records of a batch."""
        if batch.faults is not None:
            self.faults.add(batch.faults)
        scores, codes = batch.scores, batch.codes
        inside = (scores >= self.grid.low) & (scores <= self.grid.high)
        if not inside.all():
            self._count_faults(scores[~inside])
            scores, codes = scores[inside], codes[inside]
        self.off += int(np.count_nonzero(self.grid.between(scores)))
        cells = codes.astype(np.int64) * self.grid.bins + self.grid.positions(scores)
        self.counts += np.bincount(cells, minlength=self.counts.size).reshape(self.counts.shape)

    def _count_faults(self, scores: FloatArray) -> None:
        missing = int(np.count_nonzero(np.isnan(scores)))
        infinite = int(np.count_nonzero(np.isinf(scores)))
        self.faults.missing_scores += missing
        self.faults.infinite_scores += infinite
        self.outside += scores.size - missing - infinite

    def merge(self, other: GridTally) -> None:
        """Count what another tally of the same grid has counted."""
        self.counts += other.counts
        self.faults.add(other.faults)
        self.outside += other.outside
        self.off += other.off

    def finish(self, accept: Callable[[Faults], RowCounts]) -> Counts:
        """Return the counts, or raise if a row was seen that may not be left out.

        The errors hold no number: they may be passed on, and an exact number of rows is what
        noise is meant to hide.

        Raises
        ------
        TableError, ScoreError
            If there is a row without a score where none may be, or one that is outside the
            range, or between its points.
        """
        try:
            accept(self.faults)
        except InputError as error:
            raise _without_numbers(self.faults, error) from None
        if self.outside:
            raise ScoreError(
                f"scores must lie between {self.grid.low:g} and {self.grid.high:g}, but some do not; "
                "under the plan's privacy mode it is not said how many.",
                fix="check the scale of the score, or agree on a plan with a wider score_range.",
            )
        if self.off:
            raise ScoreError(
                "scores must be points of the plan's grid, but some are not; under the plan's privacy "
                "mode it is not said how many.",
                fix="round the scores to the plan's score_step as 64-bit floats, or agree on a plan with "
                "another score_step, or without one.",
            )
        return self.counts


def grid_counts(
    records: Records,
    grid: Grid,
    groups: Sequence[Group],
    *,
    threads: int | None = None,
    progress: RowProgress | None = None,
) -> Counts:
    """Return how many records of each group lie in each bin, exactly, in one pass.

    Memory is that of one batch per thread.

    Examples
    --------
    >>> from fedparity.sketches.records import ArrayRecords
    >>> records = ArrayRecords(("a", "b"), np.array([0.1, 0.9, 0.3]), np.array([0, 1, 0]))
    >>> grid_counts(records, Grid.of((0.0, 1.0), bins=2), ("a", "b"))
    array([[2, 0], [0, 1]])
    """
    done = 0

    def seen(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(done, records.rows, "counting")

    # A source that is read once may reuse the memory of its batches: then use one thread.
    several = available_threads() if threads is None else threads
    tallies = map_batches(
        records,
        lambda: GridTally(len(groups), grid),
        GridTally.update,
        threads=several if records.rescannable else 1,
        seen=seen,
    )
    whole = tallies[0]
    for tally in tallies[1:]:
        whole.merge(tally)
    return whole.finish(records.accept)


def grid_quantiles(masses: FloatArray, grid: Grid, levels: FloatArray) -> FloatArray:
    r"""Return the quantiles of laws given by their masses in bins, one row for each.

    Parameters
    ----------
    masses : array (laws, bins) of numbers of at least 0
        Not all zero in a row; they need not sum to 1.
    levels : increasing array in (0, 1)
        The same for all laws, or one row for each.

    Examples
    --------
    >>> grid = Grid.of((0.0, 1.0), bins=2)
    >>> grid_quantiles(np.array([[1.0, 3.0]]), grid, np.array([0.125, 0.5]))
    array([[0.25      , 0.66666667]])
    """
    running = running_shares(masses)
    row = np.arange(len(masses))[:, None]
    # One search for all rows: those of row i lie between i and i + 1.
    found = np.searchsorted((running + row).ravel(), (levels + row).ravel())
    at = np.minimum(found.reshape(len(masses), -1) - row * grid.bins, grid.bins - 1)
    values: FloatArray
    if grid.pointwise:
        values = grid.lowest[at]
        return values
    upto = np.take_along_axis(running, at, axis=1)
    mass = np.take_along_axis(masses, at, axis=1) / np.maximum(masses.sum(axis=1), _TINY)[:, None]
    above = np.clip((upto - levels) / np.maximum(mass, _TINY), 0.0, 1.0)
    values = np.maximum.accumulate(grid.scores_at(at, above), axis=1)
    return values


_WORDS = {
    "missing_scores": "rows without a score",
    "infinite_scores": "infinite scores",
    "missing_labels": "rows without a group",
    "unlisted": "labels that are not groups of the plan",
}


def _without_numbers(faults: Faults, error: InputError) -> InputError:
    """The same refusal, without how many rows it is about, or what they hold."""
    found = [words for name, words in _WORDS.items() if getattr(faults, name)]
    if not found:
        return error
    return TableError(
        f"the table holds {' and '.join(found)}; under the plan's privacy mode it is not said how many.",
        fix="leave rows without a score out with --missing drop (missing='drop'), map labels "
        "with --map or --other, and repair the rest; fedparity sketch --dry-run with a plan "
        "without [privacy] counts them for you.",
    )
