"""Ranks inside PostgreSQL: counts and order statistics leave the server, rows do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedparity.laws.law import FloatArray
from fedparity.sketches.accumulators import SketchRequest
from fedparity.tables.ranking import PIECE_BITS, Cuts, KeyCounts, Pieces, Tallied, Wanted
from fedparity.tables.sql.sessions import Session, value_column
from fedparity.tables.sql.statements import Relation, quoted

if TYPE_CHECKING:
    from fedparity.tables.table import Roles

__all__ = ["PostgresqlRanks", "can_rank"]

_NUMBERS = {
    "bool": "{}::int::float8",
    **dict.fromkeys(("int2", "int4", "int8", "float4", "float8", "numeric"), "{}::float8"),
}
"""How a score becomes the double that reading it would give."""
_SCORE = quoted("fedparity_score")
_EXTREME = 1e200
"""Scores of ranges between this and its inverse are added up: powers of two times them are floats."""
_MOST_KEYS = 256
"""Combinations of labels beyond which comparing every row with them costs more than reading it."""


def can_rank(type_name: str) -> bool:
    """Return whether scores of this type are ranked inside the server."""
    return type_name in _NUMBERS


class PostgresqlRanks:
    """The scores of a relation, ranked by ``percentile_disc``.

    It takes the rank to be ⌈fraction · n⌉ in floats, one too high where n·u is whole and rounds
    up. So the fraction for rank r is (r − ½)/n: half a record away from either neighbor. For bin
    means, scores are added up in pieces, which are whole numbers.
    """

    place = "PostgreSQL"

    def __init__(
        self,
        session: Session,
        relation: Relation,
        types: Mapping[str, str],
        roles: Roles,
        request: SketchRequest,
    ) -> None:
        self._session, self._relation, self._roles = session, relation, roles
        self._thresholds, self._means = request.cuts, request.kind == "mean"
        self._pieces: Pieces | None = None
        self._score_range: tuple[float, float] = (-np.inf, np.inf)
        self._dialect = relation.dialect
        self._types = types
        self.queries = 0
        self._texts: list[tuple[str | None, ...]] = []

    def count(self, score_range: tuple[float, float] | None) -> KeyCounts | None:
        """Return how many rows each combination of labels has.

        None if there are too many combinations, or, for bin means, if the scores cannot be added
        up exactly: their range is out of all proportion, or one has too many bits.
        """
        columns = len(self._roles.groups)
        self._score_range = score_range or self._score_range
        if self._means:
            if not 1 / _EXTREME < max(map(abs, self._score_range)) < _EXTREME:
                return None
            self._pieces = Pieces.from_range(self._score_range)
        rows = self._fetched(self._counting())
        if len(rows) > _MOST_KEYS:
            return None
        squares = None
        if self._pieces is not None:
            if any(row[-1] for row in rows):
                return None
            powers = 2 * self._pieces.number - 1
            squares = [self._pieces.squared(list(map(int, row[-powers - 1 : -1]))) for row in rows]
            rows = [row[: -powers - 1] for row in rows]
        self._texts = [tuple(row[columns : 2 * columns]) for row in rows]
        labels = [
            value_column([row[place] for row in rows], name)
            for place, name in enumerate(self._roles.groups)
        ]
        return KeyCounts.from_rows(labels, [row[2 * columns :] for row in rows], squares)

    def order_statistics(self, wanted: Sequence[Wanted]) -> Sequence[FloatArray]:
        """Return the requested scores of each group, by a query for each."""
        return [self._ranked(own) for own in wanted]

    def cuts(self, wanted: Sequence[Wanted]) -> Sequence[Cuts]:
        """Return the requested records of each group, with the sums below them."""
        return [self._cuts(own) for own in wanted]

    def _cuts(self, wanted: Wanted) -> Cuts:
        """The scores at the edges of bins, and the exact sums between them: two queries."""
        scores = self._ranked(wanted) if wanted.ranks.size else np.zeros(0)
        edges = np.unique(scores)
        before, below = [0], [0]
        rows = {int(row[0]): row for row in self._fetched(self._between(wanted.keys, edges))}
        for place in range(edges.size + 1):
            count, sums = 0, 0
            if place in rows and self._pieces is not None:
                count = int(rows[place][1])
                sums = self._pieces.total(list(map(int, rows[place][2:])))
            before.append(before[-1] + count)
            below.append(below[-1] + sums)
        places = (1 + np.searchsorted(edges, scores)).tolist()
        return Cuts(
            scores=scores,
            before=[before[place] for place in places],
            sums=[below[place] for place in places],
            total=below[-1],
        )

    def tallied(self, groups: Sequence[Sequence[int]], most: int) -> Sequence[Tallied] | None:
        """Return the different scores of each group, by a query for each; None if one has too many."""
        found = []
        for keys in groups:
            rows = self._fetched(
                f"SELECT {_SCORE}, count(*) FROM {self._among(keys)} "  # noqa: S608 -- all is quoted
                f"GROUP BY {_SCORE} LIMIT {most + 1}"
            )
            if len(rows) > most:
                return None
            scores, counts = zip(*rows, strict=True)
            found.append(
                Tallied(scores=np.array(scores, np.float64), counts=np.array(counts, np.int64))
            )
        return found

    def _ranked(self, wanted: Wanted) -> FloatArray:
        fractions = ",".join(repr((int(rank) - 0.5) / wanted.count) for rank in wanted.ranks)
        found = self._fetched(
            f"SELECT percentile_disc('{{{fractions}}}'::float8[]) "  # noqa: S608 -- all is quoted
            f"WITHIN GROUP (ORDER BY {_SCORE}) FROM {self._among(wanted.keys)}"
        )
        return np.array(found[0][0], np.float64)

    def _between(self, keys: Sequence[int], edges: FloatArray) -> str:
        """Query the number and the sums of the scores between edges; a score equal to an edge is above it."""
        listed = ",".join(map(repr, edges.tolist()))
        place = f"width_bucket({_SCORE}, '{{{listed}}}'::float8[])" if edges.size else "0"
        sums = "".join(f", sum({name})::text" for name in self._piece_names)
        return (
            f"SELECT {place}, count(*){sums} FROM {self._among(keys, self._cut())} "  # noqa: S608
            "GROUP BY 1"
        )

    def _among(self, keys: Sequence[int], rows: str | None = None) -> str:
        """The scored rows that have one of these keys."""
        among = " OR ".join(f"({self._having(self._texts[key])})" for key in keys)
        return f"{rows or self._scored()} WHERE {_SCORE} <> 'NaN' AND ({among})"

    @property
    def _piece_names(self) -> list[str]:
        pieces = range(0 if self._pieces is None else self._pieces.number)
        return [quoted(f"fedparity_piece_{place}") for place in pieces]

    def _cut(self) -> str:
        """The scored rows with the pieces of their scores, null where a score is not to be added."""
        if self._pieces is None:
            return self._scored()
        base, low, high = float(1 << PIECE_BITS), *self._score_range
        added = (
            f"{_SCORE} BETWEEN {_float(low)} AND {_float(high)} "
            f"AND ({_SCORE} = 0 OR abs({_SCORE}) >= {_float(self._pieces.lowest)})"
        )
        pieces = []
        for place, name in enumerate(self._piece_names):
            whole = f"trunc({_SCORE} * {_float(self._pieces.scale(place))})"
            rest = f"({whole} - {_float(base)} * trunc({whole} / {_float(base)}))::int8"
            pieces.append(f"CASE WHEN {added} THEN {rest} END AS {name}")
        listed = ", ".join(pieces)
        return f"(SELECT *, {listed} FROM {self._scored()}) AS c"  # noqa: S608

    def _more_bits(self) -> str:
        """The condition that a score in the range has more bits than its pieces."""
        if self._pieces is None:
            return "false"
        low, high = self._score_range
        last = f"{_SCORE} * {_float(self._pieces.scale(self._pieces.number - 1))}"
        inside = f"{_SCORE} BETWEEN {_float(low)} AND {_float(high)}"
        tiny = f"{self._piece_names[0]} IS NULL"
        return f"CASE WHEN {inside} THEN CASE WHEN {tiny} THEN true ELSE {last} <> trunc({last}) END ELSE false END"

    def _fetched(self, sql: str) -> list[tuple[Any, ...]]:
        self.queries += 1
        return self._session.fetch(sql)

    def _scored(self) -> str:
        """The relation with its scores as doubles, and its labels as they are read."""
        labels = self._relation.expressions(self._roles.groups, self._types)
        return f"(SELECT {self._number()} AS {_SCORE}, {labels} FROM {self._relation.source}) AS s"  # noqa: S608

    def _number(self) -> str:
        score = self._roles.score
        return _NUMBERS[self._types[score]].format(self._dialect.quote(score))

    def _counting(self) -> str:
        low, high = self._score_range
        names = [self._dialect.quote(name) for name in self._roles.groups]
        listed = ", ".join([*names, *(f"{name}::text" for name in names)])
        infinite = f"{_SCORE} IN ('Infinity', '-Infinity')"
        outside = f"{_SCORE} < '{float(low)!r}' OR {_SCORE} > '{float(high)!r}'"
        above = "".join(
            f", count(*) FILTER (WHERE {_SCORE} <> 'NaN' AND {_SCORE} >= '{threshold!r}')"
            for threshold in self._thresholds.tolist()
        )
        if self._pieces is not None:
            products = self._pieces.products(self._piece_names)
            above += "".join(f", coalesce(sum({product}), 0)::text" for product in products)
            above += f", count(*) FILTER (WHERE {self._more_bits()})"
        return (
            f"SELECT {listed}, count(*), "  # noqa: S608 -- all is quoted
            f"count(*) FILTER (WHERE {_SCORE} IS NULL OR {_SCORE} = 'NaN'), "
            f"count(*) FILTER (WHERE {infinite}), "
            f"count(*) FILTER (WHERE {_SCORE} <> 'NaN' AND NOT {infinite} AND ({outside})){above} "
            f"FROM {self._cut()} GROUP BY {', '.join(names)} LIMIT {_MOST_KEYS + 1}"
        )

    def _having(self, texts: Sequence[str | None]) -> str:
        """The condition on a row to have these labels."""
        return " AND ".join(
            f"{self._dialect.quote(name)} IS NULL"
            if text is None
            else f"{self._dialect.quote(name)} = {self._literal(name, text)}"
            for name, text in zip(self._roles.groups, texts, strict=True)
        )

    def _literal(self, name: str, text: str) -> str:
        """A label as the server wrote it, given back to it in the same type."""
        read = self._dialect.read(name, self._types[name])
        kind = read.rpartition("::")[2] if "::" in read else self._types[name]
        return f"{quoted(text, chr(39))}::{kind}"


def _float(value: float) -> str:
    """A float as the server reads it, to the last bit."""
    return f"'{float(value)!r}'::float8"
