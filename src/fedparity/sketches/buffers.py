"""Records in memory: cached for the next scan, or buffered until there are enough of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.sketches.records import Batch, CachedRecords, Faults, Records, RowCounts
from fedparity.sketches.selection.passes import Progress, map_batches

__all__ = [
    "RecordBuffer",
    "cache_records",
    "default_memory",
]

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
    """The limit of a container; none where there is no such file, or it says so."""
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
    records: Records, limit: int, *, threads: int, progress: Progress | None = None
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
