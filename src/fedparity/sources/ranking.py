"""Groups whose scores are ranked where the table is: labels are read, scores are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fedparity.errors import ScoreError
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.exact_sums import LOWEST_EXPONENT, exact_integer
from fedparity.sketches.kinds import Kind
from fedparity.sketches.ranked import AskedPlace
from fedparity.sketches.records import Faults
from fedparity.sketches.selection.select import Census
from fedparity.sketches.selection.targets import RankTargets
from fedparity.sources.columns import Column
from fedparity.sources.intersections import intersect

if TYPE_CHECKING:
    from fedparity.sources.reader import TableRecords

__all__ = ["Cuts", "CutsTable", "KeyCounts", "RanksTable", "TableRanks", "Wanted"]

IntArray = npt.NDArray[np.int64]


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

    @classmethod
    def of(cls, labels: Sequence[Column], counts: Sequence[Sequence[int]]) -> KeyCounts:
        """Return the counts of rows (all, missing, infinite, outside), one for each combination."""
        columns = np.array(counts, np.int64).reshape(-1, 4).T
        rows, missing, infinite, outside = (np.ascontiguousarray(column) for column in columns)
        return cls(labels=labels, rows=rows, missing=missing, infinite=infinite, outside=outside)


@dataclass(frozen=True, eq=False, kw_only=True)
class Wanted:
    """Records that are asked for by their ranks among all that have one of some keys."""

    keys: Sequence[int]
    """Positions in what :meth:`RanksTable.count` returned."""
    ranks: npt.NDArray[Any]
    """Increasing, from 1."""
    count: int
    """How many records there are."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cuts:
    """Scores at wanted ranks, and what lies below them; sums are whole numbers of 2^-1074."""

    scores: FloatArray
    before: Sequence[int]
    """How many records have a lower score."""
    sums: Sequence[int]
    """The exact sum of those lower scores."""
    total: int
    """The exact sum of all scores."""

    def means(self, count: int) -> FloatArray:
        r"""Return the means of k bins, given the k - 1 records that their edges cut.

        Up to the edge :math:`n \ell / k` the scores sum to those below the cut record, and so many
        times its own score as there is mass left; in units of 1/k all are whole numbers.
        """
        levels = len(self.before) + 1
        running = [
            levels * below + (count * edge - levels * before) * exact_integer(score)
            for edge, (score, before, below) in enumerate(
                zip(self.scores.tolist(), self.before, self.sums, strict=True), start=1
            )
        ]
        steps = pairwise([0, *running, levels * self.total])
        means = [(after - before) / (count << LOWEST_EXPONENT) for before, after in steps]
        return np.array(means) + 0.0  # no negative zeros


class RanksTable(AskedPlace, Protocol):
    """A table that can count and rank scores where they are."""

    def count(self, score_range: tuple[float, float] | None) -> KeyCounts | None:
        """Return the counts, or None if there are too many combinations of labels."""
        ...  # pragma: no cover

    def order_statistics(self, wanted: Sequence[Wanted]) -> Sequence[FloatArray]:
        """Return the scores of the records that are wanted of each group."""
        ...  # pragma: no cover


@runtime_checkable
class CutsTable(RanksTable, Protocol):
    """A table that can also add scores up where they are."""

    def cuts(self, wanted: Sequence[Wanted]) -> Sequence[Cuts]:
        """Return the records that are wanted of each group, with the sums below them."""
        ...  # pragma: no cover


@dataclass(eq=False)
class TableRanks:
    """The groups of a table, put together from the combinations of labels that it has.

    Which labels make a group, and which rows may not be counted, is decided by the code that
    decides it for rows that are read.
    """

    records: TableRecords
    table: RanksTable
    kind: Kind
    _keys: list[list[int]] = field(default_factory=list, init=False)
    _counts: IntArray = field(default_factory=lambda: np.zeros(0, np.int64), init=False)

    @property
    def place(self) -> str:
        """Where the scores are ranked."""
        return self.table.place

    @property
    def questions(self) -> int:
        """How often that place was asked something."""
        return self.table.questions

    def census(self, score_range: tuple[float, float] | None) -> Census | None:
        """Count the groups, or return None if the table has too many labels."""
        found = self.table.count(score_range)
        if found is None:
            return None
        faults = Faults(
            missing_scores=int(found.missing.sum()), infinite_scores=int(found.infinite.sum())
        )
        codes = self._codes(found, faults)
        dropped = self.records.accept_counted(int(found.rows.sum()), faults)
        self._keys = [[] for _ in self.records.groups]
        self._counts = np.zeros(len(self.records.groups), np.int64)
        for key, (code, number) in enumerate(
            zip(codes, (found.rows - found.missing).tolist(), strict=True)
        ):
            if number:
                self._keys[code].append(key)
                self._counts[code] += number
        if outside := int(found.outside.sum()):
            low, high = score_range or (-np.inf, np.inf)
            raise ScoreError.outside_range(outside, int(self._counts.sum()), low, high)
        whole = self._counts.astype(np.float64)
        return Census(self._counts, whole, whole, dropped)

    def values(self, levels: Sequence[int]) -> tuple[FloatArray | None, ...]:
        """Return the numbers of every group's sketch."""
        places, wanted = [], []
        for place, (number, count) in enumerate(zip(levels, self._counts.tolist(), strict=True)):
            if number and count:
                targets = RankTargets.of(count, number, self.kind)
                places.append(place)
                wanted.append(Wanted(keys=self._keys[place], ranks=targets.ranks, count=count))
        values: list[FloatArray | None] = [None] * len(levels)
        for place, found in zip(places, self._found(wanted) if wanted else (), strict=True):
            values[place] = found
        return tuple(values)

    def _found(self, wanted: Sequence[Wanted]) -> Sequence[FloatArray]:
        if self.kind == "mean" and isinstance(self.table, CutsTable):
            pairs = zip(self.table.cuts(wanted), wanted, strict=True)
            return [found.means(own.count) for found, own in pairs]
        return [found + 0.0 for found in self.table.order_statistics(wanted)]  # no negative zeros

    def _codes(self, found: KeyCounts, faults: Faults) -> list[int]:
        """The code of every key; those of which all rows lack a score are not looked up."""
        roles, scheme = self.records.roles, self.records.scheme
        labels = [
            column.labels(name) for column, name in zip(found.labels, roles.groups, strict=True)
        ]
        positions, texts = intersect(labels)
        codes = []
        scored = (found.rows - found.missing).tolist()
        for position, number in zip(positions.tolist(), scored, strict=True):
            key = texts[position]
            code = scheme.known(key) if number else 0
            codes.append(code if code >= 0 else scheme.admit(key, number, faults))
        return codes
