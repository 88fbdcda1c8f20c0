"""Groups whose scores are ranked where the table is: labels are read, scores are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fedparity.errors import ScoreError
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.records import Faults
from fedparity.sketches.selection.select import Census
from fedparity.sources.columns import Column
from fedparity.sources.intersections import intersect

if TYPE_CHECKING:
    from fedparity.sources.reader import TableRecords

__all__ = ["KeyCounts", "RanksTable", "TableRanks"]

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


class RanksTable(Protocol):
    """A table that can count and rank scores where they are."""

    @property
    def place(self) -> str:
        """Where that is, in one word."""
        ...  # pragma: no cover

    def count(self, score_range: tuple[float, float] | None) -> KeyCounts | None:
        """Return the counts, or None if there are too many combinations of labels."""
        ...  # pragma: no cover

    def order_statistics(
        self, keys: Sequence[int], ranks: npt.NDArray[Any], count: int
    ) -> FloatArray:
        """Return scores by their ranks among all ``count`` rows that have one of these keys.

        Keys are positions in what :meth:`count` returned.
        """
        ...  # pragma: no cover


@dataclass(eq=False)
class TableRanks:
    """The groups of a table, put together from the combinations of labels that it has.

    Which labels make a group, and which rows may not be counted, is decided by the code that
    decides it for rows that are read.
    """

    records: TableRecords
    table: RanksTable
    _keys: list[list[int]] = field(default_factory=list, init=False)
    _counts: IntArray = field(default_factory=lambda: np.zeros(0, np.int64), init=False)

    @property
    def place(self) -> str:
        """Where the scores are ranked."""
        return self.table.place

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

    def order_statistics(self, group: int, ranks: npt.NDArray[Any]) -> FloatArray:
        """Return the scores of these ranks among those of a group."""
        return self.table.order_statistics(self._keys[group], ranks, int(self._counts[group]))

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
