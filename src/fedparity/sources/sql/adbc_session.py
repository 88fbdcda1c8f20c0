"""PostgreSQL over ADBC: rows come as Arrow batches, by the server's binary COPY."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from fedparity.sources.batches import arrow_blocks
from fedparity.sources.extras import extra
from fedparity.sources.sql.addresses import Address
from fedparity.sources.sql.dialects import POSTGRESQL
from fedparity.sources.sql.failures import telling
from fedparity.sources.sql.relations import Relation
from fedparity.sources.sql.sessions import ColumnTypes
from fedparity.sources.table import BlockTask

__all__ = ["AdbcSession"]

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
        with telling(self.dialect):
            self._connection = dbapi.connect(address.with_driver(None), autocommit=True)
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
        with telling(self.dialect), self._connection.cursor() as cursor:
            cursor.execute(relation.described())
            schema = cursor.fetch_record_batch().schema
        return [(field.name, (field.metadata or {}).get(_TYPE, b"").decode()) for field in schema]

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small answer."""
        with telling(self.dialect), self._connection.cursor() as cursor:
            cursor.execute(sql)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

    def stream(self, sql: str, names: Sequence[str]) -> Generator[BlockTask, None, None]:
        """Yield tasks that read a large answer."""
        return arrow_blocks(self._batches(sql), names)

    def _batches(self, sql: str) -> Iterator[Any]:
        with telling(self.dialect):
            cursor = self._connection.cursor()
        try:
            with telling(self.dialect):
                cursor.execute(sql)
                reader = cursor.fetch_record_batch()
            while True:
                with telling(self.dialect):
                    batch = next(reader, None)
                if batch is None:
                    return
                yield batch
        finally:
            cursor.close()

    def _run(self, statements: Sequence[str]) -> None:
        with telling(self.dialect), self._connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def restart(self) -> None:
        """Begin a new transaction."""
        self._run(("ROLLBACK", *_START))

    def close(self) -> None:
        """End the transaction and the connection."""
        self._connection.close()
