"""Queries about the scores of a Spark table, in SQL: counts, sums, order statistics.

``{rows}`` is replaced by the rows: their scores ``x`` and, for each column of groups, the label ``v`` and
its text ``t``.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fedparity.errors import (
    DatabaseError,
    DatabaseNameError,
    DatabaseUnreachableError,
    FedparityError,
    MissingExtraError,
)
from fedparity.errors.base import extra, pyarrow
from fedparity.tables.columns import ArrowColumn, Column
from fedparity.tables.ranking import PIECE_BITS, Pieces
from fedparity.tables.sql.statements import quoted
from fedparity.tables.where import Condition

__all__ = [
    "FINITE",
    "INFINITE",
    "MISSING",
    "MORE_BITS",
    "MOST_DEPTH",
    "OUTSIDE",
    "PLACE",
    "Questions",
    "Range",
    "condition_of",
    "double",
    "error_boundary",
    "halves_of_squares",
    "has_more_bits",
    "most_records",
    "name_of",
    "pieces_of",
    "spark_condition",
    "squared",
    "text",
]

PLACE = "Spark"
_LOGGER = "SQLQueryContextLogger"
"""PySpark's own logger: it prints whole errors, with the values in them."""
_NO_JAVA = "JAVA_GATEWAY_EXITED", "JAVA_HOME", "UnsupportedClassVersionError"
_NO_NAME = (
    ("TABLE_OR_VIEW_NOT_FOUND", "a table"),
    ("SCHEMA_NOT_FOUND", "a table"),
    ("PATH_NOT_FOUND", "a table"),
    ("UNRESOLVED_COLUMN", "a column"),
)
_UNREACHABLE = "failed to connect", "unavailable", "connection refused", "stopped sparkcontext"
"""Words of gRPC and of the standalone cluster; only compared, never shown."""


@contextmanager
def error_boundary() -> Iterator[None]:
    """Turn whatever Spark raises into an error that shows none of its words, and log none."""
    logger = extra("pyspark.logger", "a Spark table", "spark").PySparkLogger.getLogger(_LOGGER)
    logger.addFilter(_nothing)
    try:
        yield
    except (FedparityError, ImportError):
        raise
    except Exception as error:  # noqa: BLE001 -- PySpark, py4j and gRPC each have a tree
        raise _as_error(error) from None
    finally:
        logger.removeFilter(_nothing)


def _nothing(_: logging.LogRecord) -> bool:
    return False


def condition_of(error: BaseException) -> str | None:
    """Return Spark's name for what went wrong, which holds no value; None if it has none."""
    get_condition = getattr(error, "getCondition", None)
    condition = get_condition() if callable(get_condition) else None
    return condition if isinstance(condition, str) and condition else None


def _as_error(error: Exception) -> FedparityError:
    condition, words = condition_of(error) or "", str(error)
    if any(sign in condition or sign in words for sign in _NO_JAVA):
        return MissingExtraError(
            "Spark needs Java 17 or later, which it cannot start.",
            fix="install a Java runtime (apt install openjdk-17-jre-headless), and let JAVA_HOME "
            "name its folder.",
        )
    for sign, what in _NO_NAME:
        if sign in condition:
            return DatabaseNameError.nothing_there(PLACE, what)
    if any(sign in words.lower() for sign in _UNREACHABLE):
        return DatabaseUnreachableError.at_start(PLACE)
    return DatabaseError.refused(PLACE, [condition] if condition else ())


def name_of(column: str) -> str:
    """Return the name of a column between backticks.

    Examples
    --------
    >>> name_of("risk.2026")
    '`risk.2026`'
    """
    return quoted(column, "`")


def text(value: str) -> str:
    r"""Return a text by the hexadecimal digits of its bytes: no quote or backslash can end it.

    Examples
    --------
    >>> text("O'N")
    "CAST(X'4F274E' AS STRING)"
    """
    return f"CAST(X'{value.encode().hex().upper()}' AS STRING)"


