"""One pass over records that cannot be read twice: chunks are silos, and are merged like them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.sketches.accumulators import Moments, SketchRequest
from fedparity.sketches.kinds import Kind, MassTargets, RankTargets, check_levels
from fedparity.sketches.passes import KernelName
from fedparity.sketches.records import Batch, CachedRecords, Faults, RowCounts
from fedparity.sketches.resolve import (
    CountedRuns,
    Values,
    WeightedRuns,
    counted_values,
    inside_step_law,
    weighted_values,
)
from fedparity.sketches.select import Census, Selected, select, where_sketched

__all__ = ["RecordBuffer", "StreamSketch", "Summary"]

_BLOCK = 1 << 20
"""Rows of a batch that is yielded, so that several threads can share the work."""


@dataclass(eq=False, slots=True)
class RecordBuffer:
    """Copies of batches, one after the other, so that the reader may use their memory again.

    The buffer keeps its memory when it is emptied: fresh memory costs more than a copy. Memory is
    allocated at once and used as it fills. Only the records in it are pickled.

    Examples
    --------
    >>> buffer = RecordBuffer()
    >>> buffer.add(Batch(np.array([0.1, 0.9]), np.array([0, 1], np.uint8)))
    >>> buffer.size, [batch.scores.tolist() for batch in buffer.batches()]
    (2, [[0.1, 0.9]])
    """

    capacity: int = 0
    """Records that are expected; more find room, too."""
    size: int = 0
    """Records in the buffer."""
    _columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def add(self, batch: Batch) -> None:
        """Copy the records of a batch; all batches have weights, or none has."""
        stop = self.size + batch.scores.size
        for name in ("scores", "codes", "weights"):
            values = getattr(batch, name)
            if values is not None:
                self._column(name, stop, values.dtype)[self.size : stop] = values
        self.size = stop

    def batches(self) -> Iterator[Batch]:
        """Yield the records, as views that are valid until the buffer is filled again."""
        for start in range(0, self.size, _BLOCK):
            rows = slice(start, min(start + _BLOCK, self.size))
            weights = self._columns.get("weights")
            yield Batch(
                self._columns["scores"][rows],
                self._columns["codes"][rows],
                None if weights is None else weights[rows],
            )

    def empty(self) -> None:
        """Drop all records."""
        self.size = 0

    def _column(self, name: str, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """A column of this type with room for ``size`` records, and those that are in it."""
        column = self._columns.get(name, np.empty(0, dtype))
        wide = np.promote_types(column.dtype, dtype)
        if column.size < size or column.dtype != wide:
            grown = np.empty(max(size, self.capacity, 2 * column.size), wide)
            grown[: self.size] = column[: self.size]
            self._columns[name] = column = grown
        return column

    def __getstate__(self) -> dict[str, Any]:
        filled = {name: column[: self.size].copy() for name, column in self._columns.items()}
        return {"capacity": self.capacity, "size": self.size, "_columns": filled}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.capacity, self.size = state["capacity"], state["size"]
        self._columns = state["_columns"]


_CHUNK = 1 << 22
_MOST_SUMMARIES = 64
_ROUNDING = 1e-12
"""Added to the rank error of weighted summaries, whose masses are rounded."""


@dataclass(frozen=True, eq=False)
class Summary:
    r"""Many records of one group as m values of equal mass.

    Postcondition: :math:`\sup_x |F(x) - \widehat F(x)| \le` ``error``. The step law of the
    quantiles :math:`Q(u_\ell)`, :math:`u_\ell = (2\ell-1)/(2m)`, puts at most x the share
    :math:`\#\{\ell : u_\ell \le F(x)\} / m`, which is within :math:`1/(2m)` of :math:`F(x)`.
    """

    mass: int | float
    """The number of records, or their weight."""
    values: FloatArray
    error: float


@dataclass(eq=False, kw_only=True)
class StreamSketch:
    r"""Sketches of all groups from batches that come once.

    Records are gathered into chunks; a full chunk becomes one exact summary of ``resolution``
    values per group, and summaries are merged as an auditor merges silos. The error of the
    distribution function is at most :math:`1/(2m)` for each time that records were summarized,
    and is carried along. Records that fill no chunk are sketched exactly. Counts at the points of a
    grid and at thresholds, and the sums of squares, need no ranks: they are always exact.

    Objects can be pickled and merged, so that several workers can each take a part.

    Parameters
    ----------
    groups : sequence of labels
        The labels that the codes represent.
    request : SketchRequest
        The kind of sketch, and where records are counted.
    resolution : int
        The m of a summary.
    chunk : int
        Records that are summarized at once.
    """

    groups: Sequence[Group]
    request: SketchRequest = field(default_factory=SketchRequest)
    weighted: bool = False
    resolution: int = 4096
    chunk: int = _CHUNK
    score_range: tuple[float, float] | None = None
    kernel: KernelName = "auto"
    threads: int | None = None
    faults: Faults = field(default_factory=Faults)
    counts: list[int] = field(default_factory=list)
    """Records of each group so far, of positive weight, without those in the buffer."""
    moments: Moments | None = None
    """Exact sums over the same records."""
    summaries: list[list[Summary]] = field(default_factory=list)
    buffer: RecordBuffer = field(default_factory=RecordBuffer)

    def __post_init__(self) -> None:
        check_levels(self.resolution)
        check_levels(self.chunk)
        self.groups = tuple(self.groups)
        self.buffer.capacity = self.chunk
        self.counts = self.counts or [0] * len(self.groups)
        self.summaries = self.summaries or [[] for _ in self.groups]

    def update(self, batch: Batch) -> None:
        """Take the records of a batch; its memory may be used again afterwards."""
        if batch.faults is not None:
            self.faults.add(batch.faults)
        if self.buffer.size + batch.scores.size < self.chunk:
            self.buffer.add(batch)
        else:  # summarized before this returns, so that it needs no copy
            self._summarise(Batch(batch.scores, batch.codes, batch.weights))

    def merge(self, other: StreamSketch) -> None:
        """Take what another one of the same kind has gathered."""
        mine = (self.groups, self.weighted, self.resolution, self.request.key)
        if mine != (other.groups, other.weighted, other.resolution, other.request.key):
            raise OptionError(
                "sketches that are merged must have the same groups, kind, weights and resolution.",
                fix="make every worker's sketch with the same options.",
            )
        self.faults.add(other.faults)
        for group in range(len(self.groups)):
            self.counts[group] += other.counts[group]
            self.summaries[group] += other.summaries[group]
        if other.moments is not None:
            self._add_moments(other.moments)
        for batch in other.buffer.batches():
            self.update(batch)

    @property
    def exact(self) -> bool:
        """Whether every record is still at hand."""
        return self.moments is None

    def finish(
        self, levels: Callable[[Census], Sequence[int]], accept: Callable[[Faults], RowCounts]
    ) -> tuple[Selected, tuple[float, ...]]:
        """Return the sketches, and the rank error of each group.

        ``accept`` decides about rows that were left out.
        """
        if self.buffer.size and not self.exact:
            self._summarise()
        if self.moments is None:
            found = self._select(levels, self.request.kind, accept)
            return found, (0.0,) * len(self.groups)
        census = Census.from_moments(np.array(self.counts), self.moments, accept(self.faults))
        wanted = levels(census)
        counts = None if self.request.grid is None else self.request.counts(self.moments)
        groups = range(len(self.groups))
        values = [self._values(group, wanted[group], counts) for group in groups]
        selected = Selected(
            census=census,
            totals=tuple(census.masses.tolist() if self.weighted else self.counts),
            values=tuple(values),
            inside=tuple(self._inside(group, values[group]) for group in groups),
            above=where_sketched(values, self.request.above(self.moments)),
            records=where_sketched(values, self.request.records(self.moments)),
            kernel="stream",
            passes=1,
        )
        return selected, tuple(self._rank_error(group, values[group]) for group in groups)

    def _values(self, group: int, levels: int, counts: Sequence[Values] | None) -> Values | None:
        """The numbers of one group: those of its summaries, or counts."""
        if not levels or not self.counts[group]:
            return None
        if counts is not None:
            return counts[group]
        return self._merged(self.summaries[group], levels, self.request.kind)

    def _inside(self, group: int, means: Values | None) -> float | None:
        """The variance that bin means leave out: squares are exact, and the means are not."""
        if self.request.kind != "mean" or means is None or self.moments is None:
            return None
        return inside_step_law(
            means,
            total=sum(self.moments.between()[group]) if self.weighted else self.counts[group],
            first=self.moments.sums.settle()[group],
            second=self.moments.squares.settle()[group],
        )

    def _rank_error(self, group: int, values: Values | None) -> float:
        exact = values is None or self.request.kind == "counts"
        return 0.0 if exact else self._error(self.summaries[group])

    def _select(
        self,
        levels: Callable[[Census], Sequence[int]],
        kind: Kind,
        accept: Callable[[Faults], RowCounts],
        *more: Batch,
    ) -> Selected:
        """The exact sketch of the records in the buffer, and of those of a batch."""

        def accept_all(found: Faults) -> RowCounts:
            found.add(self.faults)
            return accept(found)

        batches = (*self.buffer.batches(), *more)
        records = CachedRecords(tuple(self.groups), batches, self.weighted, accept_all)
        return select(
            records,
            levels,
            kind=kind,
            thresholds=self.request.thresholds,
            points=self.request.points,
            extra=self.request.extra_sums(sums=True),
            score_range=self.score_range,
            levels_hint=self.resolution,
            kernel=self.kernel,
            threads=self.threads,
        )

    def _summarise(self, *more: Batch) -> None:
        """Turn the records in the buffer, and those of a batch, into a summary of each group."""

        def no_verdict(found: Faults) -> RowCounts:
            self.faults.add(found)
            return RowCounts()

        kept, self.faults = self.faults, Faults()
        kind: Kind = "quantile" if self.request.grid is None else "counts"
        found = self._select(
            lambda census: [self.resolution] * census.counts.size, kind, no_verdict, *more
        )
        kept.add(self.faults)
        self.faults = kept
        self.buffer.empty()
        if found.moments is not None:
            self._add_moments(found.moments)
        for group, count in enumerate(found.census.counts.tolist()):
            self.counts[group] += count
        if kind == "quantile":
            self._add_summaries(found)

    def _add_moments(self, moments: Moments) -> None:
        if self.moments is None:
            self.moments = moments
        else:
            self.moments.merge(moments)

    def _add_summaries(self, found: Selected) -> None:
        error = 1 / (2 * self.resolution) + _ROUNDING * self.weighted
        for group, (values, total) in enumerate(zip(found.values, found.totals, strict=True)):
            if values is None:
                continue
            self.summaries[group].append(Summary(total, values, error))
            if len(self.summaries[group]) > _MOST_SUMMARIES:
                self._compact(group)

    def _compact(self, group: int) -> None:
        """Replace many summaries by one; its error is theirs, and one more."""
        own = self.summaries[group]
        values = self._merged(own, self.resolution, "quantile")
        mass = sum(summary.mass for summary in own)
        error = self._error(own) + 1 / (2 * self.resolution) + _ROUNDING * self.weighted
        self.summaries[group] = [Summary(mass, values, error)]

    def _error(self, summaries: Sequence[Summary]) -> float:
        """The error of a mixture is at most the mean of the errors."""
        total = math.fsum(summary.mass for summary in summaries)
        mean = math.fsum(summary.mass * summary.error for summary in summaries) / total
        return math.nextafter(mean, 1.0)

    def _merged(self, summaries: Sequence[Summary], levels: int, kind: Kind) -> FloatArray:
        """The sketch of the mixture of the step laws: values of mass n/m each."""
        values = np.concatenate([summary.values for summary in summaries])
        order = np.argsort(values, kind="stable")
        masses = np.repeat(
            [summary.mass for summary in summaries], [s.values.size for s in summaries]
        )[order]
        if not self.weighted:  # in units of 1/m records
            count = int(masses.sum())
            targets = RankTargets.from_count(count, levels, kind)
            runs = CountedRuns(values[order], masses)
            return counted_values(runs, targets, count=count, levels=levels, kind=kind)
        weighted = WeightedRuns(values[order], masses, np.ones(values.size, dtype=np.int64), {})
        wanted = MassTargets.from_mass(values.size, float(masses.sum()), levels, kind)
        return weighted_values(weighted, wanted, levels=levels, kind=kind)[1]
