"""DuckDB, read as Arrow batches from a file that is opened to be read only."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from fedparity.errors import TableError
from fedparity.sources.batches import arrow_blocks
from fedparity.sources.columns import BLOCK_ROWS
from fedparity.sources.extras import extra
from fedparity.sources.sql.dialects import DUCKDB
from fedparity.sources.sql.failures import telling
from fedparity.sources.sql.relations import Relation
from fedparity.sources.sql.sessions import ColumnTypes
from fedparity.sources.table import BlockTask

__all__ = ["DuckdbSession"]

_SETTINGS = {"autoinstall_known_extensions": "false"}
"""Nothing is fetched from the internet because a query names it."""


class DuckdbSession:
    """One transaction on a file that no other process can write to meanwhile."""

    dialect = DUCKDB

    def __init__(self, file: str) -> None:
        duckdb = extra("duckdb", "a DuckDB database", "sql")
        if not Path(file).is_file():
            raise TableError.not_found(file)
        with telling(self.dialect):
            self._connection = duckdb.connect(file, read_only=True, config=_SETTINGS)
            self._connection.execute("BEGIN TRANSACTION")

    def snapshot(self, _: Relation) -> bool:
        """Return True: the file stays as it is."""
        return True

    def columns(self, relation: Relation) -> ColumnTypes:
        """Return the columns and their types."""
        with telling(self.dialect):
            answer = self._connection.execute(relation.described())
            return [(column[0], str(column[1])) for column in answer.description]

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        with telling(self.dialect):
            rows: list[tuple[Any, ...]] = self._connection.execute(sql).fetchall()
            return rows

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer."""
        return arrow_blocks(self._batches(sql), names)

    def _batches(self, sql: str) -> Iterator[Any]:
        with telling(self.dialect):
            answer = self._connection.sql(sql)  # a relation: its rows are not gathered first
            make = getattr(answer, "to_arrow_reader", None) or answer.fetch_arrow_reader
            reader = make(BLOCK_ROWS)
        while True:
            with telling(self.dialect):
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def restart(self) -> None:
        """Begin a new transaction."""
        with telling(self.dialect):
            self._connection.execute("ROLLBACK")
            self._connection.execute("BEGIN TRANSACTION")

    def close(self) -> None:
        """End the transaction and close the file."""
        self._connection.close()
