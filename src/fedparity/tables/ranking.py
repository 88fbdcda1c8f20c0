"""Groups whose scores are ranked where the table is: labels are read, scores are not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fedparity.errors import ScoreError
from fedparity.laws.labels import intersect
from fedparity.laws.law import FloatArray, IntArray
from fedparity.sketches.accumulators import Moments, SketchRequest
from fedparity.sketches.exact_sums import LOWEST_EXPONENT, exact_integer
from fedparity.sketches.kinds import RankTargets
from fedparity.sketches.records import Faults
from fedparity.sketches.resolve import BinMeans
from fedparity.sketches.select import Census, QueriedSource, Selected, where_sketched
from fedparity.tables.columns import Column

if TYPE_CHECKING:
    from fedparity.tables.table import TableRecords

__all__ = [
    "PIECE_BITS",
    "Cuts",
    "CutsTable",
    "KeyCounts",
    "Pieces",
    "RanksTable",
    "TableRanks",
    "Tallied",
    "Wanted",
]

PIECE_BITS = 26
_FEW_PIECES = 4
_MOST_BITS = 1000
"""So that neither a score times a power of two nor that power is beyond the floats."""


@dataclass(frozen=True)
class Pieces:
    r"""How scores are cut into whole numbers that databases add up without rounding.

    A float64 below :math:`2^E` in size is cut into pieces of 26 bits: piece i is
    :math:`(x 2^{26(i+1) - E}) \bmod 2^{26}` without its fraction. Powers of two and the remainder are
    exact, so the sums of the pieces, whole numbers, are those of the scores. The square of a score is
    the sum of the products of two of its pieces, each times a power of two.
    """

    exponent: int
    """All scores are below 2 to this power, in size."""
    number: int
    """Pieces of 26 bits each; empty if no sum is requested."""

    @classmethod
    def from_range(cls, score_range: tuple[float, float]) -> Pieces:
        """Return the few pieces that nearly all scores in a range need."""
        return cls(math.frexp(max(map(abs, score_range)))[1], _FEW_PIECES)

    def more(self) -> Pieces | None:
        """Return the largest possible number of pieces; None if these are all."""
        most = min(_MOST_BITS, _MOST_BITS + self.exponent) // PIECE_BITS
        return Pieces(self.exponent, most) if self.number < most else None

    @property
    def lowest(self) -> float:
        """The lowest size of a score, other than 0, that has a piece that is not 0."""
        return 1 / self.scale(self.number - 1)

    def scale(self, place: int) -> float:
        """Return what a score is multiplied by to be cut after the piece at this place."""
        return math.ldexp(1.0, PIECE_BITS * (place + 1) - self.exponent)

    def total(self, sums: Sequence[int]) -> int:
        """Return the sum of scores, in 2^-1074, given the sums of their pieces."""
        lowest = LOWEST_EXPONENT + self.exponent - PIECE_BITS
        return sum(
            _shifted(piece, lowest - PIECE_BITS * place) for place, piece in enumerate(sums)
        )

    def products(self, names: Sequence[str]) -> list[str]:
        """Return, for each power of two in a square, the products of named pieces that it has."""
        diagonals = []
        for power in range(2 * len(names) - 1):
            pairs = [(i, power - i) for i in range(len(names)) if i <= power - i < len(names)]
            terms = [f"{1 + (i < j)} * {names[i]} * {names[j]}" for i, j in pairs]
            diagonals.append(f"({' + '.join(terms)})")
        return diagonals

    def squared(self, sums: Sequence[int]) -> int:
        """Return the sum of squares, in 2^-2148, given the sums of those products."""
        lowest = 2 * (LOWEST_EXPONENT + self.exponent - PIECE_BITS)
        return sum(
            _shifted(product, lowest - PIECE_BITS * power) for power, product in enumerate(sums)
        )


def _shifted(whole: int, bits: int) -> int:
    return whole << bits if bits >= 0 else whole >> -bits


_KINDS_OF_ROWS = 4
_SPELLINGS = 4
"""Floats near one point of a grid, on average, above which records are read and not tallied."""


@dataclass(frozen=True, eq=False, kw_only=True)
class KeyCounts:
    """How many rows there are of each combination of labels, as the table has them."""

    labels: Sequence[Column]
    """One column for each column of groups, with one entry for each combination."""
    rows: IntArray
    missing: IntArray
    """Rows without a score, or with NaN."""
    infinite: IntArray
    outside: IntArray
    """Rows with a score that is finite, and outside the range."""
    above: IntArray
    """Rows with a score at or above each threshold, one row for each combination."""
    squares: Sequence[int]
    """Exact sums of squared scores, in 2^-2148; zeros where they are not needed."""

    @classmethod
    def from_rows(
        cls,
        labels: Sequence[Column],
        counts: Sequence[Sequence[int]],
        squares: Sequence[int] | None = None,
    ) -> KeyCounts:
        """Return the counts of rows, one sequence for each combination of labels.

        All rows; those whose score is missing, infinite, outside; and those at or above each threshold.
        """
        width = len(counts[0]) if counts else _KINDS_OF_ROWS
        columns = np.array(counts, np.int64).reshape(-1, width).T
        rows, missing, infinite, outside = map(np.ascontiguousarray, columns[:_KINDS_OF_ROWS])
        return cls(
            labels=labels,
            rows=rows,
            missing=missing,
            infinite=infinite,
            outside=outside,
            above=columns[_KINDS_OF_ROWS:].T,
            squares=[0] * len(counts) if squares is None else squares,
        )

    @property
    def scored(self) -> IntArray:
        """Rows with a score."""
        return self.rows - self.missing

    @property
    def between(self) -> IntArray:
        """Rows below, between and above the thresholds, one row for each combination."""
        return -np.diff(self.above, axis=1, prepend=self.scored[:, None], append=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Wanted:
    """Records that are requested by their ranks among all that have one of some keys."""

    keys: Sequence[int]
    """Positions in what :meth:`RanksTable.count` returned."""
    ranks: npt.NDArray[Any]
    """Increasing, from 1."""
    count: int
    """How many records there are."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cuts:
    """Scores at requested ranks, and sums below them; sums are whole numbers of 2^-1074."""

    scores: FloatArray
    before: Sequence[int]
    """How many records have a lower score."""
    sums: Sequence[int]
    """The exact sum of those lower scores."""
    total: int
    """The exact sum of all scores."""

    def means(self, count: int) -> BinMeans:
        r"""Return the means of k bins, given the k - 1 records that their edges cut.

        Up to the edge :math:`n \ell / k` the scores sum to those below the cut record, and
        its own score times the mass that is left; in units of 1/k all are whole numbers.
        """
        levels = len(self.before) + 1
        running = [
            levels * below + (count * edge - levels * before) * exact_integer(score)
            for edge, (score, before, below) in enumerate(
                zip(self.scores.tolist(), self.before, self.sums, strict=True), start=1
            )
        ]
        steps = pairwise([0, *running, levels * self.total])
        return BinMeans([after - before for before, after in steps], count)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tallied:
    """The different scores of some records, and how many have each."""

    scores: FloatArray
    counts: IntArray


