"""What is asked of Spark about the scores of a table, in SQL: counts, sums, order statistics.

``{rows}`` stands for the rows: their scores ``x`` and, for each column of groups, the label ``v`` and
its text ``t``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fedparity.sources.pieces import Pieces
from fedparity.sources.spark.cells import (
    MORE_BITS,
    Range,
    halves_of_squares,
    has_more_bits,
    pieces_of,
)
from fedparity.sources.spark.literals import double, text

__all__ = ["FINITE", "INFINITE", "MISSING", "OUTSIDE", "Questions"]

FINITE, MISSING, INFINITE, OUTSIDE = range(4)
"""What a score is."""
_ONE = "MIN(z) = MAX(z) AS one"
"""Whether all records of a cell have the same score: then there is nothing to cut."""
_BROADCAST = "/*+ BROADCAST(k, c) */"


@dataclass(frozen=True)
class Questions:
    """The statements about one table."""

    columns: int
    """How many columns of groups it has."""
    scores: Range
    pieces: Pieces
    thresholds: tuple[float, ...] = ()
    """Scores at which records are counted."""

    def counts(self, most: int) -> str:
        """Ask for the rows, and the sums of scores, of every combination of labels and cell."""
        own = ", ".join(f"v{place}, t{place}" for place in range(self.columns))
        pieces = pieces_of(self.pieces, "z")
        cells = self.scores.cell(self._rows(), f"{own}, state, z", "z", 1)
        cut = ", ".join(f"{piece} AS p{place}" for place, piece in enumerate(pieces))
        rows = f"(SELECT *, {cut} FROM {cells})" if pieces else cells  # noqa: S608
        finite = f"state = {FINITE} AND"
        wholes = {"more": f"COUNT_IF({finite} {has_more_bits(self.pieces, 'z')})"}
        for place, threshold in enumerate(self.thresholds):
            wholes[f"a{place}"] = f"COUNT_IF({finite} z >= {double(threshold)})"
        names = [f"p{place}" for place in range(len(pieces))]
        for place, half in enumerate(halves_of_squares(self.pieces, names)):
            wholes[f"q{place}"] = f"SUM(CASE WHEN state = {FINITE} THEN {half} ELSE 0L END)"
        more = [f"{sum_} AS {name}" for name, sum_ in wholes.items()]
        counted = self._summed(rows, f"{own}, state, cell", _ONE, *more)
        found = ", ".join(["state", "cell", "n", "one", *self._sums])
        summed = ", ".join(f"SUM({name}) AS {name}" for name in wholes)
        return (
            f"SELECT {own}, COLLECT_LIST(STRUCT({found})) AS found, {summed} "  # noqa: S608
            f"FROM {counted} GROUP BY {own} LIMIT {most}"
        )

    def tallied(self, keys: str, most: int) -> str:
        """Ask for the different scores of each group, and how many records have each."""
        return (
            f"SELECT code, z, COUNT(*) AS n FROM {self._coded(keys)} "  # noqa: S608
            f"GROUP BY code, z LIMIT {most}"
        )

    def deeper(self, keys: str, cells: str, depth: int) -> str:
        """Ask for the same of the cells that some cells of one digit less are cut into."""
        near = self._near(keys, cells, depth, f"SHIFTRIGHT(s.cell, {MORE_BITS})")
        found = ", ".join(["cell", "n", "one", *self._sums])
        return (
            f"SELECT code, COLLECT_LIST(STRUCT({found})) AS found "  # noqa: S608
            f"FROM {self._summed(near, 'code, cell', _ONE)} GROUP BY code"
        )

    def ranked(self, keys: str, cells: str, ranks: str, depth: int) -> str:
        """Ask for the scores at ranks in cells, with the records and sums below them in the cell."""
        scores = self._summed(self._near(keys, cells, depth, "s.cell"), "code, cell, z")
        upto = ", ".join(f"SUM({name}) OVER w AS upto_{name}" for name in ["n", *self._sums])
        below = ", ".join(f"upto_{name} - {name}" for name in ["n", *self._sums])
        return (
            f"SELECT {_BROADCAST} o.code, o.cell, c.rank, z, whole, {below} FROM "  # noqa: S608
            f"(SELECT *, SUM(n) OVER (PARTITION BY code, cell) AS whole, {upto} FROM {scores} "
            "WINDOW w AS (PARTITION BY code, cell ORDER BY z ROWS UNBOUNDED PRECEDING)) AS o "
            f"JOIN {ranks} ON o.code = c.code AND o.cell = c.cell "
            "AND c.rank <= upto_n AND c.rank > upto_n - n"
        )

    def keys(self, keys: Iterable[tuple[Sequence[str | None], int]]) -> str:
        """Return the table of labels, by their texts, and the codes of their groups."""
        rows = ([*map(_text, texts), str(code)] for texts, code in keys)
        return _values(rows, "k", [*(f"t{place}" for place in range(self.columns)), "code"])

    @staticmethod
    def cells(cells: Iterable[tuple[int, int]]) -> str:
        """Return the table of the codes of groups and cells."""
        return _values(([str(code), f"{cell}L"] for code, cell in cells), "c", ["code", "cell"])

    @staticmethod
    def ranks(ranks: Iterable[tuple[int, int, int]]) -> str:
        """Return the table of the codes of groups, cells, and ranks in the cells."""
        rows = ([str(code), f"{cell}L", f"{rank}L"] for code, cell, rank in ranks)
        return _values(rows, "c", ["code", "cell", "rank"])

    @property
    def _sums(self) -> list[str]:
        return [f"s{place}" for place in range(self.pieces.number)]

    def _rows(self) -> str:
        """The rows with what their score is; ``z`` is a score inside the range, whatever it is."""
        low, high = double(self.scores.low), double(self.scores.high)
        state = (
            f"CASE WHEN x IS NULL OR ISNAN(x) THEN {MISSING} "
            f"WHEN ABS(x) = CAST('Infinity' AS DOUBLE) THEN {INFINITE} "
            f"WHEN x < {low} OR x > {high} THEN {OUTSIDE} ELSE {FINITE} END"
        )
        z = f"CASE WHEN state = {FINITE} THEN x ELSE {low} END"
        return f"(SELECT *, {z} AS z FROM (SELECT *, {state} AS state FROM {{rows}}))"  # noqa: S608

    def _near(self, keys: str, cells: str, depth: int, of: str) -> str:
        """The records of some cells, with the codes of their groups."""
        placed = self.scores.cell(self._coded(keys), "code, z", "z", depth)
        return (
            f"(SELECT {_BROADCAST} s.code, s.cell, s.z FROM {placed} AS s JOIN {cells} "  # noqa: S608
            f"ON s.code = c.code AND {of} = c.cell)"
        )

    def _coded(self, keys: str) -> str:
        """All records, with the codes of their groups."""
        same = " AND ".join(f"r.t{place} <=> k.t{place}" for place in range(self.columns))
        return (
            f"(SELECT {_BROADCAST} k.code, r.z FROM {self._rows()} AS r JOIN {keys} ON {same} "  # noqa: S608
            f"WHERE r.state = {FINITE})"
        )

    def _summed(self, rows: str, by: str, *more: str) -> str:
        sums = [
            f"SUM({piece}) AS s{place}" for place, piece in enumerate(pieces_of(self.pieces, "z"))
        ]
        listed = ", ".join(["COUNT(*) AS n", *sums, *more])
        return f"(SELECT {by}, {listed} FROM {rows} GROUP BY {by})"  # noqa: S608


def _values(rows: Iterable[Sequence[Any]], name: str, columns: Sequence[str]) -> str:
    listed = ", ".join(f"({', '.join(row)})" for row in rows)
    return f"(VALUES {listed}) AS {name}({', '.join(columns)})"


def _text(value: str | None) -> str:
    return "CAST(NULL AS STRING)" if value is None else text(value)
