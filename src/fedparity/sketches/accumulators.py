"""What a thread accumulates while it reads: counts per bucket, kept records, and exact sums by group."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.laws.law import FloatArray, IntArray
from fedparity.sketches.exact_sums import LOWEST_EXPONENT, ExactSums, exact_moments
from fedparity.sketches.kinds import Kind, ScoreGrid, check_kind
from fedparity.sketches.records import Batch, Codes, Faults

__all__ = [
    "KEEP",
    "SKIP",
    "Bag",
    "Bounds",
    "ExtraSums",
    "Moments",
    "RowSums",
    "Rules",
    "SketchRequest",
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
    """Up to this many records, all are kept and sorted."""
    sample: int = 1 << 15
    """Scores that choose the first map."""
    buckets: int = 1 << 18
    """Buckets of all groups of the first map: their counts should stay in a core's cache."""
    kept: int = 1 << 21
    """Upper bound of the records kept at once; if there would be more, their buckets are divided first."""
    parts: int = 1 << 18
    """Parts of all buckets that are cut."""
    candidate: int = 8
    """A score that a sample contains at least this often is counted instead of kept."""
    crowded: int = 1 << 10
    """A part of at least this many records is examined: if it can hold one score only, it is an atom."""
    window: int = 1 << 8
    """Of a bucket of at least this many records, only those near the requested rank are kept."""
    ties: float = 0.001
    """Share of a sample that is tied, above which buckets are not filled evenly."""
    stages: int = 64
    """Each stage after the first cuts at least one of the 64 bits of a key's range."""


SKIP, KEEP = -1, -2
"""Slots of a bucket whose records are skipped, or kept. A slot of at least 0 is the row of
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
        """One byte per bucket: 0 skipped, 1 kept, 2 kept except a candidate, 3 summed, 4 a window."""
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
    """Kept records, counts of values that are too frequent to be kept, and exact sums."""

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


@dataclass(frozen=True, eq=False, kw_only=True)
class SketchRequest:
    """The kind of sketch, and the scores at which records are counted.

    Parameters
    ----------
    kind : "quantile", "mean" or "counts"
    thresholds : sequence of numbers
        A score equal to a threshold is above it. Where scores are counted at the points of a grid, a
        threshold is compared with the point that a score is.
    points : increasing array, for kind ``counts``

    Raises
    ------
    OptionError
        If the kind is unknown, or ``counts`` has no points.
    """

    kind: Kind = "quantile"
    thresholds: Sequence[float] = ()
    points: FloatArray | None = None

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if self.kind == "counts" and self.points is None:
            raise OptionError(
                "counts need the points at which records are counted.",
                fix="pass points=, an increasing array of scores.",
            )

    @property
    def key(self) -> tuple[object, ...]:
        """The fields by which two requests are compared."""
        points = None if self.points is None else tuple(self.points.tolist())
        return self.kind, tuple(self.thresholds), points

    @cached_property
    def grid(self) -> ScoreGrid | None:
        """The grid whose points are counted, if they are."""
        return (
            ScoreGrid(self.points) if self.kind == "counts" and self.points is not None else None
        )

    def extra_sums(self, *, sums: bool = False) -> ExtraSums:
        """Return the sums that it needs; with ``sums`` also those that merging chunks needs."""
        means = self.kind == "mean"
        bounds = self.cuts if self.grid is None else self.grid.bounds
        return ExtraSums(squares=means, sums=means and sums, bounds=bounds)

    @cached_property
    def cuts(self) -> FloatArray:
        """The thresholds, each once, in increasing order; none where all points are counted."""
        cuts = () if self.kind == "counts" else self.thresholds
        return np.unique(np.array(cuts, dtype=np.float64))

    def check(self, moments: Moments) -> None:
        """Raise if a score is not one of the points.

        Raises
        ------
        ScoreError
            With the number of such records.
        """
        if self.grid is not None:
            self.grid.require(int(moments.counts[:, ::2].sum()), int(moments.counts.sum()))

    def counts(self, moments: Moments) -> list[npt.NDArray[Any]]:
        """Return for each group the records, or their weight, at each point."""
        if moments.weights is None:
            return [own[1::2].copy() for own in moments.counts]
        return [_floats(own[1::2]) for own in moments.between()]

    def records(self, moments: Moments) -> list[IntArray | None]:
        """Return for each group how many records lie between thresholds, or at each point.

        None where there are neither.
        """
        if self.grid is None and not self.thresholds:
            return [None] * moments.groups
        return [own.copy() if self.grid is None else own[1::2].copy() for own in moments.counts]

    def above(self, moments: Moments) -> list[tuple[int | float, ...]]:
        """Return for each group the records, or their weight, at or above each threshold."""
        if self.grid is None:
            firsts = 1 + np.searchsorted(self.cuts, self.thresholds)
        else:
            firsts = 2 * np.searchsorted(self.grid.points, self.thresholds)
        whole = moments.weights is None
        sums = ([sum(own[first:]) for first in firsts.tolist()] for own in moments.between())
        return [tuple(own if whole else _floats(own).tolist()) for own in sums]


def _floats(weights: Sequence[int]) -> FloatArray:
    """Exact weights, in 2^-1074, correctly rounded."""
    return np.array([weight / (1 << LOWEST_EXPONENT) for weight in weights])


_FEW_GROUPS = 8
"""Up to this number they are looked for one by one; the records of more are sorted by group."""
_POWERS = 3 * 2046
"""Powers of two, from that of the lowest bit of a product of three floats on."""

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False, kw_only=True)
class ExtraSums:
    """The sums that are requested of every group in addition to the numbers of its sketch."""

    squares: bool = False
    """Sums of squared scores: what bin means leave out of the variance."""
    sums: bool = False
    """Sums of scores as well: which merging chunks of records needs."""
    bounds: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Scores, in increasing order, between which records are counted."""

    @property
    def anything(self) -> bool:
        """Whether something is to be added up."""
        return self.squares or bool(self.bounds.size)


