"""The passes over all records, and the kernel of NumPy: count buckets, count parts of buckets, gather what is needed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Literal, Protocol, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError, RecordsError
from fedparity.errors.base import MissingExtraError
from fedparity.laws.law import FloatArray, IntArray
from fedparity.laws.progress import RowProgress
from fedparity.sketches.accumulators import (
    KEEP,
    SKIP,
    Bag,
    Bounds,
    ExtraSums,
    Moments,
    Rules,
    Tally,
    Tuning,
    taken,
)
from fedparity.sketches.records import Batch, Records, map_batches
from fedparity.sketches.stages import (
    BucketMap,
    FirstBuckets,
    LinearMap,
    SplitBuckets,
    Stage,
    Windows,
)

__all__ = [
    "ROWS_FOR_NUMBA",
    "Kernel",
    "KernelName",
    "NumpyKernel",
    "Run",
    "choose_kernel",
    "count_all",
    "count_parts",
    "gather",
    "gather_places",
    "tally_places",
]

State = TypeVar("State")

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
    from fedparity.sketches.numba_kernel import NumbaKernel  # noqa: PLC0415 -- numba is slow to load

    return NumbaKernel()


def _pays(rows: int | None) -> bool:
    loaded = "fedparity.sketches.numba_kernel" in sys.modules
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
    extra: ExtraSums
    tuning: Tuning
    progress: RowProgress | None = None
    passes: int = 0
    sum_rows: int = 0
    """Rows of the exact sums: one per gap between targets, group by group."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def needs_sums(self) -> bool:
        """Whether the records that are not kept must be summed."""
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
        """Return sums of nothing, in addition to the sketch."""
        groups = len(self.records.groups)
        return Moments.zeros(self.extra, groups, weighted=self.records.weighted)

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
    """Count the parts of the buckets that the last stage keeps, and sum the records that it excludes."""

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
        self._coarse = Rules(np.minimum(first.slots, SKIP))  # excluded records were summed before
        self._chosen = first.buckets.chosen if isinstance(first.buckets, FirstBuckets) else None
        self._one_stage = first.buckets is last.buckets

    def kept(self, batch: Batch, rules: Rules, bag: Bag) -> Batch:
        """Return the records that the last stage keeps; sum, or count, the others."""
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


_BLOCK = 1 << 16
"""Rows at once: large enough that threads seldom wait for each other, small enough for a cache."""


_FEW_GROUPS = 8
"""More groups than these need larger blocks, so that each has enough records in one."""


class NumpyKernel:
    """Counting and gathering, block by block."""

    name = "numpy"
    windows = False

    def __init__(self) -> None:
        self._local = threading.local()

    def count(self, chosen: BucketMap, batch: Batch, bounds: Bounds, tally: Tally) -> None:
        """Count the records of a batch by bucket; those that may not be counted, by reason."""
        for block in _blocks(batch):
            tally_places(self._places(chosen, block, bounds, tally), block, tally)

    def gather(
        self,
        chosen: BucketMap,
        batch: Batch,
        bounds: Bounds,
        rules: Rules,
        bag: Bag,
    ) -> None:
        """Keep the records of a batch, or add them to sums, as the rules say."""
        for block in _blocks(batch):
            gather_places(self._places(chosen, block, bounds, None), block, rules, bag)

    def add_up(self, batch: Batch, moments: Moments) -> None:
        """Add the records of a batch, all of which count, to exact sums."""
        for block in _blocks(batch, _BLOCK * max(1, moments.groups // _FEW_GROUPS)):
            moments.add(block)

    def sort(self, scores: FloatArray) -> None:
        """Put finite scores in increasing order, where they are."""
        scores.sort()

    def _places(
        self, chosen: BucketMap, block: Batch, bounds: Bounds, tally: Tally | None
    ) -> IntArray:
        """The bucket of each record, counted group by group; -1 for those left out."""
        if bounds.allow(block.scores):
            places = self._buckets(chosen, block.scores)
            allowed = None
        else:
            allowed = bounds.inside(block.scores)
            places = chosen.buckets(np.where(allowed, block.scores, 0.0))
        starts = self._room().starts[: places.size]
        np.multiply(block.codes, chosen.width, out=starts, dtype=np.int64)
        places += starts
        if allowed is not None:
            places[~allowed] = -1
            if tally is not None:
                counted = ~allowed if block.weights is None else ~allowed & (block.weights > 0)
                tally.leave_out(block.scores[counted], bounds)
        if block.weights is not None:
            places[block.weights == 0] = -1  # nobody counts here
        return places

    def _buckets(self, chosen: BucketMap, scores: FloatArray) -> IntArray:
        if not isinstance(chosen, LinearMap):
            return chosen.buckets(scores)
        room = self._room()
        return chosen.buckets_in(scores, room.floats[: scores.size], room.places[: scores.size])

    def _room(self) -> _Room:
        """Memory for one block, kept by each thread."""
        if not hasattr(self._local, "room"):
            self._local.room = _Room()
        room: _Room = self._local.room
        return room


class _Room:
    """Arrays that are written again for every block."""

    def __init__(self) -> None:
        self.floats = np.empty(_BLOCK)
        self.places = np.empty(_BLOCK, dtype=np.int64)
        self.starts = np.empty(_BLOCK, dtype=np.int64)


def tally_places(places: IntArray, block: Batch, tally: Tally) -> None:
    """Count records by place; -1 is the last place."""
    np.add.at(tally.counts, places, 1)
    if block.weights is not None and tally.masses is not None:
        np.add.at(tally.masses, places, block.weights)


def gather_places(places: IntArray, block: Batch, rules: Rules, bag: Bag) -> None:
    """Keep records, count those equal to a candidate, and add the others to their sums."""
    slots = rules.slots[places]
    kept = np.flatnonzero(slots <= KEEP)
    if kept.size:
        if rules.candidates.size:
            kept = _without_equal(kept, slots[kept], block, rules.candidates, bag)
        bag.kept.append(taken(block, kept))
    if bag.values is not None or bag.weights is not None:
        summed = np.flatnonzero(slots >= 0)
        if summed.size:
            rest = taken(block, summed)
            bag.add_sums(slots[summed].astype(np.int64), rest.scores, rest.weights)


def _without_equal(
    kept: IntArray,
    slots: npt.NDArray[np.int32],
    block: Batch,
    candidates: FloatArray,
    bag: Bag,
) -> IntArray:
    """Count the records that equal the candidate of their bucket; return the others."""
    position = KEEP - 1 - slots.astype(np.int64)
    has_one = position >= 0
    equal = has_one & (candidates[np.where(has_one, position, 0)] == block.scores[kept])
    np.add.at(bag.equal, position[equal], 1)
    if bag.weights is not None and block.weights is not None:
        first = bag.weights.limbs.shape[0] - candidates.size
        bag.weights.add(first + position[equal], block.weights[kept[equal]])
    rest: IntArray = kept[~equal]
    return rest


def _blocks(batch: Batch, rows: int = _BLOCK) -> Iterator[Batch]:
    for start in range(0, batch.scores.size, rows):
        yield taken(batch, slice(start, start + rows))