def double(value: float) -> str:
    """Return a float, to the last bit.

    Examples
    --------
    >>> double(-0.5), double(1e300)
    ("CAST('-0.5' AS DOUBLE)", "CAST('1e+300' AS DOUBLE)")
    """
    return f"CAST('{float(value)!r}' AS DOUBLE)"


FIRST_BITS, MORE_BITS = 12, 6
"""How many bits the first digit of a cell has, and each further one."""
MOST_DEPTH = 9
"""So that all digits fit a BIGINT."""
_HALF = 27
"""Bits of the lower half of a product of pieces: a sum of whole products would not fit a BIGINT."""
_SIGNED_BITS = 63
"""Of a BIGINT."""
_EXTREME = 1e200


@dataclass(frozen=True)
class Range:
    r"""A score range, and its cells as expressions of Spark's SQL.

    A cell is a whole number that does not decrease with the score. The range is cut into 4,096 cells
    of equal width; a cell is cut into 64 where more is to be known, up to eight times. Each digit is
    :math:`\lfloor t s \rfloor`, clamped between 0 and its base less one, of what the digits before
    leave, :math:`t = x - a - \sum_i d_i w_i`. Floating-point subtraction of a constant,
    multiplication by a positive one and the floor are all non-decreasing, so the order is right
    whatever is rounded.
    """

    low: float
    high: float

    @property
    def ordinary(self) -> bool:
        """Whether floats hold the widths of its cells, and their inverses."""
        largest = max(abs(self.low), abs(self.high))
        return largest < _EXTREME and self.high - self.low > 1 / _EXTREME

    def cell(self, rows: str, columns: str, score: str, depth: int) -> str:
        """Return the rows, with their ``cell`` of this number of digits; scores lie in the range."""
        sql = (
            f"SELECT {columns}, {score} - {double(self.low)} AS rest, "  # noqa: S608 -- ours
            f"CAST(0 AS BIGINT) AS cell FROM {rows}"
        )
        bits = 0
        for own in [FIRST_BITS, *[MORE_BITS] * (depth - 1)]:
            bits += own
            width = math.ldexp(self.high - self.low, -bits)
            scale = math.ldexp(1 / (self.high - self.low), bits)
            digit = f"LEAST(GREATEST(FLOOR(rest * {double(scale)}), 0), {(1 << own) - 1})"
            sql = (
                f"SELECT {columns}, rest - digit * {double(width)} AS rest, "  # noqa: S608
                f"SHIFTLEFT(cell, {own}) + digit AS cell FROM (SELECT *, {digit} AS digit FROM ({sql}))"
            )
        return f"({sql})"


def pieces_of(pieces: Pieces, score: str) -> list[str]:
    """Return the pieces of a score."""
    return [
        f"CAST({score} * {double(pieces.scale(place))} % {double(1 << PIECE_BITS)} AS BIGINT)"
        for place in range(pieces.number)
    ]


def has_more_bits(pieces: Pieces, score: str) -> str:
    """Return the condition that a score has more bits than the pieces hold."""
    if not pieces.number:
        return "FALSE"
    return f"{score} * {double(pieces.scale(pieces.number - 1))} % {double(1)} <> 0"


def halves_of_squares(pieces: Pieces, names: Sequence[str]) -> list[str]:
    """Return the lower and upper halves of the products that make up a square."""
    return [
        half
        for product in pieces.products(names)
        for half in (f"{product} & {(1 << _HALF) - 1}L", f"SHIFTRIGHT({product}, {_HALF})")
    ]


def squared(pieces: Pieces, halves: Sequence[int]) -> int:
    """Return the sum of squares, in 2^-2148, given the sums of those halves."""
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return pieces.squared([low + (high << _HALF) for low, high in pairs])


def most_records(pieces: Pieces) -> int:
    """Return how many records can be added up: the sums of halves stay below 2^63."""
    largest = max(1, pieces.number) << 2 * PIECE_BITS - _HALF
    return (1 << _SIGNED_BITS) // max(largest, 1 << _HALF)


