"""Exact sums over all records of a group, beside the numbers of its sketch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.exact_squares import exact_squares
from fedparity.sketches.exact_sums import ExactSums
from fedparity.sketches.records import Batch, Codes
from fedparity.sketches.selection.bucket_maps import Integers

__all__ = ["Beside", "Moments", "SquareSums"]

_FEW_GROUPS = 8
"""So many are looked for one by one; the records of more are sorted by group."""
_POWERS = 3 * 2046
"""Powers of two, from that of the lowest bit of a product of three floats on."""

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Beside:
    """What is asked of every group, beside the numbers of its sketch."""

    squares: bool = False
    """Sums of squared scores: what bin means leave out of the variance."""
    sums: bool = False
    """Sums of scores: what chunks of records need to be put together."""
    bounds: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Scores, in increasing order, between which records are counted."""

    @property
    def anything(self) -> bool:
        """Whether something is to be added up."""
        return self.squares or self.sums or bool(self.bounds.size)


@dataclass(eq=False)
class SquareSums:
    """Sums of squares by group, as whole numbers of a power of two."""

    totals: list[int]
    recent: Words | None = None
    """Squares that are not in ``totals`` yet: words of 64 bits by group and power of two."""

    @classmethod
    def zeros(cls, groups: int) -> SquareSums:
        """Return sums of nothing."""
        return cls([0] * groups)

    def recently(self) -> Words:
        """Return recent squares, to which more can be added."""
        if self.recent is None:
            self.recent = np.zeros((len(self.totals), _POWERS, 3), dtype=np.uint64)
        return self.recent

    def settle(self) -> None:
        """Add recent squares to the others."""
        if self.recent is None:
            return
        for group, power in np.argwhere(self.recent.any(axis=2)).tolist():
            low, middle, high = self.recent[group, power].tolist()
            self.totals[group] += (low | middle << 64 | high << 128) << power
        self.recent = None

    def merge(self, other: SquareSums) -> None:
        """Add the sums of ``other``, group by group."""
        other.settle()
        self.totals = [mine + theirs for mine, theirs in zip(self.totals, other.totals, strict=True)]


@dataclass(eq=False, kw_only=True)
class Moments:
    """Sums of scores, squares and weights by group: whole numbers, whatever the order of records.

    Build it with :meth:`zeros`.
    """

    beside: Beside
    counts: Integers
    """Records of each group (rows) between two bounds (columns); not counted if there are none."""
    sums: ExactSums | None
    """Sums of scores, or of weight times score."""
    squares: SquareSums
    """Sums of squares in 2^-2148, or of weight times square in 2^-3222."""
    weights: ExactSums | None
    """Weight between two bounds, one row for each, group by group; only where weights are given."""
    weight_squares: SquareSums
    """Sums of squared weights in 2^-2148."""

    @classmethod
    def zeros(cls, beside: Beside, groups: int, *, weighted: bool) -> Moments:
        """Return sums of nothing."""
        shape = groups, beside.bounds.size + 1
        return cls(
            beside=beside,
            counts=np.zeros(shape, dtype=np.int64),
            sums=ExactSums.zeros(groups, products=weighted) if beside.sums else None,
            squares=SquareSums.zeros(groups),
            weights=ExactSums.zeros(shape[0] * shape[1]) if weighted else None,
            weight_squares=SquareSums.zeros(groups),
        )

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.counts.shape[0]

    @property
    def needed(self) -> bool:
        """Whether records are to be added at all."""
        return self.weights is not None or self.beside.anything

    def add(self, batch: Batch) -> None:
        """Add the records of a batch, all of which count."""
        codes = batch.codes.astype(np.int64)
        bounds = self.beside.bounds
        places = codes * (bounds.size + 1)
        if bounds.size:
            places += np.searchsorted(bounds, batch.scores, side="right")
            counted = places if batch.weights is None else places[batch.weights > 0]
            found = np.bincount(counted, minlength=self.counts.size)
            self.counts += found.reshape(self.counts.shape)
        if self.weights is not None and batch.weights is not None:
            self.weights.add(places, batch.weights)
        if self.sums is not None and batch.weights is not None:
            self.sums.add_products(codes, batch.scores, batch.weights)
        elif self.sums is not None:
            self.sums.add(codes, batch.scores)
        if self.beside.squares or batch.weights is not None:
            self._add_squares(batch)

    def _add_squares(self, batch: Batch) -> None:
        for group, rows in _rows_of_groups(batch.codes, self.groups):
            weights = None if batch.weights is None else batch.weights[rows]
            if self.beside.squares:
                self.squares.totals[group] += exact_squares(batch.scores[rows], weights)
            if weights is not None:
                self.weight_squares.totals[group] += exact_squares(weights)

    def settle(self) -> None:
        """Add recent squares to the others."""
        self.squares.settle()
        self.weight_squares.settle()

    def merge(self, other: Moments) -> None:
        """Add the sums of ``other``, group by group."""
        self.counts += other.counts
        self.squares.merge(other.squares)
        self.weight_squares.merge(other.weight_squares)
        for mine, theirs in ((self.weights, other.weights), (self.sums, other.sums)):
            if mine is not None and theirs is not None:
                mine.merge(theirs)

    def between(self) -> Sequence[Sequence[int]]:
        """Return the records of each group, or their weight in 2^-1074, between two bounds."""
        width = self.counts.shape[1]
        totals = self.counts.ravel().tolist() if self.weights is None else self.weights.totals()
        return [totals[start : start + width] for start in range(0, len(totals), width)]


def _rows_of_groups(
    codes: Codes, groups: int
) -> Iterator[tuple[int, npt.NDArray[np.int64] | slice]]:
    """The rows of each group that has some."""
    if groups == 1:
        yield 0, slice(None)
    elif groups <= _FEW_GROUPS:
        for group in range(groups):
            rows = np.flatnonzero(codes == group)
            if rows.size:
                yield group, rows
    elif codes.size:
        order = np.argsort(codes, kind="stable")
        met, starts = np.unique(codes[order], return_index=True)
        yield from zip(met.tolist(), np.split(order, starts[1:]), strict=True)
