"""A session: one connection, one transaction that cannot write, and what is asked in it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from fedparity.sources.columns import Block, Column
from fedparity.sources.extras import installed_pyarrow
from fedparity.sources.numpy_column import NumpyColumn
from fedparity.sources.sql.dialects import Dialect
from fedparity.sources.sql.relations import Relation
from fedparity.sources.table import BlockTask

__all__ = ["CHUNK_ROWS", "ColumnTypes", "Session", "row_blocks", "value_column"]

CHUNK_ROWS = 1 << 15
"""Rows that are fetched at once where they come as Python's objects."""

ColumnTypes: TypeAlias = Sequence[tuple[str, str]]
"""Names of columns and of their types, in order."""


class Session(Protocol):
    """An open connection; used by one thread at a time."""

    dialect: Dialect

    def snapshot(self, relation: Relation) -> bool:
        """Return whether every statement sees the same rows of this relation."""
        ...  # pragma: no cover

    def columns(self, relation: Relation) -> ColumnTypes:
        """Return the columns of a relation; the types are the database's own words."""
        ...  # pragma: no cover

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        ...  # pragma: no cover

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer, of which few rows are in memory at a time.

        To close the generator closes the cursor; no other statement may run before.
        """
        ...  # pragma: no cover

    def restart(self) -> None:
        """Begin a new transaction, where a failure has ended the old one."""
        ...  # pragma: no cover

    def close(self) -> None:
        """End the transaction and the connection."""
        ...  # pragma: no cover


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
        return NumpyColumn.of(values, name)
    from fedparity.sources.arrow_column import ArrowColumn  # noqa: PLC0415 -- with pyarrow only

    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) > 1:  # Arrow would make a whole number of 0.5 to fit it in
        return NumpyColumn.of(values, name)
    types = {float: pa.float64(), int: pa.int64(), bool: pa.bool_(), str: pa.string()}
    try:
        return ArrowColumn.of(pa.array(values, types.get(*kinds) if kinds else None))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return NumpyColumn.of(values, name)
