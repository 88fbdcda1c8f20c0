"""Stages of narrowing down: a monotone map from scores to buckets, chosen from a sample, then finer ones inside crowded buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fedparity.laws.law import FloatArray, IntArray
from fedparity.sketches.accumulators import KEEP, SKIP, Bounds, Tuning, candidate_slot, window_slot
from fedparity.sketches.kinds import RankTargets, Targets
from fedparity.sketches.records import ArrayRecords, Batch, CachedRecords, Records

__all__ = [
    "BucketMap",
    "Buckets",
    "FirstBuckets",
    "KeyMap",
    "Keys",
    "LinearMap",
    "OneBucket",
    "SplitBuckets",
    "Stage",
    "Windows",
    "choose_map",
    "choose_windows",
    "first_map",
    "from_keys",
    "narrow",
    "score_sample",
    "split",
    "to_keys",
    "within_windows",
]

_COARSE, _FINE = 1 << 14, 1 << 17
_MANY_LEVELS = 200
"""More levels than this are worth finer buckets."""


@dataclass(frozen=True)
class OneBucket:
    """The map of all scores to one bucket."""

    width: int = 1

    def buckets(self, scores: FloatArray) -> IntArray:
        """Return the only one, for each score."""
        return np.zeros(scores.size, dtype=np.int64)


def score_sample(records: Records, bounds: Bounds, tuning: Tuning) -> FloatArray:
    """Return some scores, sorted: from all over where that is cheap, else the first ones."""
    if isinstance(records, ArrayRecords):
        scores = records.scores
    elif isinstance(records, CachedRecords):
        scores = records.sample(tuning.sample)
    else:
        scores = next((task().scores for task in records.batches()), np.zeros(0))
    if scores.size > tuning.sample:
        random = np.random.default_rng(scores.size)  # the same sample every time
        places = np.arange(tuning.sample) + random.random(tuning.sample)
        scores = scores[(places * (scores.size / tuning.sample)).astype(np.int64)]
    return np.sort(scores[bounds.inside(scores)])


def first_map(sample: FloatArray, records: Records, levels_hint: int, tuning: Tuning) -> BucketMap:
    """Return a map whose buckets hold a small share of the records each."""
    rows = records.rows
    if not sample.size or (rows is not None and rows <= tuning.few):
        return OneBucket()
    most = tuning.buckets // max(1, len(records.groups))
    wanted = _FINE if levels_hint > _MANY_LEVELS else _COARSE
    if rows is not None:
        wanted = min(wanted, rows // 32)
    return choose_map(sample, int(max(64, min(wanted, most))))


_DEVIATIONS = 5.0


@dataclass(frozen=True, eq=False)
class Windows:
    """Parts of kept buckets that almost surely contain their requested ranks.

    Scores of a continuous law are spread evenly inside a bucket, so that a rank inside it predicts its score: within
    five standard deviations of its expected place. Records below and above are counted, not kept.
    Where a window turns out to miss its rank, everything is gathered again without windows; hence
    they save time and memory, and never change a result.
    """

    places: IntArray
    """Their buckets, in increasing order."""
    low: FloatArray
    high: FloatArray


def choose_windows(
    stage: Stage, sample: FloatArray, tuning: Tuning
) -> tuple[Stage, Windows] | None:
    """Return a stage that keeps only windows of its buckets; None if that would not help."""
    buckets = stage.buckets
    if not isinstance(buckets, FirstBuckets) or not isinstance(buckets.chosen, LinearMap):
        return None
    if np.count_nonzero(np.diff(sample) == 0) > tuning.ties * sample.size:
        return None
    found = [
        _of_group(stage, buckets.chosen, group, tuning.window)
        for group in range(len(stage.targets))
    ]
    places, low, high = (np.concatenate(column) for column in zip(*found, strict=True))
    slots = stage.slots.copy()
    slots[places] = [window_slot(position) for position in range(places.size)]
    return replace(stage, slots=slots), Windows(places, low, high)


def _of_group(
    stage: Stage, chosen: LinearMap, group: int, least: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Buckets of one group, and the bounds of their windows."""
    targets = stage.targets[group]
    if not isinstance(targets, RankTargets):
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    kept, owners, inside = _located(stage, group, targets)
    owner, first = np.unique(owners, return_index=True)
    last = np.append(first[1:], owners.size) - 1
    places = kept[owner]
    counts = stage.counts[places]
    low = (inside[first] - 0.5) / counts
    high = (inside[last] - 0.5) / counts
    margin = _DEVIATIONS * np.sqrt(np.maximum(low * (1 - low), high * (1 - high)) / counts)
    margin += 4 / counts
    bucket = places - stage.buckets.starts[group]
    even = (counts >= least) & (bucket >= 1) & (bucket <= chosen.inner)
    even &= stage.slots[places] == KEEP
    edge = chosen.low + (bucket - 1) / chosen.scale
    with np.errstate(over="ignore"):  # a window that ends beyond the floats is open
        ends = edge + (low - margin) / chosen.scale, edge + (high + margin) / chosen.scale
    return places[even], ends[0][even], ends[1][even]


