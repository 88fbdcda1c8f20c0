"""Ranks inside PostgreSQL: counts and order statistics leave the server, rows do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.selection.asked import Asked
from fedparity.sources.ranking import KeyCounts, Tallied, Wanted
from fedparity.sources.sql.names import quoted
from fedparity.sources.sql.relations import Relation
from fedparity.sources.sql.sessions import Session, value_column

if TYPE_CHECKING:
    from fedparity.sources.reader import Roles

__all__ = ["PostgresqlRanks", "can_rank"]

_NUMBERS = {
    "bool": "{}::int::float8",
    **dict.fromkeys(("int2", "int4", "int8", "float4", "float8", "numeric"), "{}::float8"),
}
"""How a score becomes the double that reading it would give."""
_SCORE = quoted("fedparity_score")
_MOST_KEYS = 256
"""Combinations of labels beyond which comparing every row with them costs more than reading it."""


def can_rank(type_name: str) -> bool:
    """Return whether scores of this type are ranked inside the server."""
    return type_name in _NUMBERS


class PostgresqlRanks:
    """The scores of a relation, ranked by ``percentile_disc``.

    It takes the rank to be ⌈fraction · n⌉ in floats, one too high where n·u is whole and rounds
    up. So the fraction for rank r is (r − ½)/n: half a record away from either neighbour.
    """

    place = "PostgreSQL"

    def __init__(
        self,
        session: Session,
        relation: Relation,
        types: Mapping[str, str],
        roles: Roles,
        asked: Asked,
    ) -> None:
        self._session, self._relation, self._roles = session, relation, roles
        self._thresholds = asked.cuts
        self._dialect = relation.dialect
        self._types = types
        self.questions = 0
        self._texts: list[tuple[str | None, ...]] = []

    def count(self, score_range: tuple[float, float] | None) -> KeyCounts | None:
        """Return how many rows each combination of labels has, or None if there are too many."""
        columns = len(self._roles.groups)
        rows = self._fetched(self._counting(score_range))
        if len(rows) > _MOST_KEYS:
            return None
        self._texts = [tuple(row[columns : 2 * columns]) for row in rows]
        labels = [
            value_column([row[place] for row in rows], name)
            for place, name in enumerate(self._roles.groups)
        ]
        return KeyCounts.of(labels, [row[2 * columns :] for row in rows])

    def order_statistics(self, wanted: Sequence[Wanted]) -> Sequence[FloatArray]:
        """Return the wanted scores of each group, by a query for each."""
        return [self._ranked(own) for own in wanted]

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

    def _among(self, keys: Sequence[int]) -> str:
        """The scored rows that have one of these keys."""
        among = " OR ".join(f"({self._having(self._texts[key])})" for key in keys)
        return f"{self._scored()} WHERE {_SCORE} <> 'NaN' AND ({among})"

    def _fetched(self, sql: str) -> list[tuple[Any, ...]]:
        self.questions += 1
        return self._session.fetch(sql)

    def _scored(self) -> str:
        """The relation with its scores as doubles, and its labels as they are read."""
        labels = self._relation.expressions(self._roles.groups, self._types)
        return f"(SELECT {self._number()} AS {_SCORE}, {labels} FROM {self._relation.source}) AS s"  # noqa: S608

    def _number(self) -> str:
        score = self._roles.score
        return _NUMBERS[self._types[score]].format(self._dialect.quote(score))

    def _counting(self, score_range: tuple[float, float] | None) -> str:
        low, high = score_range or (-np.inf, np.inf)
        names = [self._dialect.quote(name) for name in self._roles.groups]
        listed = ", ".join([*names, *(f"{name}::text" for name in names)])
        infinite = f"{_SCORE} IN ('Infinity', '-Infinity')"
        outside = f"{_SCORE} < '{float(low)!r}' OR {_SCORE} > '{float(high)!r}'"
        above = "".join(
            f", count(*) FILTER (WHERE {_SCORE} <> 'NaN' AND {_SCORE} >= '{threshold!r}')"
            for threshold in self._thresholds.tolist()
        )
        return (
            f"SELECT {listed}, count(*), "  # noqa: S608 -- all is quoted
            f"count(*) FILTER (WHERE {_SCORE} IS NULL OR {_SCORE} = 'NaN'), "
            f"count(*) FILTER (WHERE {infinite}), "
            f"count(*) FILTER (WHERE {_SCORE} <> 'NaN' AND NOT {infinite} AND ({outside})){above} "
            f"FROM {self._scored()} GROUP BY {', '.join(names)} LIMIT {_MOST_KEYS + 1}"
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
