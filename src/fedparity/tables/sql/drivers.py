"""Sessions of PostgreSQL by ADBC, of DuckDB and SQLite files, and of all that SQLAlchemy knows.

Each reads in one read-only transaction, a part of the rows at a time.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlsplit

from fedparity.errors import DatabaseError, MissingExtraError, TableError
from fedparity.errors.base import extra
from fedparity.errors.inputs import shortened
from fedparity.tables.columns import BLOCK_ROWS
from fedparity.tables.databases import Address
from fedparity.tables.frames import arrow_blocks
from fedparity.tables.sql.sessions import (
    CHUNK_ROWS,
    ColumnTypes,
    Session,
    error_boundary,
    row_blocks,
)
from fedparity.tables.sql.statements import (
    DUCKDB,
    MARIADB,
    POSTGRESQL,
    SQLITE,
    Relation,
    dialect_of,
)
from fedparity.tables.table import BlockTask, parts

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, Engine

__all__ = [
    "AdbcSession",
    "AlchemySession",
    "DuckdbSession",
    "SqliteSession",
    "connect",
]

_START = (
    "SET default_transaction_read_only = on",  # whatever comes after this transaction
    "SET standard_conforming_strings = on",
    "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
)
_TYPE = b"POSTGRESQL:type"


class AdbcSession:
    """One read-only transaction, in which every statement sees the rows that the first one saw."""

    dialect = POSTGRESQL

    def __init__(self, address: Address) -> None:
        dbapi = extra("adbc_driver_postgresql.dbapi", "a PostgreSQL database", "sql")
        with error_boundary(self.dialect):
            self._connection = dbapi.connect(_with_socket(address), autocommit=True)
        try:
            self._run(_START)
        except BaseException:
            self.close()
            raise

    def snapshot(self, _: Relation) -> bool:
        """Return True: the isolation level is repeatable read."""
        return True

    def columns(self, relation: Relation) -> ColumnTypes:
        """Return the columns, with PostgreSQL's names of their types."""
        with error_boundary(self.dialect), self._connection.cursor() as cursor:
            cursor.execute(relation.described())
            schema = cursor.fetch_record_batch().schema
        return [(field.name, (field.metadata or {}).get(_TYPE, b"").decode()) for field in schema]

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        with error_boundary(self.dialect), self._connection.cursor() as cursor:
            cursor.execute(sql)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer."""
        return arrow_blocks(self._batches(sql), names)

    def _batches(self, sql: str) -> Iterator[Any]:
        with error_boundary(self.dialect):
            cursor = self._connection.cursor()
        try:
            with error_boundary(self.dialect):
                cursor.execute(sql)
                reader = cursor.fetch_record_batch()
            yield from parts(lambda: next(reader, None), lambda: error_boundary(self.dialect))
        finally:
            cursor.close()

    def _run(self, statements: Sequence[str]) -> None:
        with error_boundary(self.dialect), self._connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def restart(self) -> None:
        """Begin a new transaction."""
        self._run(("ROLLBACK", *_START))

    def close(self) -> None:
        """End the transaction and the connection."""
        self._connection.close()


_SOCKET_FOLDERS = "/var/run/postgresql", "/run/postgresql", "/tmp"  # noqa: S108 -- where servers listen
_PLACES = "PGHOST", "PGHOSTADDR", "PGSERVICE"


def _with_socket(address: Address) -> str:
    """The address; one without a host names the folder of the local server's socket, as psql finds it.

    The library inside ADBC looks in ``/tmp`` alone, wherever the system's own programs look. Users, passwords and
    the rest of psql's variables and files it knows.
    """
    url = address.with_driver(None)
    parts = urlsplit(url)
    stated = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    if (
        parts.hostname
        or stated & {"host", "hostaddr", "service"}
        or any(map(os.environ.get, _PLACES))
    ):
        return url
    port = (
        parts.port or dict(parse_qsl(parts.query)).get("port") or os.environ.get("PGPORT") or 5432
    )
    for folder in _SOCKET_FOLDERS:
        if Path(folder, f".s.PGSQL.{port}").exists():
            sign = "&" if parts.query else "?"
            return f"{url.removesuffix('?')}{sign}host={quote(folder, safe='')}"
    return url


_ALCHEMY_START = {
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
"""What makes a transaction read-only, with one view of all rows; there is no such statement for other dialects."""
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
        with error_boundary(self.dialect):
            self._connection: Connection = engine.connect()
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        for statement in _ALCHEMY_START.get(self.dialect.name, ()):
            self._run(statement)

    def restart(self) -> None:
        """Begin a new transaction."""
        with error_boundary(self.dialect):
            self._connection.rollback()
        self._start()

    def snapshot(self, relation: Relation) -> bool:
        """Return whether the database, and the engine that stores the table, knows snapshots."""
        if self.dialect is not MARIADB:
            return self.dialect.name in _ALCHEMY_START
        if relation.table is None:
            return bool(self.fetch(_NOT_SEEN_AS_ONE)[0][0] == 0)
        schema = "DATABASE()" if len(relation.table) == 1 else _text(relation.table[-2])
        own = f" AND table_name = {_text(relation.table[-1])} AND table_schema = {schema}"
        seen = self.fetch(_NOT_SEEN_AS_ONE.replace("<> 'InnoDB'", "= 'InnoDB'") + own)
        return bool(seen[0][0] == 1)

    def columns(self, relation: Relation) -> ColumnTypes:
        """Return the columns, with the driver's codes of their types."""
        with error_boundary(self.dialect):
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
        with error_boundary(self.dialect):
            return [tuple(row) for row in self._run(sql)]

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer."""
        return row_blocks(self._chunks(sql), names)

    def _chunks(self, sql: str) -> Iterator[Sequence[Any]]:
        with error_boundary(self.dialect):
            answer = self._run(sql, stream_results=True, yield_per=CHUNK_ROWS)
        try:
            chunks = answer.partitions(CHUNK_ROWS)
            yield from parts(lambda: next(chunks, None), lambda: error_boundary(self.dialect))
        finally:
            answer.close()

    def _run(self, sql: str, **options: object) -> CursorResult[Any]:
        with error_boundary(self.dialect):
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


_SETTINGS = {"autoinstall_known_extensions": "false"}
"""Nothing is fetched from the internet because a query names it."""


class DuckdbSession:
    """One transaction on a file that no other process can write to meanwhile."""

    dialect = DUCKDB

    def __init__(self, file: str) -> None:
        duckdb = extra("duckdb", "a DuckDB database", "sql")
        if not Path(file).is_file():
            raise TableError.not_found(file)
        with error_boundary(self.dialect):
            self._connection = duckdb.connect(file, read_only=True, config=_SETTINGS)
            self._connection.execute("BEGIN TRANSACTION")

    def snapshot(self, _: Relation) -> bool:
        """Return True: the file stays as it is."""
        return True

    def columns(self, relation: Relation) -> ColumnTypes:
        """Return the columns and their types."""
        with error_boundary(self.dialect):
            answer = self._connection.execute(relation.described())
            return [(column[0], str(column[1])) for column in answer.description]

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        with error_boundary(self.dialect):
            rows: list[tuple[Any, ...]] = self._connection.execute(sql).fetchall()
            return rows

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer."""
        return arrow_blocks(self._batches(sql), names)

    def _batches(self, sql: str) -> Iterator[Any]:
        with error_boundary(self.dialect):
            answer = self._connection.sql(sql)  # a relation: its rows are not gathered first
            make = getattr(answer, "to_arrow_reader", None) or answer.fetch_arrow_reader
            reader = make(BLOCK_ROWS)
        yield from parts(lambda: next(reader, None), lambda: error_boundary(self.dialect))

    def restart(self) -> None:
        """Begin a new transaction."""
        with error_boundary(self.dialect):
            self._connection.execute("ROLLBACK")
            self._connection.execute("BEGIN TRANSACTION")

    def close(self) -> None:
        """End the transaction and close the file."""
        self._connection.close()