def _located(
    stage: Stage, group: int, targets: RankTargets
) -> tuple[IntArray, IntArray, IntArray]:
    """The kept buckets of a group, which of them holds each rank, and the rank inside it."""
    start, stop = stage.buckets.starts[group : group + 2]
    kept = start + np.flatnonzero(stage.slots[start:stop] <= KEEP)
    running = np.cumsum(stage.counts[kept])
    owners = np.searchsorted(running, targets.ranks, side="left")
    return kept, owners, targets.ranks - (running[owners] - stage.counts[kept[owners]])


def within_windows(
    stage: Stage, windows: Windows, below: IntArray, above: IntArray
) -> Stage | None:
    """Return the stage with ranks counted among the records in windows; None if one is missed."""
    outside = np.zeros((2, stage.counts.size), dtype=np.int64)
    outside[:, windows.places] = below, above
    narrowed: list[Targets | None] = []
    for group, targets in enumerate(stage.targets):
        if not isinstance(targets, RankTargets):
            narrowed.append(targets)
            continue
        kept, owners, inside = _located(stage, group, targets)
        under, over = outside[:, kept]
        left = stage.counts[kept] - under - over
        inside -= under[owners]
        if ((inside < 1) | (inside > left[owners])).any():
            return None
        narrowed.append(RankTargets((np.cumsum(left) - left)[owners] + inside))
    return replace(stage, targets=tuple(narrowed))


@dataclass(frozen=True, eq=False)
class FirstBuckets:
    """The buckets of a map, one set for each group, numbered group by group."""

    chosen: BucketMap
    groups: int

    @property
    def starts(self) -> IntArray:
        """The first bucket of each group, and one after the last."""
        return np.arange(self.groups + 1) * self.chosen.width

    def places(self, batch: Batch) -> IntArray:
        """Return the bucket of each record."""
        return self.chosen.buckets(batch.scores) + batch.codes.astype(np.int64) * self.chosen.width

    def limits(self, places: IntArray) -> tuple[Keys, Keys]:
        """Return the lowest and the highest key in each bucket, by bisection."""
        wanted = places % self.chosen.width
        return self._first_key(wanted), self._first_key(wanted + 1) - np.uint64(1)

    def _first_key(self, wanted: IntArray) -> Keys:
        """The lowest key whose bucket is at least the given one."""
        low = np.full(wanted.size, to_keys(np.array([-np.inf]))[0])
        high = np.full(wanted.size, to_keys(np.array([np.inf]))[0])
        while (low < high).any():
            middle = low + (high - low) // np.uint64(2)
            reached = self.chosen.buckets(from_keys(middle)) >= wanted
            high = np.where(reached, middle, high)
            low = np.where(reached, low, np.minimum(middle + np.uint64(1), high))
        return low


@dataclass(frozen=True, eq=False)
class SplitBuckets:
    """Some buckets of an earlier stage, each cut by key into equal parts."""

    parent: Buckets
    child: IntArray
    """Position among the cut buckets, or -1, of each bucket of the parent."""
    lowest: Keys
    highest: Keys
    shifts: npt.NDArray[np.uint64]
    first: IntArray
    """The first part of each cut bucket, and one after the last."""
    starts: IntArray

    def places(self, batch: Batch) -> IntArray:
        """Return the part of each record, -1 for those that are not in a cut bucket."""
        child = self.child[self.parent.places(batch)]
        keys = to_keys(batch.scores)
        part = (keys - self.lowest[child]) >> self.shifts[child]
        return np.where(child < 0, -1, self.first[child] + part.astype(np.int64))

    def limits(self, places: IntArray) -> tuple[Keys, Keys]:
        """Return the lowest and the highest key in each part."""
        child = np.searchsorted(self.first, places, side="right") - 1
        part = (places - self.first[child]).astype(np.uint64)
        low = self.lowest[child] + (part << self.shifts[child])
        length = (np.uint64(1) << self.shifts[child]) - np.uint64(1)
        return low, low + np.minimum(length, self.highest[child] - low)


