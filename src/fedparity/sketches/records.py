"""Records: what a silo's kernels read, block by block, from wherever its table is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from fedparity.errors import ScoreError
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group

__all__ = [
    "ArrayRecords",
    "Batch",
    "BatchTask",
    "CachedRecords",
    "Codes",
    "Faults",
    "Records",
    "Relabeling",
    "RowCounts",
]

Codes: TypeAlias = npt.NDArray[Any]
"""Position of each record's group, in an unsigned integer type that is as small as it can be."""

_BLOCK = 1 << 20
"""Rows of a task: large enough to hide its cost, small enough to share the work."""


class Relabeling(NamedTuple):
    """A label of the table that counts as a group of another name, and why."""

    label: str | None
    """As the table has it; None if it is missing."""
    group: Group
    reason: Literal["map", "other", "missing", "spelling"]


@dataclass(slots=True)
class RowCounts:
    """What became of the rows of a table: each was filtered out, had no score or no weight, or is a record."""

    read: int = 0
    filtered: int = 0
    without_score: int = 0
    weightless: int = 0
    """Rows of weight 0, which count for nothing."""
    relabeled: Counter[Relabeling] = field(default_factory=Counter)
    """Rows whose group has another name than their label."""

    @property
    def records(self) -> int:
        """Rows that became records of a group."""
        return self.read - self.filtered - self.without_score - self.weightless

    def add(self, other: RowCounts) -> None:
        """Count the rows of ``other`` too."""
        self.read += other.read
        self.filtered += other.filtered
        self.without_score += other.without_score
        self.weightless += other.weightless
        self.relabeled.update(other.relabeled)


@dataclass(slots=True)
class Faults:
    """Rows that a reader left out of its batches, counted by reason; never the rows."""

    missing_scores: int = 0
    infinite_scores: int = 0
    missing_labels: int = 0
    bad_weights: int = 0
    unlisted: Counter[str] = field(default_factory=Counter)
    """Labels that no group has, by their text."""
    rows: RowCounts = field(default_factory=RowCounts)
    """What became of all rows, but for those without a score, which kernels count too."""

    def add(self, other: Faults) -> None:
        """Count the rows of ``other`` too."""
        self.missing_scores += other.missing_scores
        self.infinite_scores += other.infinite_scores
        self.missing_labels += other.missing_labels
        self.bad_weights += other.bad_weights
        self.unlisted.update(other.unlisted)
        self.rows.add(other.rows)

    @property
    def found(self) -> bool:
        """Whether there is a row that is not as it should be."""
        counts = (self.missing_scores, self.infinite_scores, self.missing_labels, self.bad_weights)
        return any(counts) or bool(self.unlisted)

    def accepted(self) -> RowCounts:
        """Return what became of all rows, now that those without a score may be left out."""
        return replace(self.rows, without_score=self.missing_scores)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some records: their scores, the codes of their groups, and their weights if they have any.

    Scores are float64 and contiguous. They may hold NaN and infinities: the kernels count those
    and leave them out. Codes lie in ``range(len(groups))``. Weights are finite and at least 0.
    """

    scores: FloatArray
    codes: Codes
    weights: FloatArray | None = None
    faults: Faults | None = None

    def copy(self) -> Batch:
        """Return the same records, without faults, in memory of their own.

        The reader may then use the memory of the batch again.
        """
        weights = None if self.weights is None else self.weights.copy()
        return Batch(self.scores.copy(), self.codes.copy(), weights)


BatchTask: TypeAlias = Callable[[], Batch]
"""Reads one batch; different tasks may run in different threads, in any order."""


@runtime_checkable
class Records(Protocol):
    """A silo's records, ready to be counted."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The labels that codes stand for."""
        ...

    @property
    def weighted(self) -> bool:
        """Whether the records have weights."""
        ...

    @property
    def rescannable(self) -> bool:
        """Whether :meth:`batches` may be called again, and gives the same records."""
        ...

    @property
    def rows(self) -> int | None:
        """An upper bound of the number of records, if it is known before they are read."""
        ...

    @property
    def resident(self) -> bool:
        """Whether the scores are in memory already, and stay as they are."""
        ...

    @property
    def worth_caching(self) -> bool:
        """Whether what a scan gives should be kept for the next one."""
        ...

    def batches(self) -> Iterator[BatchTask]:
        """Yield tasks that read all the records once.

        Advancing the iterator and running a task may happen in different threads; the iterator
        is advanced by one thread at a time.
        """
        ...

    def accept(self, faults: Faults) -> RowCounts:
        """Return what became of all rows, or raise if one may not be left out."""
        ...


