"""Stages of narrowing down: a map over all records, then finer ones inside crowded buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.records import Batch
from fedparity.sketches.selection.bucket_maps import (
    BucketMap,
    Integers,
    Keys,
    from_keys,
    to_keys,
)
from fedparity.sketches.selection.state import KEEP, SKIP, candidate_slot
from fedparity.sketches.selection.targets import Targets
from fedparity.sketches.selection.tuning import Tuning

__all__ = ["Buckets", "FirstBuckets", "SplitBuckets", "Stage", "narrow", "split"]


@dataclass(frozen=True, eq=False)
class FirstBuckets:
    """The buckets of a map, one set for each group, numbered group by group."""

    chosen: BucketMap
    groups: int

    @property
    def starts(self) -> Integers:
        """The first bucket of each group, and one after the last."""
        return np.arange(self.groups + 1) * self.chosen.width

    def places(self, batch: Batch) -> Integers:
        """Return the bucket of each record."""
        return self.chosen.buckets(batch.scores) + batch.codes.astype(np.int64) * self.chosen.width

    def limits(self, places: Integers) -> tuple[Keys, Keys]:
        """Return the lowest and the highest key in each bucket, by bisection."""
        wanted = places % self.chosen.width
        return self._first_key(wanted), self._first_key(wanted + 1) - np.uint64(1)

    def _first_key(self, wanted: Integers) -> Keys:
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
    child: Integers
    """Position among the cut buckets, or -1, of each bucket of the parent."""
    lowest: Keys
    highest: Keys
    shifts: npt.NDArray[np.uint64]
    first: Integers
    """The first part of each cut bucket, and one after the last."""
    starts: Integers

    def places(self, batch: Batch) -> Integers:
        """Return the part of each record, -1 for those that are not in a cut bucket."""
        child = self.child[self.parent.places(batch)]
        keys = to_keys(batch.scores)
        part = (keys - self.lowest[child]) >> self.shifts[child]
        return np.where(child < 0, -1, self.first[child] + part.astype(np.int64))

    def limits(self, places: Integers) -> tuple[Keys, Keys]:
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
    counts: Integers
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
    ) -> tuple[Stage, FloatArray, Integers]:
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

    def _single_scores(self, crowd: int) -> tuple[Integers, FloatArray]:
        """The parts of buckets that hold many records and can hold one score only."""
        if isinstance(self.buckets, FirstBuckets):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        crowded = np.flatnonzero((self.slots[:-1] <= KEEP) & (self.counts > crowd))
        low, high = self.buckets.limits(crowded)
        return crowded[low == high], from_keys(low[low == high])


def narrow(
    buckets: Buckets,
    counts: Integers,
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