Buckets = FirstBuckets | SplitBuckets


@dataclass(frozen=True, eq=False)
class Stage:
    """Buckets that were counted, and what becomes of the records in each."""

    buckets: Buckets
    counts: IntArray
    slots: npt.NDArray[np.int32]
    """One per bucket, and ``SKIP`` for records that are in none."""
    targets: tuple[Targets | None, ...]
    """The targets of each group, relative to the kept records."""

    @property
    def volume(self) -> int:
        """How many records are kept."""
        return int(self.counts[self.slots[:-1] <= KEEP].sum())

    def with_candidates(
        self, sample: FloatArray, tuning: Tuning
    ) -> tuple[Stage, FloatArray, IntArray]:
        """Count, and do not keep, a value of each bucket that is met often.

        Either the sample shows it so often, or the bucket can hold no other.

        Returns the stage, the values, and their buckets.
        """
        values, seen = np.unique(sample, return_counts=True)
        values = values[seen >= tuning.candidate]
        places, scores = self._single_scores(tuning.crowded)
        for group in range(len(self.targets)) if values.size else ():
            batch = Batch(values, np.full(values.size, group, dtype=np.uint32))
            places = np.append(places, self.buckets.places(batch))
            scores = np.append(scores, values)
        kept = (places >= 0) & (self.slots[places] == KEEP)
        places, chosen = np.unique(places[kept], return_index=True)
        slots = self.slots.copy()
        slots[places] = [candidate_slot(position) for position in range(places.size)]
        stage = Stage(self.buckets, self.counts, slots, self.targets)
        return stage, scores[kept][chosen], places

    def _single_scores(self, crowd: int) -> tuple[IntArray, FloatArray]:
        """The parts of buckets that hold many records and can hold one score only."""
        if isinstance(self.buckets, FirstBuckets):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        crowded = np.flatnonzero((self.slots[:-1] <= KEEP) & (self.counts > crowd))
        low, high = self.buckets.limits(crowded)
        return crowded[low == high], from_keys(low[low == high])


def narrow(
    buckets: Buckets,
    counts: IntArray,
    masses: FloatArray | None,
    targets: Sequence[Targets | None],
    *,
    sums: bool,
) -> Stage:
    """Return the stage that keeps only the buckets that contain a target.

    With ``sums`` the records of the others are added to the sum of their gap; the rows of the
    sums are numbered group by group, one more per group than it has targets.
    """
    slots = np.full(counts.size + 1, SKIP, dtype=np.int32)
    narrowed: list[Targets | None] = []
    first_row = 0
    for group, wanted in enumerate(targets):
        part = slice(*buckets.starts[group : group + 2].tolist())
        if wanted is None:
            narrowed.append(None)
            continue
        found = wanted.narrow(counts[part], None if masses is None else masses[part])
        gaps = first_row + found.gaps if sums else SKIP
        slots[part] = np.where(found.kept, KEEP, gaps)
        narrowed.append(found.targets)
        first_row += wanted.size + 1
    return Stage(buckets, counts, slots, tuple(narrowed))


def split(stage: Stage, most_parts: int) -> SplitBuckets | None:
    """Return the kept buckets of a stage, each divided into parts; None if each holds a single score."""
    cut = np.flatnonzero(stage.slots[:-1] <= KEEP)
    low, high = stage.buckets.limits(cut)
    if (low == high).all():
        return None
    bits = max(1, int(np.log2(most_parts / cut.size)))
    lengths = np.ceil(np.log2((high - low).astype(np.float64) + 1)).astype(np.int64)
    shifts = np.maximum(lengths - bits, 0).astype(np.uint64)
    parts = ((high - low) >> shifts).astype(np.int64) + 1
    first = np.concatenate(([0], np.cumsum(parts)))
    child = np.full(stage.slots.size, -1)
    child[cut] = np.arange(cut.size)
    starts = first[np.searchsorted(cut, stage.buckets.starts, side="left")]
    return SplitBuckets(stage.buckets, child, low, high, shifts, first, starts)


Keys = npt.NDArray[np.uint64]


_CELLS = 1 << 16
"""Cells of the key map: sign, exponent and four bits of the mantissa."""
_TAIL = 0.0005
"""Share of the sample below and above the linear buckets."""
_SIGN = np.uint64(1 << 63)


