"""Batches held in memory: a file is decoded once, and both passes read what came out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.sketches.records import Batch, BatchTask, Faults, Records
from fedparity.sketches.selection.dealing import Progress, deal

__all__ = ["HeldRecords", "hold"]


@dataclass(frozen=True, eq=False)
class HeldRecords:
    """Records that were read once and stay in memory, in the batches in which they came."""

    source: Records
    held: tuple[Batch, ...]
    groups: tuple[Group, ...]
    faults: Faults
    """What the reader left out while it read."""
    rescannable: bool = True

    @property
    def weighted(self) -> bool:
        """Whether the records have weights."""
        return self.source.weighted

    @property
    def rows(self) -> int:
        """How many records there are."""
        return sum(batch.scores.size for batch in self.held)

    def batches(self) -> Iterator[BatchTask]:
        """Yield tasks that give the batches again."""
        for batch in self.held:
            yield _Again(batch)

    def accept(self, faults: Faults) -> int:
        """Ask the source, of all that it left out and all that was found since."""
        together = Faults()
        together.add(self.faults)
        together.add(faults)
        return self.source.accept(together)

    def sample(self, size: int) -> FloatArray:
        """Return about so many scores from all over."""
        step = max(1, self.rows // size)
        return np.concatenate([batch.scores[::step] for batch in self.held] or [np.zeros(0)])


@dataclass(frozen=True, slots=True)
class _Again:
    """The task that gives a batch that is held."""

    batch: Batch

    def __call__(self) -> Batch:
        return self.batch


class _Shelf:
    """Batches as they come, until they are too many."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
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
            self.batches.append(Batch(batch.scores, batch.codes, batch.weights))


class _FullError(Exception):
    """The records do not fit the limit."""


def hold(
    records: Records, limit: int, *, threads: int, progress: Progress | None = None
) -> HeldRecords | None:
    """Return the records read into memory, or None if they would need more bytes than allowed.

    Where the number of rows is known, nothing is read in vain.
    """
    per_row = 9 + 8 * records.weighted
    if records.rows is not None and records.rows * per_row > limit:
        return None
    shelf = _Shelf(limit)
    done = 0

    def seen(rows: int) -> None:
        nonlocal done
        done += rows  # approximate where threads meet: it is only shown
        if progress is not None:
            progress(done, records.rows, "reading")

    try:
        deal(records, lambda: None, lambda _, batch: shelf.put(batch), threads=threads, seen=seen)
    except _FullError:
        return None
    return HeldRecords(records, tuple(shelf.batches), records.groups, shelf.faults)


def _bytes(batch: Batch) -> int:
    weights = 0 if batch.weights is None else batch.weights.nbytes
    return batch.scores.nbytes + batch.codes.nbytes + weights