class RanksTable(QueriedSource, Protocol):
    """A table that can count and rank scores where they are."""

    def count(self, score_range: tuple[float, float] | None) -> KeyCounts | None:
        """Return the counts, or None if there are too many combinations of labels."""
        ...

    def order_statistics(self, wanted: Sequence[Wanted]) -> Sequence[FloatArray]:
        """Return the scores of the requested records of each group."""
        ...

    def tallied(self, groups: Sequence[Sequence[int]], most: int) -> Sequence[Tallied] | None:
        """Return the different scores of each group, given by its keys.

        None if a group has more than ``most`` of them.
        """
        ...


@runtime_checkable
class CutsTable(RanksTable, Protocol):
    """A table that can also add scores up where they are."""

    def cuts(self, wanted: Sequence[Wanted]) -> Sequence[Cuts]:
        """Return the requested records of each group, with the sums below them."""
        ...


@dataclass(eq=False)
class TableRanks:
    """The groups of a table, put together from the combinations of labels that it has.

    Which labels make a group, and which rows may not be counted, is decided by the code that
    decides it for rows that are read.
    """

    records: TableRecords
    table: RanksTable
    request: SketchRequest
    _keys: list[list[int]] = field(default_factory=list, init=False)
    _counts: IntArray = field(default_factory=lambda: np.zeros(0, np.int64), init=False)
    _moments: Moments = field(init=False)

    @property
    def place(self) -> str:
        """Where the scores are ranked."""
        return self.table.place

    @property
    def queries(self) -> int:
        """The number of queries so far."""
        return self.table.queries

    def census(self, score_range: tuple[float, float] | None) -> Census | None:
        """Count the groups, or return None if the table has too many labels."""
        found = self.table.count(score_range)
        if found is None:
            return None
        faults = Faults(
            missing_scores=int(found.missing.sum()), infinite_scores=int(found.infinite.sum())
        )
        codes = self._codes(found, faults)
        filtered = self.records.skipped()
        faults.rows.read = int(found.rows.sum()) + filtered
        faults.rows.filtered = filtered
        rows = self.records.accept(faults)
        self._group(codes, found)
        if outside := int(found.outside.sum()):
            low, high = score_range or (-np.inf, np.inf)
            raise ScoreError.outside_range(outside, int(self._counts.sum()), low, high)
        return Census.from_moments(self._counts, self._moments, rows)

    def _group(self, codes: Sequence[int], found: KeyCounts) -> None:
        """Put the combinations of labels together that make up each group."""
        groups = len(self.records.groups)
        self._keys = [[] for _ in range(groups)]
        self._counts = np.zeros(groups, np.int64)
        self._moments = Moments.zeros(self.request.extra_sums(), groups, weighted=False)
        scored, between = found.scored.tolist(), found.between
        for key, (code, number) in enumerate(zip(codes, scored, strict=True)):
            if number:
                self._keys[code].append(key)
                self._counts[code] += number
                self._moments.squares.totals[code] += found.squares[key]
                if self.request.grid is None:
                    self._moments.counts[code] += between[key]

    def selected(self, census: Census, levels: Sequence[int]) -> Selected | None:
        """Return the sketches of all groups; None if scores have too many values to be tallied."""
        places = [
            place
            for place, (number, count) in enumerate(
                zip(levels, self._counts.tolist(), strict=True)
            )
            if number and count
        ]
        values: list[npt.NDArray[Any] | None] = [None] * len(levels)
        inside: list[float | None] = [None] * len(levels)
        if self.request.kind == "counts":
            if not self._tally():
                return None
            counts = self.request.counts(self._moments)
            for place in places:
                values[place] = counts[place]
        elif places:
            self._rank(places, levels, values, inside)
        return Selected(
            census=census,
            totals=tuple(self._counts.tolist()),
            values=tuple(values),
            inside=tuple(inside),
            above=where_sketched(values, self.request.above(self._moments)),
            records=where_sketched(values, self.request.records(self._moments)),
            kernel=self.place,
            passes=self.queries,
        )

    def _tally(self) -> bool:
        """Count the records at the points of the grid; False if scores have too many values."""
        grid = self.request.grid
        groups = [place for place, keys in enumerate(self._keys) if keys]
        if grid is None:
            return False
        most = _SPELLINGS * grid.points.size
        found = self.table.tallied([self._keys[place] for place in groups], most)
        if found is None:
            return False
        for place, own in zip(groups, found, strict=True):
            np.add.at(self._moments.counts[place], grid.places(own.scores), own.counts)
        self.request.check(self._moments)
        return True

    def _rank(
        self,
        places: Sequence[int],
        levels: Sequence[int],
        values: list[npt.NDArray[Any] | None],
        inside: list[float | None],
    ) -> None:
        """Find the quantiles, or the bin means and what they leave inside, of the groups at places."""
        wanted = []
        for place in places:
            count = int(self._counts[place])
            targets = RankTargets.from_count(count, levels[place], self.request.kind)
            wanted.append(Wanted(keys=self._keys[place], ranks=targets.ranks, count=count))
        if self.request.kind == "mean" and isinstance(self.table, CutsTable):
            squares = self._moments.squares.settle()
            for place, own, cuts in zip(places, wanted, self.table.cuts(wanted), strict=True):
                means = cuts.means(own.count)
                values[place], inside[place] = means.values, means.inside(squares[place])
            return
        for place, found in zip(places, self.table.order_statistics(wanted), strict=True):
            values[place] = found + 0.0  # no negative zeros

    def _codes(self, found: KeyCounts, faults: Faults) -> list[int]:
        """The code of every key; those of which all rows lack a score are not looked up."""
        roles, scheme = self.records.roles, self.records.scheme
        labels = [
            column.labels(name) for column, name in zip(found.labels, roles.groups, strict=True)
        ]
        positions, texts = intersect(labels)
        codes = []
        for position, number in zip(positions.tolist(), found.scored.tolist(), strict=True):
            key = texts[position]
            code = scheme.known(key) if number else 0
            if number and (renamed := scheme.relabeling(key)):
                faults.rows.relabeled[renamed] += number
            codes.append(code if code >= 0 else scheme.admit(key, number, faults))
        return codes