class BucketMap(Protocol):
    """A map from scores to buckets that never puts a larger score into a lower bucket."""

    @property
    def width(self) -> int:
        """Number of buckets of one group."""
        ...

    def buckets(self, scores: FloatArray) -> IntArray:
        """Return the bucket of each finite score."""
        ...


@dataclass(frozen=True)
class LinearMap:
    """Buckets of equal width between two scores, and one for each tail.

    Subtraction, multiplication and truncation never decrease when their argument grows, in
    floats as in reals: hence the map is monotone however they round.
    """

    low: float
    scale: float
    inner: int

    @property
    def width(self) -> int:
        """Number of buckets of one group."""
        return self.inner + 2

    def buckets(self, scores: FloatArray) -> IntArray:
        """Return the bucket of each score, 0 and the last one for the tails."""
        return self.buckets_in(scores, np.empty(scores.size), np.empty(scores.size, np.int64))

    def buckets_in(self, scores: FloatArray, room: FloatArray, places: IntArray) -> IntArray:
        """Return the same in memory that is there already: fresh pages cost more than sums."""
        with np.errstate(over="ignore"):
            np.subtract(scores, self.low, out=room)
            room *= self.scale
        room += 1.0
        np.fmax(room, 0.0, out=room)
        np.fmin(room, self.inner + 1.0, out=room)
        np.copyto(places, room, casting="unsafe")
        return places


@dataclass(frozen=True, eq=False)
class KeyMap:
    """Buckets by the leading bits of a float: for scores of many magnitudes.

    The bits of a float, with the sign turned, are a whole number that grows with the float. Its
    16 leading bits choose a cell; a cell where the sample has many scores is cut into a power
    of two of buckets.
    """

    first: npt.NDArray[np.uint32]
    """The lowest bucket of each cell."""
    shifts: npt.NDArray[np.uint8]
    """How many of a key's 48 other bits do not tell buckets apart."""
    width: int

    def buckets(self, scores: FloatArray) -> IntArray:
        """Return the bucket of each score."""
        keys = to_keys(scores)
        cells = (keys >> np.uint64(48)).astype(np.int64)
        rest = keys & np.uint64((1 << 48) - 1)
        part = (rest >> self.shifts[cells].astype(np.uint64)).astype(np.int64)
        return part + self.first[cells].astype(np.int64)


def to_keys(scores: FloatArray) -> Keys:
    """Return whole numbers in the order of the scores; -0.0 and 0.0 have the same."""
    bits = (scores + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def from_keys(keys: Keys) -> FloatArray:
    """Return the scores of :func:`to_keys`."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


def choose_map(sample: FloatArray, inner: int) -> LinearMap | KeyMap:
    """Return the map that spreads a sorted sample better over about ``inner`` buckets.

    A bad sample makes a slow map, never a wrong one.
    """
    linear = _linear_map(sample, inner)
    crowding = 1.0 if linear is None else _crowding(linear, sample)
    if linear is not None and crowding <= 8 / inner:
        return linear
    keyed = _key_map(sample, inner)
    if linear is None or _crowding(keyed, sample) < 0.7 * crowding:
        return keyed
    return linear


def _linear_map(sample: FloatArray, inner: int) -> LinearMap | None:
    last = sample.size - 1
    low, high = sample[int(_TAIL * last)], sample[last - int(_TAIL * last)]
    with np.errstate(over="ignore", divide="ignore"):
        scale = float(inner / (high - low))
    if not 0 < scale < np.inf:
        return None
    return LinearMap(float(low), scale, inner)


def _key_map(sample: FloatArray, inner: int) -> KeyMap:
    cells = (to_keys(sample) >> np.uint64(48)).astype(np.int64)
    share = np.bincount(cells, minlength=_CELLS) / sample.size
    bits = np.floor(np.log2(np.maximum(share * inner, 1.0))).astype(np.int64)
    widths = np.left_shift(1, bits)
    empty = share == 0
    # Cells without a sample share one bucket with their empty neighbors.
    widths[empty] = np.append(True, ~empty[:-1])[empty]
    ends = np.cumsum(widths)
    first = np.where(empty & (widths == 0), ends - 1, ends - widths)
    return KeyMap(first.astype(np.uint32), (48 - bits).astype(np.uint8), int(ends[-1]))


def _crowding(chosen: BucketMap, sample: FloatArray) -> float:
    """How many of the sample, as a share, are in the same bucket as one of them, on average."""
    counts = np.bincount(chosen.buckets(sample))
    return float(np.sum((counts / sample.size) ** 2))