class SqliteSession:
    """One deferred transaction: it sees the file as it is when it is first read.

    Until it ends others may write only if the file has a write-ahead log.
    """

    dialect = SQLITE

    def __init__(self, file: str) -> None:
        path = Path(file)
        if not path.is_file():
            raise TableError.not_found(path)
        with error_boundary(self.dialect):
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
        with error_boundary(self.dialect):
            answer = self._connection.execute(relation.described())
            return [(column[0], "") for column in answer.description]

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        with error_boundary(self.dialect):
            return self._connection.execute(sql).fetchall()

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer."""
        return row_blocks(self._chunks(sql), names)

    def _chunks(self, sql: str) -> Iterator[Sequence[Any]]:
        with error_boundary(self.dialect):
            cursor = self._connection.execute(sql)
        try:
            fetch = cursor.fetchmany
            yield from parts(
                lambda: fetch(CHUNK_ROWS) or None, lambda: error_boundary(self.dialect)
            )
        finally:
            cursor.close()

    def restart(self) -> None:
        """Go on: a failed statement does not end a transaction here."""

    def close(self) -> None:
        """End the transaction and close the file."""
        self._connection.close()


_DEFAULT_DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}


def connect(address: Address | Engine) -> Session:
    """Return an open session: native for files and, with ADBC, PostgreSQL; else by SQLAlchemy.

    An address that names a driver, such as ``postgresql+psycopg://``, is read by that driver.

    Raises
    ------
    DatabaseError
        If the database cannot be opened; DatabaseUnreachableError if it does not answer.
    MissingExtraError
        If no driver for it is installed.
    """
    if not isinstance(address, Address):
        return AlchemySession(address, owned=False)
    if address.file is not None and address.driver is None:
        kind = SqliteSession if address.kind == "sqlite" else DuckdbSession
        return kind(address.file)
    if _has_adbc(address):
        return AdbcSession(address)
    return AlchemySession(_engine(address), owned=True)


def _has_adbc(address: Address) -> bool:
    if address.kind != "postgresql" or address.driver not in (None, "adbc"):
        return False
    return address.driver == "adbc" or find_spec("adbc_driver_postgresql") is not None


def _engine(address: Address) -> Engine:
    """An engine that closes each connection after use."""
    alchemy: Any = extra("sqlalchemy", f"a database of the kind {address.kind}", "sql")
    driver = address.driver or _DEFAULT_DRIVERS.get(address.kind)
    try:
        with error_boundary(dialect_of(address.kind)):
            return _made(alchemy, address.with_driver(driver))  # type: ignore[no-any-return]
    except ImportError as error:
        raise MissingExtraError.for_use(
            error.name or str(driver), f"a database of the kind {address.kind}", "sql"
        ) from None


def _made(alchemy: Any, url: str) -> Any:  # noqa: ANN401 -- SQLAlchemy is optional
    try:
        return alchemy.create_engine(url, poolclass=alchemy.pool.NullPool)
    except alchemy.exc.NoSuchModuleError:
        raise DatabaseError(
            f"there is no driver for databases of the kind {shortened(url.partition('://')[0])!r}.",
            fix="check the part of the address before ://, and install the driver that SQLAlchemy "
            "names for it.",
        ) from None
    except alchemy.exc.ArgumentError:
        raise DatabaseError.bad_address() from None
