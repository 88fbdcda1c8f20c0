"""Filters: SQL conditions on single rows, evaluated by polars and refused where they are more than that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fedparity.errors import TableError
from fedparity.errors.base import polars
from fedparity.laws.law import BoolArray
from fedparity.tables.columns import (
    Column,
)

if TYPE_CHECKING:
    import polars as pl


__all__ = ["Condition"]


_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_CALL = re.compile(r"(\w+)\s*\(")
_STATEMENT = re.compile(r";|\b(?:select|over|union|with|exists)\b", re.IGNORECASE)

_SYNTAX = "and or not in between when then else case is like ilike rlike regexp any all"
_TYPES = "decimal numeric varchar char date time timestamp datetime interval"
_FUNCTIONS = (
    "abs ceil ceiling floor round sign sqrt cbrt exp ln log log2 log10 log1p pow power mod div "
    "greatest least coalesce nullif ifnull if cast try_cast "
    "bit_length char_length character_length length octet_length len lower upper initcap trim ltrim "
    "rtrim btrim substr substring left right lpad rpad concat concat_ws replace reverse starts_with "
    "ends_with strpos position regexp_like contains strptime strftime date_part extract to_date"
)
_ROW_BY_ROW = frozenset(f"{_SYNTAX} {_TYPES} {_FUNCTIONS}".split())
"""Names that are allowed before a parenthesis. An aggregate would see one block of rows at a time and give
another answer for another size of blocks, so a function is refused unless it is known."""


@dataclass(frozen=True)
class Condition:
    """A condition that a row must satisfy to be read; a row for which it is null is left out.

    Parameters
    ----------
    sql : str
        An expression such as ``age >= 18 AND site IN ('N', 'S')``: no statement, no subquery, no
        aggregate. Names with other characters than letters, digits and ``_`` stand in double
        quotes.

    Raises
    ------
    TableError
        If it is not one row-by-row expression, or names no column.
    MissingExtraError
        If polars, which evaluates it, is not installed.

    Examples
    --------
    >>> Condition("age >= 18 AND site = 'N'").columns
    ('age', 'site')
    """

    sql: str
    columns: tuple[str, ...] = field(init=False)
    _expression: pl.Expr = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pl = polars("a filter")
        _refuse_unless_row_by_row(self.sql)
        try:
            expression = pl.sql_expr(self.sql)
            names = tuple(dict.fromkeys(expression.meta.root_names()))
        except pl.exceptions.PolarsError:
            raise TableError.bad_condition(self.sql, "it is not a SQL expression") from None
        if not names or expression.meta.has_multiple_outputs():
            raise TableError.bad_condition(self.sql, "it names no column")
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "_expression", expression)

    def keep(self, columns: Mapping[str, Column]) -> BoolArray:
        """Return which rows satisfy the condition.

        Raises
        ------
        TableError
            If it does not fit the types of the columns, or is neither true nor false.
        """
        pl = polars("a filter")
        frame = pl.DataFrame([_comparable(columns[name].series(name)) for name in self.columns])
        try:
            kept = frame.select(self._expression.alias("keep"))["keep"]
        except pl.exceptions.PolarsError:
            # The text of the error may quote a value of the table.
            raise TableError.bad_condition(self.sql, _types(frame)) from None
        if kept.dtype != pl.Boolean:
            raise TableError.bad_condition(self.sql, "it is neither true nor false")
        return np.asarray(kept.fill_null(False).to_numpy(), dtype=np.bool_)


def _comparable(series: pl.Series) -> pl.Series:
    """Categories as text, NaN and texts of no characters as null: a filter means the same whatever the source.

    A CSV file does not distinguish an empty text from a missing one, nor pandas a NaN from a missing number.
    """
    pl = polars("a filter")
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype.is_float():
        return series.fill_nan(None)
    return series.replace("", None) if series.dtype == pl.String else series


def _types(frame: pl.DataFrame) -> str:
    shown = ", ".join(f"{name} is {dtype}" for name, dtype in list(frame.schema.items())[:8])
    return f"it does not fit the types of its columns ({shown})"


def _refuse_unless_row_by_row(sql: str) -> None:
    bare = _QUOTED.sub(" ", sql)
    if _STATEMENT.search(bare):
        raise TableError.bad_condition(sql, "it is not a single condition on one row")
    unknown = [name for name in _CALL.findall(bare) if name.lower() not in _ROW_BY_ROW]
    if unknown:
        raise TableError.bad_condition(sql, f"the function {unknown[0]} is not for single rows")
