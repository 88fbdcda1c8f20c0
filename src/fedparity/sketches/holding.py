"""Batches held in memory: a file is decoded once, and both passes read what came out."""

from __future__ import annotations

import threading

from fedparity.sketches.records import Batch, Faults, HeldRecords, Records
from fedparity.sketches.selection.dealing import Progress, deal

__all__ = ["hold"]


class _Shelf:
    """Batches as they come, until they are too many."""

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


def hold(
    records: Records, limit: int, *, threads: int, progress: Progress | None = None
) -> HeldRecords | None:
    """Return the records read into memory, or None if they would need more bytes than allowed.

    Where the number of rows is known, nothing is read in vain.
    """
    per_row = 9 + 8 * records.weighted
    if records.rows is not None and records.rows * per_row > limit:
        return None
    shelf = _Shelf(limit, copies=not records.resident)
    done = 0

    def seen(rows: int) -> None:
        nonlocal done
        done += rows  # approximate where threads meet: it is only shown
        if progress is not None:
            progress(done, records.rows, "reading")

    try:
        # More threads than there are cores: some of them wait for the disk, or for the reader.
        deal(
            records,
            lambda: None,
            lambda _, batch: shelf.put(batch),
            threads=threads + 2,
            seen=seen,
        )
    except _FullError:
        return None

    def accepting(found: Faults) -> int:
        """Ask the source, of all that it left out and all that was found since."""
        found.add(shelf.faults)
        return records.accept(found)

    return HeldRecords(records.groups, tuple(shelf.batches), records.weighted, accepting)


def _bytes(batch: Batch) -> int:
    weights = 0 if batch.weights is None else batch.weights.nbytes
    return batch.scores.nbytes + batch.codes.nbytes + weights
