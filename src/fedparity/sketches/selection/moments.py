"""Exact sums over all records of a group, beside the numbers of its sketch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.laws.arrays import FloatArray, IntArray
from fedparity.sketches.exact_sums import LOWEST_EXPONENT, ExactSums, exact_moments
from fedparity.sketches.grids import ScoreGrid
from fedparity.sketches.kinds import Kind, check_kind
from fedparity.sketches.records import Batch, Codes

__all__ = [
    "Asked",
    "Beside",
    "Moments",
    "RowSums",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class Asked:
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
        """What two of them are compared by."""
        points = None if self.points is None else tuple(self.points.tolist())
        return self.kind, tuple(self.thresholds), points

    @cached_property
    def grid(self) -> ScoreGrid | None:
        """The grid whose points are counted, if they are."""
        return (
            ScoreGrid(self.points) if self.kind == "counts" and self.points is not None else None
        )

    def beside(self, *, sums: bool = False) -> Beside:
        """Return what is added up for it; with ``sums`` what chunks need to be put together, too."""
        means = self.kind == "mean"
        bounds = self.cuts if self.grid is None else self.grid.bounds
        return Beside(squares=means, sums=means and sums, bounds=bounds)

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
class Beside:
    """What is requested of every group, beside the numbers of its sketch."""

    squares: bool = False
    """Sums of squared scores: what bin means leave out of the variance."""
    sums: bool = False
    """Sums of scores as well: what chunks of records need to be put together."""
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

    beside: Beside
    counts: IntArray
    """Records of each group (rows) between two bounds (columns); not counted if there are none."""
    sums: RowSums
    """Scores in 2^-1074, or weight times score in 2^-2148."""
    squares: RowSums
    """Squares in 2^-2148, or weight times square in 2^-3222."""
    weights: RowSums | None
    """Weight between two bounds, group by group, in 2^-1074; only where weights are given."""
    weight_squares: RowSums
    """Squared weights, in 2^-2148."""

    @classmethod
    def zeros(cls, beside: Beside, groups: int, *, weighted: bool) -> Moments:
        """Return sums of nothing."""
        places = beside.bounds.size + 1
        return cls(
            beside=beside,
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
        return self.weights is not None or self.beside.anything

    def add(self, batch: Batch) -> None:
        """Add the records of a batch, all of which count."""
        if self.beside.squares or self.weights is not None:
            for group, rows in _rows_of_groups(batch.codes, self.groups):
                self._add_group(group, batch, rows)
        bounds = self.beside.bounds
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
        if self.beside.squares:
            first, second = exact_moments(batch.scores[rows], weights)
            self.sums.totals[group] += first
            self.squares.totals[group] += second
        if weights is not None and self.weights is not None:
            first, second = exact_moments(weights)
            self.weight_squares.totals[group] += second
            if not self.beside.bounds.size:
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
