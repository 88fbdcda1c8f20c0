"""One selection: its records, its threads and kernel, and the passes made so far."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from fedparity.sketches.records import Batch, Records
from fedparity.sketches.selection.dealing import Progress, deal
from fedparity.sketches.selection.kernels import Kernel
from fedparity.sketches.selection.moments import Beside, Moments
from fedparity.sketches.selection.state import Bag, Bounds, Tally
from fedparity.sketches.selection.tuning import Tuning

__all__ = ["Run"]

State = TypeVar("State")


@dataclass(eq=False, kw_only=True)
class Run:
    """What every pass needs to know."""

    records: Records
    bounds: Bounds
    kernel: Kernel
    threads: int
    means: bool
    beside: Beside
    tuning: Tuning
    progress: Progress | None = None
    passes: int = 0
    sum_rows: int = 0
    """Rows of the exact sums: one per gap between targets, group by group."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def needs_sums(self) -> bool:
        """Whether records that are not kept are needed in sums."""
        return self.means or self.records.weighted

    def deal(
        self, make: Callable[[], State], work: Callable[[State, Batch], None], label: str
    ) -> list[State]:
        """Read all records once, and return what each thread has gathered."""
        self.passes += 1
        done = 0

        def seen(rows: int) -> None:
            nonlocal done
            if self.progress is not None:
                with self._lock:
                    done += rows
                    self.progress(done, self.records.rows, label)

        return deal(self.records, make, work, threads=self.threads, seen=seen)

    def tally(self, buckets: int) -> Tally:
        """Return a tally of nothing."""
        return Tally.zeros(buckets, weighted=self.records.weighted)

    def moments(self) -> Moments:
        """Return sums of nothing, beside the sketch."""
        groups = len(self.records.groups)
        return Moments.zeros(self.beside, groups, weighted=self.records.weighted)

    def bag(self, candidates: int = 0, windows: int = 0) -> Bag:
        """Return an empty bag, with the sums that this run needs."""
        return Bag.empty(
            rows=self.sum_rows,
            candidates=candidates,
            windows=windows,
            weighted=self.records.weighted,
            means=self.means,
        )
