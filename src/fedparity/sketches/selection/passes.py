"""The passes over all records: count buckets, count parts of buckets, gather what is kept."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import chain, islice
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, get_args

import numpy as np

from fedparity.errors import OptionError, RecordsError
from fedparity.errors.table_errors import MissingExtraError
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.records import Batch, BatchTask, Records
from fedparity.sketches.selection.accumulators import SKIP, Bag, Bounds, Rules, Tally, Tuning
from fedparity.sketches.selection.bucket_maps import BucketMap
from fedparity.sketches.selection.moments import Beside, Moments
from fedparity.sketches.selection.numpy_kernel import NumpyKernel, gather_places, tally_places
from fedparity.sketches.selection.stages import FirstBuckets, SplitBuckets, Stage, Windows

__all__ = [
    "ROWS_FOR_NUMBA",
    "Kernel",
    "KernelName",
    "Progress",
    "Run",
    "available_threads",
    "choose_kernel",
    "count_all",
    "count_parts",
    "gather",
    "map_batches",
]

State = TypeVar("State")

_STEP = 0.1
"""Seconds between two looks at an interrupt."""

Progress = Callable[[int, int | None, str], None]
"""Called with the rows read so far, the rows to read if known, and what is being done."""


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
    are batches; a single one needs none, and is too small to keep Ctrl-C waiting.
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
    """Wait for all, or for an error, in short steps: some libraries make long waits deaf to Ctrl-C."""
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


KernelName: TypeAlias = Literal["auto", "numpy", "numba"]
"""``auto``: numba above the number of rows from which it pays, if it is installed."""

ROWS_FOR_NUMBA = 40_000_000
"""Rows from which loading and compiling numba is faster than doing without."""
_PAYS_LOADED = 500_000
"""The same once it is loaded."""


class Kernel(Protocol):
    """The passes over a batch; every kernel finds the same bits."""

    name: str
    windows: bool
    """Whether it can keep a window of a bucket instead of all of it."""

    def count(self, chosen: BucketMap, batch: Batch, bounds: Bounds, tally: Tally) -> None:
        """Count the records of a batch by bucket; those that may not be counted, by reason."""
        ...

    def gather(
        self,
        chosen: BucketMap,
        batch: Batch,
        bounds: Bounds,
        rules: Rules,
        bag: Bag,
    ) -> None:
        """Keep the records of a batch, or add them to sums, as the rules say."""
        ...

    def add_up(self, batch: Batch, moments: Moments) -> None:
        """Add the records of a batch, all of which count, to exact sums."""
        ...

    def sort(self, scores: FloatArray) -> None:
        """Put finite scores in increasing order, where they are."""
        ...


def choose_kernel(name: str, rows: int | None) -> Kernel:
    """Return the kernel of this name, or the one that suits this number of rows."""
    if name not in get_args(KernelName):
        raise OptionError.unknown("kernel", name, get_args(KernelName))
    if name == "numpy" or (name == "auto" and not _pays(rows)):
        return NumpyKernel()
    if find_spec("numba") is None:
        raise MissingExtraError.for_use("numba", "this kernel", "fast")
    from fedparity.sketches.selection.numba_kernel import NumbaKernel  # noqa: PLC0415 -- numba is slow to load

    return NumbaKernel()


def _pays(rows: int | None) -> bool:
    loaded = "fedparity.sketches.selection.numba_kernel" in sys.modules
    least = _PAYS_LOADED if loaded else ROWS_FOR_NUMBA
    return rows is not None and rows >= least and (loaded or find_spec("numba") is not None)


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

    def map_batches(
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

        return map_batches(self.records, make, work, threads=self.threads, seen=seen)

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


def count_all(run: Run, buckets: FirstBuckets) -> tuple[Tally, Moments]:
    """Count all records by bucket, and the rows that were left out by reason; add them up."""
    size = int(buckets.starts[-1])

    def make() -> tuple[Tally, Moments]:
        return run.tally(size), run.moments()

    def work(state: tuple[Tally, Moments], batch: Batch) -> None:
        tally, moments = state
        if batch.faults is not None:
            tally.faults.add(batch.faults)
        if batch.scores.size:
            run.kernel.count(buckets.chosen, batch, run.bounds, tally)
        if moments.needed:
            run.kernel.add_up(run.bounds.allowed(batch), moments)

    (tally, moments), *others = run.map_batches(make, work, "counting")
    tally.settle()
    for other_tally, other_moments in others:
        tally.add(other_tally)
        moments.merge(other_moments)
    return tally, moments


def count_parts(run: Run, first: Stage, last: Stage, parts: SplitBuckets) -> tuple[Tally, Bag]:
    """Count the parts of the buckets that the last stage keeps, and sum what it does not."""

    def make() -> tuple[Tally, Bag]:
        return run.tally(int(parts.first[-1])), run.bag()

    steps, rules = _Steps(run, first, last), Rules(last.slots)

    def work(state: tuple[Tally, Bag], batch: Batch) -> None:
        tally, bag = state
        kept = steps.kept(batch, rules, bag)
        tally_places(parts.places(kept), kept, tally)

    (tally, bag), *others = run.map_batches(make, work, "counting again")
    for other_tally, other_bag in others:
        tally.add(other_tally)
        bag.add(other_bag)
    _check_unchanged(int(tally.counts[:-1].sum()), last)
    return tally, bag


def gather(
    run: Run, first: Stage, last: Stage, candidates: FloatArray, windows: Windows | None = None
) -> Bag:
    """Keep the records that the last stage keeps, and sum the others."""
    limits = () if windows is None else (windows.low, windows.high)
    steps, rules = _Steps(run, first, last), Rules(last.slots, candidates, *limits)

    def work(bag: Bag, batch: Batch) -> None:
        kept = steps.kept(batch, rules, bag)
        if kept.scores.size:
            bag.kept.append(kept)

    bag, *others = run.map_batches(
        lambda: run.bag(candidates.size, rules.low.size), work, "collecting"
    )
    for other in others:
        bag.add(other)
    found = sum(batch.scores.size for batch in bag.kept)
    found += int(bag.equal.sum()) + int(bag.sides[::2].sum())
    _check_unchanged(found, last)
    return bag


class _Steps:
    """The way of a batch from the first stage to the last."""

    def __init__(self, run: Run, first: Stage, last: Stage) -> None:
        self._run, self._last = run, last
        self._coarse = Rules(np.minimum(first.slots, SKIP))  # what is not kept was summed before
        self._chosen = first.buckets.chosen if isinstance(first.buckets, FirstBuckets) else None
        self._one_stage = first.buckets is last.buckets

    def kept(self, batch: Batch, rules: Rules, bag: Bag) -> Batch:
        """Return what the last stage keeps; sum, or count, what it does not."""
        if not batch.scores.size or self._chosen is None:
            return batch
        own = bag.with_same_sums()
        if self._one_stage:
            self._run.kernel.gather(self._chosen, batch, self._run.bounds, rules, own)
            return own.concatenated()
        coarse = Bag()
        self._run.kernel.gather(self._chosen, batch, self._run.bounds, self._coarse, coarse)
        kept = coarse.concatenated()
        gather_places(self._last.buckets.places(kept), kept, rules, own)
        return own.concatenated()


def _check_unchanged(found: int, stage: Stage) -> None:
    if found != stage.volume:
        raise RecordsError(
            "the records changed while they were read: two passes over them do not agree.",
            fix="sketch a copy or a snapshot of the table that nobody writes to.",
        )
