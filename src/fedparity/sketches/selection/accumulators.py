"""What a thread gathers while it reads: counts per bucket, kept records, exact sums."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray, IntArray
from fedparity.sketches.exact_sums import ExactSums
from fedparity.sketches.records import Batch, Codes, Faults

__all__ = [
    "KEEP",
    "SKIP",
    "Bag",
    "Bounds",
    "Rules",
    "Tally",
    "Tuning",
    "candidate_slot",
    "taken",
    "window_slot",
]


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Sizes calibrated by ``benchmarks/silo.py``; tests use tiny ones to reach every path."""

    few: int = 1 << 15
    """So few records are all kept, and sorted."""
    sample: int = 1 << 15
    """Scores that choose the first map."""
    buckets: int = 1 << 18
    """Buckets of all groups of the first map: their counts should stay in a core's cache."""
    kept: int = 1 << 21
    """Records kept at once; where more would be, their buckets are cut first."""
    parts: int = 1 << 18
    """Parts of all buckets that are cut."""
    candidate: int = 8
    """A score that a sample shows so often is counted instead of kept."""
    crowded: int = 1 << 10
    """A part of at least this many records is examined: if it can hold one score only, it is an atom."""
    window: int = 1 << 8
    """A bucket of at least this many records is kept only around its wanted rank."""
    ties: float = 0.001
    """Share of a sample that is tied, above which buckets are not filled evenly."""
    stages: int = 64
    """Each stage after the first cuts at least one of the 64 bits of a key's range."""


SKIP, KEEP = -1, -2
"""Slots of a bucket whose records are passed over, or kept. A slot of at least 0 is the row of
the sums that its records are added to; one below ``KEEP`` is kept too, but for one value."""

_WINDOW = -(1 << 24)
"""Slots from here down are of buckets that are kept between two bounds."""

_MOST_RECENT = (1 << 32) - 1

LARGEST = sys.float_info.max


def candidate_slot(position: int) -> int:
    """Return the slot of a bucket with a value that is counted, not kept."""
    return KEEP - 1 - position


def window_slot(position: int) -> int:
    """Return the slot of a bucket of which only a window is kept."""
    return _WINDOW - position


