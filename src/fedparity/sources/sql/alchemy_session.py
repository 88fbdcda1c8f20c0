"""Any database that SQLAlchemy knows, read through a cursor that stays on the server."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fedparity.sources.sql.dialects import MARIADB, POSTGRESQL, SQLITE, dialect_of
from fedparity.sources.sql.failures import telling
from fedparity.sources.sql.relations import Relation
from fedparity.sources.sql.sessions import CHUNK_ROWS, ColumnTypes, row_blocks
from fedparity.sources.table import BlockTask

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, Engine

__all__ = ["AlchemySession"]

_START = {
    POSTGRESQL.name: (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",  # undone when it is rolled back
        "SET LOCAL standard_conforming_strings = on",
    ),
    MARIADB.name: (
        # A statement such as CREATE ends a transaction, even a read-only one, and is then obeyed;
        # but not if all transactions of the session are read-only.
        "SET SESSION TRANSACTION READ ONLY",
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    ),
    SQLITE.name: ("PRAGMA query_only = ON", "BEGIN"),
}
"""What makes a transaction read-only, with one view of all rows; for others there is none here."""
_NOT_SEEN_AS_ONE = (
    "SELECT COUNT(*) FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
    "AND COALESCE(engine, '') <> 'InnoDB' "
    "AND table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
)
"""Tables of MariaDB whose storage engine knows no snapshot."""
_PLAIN = {"no_parameters": True}
"""A percent sign in a statement is a percent sign."""


class AlchemySession:
    """One transaction on a connection of an engine.

    Parameters
    ----------
    engine : sqlalchemy.Engine
    owned : bool
        Whether the engine was made for this session, and ends with it.
    """

    def __init__(self, engine: Engine, *, owned: bool) -> None:
        quote = engine.dialect.identifier_preparer.initial_quote
        self.dialect = dialect_of(engine.dialect.name, quote)
        self._engine, self._owned = engine, owned
        with telling(self.dialect):
            self._connection: Connection = engine.connect()
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        for statement in _START.get(self.dialect.name, ()):
            self._run(statement)

    def restart(self) -> None:
        """Begin a new transaction."""
        with telling(self.dialect):
            self._connection.rollback()
        self._start()

    def snapshot(self, relation: Relation) -> bool:
        """Return whether the database, and the engine that stores the table, knows snapshots."""
        if self.dialect is not MARIADB:
            return self.dialect.name in _START
        if relation.table is None:
            return bool(self.fetch(_NOT_SEEN_AS_ONE)[0][0] == 0)
        schema = "DATABASE()" if len(relation.table) == 1 else _text(relation.table[-2])
        own = f" AND table_name = {_text(relation.table[-1])} AND table_schema = {schema}"
        seen = self.fetch(_NOT_SEEN_AS_ONE.replace("<> 'InnoDB'", "= 'InnoDB'") + own)
        return bool(seen[0][0] == 1)

    def columns(self, relation: Relation) -> ColumnTypes:
        """Return the columns, with the driver's codes of their types."""
        with telling(self.dialect):
            answer = self._run(relation.described())
            described = answer.cursor.description or ()
            found = [(str(column[0]), self._type_name(column[1])) for column in described]
            answer.close()
        return found

    def _type_name(self, code: object) -> str:
        if self.dialect is POSTGRESQL and isinstance(code, int):
            return _postgresql_type(code)
        return str(code)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        with telling(self.dialect):
            return [tuple(row) for row in self._run(sql)]

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer."""
        return row_blocks(self._chunks(sql), names)

    def _chunks(self, sql: str) -> Iterator[Sequence[Any]]:
        with telling(self.dialect):
            answer = self._run(sql, stream_results=True, yield_per=CHUNK_ROWS)
        try:
            chunks = answer.partitions(CHUNK_ROWS)
            while True:
                with telling(self.dialect):
                    rows = next(chunks, None)
                if rows is None:
                    return
                yield rows
        finally:
            answer.close()

    def _run(self, sql: str, **options: object) -> CursorResult[Any]:
        with telling(self.dialect):
            return self._connection.exec_driver_sql(sql, execution_options={**_PLAIN, **options})

    def close(self) -> None:
        """End the transaction and give the connection back, with no setting of ours left on it."""
        if not self._connection.closed:
            if self.dialect is SQLITE:
                self._connection.exec_driver_sql("PRAGMA query_only = OFF")
            elif self.dialect is MARIADB:
                self._connection.invalidate()
        self._connection.close()
        if self._owned:
            self._engine.dispose()


def _text(value: str) -> str:
    """A text of MariaDB, written in hexadecimal digits: no quote or backslash can end it."""
    return f"CONVERT(X'{value.encode().hex()}' USING utf8mb4)"


_POSTGRESQL_TYPES = {
    16: "bool", 17: "bytea", 20: "int8", 21: "int2", 23: "int4", 25: "text", 700: "float4",
    701: "float8", 1043: "varchar", 1082: "date", 1114: "timestamp", 1184: "timestamptz",
    1700: "numeric",
}  # fmt: skip


def _postgresql_type(code: int) -> str:
    """The name of a type by its number, which is the same in every server."""
    return _POSTGRESQL_TYPES.get(code, "")