@dataclass(frozen=True, eq=False)
class ArrayRecords:
    """Records in memory: read where they are, without a copy.

    Examples
    --------
    >>> import numpy as np
    >>> records = ArrayRecords(("a", "b"), np.array([0.1, 0.9]), np.array([0, 1], np.uint8))
    >>> [task().scores.size for task in records.batches()]
    [2]
    """

    groups: tuple[Group, ...]
    scores: FloatArray
    codes: Codes
    weights: FloatArray | None = None
    rescannable: bool = True
    accepting: Callable[[Faults], RowCounts] | None = None
    """Callback that accepts or refuses scores that are not finite; they are refused if absent."""
    block: int = _BLOCK
    """Rows of a batch."""
    resident: bool = True
    worth_caching: bool = False

    def __post_init__(self) -> None:
        for name, column in (("codes", self.codes), ("weights", self.weights)):
            if column is not None and column.size != self.scores.size:
                raise ScoreError.lengths_differ(name, column.size, "scores", self.scores.size)

    @property
    def weighted(self) -> bool:
        """Whether the records have weights."""
        return self.weights is not None

    @property
    def rows(self) -> int:
        """How many records there are."""
        return self.scores.size

    def batches(self) -> Iterator[BatchTask]:
        """Yield tasks that look at one block each."""
        for start in range(0, self.scores.size, self.block):
            yield _Slice(self, slice(start, start + self.block))

    def accept(self, faults: Faults) -> RowCounts:
        """Refuse scores that are not finite, unless a callback decides."""
        if self.accepting is not None:
            return self.accepting(faults)
        if faults.missing_scores or faults.infinite_scores:
            raise ScoreError.not_finite(
                "scores",
                missing=faults.missing_scores,
                infinite=faults.infinite_scores,
                total=self.scores.size,
            )
        return RowCounts(read=self.scores.size)


@dataclass(frozen=True, eq=False)
class CachedRecords:
    """Records that were read once and stay in memory, in the batches in which they came."""

    groups: tuple[Group, ...]
    cached: tuple[Batch, ...]
    weighted: bool
    accepting: Callable[[Faults], RowCounts]
    """Callback that accepts or refuses scores that are not finite."""
    rescannable: bool = True
    resident: bool = True
    worth_caching: bool = False

    @property
    def rows(self) -> int:
        """How many records there are."""
        return sum(batch.scores.size for batch in self.cached)

    def batches(self) -> Iterator[BatchTask]:
        """Yield tasks that give the batches again."""
        for batch in self.cached:
            yield _Again(batch)

    def accept(self, faults: Faults) -> RowCounts:
        """Let the callback decide."""
        return self.accepting(faults)

    def sample(self, size: int) -> FloatArray:
        """Return about ``size`` scores from all over."""
        step = max(1, self.rows // size)
        return np.concatenate([batch.scores[::step] for batch in self.cached] or [np.zeros(0)])


@dataclass(frozen=True, slots=True)
class _Again:
    """The task that returns a cached batch."""

    batch: Batch

    def __call__(self) -> Batch:
        return self.batch


@dataclass(frozen=True, slots=True)
class _Slice:
    """The task that reads one block of an array."""

    records: ArrayRecords
    rows: slice

    def __call__(self) -> Batch:
        weights = self.records.weights
        return Batch(
            self.records.scores[self.rows],
            self.records.codes[self.rows],
            None if weights is None else weights[self.rows],
        )
