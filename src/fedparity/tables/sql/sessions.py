"""A session: one connection, and one read-only transaction in which all queries run."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from fedparity.errors import (
    DatabaseError,
    DatabaseNameError,
    DatabaseUnreachableError,
    FedparityError,
)
from fedparity.errors.base import installed_pyarrow
from fedparity.tables.columns import Block, Column, NumpyColumn
from fedparity.tables.sql.statements import Dialect, Relation
from fedparity.tables.table import BlockTask

__all__ = [
    "CHUNK_ROWS",
    "ColumnTypes",
    "Failure",
    "Session",
    "error_boundary",
    "failure_of",
    "row_blocks",
    "value_column",
]

Failure: TypeAlias = Literal[
    "unreachable",
    "lost",
    "login",
    "no table",
    "no column",
    "not permitted",
    "writes",
    "stopped",
    "refused",
]

_STATES: dict[str, Failure] = {
    "08": "lost",
    "28": "login",
    "3D": "login",
    "42P01": "no table",
    "3F": "no table",
    "42S02": "no table",
    "42703": "no column",
    "42S22": "no column",
    "42501": "not permitted",
    "25006": "writes",
    "57014": "stopped",
    "55P03": "stopped",
    "57P": "lost",
}
"""By SQLSTATE, or how it begins: PostgreSQL, and what follows the standard."""
_NUMBERS: dict[int, Failure] = {
    **dict.fromkeys((2002, 2003, 2005), "unreachable"),
    **dict.fromkeys((2006, 2013, 1927, 1053), "lost"),
    **dict.fromkeys((1045, 1698, 1049, 1044), "login"),
    1146: "no table",
    1109: "no table",
    1054: "no column",
    **dict.fromkeys((1142, 1143, 1227, 1370), "not permitted"),
    **dict.fromkeys((1792, 1290), "writes"),
    **dict.fromkeys((1205, 1317, 1969, 3024), "stopped"),
}
"""By the number of MariaDB and MySQL, which comes first among the arguments."""
_WORDS: tuple[tuple[str, Failure], ...] = (
    ("no such table", "no table"),
    ("no such column", "no column"),
    ("readonly database", "writes"),
    ("read-only mode", "writes"),
    ("unable to open", "unreachable"),
    ("cannot open", "unreachable"),
    ("could not set lock", "unreachable"),
    ("different configuration", "unreachable"),
    ("not a database", "unreachable"),
    ("not a valid duckdb", "unreachable"),
    ("is locked", "stopped"),
    ("referenced column", "no column"),
    ("with name", "no table"),
    ("failed to connect", "unreachable"),
    ("connection refused", "unreachable"),
)
"""By words of SQLite, DuckDB and ADBC, which have no number for it; only compared, never shown."""
_LOGIN_WORDS = "authentication failed", "does not exist", "no password supplied", "pg_hba"


@contextmanager
def error_boundary(dialect: Dialect) -> Iterator[None]:
    """Turn whatever a driver raises into an error that shows none of its words."""
    try:
        yield
    except (FedparityError, ImportError):
        raise
    except Exception as error:  # noqa: BLE001 -- every driver has a tree of its own
        raise _as_error(error, dialect) from None


def failure_of(error: BaseException) -> Failure:
    """Return what kind of failure a driver's error is.

    Examples
    --------
    >>> import sqlite3
    >>> failure_of(sqlite3.OperationalError("no such table: visits"))
    'no table'
    """
    origin = getattr(error, "orig", None) or error  # SQLAlchemy wraps the driver's own error
    state = getattr(origin, "sqlstate", None)
    for length in (5, 3, 2):
        if isinstance(state, str) and state[:length] in _STATES:
            return _STATES[state[:length]]
    number = origin.args[0] if origin.args else None
    if isinstance(number, int) and number in _NUMBERS:
        return _NUMBERS[number]
    return _by_words(str(origin).lower())


def _by_words(text: str) -> Failure:
    found = next((failure for words, failure in _WORDS if words in text), None)
    if found == "unreachable" or "connection to server" in text or "connection failed" in text:
        return "login" if any(words in text for words in _LOGIN_WORDS) else "unreachable"
    return found or "refused"


def _as_error(error: Exception, dialect: Dialect) -> DatabaseError:
    kind, failure = dialect.name, failure_of(error)
    if failure in ("no table", "no column"):
        what = "a table" if failure == "no table" else "a column"
        return DatabaseNameError.nothing_there(kind, what)
    makers = {
        "unreachable": DatabaseUnreachableError.at_start,
        "lost": DatabaseUnreachableError.lost,
        "login": DatabaseError.login_refused,
        "not permitted": DatabaseError.not_permitted,
        "writes": DatabaseError.would_write,
        "stopped": DatabaseError.stopped,
    }
    if failure in makers:
        return makers[failure](kind)
    state = getattr(getattr(error, "orig", None) or error, "sqlstate", None)
    return DatabaseError.refused(kind, [f"SQLSTATE {state}"] if isinstance(state, str) else ())


CHUNK_ROWS = 1 << 15
"""Rows that are fetched at once where they come as Python's objects."""

ColumnTypes: TypeAlias = Sequence[tuple[str, str]]
"""Names of columns and of their types, in order."""


class Session(Protocol):
    """An open connection; used by one thread at a time."""

    dialect: Dialect

    def snapshot(self, relation: Relation) -> bool:
        """Return whether every statement sees the same rows of this relation."""
        ...

    def columns(self, relation: Relation) -> ColumnTypes:
        """Return the columns of a relation; the types are the database's own words."""
        ...

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        ...

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer, of which few rows are in memory at a time.

        To close the generator closes the cursor; no other statement may run before.
        """
        ...

    def restart(self) -> None:
        """Begin a new transaction, where a failure has ended the old one."""
        ...

    def close(self) -> None:
        """End the transaction and the connection."""
        ...


def row_blocks(
    chunks: Iterable[Sequence[Any]], names: Sequence[str]
) -> Generator[BlockTask, None, None]:
    """Yield tasks that turn lists of rows into columns."""
    for rows in chunks:
        yield _Rows(rows, names)


@dataclass(frozen=True, slots=True)
class _Rows:
    rows: Sequence[Any]
    names: Sequence[str]

    def __call__(self) -> Block:
        columns = {
            name: value_column([row[place] for row in self.rows], name)
            for place, name in enumerate(self.names)
        }
        return Block(len(self.rows), columns)


def value_column(values: list[Any], name: str) -> Column:
    """Return the column of Python's objects, None where there is none.

    As an Arrow array if all are of one type that Arrow knows, which is faster; a SQLite table may
    hold several types in one column.
    """
    pa = installed_pyarrow()
    if pa is None:
        return NumpyColumn.from_values(values, name)
    from fedparity.tables.columns import ArrowColumn  # noqa: PLC0415 -- with pyarrow only

    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) > 1:  # Arrow would make a whole number of 0.5 to fit it in
        return NumpyColumn.from_values(values, name)
    types = {float: pa.float64(), int: pa.int64(), bool: pa.bool_(), str: pa.string()}
    try:
        return ArrowColumn.from_array(pa.array(values, types.get(*kinds) if kinds else None))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return NumpyColumn.from_values(values, name)