@dataclass(eq=False)
class RowSums:
    """Sums by row: whole numbers, and what was added up faster and is not in them yet."""

    totals: list[int]
    limbs: ExactSums | None = None
    """Floats, or their products, that are still in limbs."""
    words: Words | None = None
    """Squares that are still in words of 64 bits, by row and power of two."""

    @classmethod
    def zeros(cls, rows: int) -> RowSums:
        """Return sums of nothing."""
        return cls([0] * rows)

    def in_limbs(self, *, products: bool = False) -> ExactSums:
        """Return limbs to which floats, or products, can be added; not both."""
        if self.limbs is None:
            self.limbs = ExactSums.zeros(len(self.totals), products=products)
        return self.limbs

    def in_words(self) -> Words:
        """Return words to which squares can be added."""
        if self.words is None:
            self.words = np.zeros((len(self.totals), _POWERS, 3), dtype=np.uint64)
        return self.words

    def settle(self) -> list[int]:
        """Return the totals, everything included."""
        if self.limbs is not None:
            for row, total in enumerate(self.limbs.totals()):
                self.totals[row] += total
        if self.words is not None:
            for row, power in np.argwhere(self.words.any(axis=2)).tolist():
                low, middle, high = self.words[row, power].tolist()
                self.totals[row] += (low | middle << 64 | high << 128) << power
        self.limbs = self.words = None
        return self.totals

    def merge(self, other: RowSums) -> None:
        """Add the sums of ``other``, row by row."""
        pairs = zip(self.settle(), other.settle(), strict=True)
        self.totals = [mine + theirs for mine, theirs in pairs]


@dataclass(eq=False, kw_only=True)
class Moments:
    """Sums of scores, squares and weights by group: whole numbers, whatever the order of records.

    Build it with :meth:`zeros`.
    """

    extra: ExtraSums
    counts: IntArray
    """Numbers of records of each group (rows) between two bounds (columns); empty without bounds."""
    sums: RowSums
    """Scores in 2^-1074, or weight times score in 2^-2148."""
    squares: RowSums
    """Squares in 2^-2148, or weight times square in 2^-3222."""
    weights: RowSums | None
    """Weight between two bounds, group by group, in 2^-1074; only where weights are given."""
    weight_squares: RowSums
    """Squared weights, in 2^-2148."""

    @classmethod
    def zeros(cls, extra: ExtraSums, groups: int, *, weighted: bool) -> Moments:
        """Return sums of nothing."""
        places = extra.bounds.size + 1
        return cls(
            extra=extra,
            counts=np.zeros((groups, places), dtype=np.int64),
            sums=RowSums.zeros(groups),
            squares=RowSums.zeros(groups),
            weights=RowSums.zeros(groups * places) if weighted else None,
            weight_squares=RowSums.zeros(groups),
        )

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.counts)

    @property
    def needed(self) -> bool:
        """Whether records are to be added at all."""
        return self.weights is not None or self.extra.anything

    def add(self, batch: Batch) -> None:
        """Add the records of a batch, all of which count."""
        if self.extra.squares or self.weights is not None:
            for group, rows in _rows_of_groups(batch.codes, self.groups):
                self._add_group(group, batch, rows)
        bounds = self.extra.bounds
        if bounds.size:
            places = batch.codes.astype(np.int64) * (bounds.size + 1)
            places += np.searchsorted(bounds, batch.scores, side="right")
            counted = places if batch.weights is None else places[batch.weights > 0]
            found = np.bincount(counted, minlength=self.counts.size)
            self.counts += found.reshape(self.counts.shape)
            if self.weights is not None and batch.weights is not None:
                self.weights.in_limbs().add(places, batch.weights)

    def _add_group(self, group: int, batch: Batch, rows: IntArray | slice) -> None:
        weights = None if batch.weights is None else batch.weights[rows]
        if self.extra.squares:
            first, second = exact_moments(batch.scores[rows], weights)
            self.sums.totals[group] += first
            self.squares.totals[group] += second
        if weights is not None and self.weights is not None:
            first, second = exact_moments(weights)
            self.weight_squares.totals[group] += second
            if not self.extra.bounds.size:
                self.weights.totals[group] += first

    def merge(self, other: Moments) -> None:
        """Add the sums of ``other``, group by group."""
        self.counts += other.counts
        self.sums.merge(other.sums)
        self.squares.merge(other.squares)
        self.weight_squares.merge(other.weight_squares)
        if self.weights is not None and other.weights is not None:
            self.weights.merge(other.weights)

    def between(self) -> Sequence[Sequence[int]]:
        """Return the records of each group, or their weight in 2^-1074, between two bounds."""
        width = self.counts.shape[1]
        totals = self.counts.ravel().tolist() if self.weights is None else self.weights.settle()
        return [totals[start : start + width] for start in range(0, len(totals), width)]


def _rows_of_groups(
    codes: Codes, groups: int
) -> Iterator[tuple[int, npt.NDArray[np.int64] | slice]]:
    """The rows of each group that has some."""
    if groups == 1:
        yield 0, slice(0, codes.size)
    elif groups <= _FEW_GROUPS:
        for group in range(groups):
            rows = np.flatnonzero(codes == group)
            if rows.size:
                yield group, rows
    elif codes.size:
        order = np.argsort(codes, kind="stable")
        met, starts = np.unique(codes[order], return_index=True)
        yield from zip(met.tolist(), np.split(order, starts[1:]), strict=True)