_TOKEN = re.compile(
    r"""\s*(?:
    (?P<string>'(?:[^'\\]|'')*')
  | (?P<name>"(?:[^"]|"")+")
  | (?P<whole>\d+(?![\w.]))
  | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><>|!=|<=|>=|-(?!-)|[=<>()+*,])
    )""",
    re.VERBOSE,
)
_WORDS = frozenset(["and", "or", "not", "in", "between", "like", "is", "null", "true", "false"])
_TYPES = {
    "boolean": "bool_",
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "date": "date32",
}
_LARGEST_WHOLE = 2**63


def spark_condition(condition: Condition, types: Mapping[str, str]) -> str | None:
    """Return a filter in Spark's SQL, or None if polars has to evaluate it.

    Comparisons, ``IN``, ``BETWEEN``, ``LIKE``, ``IS NULL``, sums and products, joined by ``AND``,
    ``OR`` and ``NOT``, of columns of plain types. Functions and divisions are not among them: some
    of the same name differ between the two.

    Parameters
    ----------
    types : mapping of column to Spark's name of its type

    Raises
    ------
    TableError
        If the filter does not fit the types of its columns, as polars sees it.

    Examples
    --------
    >>> spark_condition(Condition("age >= 18 AND site = 'N'"), {"age": "long", "site": "string"})
    "`age` >= 18 AND NULLIF(`site`, '') = CAST(X'4E' AS STRING)"
    >>> spark_condition(Condition("abs(age) > 3"), {"age": "long"})
    """
    if not all(types[name] in _TYPES for name in condition.columns):
        return None
    written = _written(condition, types)
    if written is not None:
        condition.keep(_no_rows(condition, types))
    return written


_NAN = "CAST('NaN' AS DOUBLE)"


def _written(condition: Condition, types: Mapping[str, str]) -> str | None:
    sql, parts = condition.sql, list[str]()
    place, end = 0, len(sql.rstrip())
    while place < end:
        found = _TOKEN.match(sql, place)
        part = None if found is None else _part(found, types)
        if found is None or part is None:
            return None
        parts.append(part)
        place = found.end()
    return " ".join(parts)


def _part(found: re.Match[str], types: Mapping[str, str]) -> str | None:
    kind, token = found.lastgroup, found[found.lastgroup or 0]
    if kind == "string":
        return text(token[1:-1].replace("''", "'"))
    if kind == "whole":
        return token if int(token) < _LARGEST_WHOLE else None
    if kind == "number":
        return double(float(token))
    if kind == "sign" or (kind == "word" and token.lower() in _WORDS):
        return token.upper()
    name = token[1:-1].replace('""', '"') if kind == "name" else token
    if name not in types:
        return None
    # A filter takes NaN and a text of no characters for null, whatever the source.
    nothing = {"string": "''", "float": _NAN, "double": _NAN}.get(types[name])
    return name_of(name) if nothing is None else f"NULLIF({name_of(name)}, {nothing})"


def _no_rows(condition: Condition, types: Mapping[str, str]) -> dict[str, Column]:
    """The columns without a row, by which polars says whether the filter fits them."""
    pa = pyarrow("a filter")
    return {
        name: ArrowColumn.from_array(pa.array([], getattr(pa, _TYPES[types[name]])()))
        for name in condition.columns
    }


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
        """Query the numbers of rows, and the sums of scores, of every combination of labels and cell."""
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
        """Query the different scores of each group, and the number of records with each."""
        return (
            f"SELECT code, z, COUNT(*) AS n FROM {self._coded(keys)} "  # noqa: S608
            f"GROUP BY code, z LIMIT {most}"
        )

    def deeper(self, keys: str, cells: str, depth: int) -> str:
        """Query the same for the cells into which some cells of one digit less are divided."""
        near = self._near(keys, cells, depth, f"SHIFTRIGHT(s.cell, {MORE_BITS})")
        found = ", ".join(["cell", "n", "one", *self._sums])
        return (
            f"SELECT code, COLLECT_LIST(STRUCT({found})) AS found "  # noqa: S608
            f"FROM {self._summed(near, 'code, cell', _ONE)} GROUP BY code"
        )

    def ranked(self, keys: str, cells: str, ranks: str, depth: int) -> str:
        """Query the scores at ranks in cells, with the records and sums below them in the cell."""
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
