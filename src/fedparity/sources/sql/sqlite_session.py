"""SQLite, read by Python's own module from a file that is opened to be read only."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from fedparity.errors import TableError
from fedparity.sources.sql.dialects import SQLITE
from fedparity.sources.sql.failures import telling
from fedparity.sources.sql.relations import Relation
from fedparity.sources.sql.sessions import CHUNK_ROWS, ColumnTypes, row_blocks
from fedparity.sources.table import BlockTask

__all__ = ["SqliteSession"]


class SqliteSession:
    """One deferred transaction: it sees the file as it is when it is first read.

    Until it ends others may write only if the file has a write-ahead log.
    """

    dialect = SQLITE

    def __init__(self, file: str) -> None:
        path = Path(file)
        if not path.is_file():
            raise TableError.not_found(path)
        with telling(self.dialect):
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro",
                uri=True,
                isolation_level=None,
                check_same_thread=False,  # threads take turns
            )
            self._connection.execute("PRAGMA query_only = ON")
            self._connection.execute("BEGIN")

    def snapshot(self, _: Relation) -> bool:
        """Return True: a transaction holds a lock, or sees one state of the log."""
        return True

    def columns(self, relation: Relation) -> ColumnTypes:
        """Return the columns; any of them may hold values of any type."""
        with telling(self.dialect):
            answer = self._connection.execute(relation.described())
            return [(column[0], "") for column in answer.description]

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        with telling(self.dialect):
            return self._connection.execute(sql).fetchall()

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer."""
        return row_blocks(self._chunks(sql), names)

    def _chunks(self, sql: str) -> Iterator[Sequence[Any]]:
        with telling(self.dialect):
            cursor = self._connection.execute(sql)
        try:
            while True:
                with telling(self.dialect):
                    rows = cursor.fetchmany(CHUNK_ROWS)
                if not rows:
                    return
                yield rows
        finally:
            cursor.close()

    def restart(self) -> None:
        """Go on: a failed statement does not end a transaction here."""

    def close(self) -> None:
        """End the transaction and close the file."""
        self._connection.close()