@dataclass(frozen=True, eq=False)
class Rules:
    """What becomes of the records of each bucket.

    Parameters
    ----------
    slots : array of int32
        One per bucket, and the last one for records that are left out.
    candidates : array
        Values that are counted, and not kept, in the buckets that name them.
    """

    slots: npt.NDArray[np.int32]
    candidates: FloatArray = field(default_factory=lambda: np.zeros(0))
    low: FloatArray = field(default_factory=lambda: np.zeros(0))
    """The lowest score of each window that is kept, and the highest."""
    high: FloatArray = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def hits(self) -> npt.NDArray[np.uint32]:
        """One bit per bucket: whether its records are looked at."""
        bits = np.zeros(-(-self.slots.size // 32) * 32, dtype=bool)
        bits[: self.slots.size] = self.kept != 0
        return np.packbits(bits, bitorder="little").view(np.uint32)

    @cached_property
    def kept(self) -> npt.NDArray[np.uint8]:
        """One byte per bucket: 0 passed over, 1 kept, 2 kept but for a candidate, 3 summed, 4 a window."""
        flags = np.zeros(self.slots.size, dtype=np.uint8)
        flags[self.slots == KEEP] = 1
        flags[self.slots < KEEP] = 2
        flags[self.slots >= 0] = 3
        flags[self.slots <= _WINDOW] = 4
        return flags


@dataclass(frozen=True, slots=True)
class Bounds:
    """The lowest and the highest score that are allowed."""

    low: float = -LARGEST
    high: float = LARGEST

    def allow(self, scores: FloatArray) -> bool:
        """Whether all scores are numbers inside the bounds."""
        return bool(self.low <= scores.min() and scores.max() <= self.high)

    def inside(self, scores: FloatArray) -> npt.NDArray[np.bool_]:
        """Which scores are numbers inside the bounds."""
        return (scores >= self.low) & (scores <= self.high)

    def allowed(self, batch: Batch) -> Batch:
        """Return the records of a batch that count."""
        if not batch.scores.size or self.allow(batch.scores):
            return batch
        counted = self.inside(batch.scores)
        return taken(batch, counted if batch.weights is None else counted & (batch.weights > 0))


@dataclass(eq=False)
class Tally:
    """Counts per bucket, the last of them for records that are left out."""

    counts: IntArray
    masses: FloatArray | None
    """Weight per bucket, rounded; only where weights are given."""
    faults: Faults = field(default_factory=Faults)
    outside: int = 0
    """Records whose score is finite but outside the bounds."""
    recent: npt.NDArray[np.uint32] | None = None
    """Counts that are not in ``counts`` yet: half the bytes, so that they stay in a cache."""
    recent_rows: int = 0

    @classmethod
    def zeros(cls, buckets: int, *, weighted: bool) -> Tally:
        """Return a tally of nothing, with one more bucket for what is left out."""
        counts = np.zeros(buckets + 1, dtype=np.int64)
        return cls(counts, np.zeros(buckets + 1) if weighted else None)

    def recently(self, rows: int) -> npt.NDArray[np.uint32]:
        """Return recent counts with room for this many more."""
        if self.recent is None:
            self.recent = np.zeros(self.counts.size, dtype=np.uint32)
        if self.recent_rows + rows > _MOST_RECENT:
            self.settle()
        self.recent_rows += rows
        return self.recent

    def settle(self) -> None:
        """Add recent counts to the others."""
        if self.recent is not None:
            self.counts += self.recent
            self.recent[:] = 0
            self.recent_rows = 0

    def add(self, other: Tally) -> None:
        """Count what another thread has counted."""
        self.settle()
        other.settle()
        self.counts += other.counts
        if self.masses is not None and other.masses is not None:
            self.masses += other.masses
        self.faults.add(other.faults)
        self.outside += other.outside

    def leave_out(self, scores: FloatArray, bounds: Bounds) -> None:
        """Count why records were left out."""
        missing = int(np.count_nonzero(np.isnan(scores)))
        infinite = int(np.count_nonzero(np.isinf(scores)))
        allowed = int(np.count_nonzero(bounds.inside(scores)))
        self.faults.missing_scores += missing
        self.faults.infinite_scores += infinite
        self.outside += scores.size - missing - infinite - allowed


@dataclass(eq=False)
class Bag:
    """Kept records, counts of values that are met too often to keep, and exact sums."""

    kept: list[Batch] = field(default_factory=list)
    equal: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """How many records had each candidate value."""
    sides: IntArray = field(default_factory=lambda: np.zeros((3, 0), dtype=np.int64))
    """How many records were below, inside and above each window."""
    values: ExactSums | None = None
    """Sums of scores by row."""
    weights: ExactSums | None = None
    """Sums of weights by row; a candidate's row comes after those of the slots."""
    products: ExactSums | None = None
    """Sums of weight times score by row."""

    @classmethod
    def empty(
        cls, *, rows: int, candidates: int, windows: int, weighted: bool, means: bool
    ) -> Bag:
        """Return a bag with sums for what the kind of sketch needs."""
        return cls(
            equal=np.zeros(candidates, dtype=np.int64),
            sides=np.zeros((3, windows), dtype=np.int64),
            values=ExactSums.zeros(rows) if means and not weighted else None,
            weights=ExactSums.zeros(rows + candidates) if weighted else None,
            products=ExactSums.zeros(rows, products=True) if means and weighted else None,
        )

    def add(self, other: Bag) -> None:
        """Add what another thread has gathered."""
        self.kept += other.kept
        self.equal += other.equal
        self.sides += other.sides
        for mine, theirs in (
            (self.values, other.values),
            (self.weights, other.weights),
            (self.products, other.products),
        ):
            if mine is not None and theirs is not None:
                mine.merge(theirs)

    def with_same_sums(self) -> Bag:
        """Return a bag that keeps records of its own but counts and sums into this one."""
        return Bag([], self.equal, self.sides, self.values, self.weights, self.products)

    def add_earlier_sums(self, earlier: Bag) -> None:
        """Add sums that were made before there were candidates."""
        if self.weights is not None and earlier.weights is not None:
            rows = earlier.weights.limbs.shape[0]
            ExactSums(self.weights.limbs[:rows], self.weights.terms).merge(earlier.weights)
        for mine, theirs in ((self.values, earlier.values), (self.products, earlier.products)):
            if mine is not None and theirs is not None:
                mine.merge(theirs)

    def add_sums(self, rows: IntArray, scores: FloatArray, weights: FloatArray | None) -> None:
        """Add records to the sums of their rows."""
        if self.values is not None:
            self.values.add(rows, scores)
        if self.weights is not None and weights is not None:
            self.weights.add(rows, weights)
        if self.products is not None and weights is not None:
            self.products.add_products(rows, scores, weights)

    def concatenated(self) -> Batch:
        """Return all kept records as one batch."""
        if not self.kept:
            return Batch(np.zeros(0), np.zeros(0, dtype=np.uint8))
        weights = [batch.weights for batch in self.kept]
        return Batch(
            np.concatenate([batch.scores for batch in self.kept]),
            np.concatenate([batch.codes for batch in self.kept]),
            None if weights[0] is None else np.concatenate([w for w in weights if w is not None]),
        )


def taken(batch: Batch, rows: IntArray | npt.NDArray[np.bool_] | slice) -> Batch:
    """Return some records of a batch."""
    codes: Codes = batch.codes[rows]
    return Batch(batch.scores[rows], codes, None if batch.weights is None else batch.weights[rows])
