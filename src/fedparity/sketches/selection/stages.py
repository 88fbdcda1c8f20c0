"""Stages of narrowing down: a map over all records, then finer ones inside crowded buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray, IntArray
from fedparity.sketches.grids import ranks
from fedparity.sketches.kinds import Kind
from fedparity.sketches.records import ArrayRecords, Batch, CachedRecords, Records
from fedparity.sketches.selection.accumulators import (
    KEEP,
    SKIP,
    Bounds,
    Tuning,
    candidate_slot,
    window_slot,
)
from fedparity.sketches.selection.bucket_maps import (
    BucketMap,
    Keys,
    LinearMap,
    choose_map,
    from_keys,
    to_keys,
)

__all__ = [
    "Buckets",
    "FirstBuckets",
    "MassTargets",
    "Narrowed",
    "OneBucket",
    "RankTargets",
    "SplitBuckets",
    "Stage",
    "Targets",
    "Windows",
    "choose_windows",
    "first_map",
    "narrow",
    "score_sample",
    "split",
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


_EPSILON = 2.0**-52


class Narrowed(NamedTuple):
    """One group's buckets after a count."""

    kept: npt.NDArray[np.bool_]
    """Buckets that hold something wanted."""
    gaps: IntArray
    """For the others: after how many of the targets they lie."""
    targets: Targets
    """The same targets, counted among the kept records only."""


@dataclass(frozen=True, eq=False)
class RankTargets:
    """Ranks among records that count once each.

    Parameters
    ----------
    ranks : increasing array of int64
        Wanted ranks, from 1, among the records that are still in question.
    """

    ranks: IntArray

    @classmethod
    def from_count(cls, count: int, levels: int, kind: Kind) -> RankTargets:
        r"""Return the ranks of the quantiles, or of the records that the edges of bins cut.

        Edge :math:`l` of k bins is cut through the record of rank
        :math:`\lfloor n l / k \rfloor + 1`, or lies just before it.
        """
        if kind == "quantile":
            return cls(ranks(count, levels).astype(np.int64))
        edges = [count * edge // levels + 1 for edge in range(1, levels)]
        return cls(np.array(edges, dtype=np.int64))

    @property
    def size(self) -> int:
        """How many there are."""
        return self.ranks.size

    def narrow(self, counts: IntArray, _: FloatArray | None) -> Narrowed:
        """Return the buckets to keep, given the counts of all."""
        running = np.cumsum(counts)
        places = np.searchsorted(running, self.ranks, side="left")
        kept = np.zeros(counts.size, dtype=bool)
        kept[places] = True
        skipped_before = np.cumsum(np.where(kept, 0, counts))
        return Narrowed(
            kept,
            np.searchsorted(places, np.arange(counts.size), side="left"),
            RankTargets(self.ranks - skipped_before[places]),
        )


@dataclass(frozen=True, eq=False)
class MassTargets:
    """Positions in the running weight, known up to the rounding of sums of floats.

    Parameters
    ----------
    masses : increasing array
        Wanted running weights among the records that are still in question.
    slack : float
        How far those, and the running weight of buckets, may be from their exact values.
    above, upto : arrays of int64
        The rank of the record that each target falls on is above the one, and at most the
        other, among the records that are still in question. Ranks are whole numbers, so that
        a target never strays over records that are no longer in question.
    """

    masses: FloatArray
    slack: float
    above: IntArray
    upto: IntArray

    @classmethod
    def from_mass(cls, count: int, total: float, levels: int, kind: Kind) -> MassTargets:
        """Return the targets of ``levels`` numbers of a group with this many records."""
        steps = (
            2 * np.arange(1, levels + 1) - 1 if kind == "quantile" else 2 * np.arange(1, levels)
        )
        return cls(
            steps / (2 * levels) * total,
            4 * (count + 64) * _EPSILON * total,
            np.zeros(steps.size, dtype=np.int64),
            np.full(steps.size, count),
        )

    @property
    def size(self) -> int:
        """How many there are."""
        return self.masses.size

    def between(self, counts: IntArray, weights: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the first and the last bucket, or run, that may hold each target."""
        ranks_, running = np.cumsum(counts), np.cumsum(weights)
        slack = self.slack + 4 * (counts.size + 64) * _EPSILON * float(running[-1])
        lowest = np.searchsorted(ranks_, self.above, side="right")
        highest = np.searchsorted(ranks_, self.upto, side="left")
        first = np.searchsorted(running, self.masses - slack, side="left")
        last = np.searchsorted(running, self.masses + slack, side="right")
        return np.clip(first, lowest, highest), np.clip(last, lowest, highest)

    def narrow(self, counts: IntArray, masses: FloatArray | None) -> Narrowed:
        """Return the buckets to keep: all that may hold a target, given rounding."""
        weights = np.zeros(counts.size) if masses is None else masses
        first, last = self.between(counts, weights)
        steps = np.zeros(counts.size + 1, dtype=np.int64)
        np.add.at(steps, first, 1)
        np.add.at(steps, last + 1, -1)
        kept = (np.cumsum(steps[:-1]) > 0) & (counts > 0)
        skipped = np.cumsum(np.where(kept, 0.0, weights))
        still = np.where(kept, counts, 0)
        ranks_ = np.cumsum(still)
        rounding = 4 * counts.size * _EPSILON * float(np.sum(weights))
        return Narrowed(
            kept,
            np.searchsorted(last, np.arange(counts.size), side="left"),
            MassTargets(
                self.masses - skipped[first],
                self.slack + rounding,
                ranks_[first] - still[first],
                ranks_[last],
            ),
        )


Targets = RankTargets | MassTargets


_DEVIATIONS = 5.0


@dataclass(frozen=True, eq=False)
class Windows:
    """Parts of kept buckets in which their wanted ranks almost surely lie.

    A bucket of a continuous law is filled evenly, so that a rank inside it tells where to look: within
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
    """Return a stage that keeps only windows of its buckets; None where they would not help."""
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
        """The lowest key whose bucket is at least the wanted one."""
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
    """What is wanted of each group, counted among the records that are kept."""

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
    """Return the stage in which only buckets that hold something wanted are kept.

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
    """Return the kept buckets of a stage, each cut into parts; None if all are single scores."""
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
