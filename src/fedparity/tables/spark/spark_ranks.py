"""Ranks inside Spark: counts and the numbers of the sketch leave it, rows do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fedparity.errors import TableError
from fedparity.laws.law import FloatArray
from fedparity.sketches.accumulators import SketchRequest
from fedparity.tables.ranking import Cuts, KeyCounts, Pieces, Tallied, Wanted
from fedparity.tables.spark.spark_sql import (
    FINITE,
    INFINITE,
    MISSING,
    MORE_BITS,
    MOST_DEPTH,
    OUTSIDE,
    PLACE,
    Questions,
    Range,
    error_boundary,
    most_records,
    squared,
)
from fedparity.tables.sql.sessions import value_column

__all__ = ["SparkRanks"]

_MOST_KEYS = 256
"""Combinations of labels, as for databases."""
_MOST_SORTED = 1 << 20
"""Records that are sorted; where cells hold more, they are cut once more."""


class _Part(NamedTuple):
    """The records of a cell."""

    cell: int
    number: int
    one: bool
    """Whether they all have the same score."""
    total: int
    """The sum of their scores, in 2^-1074."""


class _Target(NamedTuple):
    """A requested record, as far as it is located."""

    cell: int
    rank: int
    """Among the records of the cell."""
    before: int
    """Records in the cells before."""
    below: int
    """The sum of their scores."""


_Place: TypeAlias = tuple[int, int]
"""The code of a group, and a cell."""


@dataclass(eq=False)
class SparkRanks:
    """The scores of a Spark table, counted by cells; the cells with requested ranks are sorted.

    One job ranks all groups. What Spark returns does not depend on the order of rows.

    Parameters
    ----------
    rows : pyspark.sql.DataFrame
        With the columns that :mod:`~fedparity.tables.spark.spark_sql` names.
    labels : sequence of str
        The names of the columns of groups.
    request : SketchRequest
        The request: sums are needed for bin means only.
    """

    rows: Any
    labels: Sequence[str]
    request: SketchRequest
    place = PLACE
    queries: int = 0

    def __post_init__(self) -> None:
        self._texts: list[tuple[str | None, ...]] = []
        self._parts: list[list[_Part]] = []

    def count(self, score_range: tuple[float, float] | None) -> KeyCounts | None:
        """Return how many rows each combination of labels has.

        None if there are too many combinations, if the range is out of all proportion, or if a
        score has more bits than can be added up.
        """
        if score_range is None or not Range(*score_range).ordinary:
            return None
        scores = Range(*score_range)
        pieces: Pieces | None = (
            Pieces.from_range(score_range) if self.request.kind == "mean" else Pieces(0, 0)
        )
        thresholds = tuple(self.request.cuts.tolist())
        while pieces is not None:
            self._ask = Questions(len(self.labels), scores, pieces, thresholds)
            found = self._collected(self._ask.counts(_MOST_KEYS + 1))
            if len(found) > _MOST_KEYS:
                return None
            if not any(row["more"] for row in found):
                return self._counted(found)
            pieces = pieces.more()
        return None

    def _counted(self, found: Sequence[Any]) -> KeyCounts | None:
        columns = range(len(self.labels))
        self._texts = [tuple(row[f"t{place}"] for place in columns) for row in found]
        self._parts = [
            self._read(part[1:] for part in row["found"] if part[0] == FINITE) for row in found
        ]
        above = [f"a{place}" for place in range(len(self._ask.thresholds))]
        counts = [
            [_rows_of(row, state) for state in (None, MISSING, INFINITE, OUTSIDE)]
            + [row[name] for name in above]
            for row in found
        ]
        pieces = self._ask.pieces
        if pieces.number and sum(own[0] for own in counts) >= most_records(pieces):
            return None
        halves = [f"q{place}" for place in range(2 * (2 * pieces.number - 1))]
        squares = [squared(pieces, [row[name] for name in halves]) for row in found]
        labels = [
            value_column([row[f"v{place}"] for row in found], name)
            for place, name in enumerate(self.labels)
        ]
        return KeyCounts.from_rows(labels, counts, squares)

    def tallied(self, groups: Sequence[Sequence[int]], most: int) -> Sequence[Tallied] | None:
        """Return the different scores of each group; None if there are too many."""
        keys = self._ask.keys(
            (self._texts[key], code) for code, own in enumerate(groups) for key in own
        )
        allowed = most * len(groups)
        rows = self._collected(self._ask.tallied(keys, allowed + 1)) if groups else []
        if len(rows) > allowed:
            return None
        own: list[list[tuple[float, int]]] = [[] for _ in groups]
        for code, score, number in rows:
            own[code].append((score, number))
        return [
            Tallied(
                scores=np.array([score for score, _ in tallied], np.float64),
                counts=np.array([number for _, number in tallied], np.int64),
            )
            for tallied in own
        ]

    def order_statistics(self, wanted: Sequence[Wanted]) -> Sequence[FloatArray]:
        """Return the requested scores of each group."""
        return [cuts.scores for cuts in self.cuts(wanted)]

    def cuts(self, wanted: Sequence[Wanted]) -> Sequence[Cuts]:
        """Return the requested records of each group, with the sums below them."""
        parts = [_merged(self._parts[key] for key in own.keys) for own in wanted]
        targets = [
            _placed(own_parts, own.ranks.tolist())
            for own_parts, own in zip(parts, wanted, strict=True)
        ]
        cells = {(code, part.cell): part for code, own in enumerate(parts) for part in own}
        keys = self._ask.keys(
            (self._texts[key], code) for code, own in enumerate(wanted) for key in own.keys
        )
        depth = 1
        while depth < MOST_DEPTH and _in_question(targets, cells) > _MOST_SORTED:
            targets, cells = self._deeper(keys, targets, cells, depth)
            depth += 1
        found = self._ranked(keys, targets, cells, depth)
        return [
            _cuts(own, [found[code, target.cell, target.rank] for target in own], parts[code])
            for code, own in enumerate(targets)
        ]

    def _deeper(
        self,
        keys: str,
        targets: Sequence[Sequence[_Target]],
        known: Mapping[_Place, _Part],
        depth: int,
    ) -> tuple[list[list[_Target]], dict[_Place, _Part]]:
        """The same targets in cells of one digit more."""
        cells = _places(targets)
        rows = self._collected(self._ask.deeper(keys, self._ask.cells(cells), depth + 1))
        inside: dict[_Place, list[_Part]] = {place: [] for place in cells}
        for row in rows:
            for part in self._read(row["found"]):
                inside[row["code"], part.cell >> MORE_BITS].append(part)
        for place, parts in inside.items():
            if sum(part.number for part in parts) != known[place].number:
                raise TableError.unsteady(PLACE)
        narrowed = [
            [_within(inside[code, target.cell], target) for target in own]
            for code, own in enumerate(targets)
        ]
        deeper = {(place[0], part.cell): part for place, parts in inside.items() for part in parts}
        return narrowed, deeper

    def _ranked(
        self,
        keys: str,
        targets: Sequence[Sequence[_Target]],
        known: Mapping[_Place, _Part],
        depth: int,
    ) -> dict[tuple[int, int, int], _Found]:
        """The records at their ranks in their cells."""
        wanted = {
            (code, target.cell, target.rank) for code, own in enumerate(targets) for target in own
        }
        if not wanted:
            return {}
        cells = self._ask.cells(_places(targets))
        ranks = self._ask.ranks(sorted(wanted))
        found = {}
        for row in self._collected(self._ask.ranked(keys, cells, ranks, depth)):
            code, cell, rank, score, whole, before, *sums = row
            if whole != known[code, cell].number:
                raise TableError.unsteady(PLACE)
            found[code, cell, rank] = _Found(score, before, self._ask.pieces.total(sums))
        if found.keys() != wanted:
            raise TableError.unsteady(PLACE)
        return found

    def _read(self, parts: Iterable[Sequence[Any]]) -> list[_Part]:
        total = self._ask.pieces.total
        return sorted(_Part(cell, count, one, total(sums)) for cell, count, one, *sums in parts)

    def _collected(self, sql: str) -> list[Any]:
        self.queries += 1
        with error_boundary():
            rows: list[Any] = self.rows.sparkSession.sql(sql, rows=self.rows).collect()
        return rows


class _Found(NamedTuple):
    """A record, and what lies below it in its cell."""

    score: float
    before: int
    below: int


def _rows_of(row: Any, state: int | None) -> int:  # noqa: ANN401 -- a row of Spark
    return sum(part["n"] for part in row["found"] if state is None or part["state"] == state)


def _merged(several: Iterable[Sequence[_Part]]) -> list[_Part]:
    """The cells of a group, from those of the labels that make it up."""
    merged: dict[int, _Part] = {}
    for parts in several:
        for cell, number, one, total in parts:
            known = merged.get(cell)
            if known is None:
                merged[cell] = _Part(cell, number, one, total)
            else:  # of several labels it is not known whether they have the same score
                merged[cell] = _Part(cell, known.number + number, False, known.total + total)
    return sorted(merged.values())


def _placed(parts: Sequence[_Part], ranks: Sequence[int]) -> list[_Target]:
    """The cell of each rank."""
    running = np.cumsum([0, *(part.number for part in parts)])
    below = np.cumsum([0, *(part.total for part in parts)], dtype=object)
    places = np.searchsorted(running, ranks, side="left") - 1
    return [
        _Target(
            parts[place].cell, rank - int(running[place]), int(running[place]), int(below[place])
        )
        for place, rank in zip(places.tolist(), ranks, strict=True)
    ]


def _within(parts: Sequence[_Part], target: _Target) -> _Target:
    """A target in the cells that its cell is cut into."""
    cell, rank, before, below = _placed(parts, [target.rank])[0]
    return _Target(cell, rank, target.before + before, target.below + below)


def _places(targets: Sequence[Sequence[_Target]]) -> list[_Place]:
    return sorted({(code, target.cell) for code, own in enumerate(targets) for target in own})


def _in_question(targets: Sequence[Sequence[_Target]], known: Mapping[_Place, _Part]) -> int:
    """How many records would have to be sorted."""
    parts = (known[place] for place in _places(targets))
    return sum(part.number for part in parts if not part.one)


def _cuts(targets: Sequence[_Target], found: Sequence[_Found], parts: Sequence[_Part]) -> Cuts:
    pairs = list(zip(targets, found, strict=True))
    return Cuts(
        scores=np.array([record.score for record in found], np.float64),
        before=[target.before + record.before for target, record in pairs],
        sums=[target.below + record.below for target, record in pairs],
        total=sum(part.total for part in parts),
    )
