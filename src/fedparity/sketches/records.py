"""Records: what a silo's kernels read, block by block, from wherever its table is, and a buffer that reads it once."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from fedparity.errors import ScoreError
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.laws.progress import RowProgress

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
    "available_threads",
    "cache_records",
    "default_memory",
    "map_batches",
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
        """The labels that the codes represent."""
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
        """Whether the result of a scan should be cached for the next one."""
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
    """Records that were read once and are cached in memory, in their original batches."""

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


State = TypeVar("State")

_STEP = 0.1
"""Seconds between two looks at an interrupt."""


def available_threads() -> int:
    """Return the number of cores that this process may use."""
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )


def map_batches(
    records: Records,
    make: Callable[[], State],
    work: Callable[[State, Batch], None],
    *,
    threads: int,
    seen: Callable[[int], None],
) -> list[State]:
    """Read all batches, and return what each thread has gathered in a state of its own.

    A thread takes the next batch when it is done with its last one. An error in one of them
    stops the others at their next batch, and is raised. No more threads are started than there
    are batches; a single one needs none, and is too small to delay Ctrl-C.
    """
    batches = records.batches()
    first = list(islice(batches, threads))
    threads = max(1, len(first))
    tasks = _TaskQueue(chain(first, batches))

    def thread() -> State:
        state = make()
        for task in tasks:
            try:
                batch = task()
                work(state, batch)
            except BaseException:
                tasks.stop()
                raise
            seen(batch.scores.size)
        return state

    if threads == 1:
        return [thread()]
    with ThreadPoolExecutor(threads) as pool:
        try:  # from the first thread on: it reads while the others are started
            futures = [pool.submit(thread) for _ in range(threads)]
            _wait(futures)
        except BaseException:  # Ctrl-C: no thread starts another batch
            tasks.stop()
            raise
    return [future.result() for future in futures]


def _wait(futures: Sequence[Future[Any]]) -> None:
    """Wait for all, or for an error, in short steps: some libraries block Ctrl-C during long waits."""
    while wait(futures, timeout=_STEP, return_when=FIRST_EXCEPTION).not_done:
        if any(future.done() and future.exception() for future in futures):
            return


class _TaskQueue:
    """An iterator of tasks that several threads draw from."""

    def __init__(self, tasks: Iterator[BatchTask]) -> None:
        self._tasks = tasks
        self._lock = threading.Lock()
        self._stopped = False

    def __iter__(self) -> _TaskQueue:
        return self

    def __next__(self) -> BatchTask:
        with self._lock:
            if self._stopped:
                raise StopIteration
            return next(self._tasks)

    def stop(self) -> None:
        """Yield no further task."""
        self._stopped = True


_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
_FALLBACK = 1 << 31


def default_memory() -> int:
    """Return a quarter of the machine's memory, or of what this process may use, in bytes."""
    return min(_physical(), _allowed()) // 4


def _physical() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _FALLBACK


def _allowed() -> int:
    """The memory limit of a container; None without such a file, or without a limit."""
    try:
        return int(_CONTROL_GROUP.read_text())
    except (OSError, ValueError):
        return 1 << 62


class _Cache:
    """Batches in the order of reading, up to a limit of bytes."""

    def __init__(self, limit: int, *, copies: bool) -> None:
        self.limit, self.size, self.copies = limit, 0, copies
        self.batches: list[Batch] = []
        self.faults = Faults()
        self._lock = threading.Lock()

    def put(self, batch: Batch) -> None:
        with self._lock:
            if batch.faults is not None:
                self.faults.add(batch.faults)
            self.size += _bytes(batch)
            if self.size > self.limit:
                self.batches.clear()
                raise _FullError
        # A copy, so that the reader uses its buffers again: NumPy asks the system for large pages,
        # and fresh small ones cost more than the copy.
        own = batch.copy() if self.copies else Batch(batch.scores, batch.codes, batch.weights)
        with self._lock:
            self.batches.append(own)


class _FullError(Exception):
    """The records do not fit the limit."""


def cache_records(
    records: Records, limit: int, *, threads: int, progress: RowProgress | None = None
) -> CachedRecords | None:
    """Return the records read into memory, or None if they would need more bytes than allowed.

    Where the number of rows is known, nothing is read in vain.
    """
    per_row = 9 + 8 * records.weighted
    if records.rows is not None and records.rows * per_row > limit:
        return None
    cache = _Cache(limit, copies=not records.resident)
    done = 0

    def seen(rows: int) -> None:
        nonlocal done
        done += rows  # approximate where threads meet: it is only shown
        if progress is not None:
            progress(done, records.rows, "reading")

    try:
        # More threads than there are cores: some of them wait for the disk, or for the reader.
        map_batches(
            records,
            lambda: None,
            lambda _, batch: cache.put(batch),
            threads=threads + 2,
            seen=seen,
        )
    except _FullError:
        return None

    def accepting(found: Faults) -> RowCounts:
        """Let the source decide, about all that it left out and all that was found since."""
        found.add(cache.faults)
        return records.accept(found)

    return CachedRecords(records.groups, tuple(cache.batches), records.weighted, accepting)


def _bytes(batch: Batch) -> int:
    weights = 0 if batch.weights is None else batch.weights.nbytes
    return batch.scores.nbytes + batch.codes.nbytes + weights
