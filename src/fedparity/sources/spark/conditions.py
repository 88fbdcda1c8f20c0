"""Filters that mean the same to Spark as to polars, and may therefore run inside Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fedparity.sources.arrow_column import ArrowColumn
from fedparity.sources.columns import Column
from fedparity.sources.extras import pyarrow
from fedparity.sources.spark.literals import double, name_of, text
from fedparity.sources.where import Condition

__all__ = ["spark_condition"]

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
    "`age` >= 18 AND `site` = CAST(X'4E' AS STRING)"
    >>> spark_condition(Condition("abs(age) > 3"), {"age": "long"})
    """
    if not all(types[name] in _TYPES for name in condition.columns):
        return None
    written = _written(condition)
    if written is not None:
        condition.keep(_no_rows(condition, types))
    return written


def _written(condition: Condition) -> str | None:
    sql, parts = condition.sql, list[str]()
    place, end = 0, len(sql.rstrip())
    while place < end:
        found = _TOKEN.match(sql, place)
        part = None if found is None else _part(found, condition.columns)
        if found is None or part is None:
            return None
        parts.append(part)
        place = found.end()
    return " ".join(parts)


def _part(found: re.Match[str], columns: Sequence[str]) -> str | None:
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
    return name_of(name) if name in columns else None


def _no_rows(condition: Condition, types: Mapping[str, str]) -> dict[str, Column]:
    """The columns without a row, by which polars says whether the filter fits them."""
    pa = pyarrow("a filter")
    return {
        name: ArrowColumn.of(pa.array([], getattr(pa, _TYPES[types[name]])()))
        for name in condition.columns
    }
