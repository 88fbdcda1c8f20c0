"""A table or query of a database that was opened."""

from __future__ import annotations

import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fedparity.errors import DatabaseError, DatabaseNameError, TableError
from fedparity.sketches.accumulators import SketchRequest
from fedparity.tables.databases import Address, DatabaseTable
from fedparity.tables.ranking import RanksTable
from fedparity.tables.sql.drivers import connect
from fedparity.tables.sql.postgresql_ranks import PostgresqlRanks, can_rank
from fedparity.tables.sql.sessions import Session
from fedparity.tables.sql.statements import POSTGRESQL, SPARK, Dialect, Relation
from fedparity.tables.table import BlockTask, Selection, Table, require_columns

if TYPE_CHECKING:
    from sqlalchemy import Select

    from fedparity.tables.table import Roles

__all__ = [
    "SqlTable",
    "open_database",
]


class SqlTable:
    """Rows of a database, seen in one transaction from when it is opened until it is dropped.

    Raises
    ------
    DatabaseError
        If the database has no such table, does not permit to read it, or refuses the query.
    """

    def __init__(self, session: Session, relation: Relation) -> None:
        self._session, self._relation = session, relation
        weakref.finalize(self, _close, session)
        self._scanned = False
        self._stream: Generator[BlockTask, None, None] | None = None
        self._rows: int | None = None
        found = self._described()
        self.columns: Sequence[str] = tuple(name for name, _ in found)
        self._types: Mapping[str, str] = dict(found)
        self.rescannable = relation.steady and session.snapshot(relation)

    @property
    def rows(self) -> int | None:
        """Its number of rows, counted by the database; the rows of a query are not counted."""
        countable = self._relation.table is not None and self.rescannable
        if self._rows is None and countable and self._stream is None:
            self._rows = int(self._session.fetch(self._relation.counted())[0][0])
        return self._rows

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        what = "the query" if self._relation.table is None else "the table"
        require_columns(names, self.columns, what=what)

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        if self._scanned and not self.rescannable:
            raise TableError.read_once()
        self._scanned = True
        self._end_scan()
        names = selection.columns
        stream = self._session.stream(self._relation.selected(names, self._types), names)
        self._stream = stream
        yield from stream
        if self._stream is not stream:
            raise TableError.failed("the database, whose scan was ended by another one,")
        self._stream = None

    def _end_scan(self) -> None:
        """Close the cursor of a scan that was given up.

        Here and now: the collector of garbage might do so in the midst of another statement, and
        wait forever for a lock that this very statement holds.
        """
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def ranks(self, roles: Roles, request: SketchRequest) -> RanksTable | None:
        """Return what finds ranks, or counts scores, inside the database, where it can."""
        if self._session.dialect is not POSTGRESQL or not self.rescannable:
            return None
        if roles.where is not None or roles.weight is not None:
            return None
        if not can_rank(self._types[roles.score]):
            return None
        return PostgresqlRanks(self._session, self._relation, self._types, roles, request)

    def _described(self) -> Sequence[tuple[str, str]]:
        try:
            return self._session.columns(self._relation)
        except DatabaseNameError:
            if self._relation.table is None:
                raise
        raise DatabaseNameError.no_table(
            ".".join(self._relation.table), self._session.dialect.name, self._known_tables()
        )

    def _known_tables(self) -> list[str]:
        """The tables there are; an empty list where they cannot be listed any more."""
        listing = self._session.dialect.tables
        if listing is None:
            return []
        try:
            self._session.restart()
            return sorted(str(row[0]) for row in self._session.fetch(listing))
        except DatabaseError:
            return []


def _close(session: Session) -> None:
    """End a session whose table is no longer read; a failure cannot be reported to anyone."""
    with suppress(Exception):
        session.close()


def open_database(data: DatabaseTable) -> Table:
    """Open the database of a table or query, and return the table that is read."""
    place = Address(data.address) if isinstance(data.address, str) else data.address
    if isinstance(place, Address) and place.is_spark:
        from fedparity.tables.spark.spark_table import open_spark  # noqa: PLC0415 -- where it is used

        return open_spark(place, _relation(data, SPARK))
    session = connect(place)
    try:
        relation = _relation(data, session.dialect)
    except BaseException:
        session.close()
        raise
    return SqlTable(session, relation)


def _relation(data: DatabaseTable, dialect: Dialect) -> Relation:
    if data.query is not None:
        query = data.query if isinstance(data.query, str) else _compiled(data, data.query)
        return Relation.from_query(query, dialect)
    if isinstance(data.table, str):
        return Relation.from_table(data.table, dialect)
    parts = (getattr(data.table, "schema", None), getattr(data.table, "name", ""))
    return Relation.from_parts([part for part in parts if part], dialect)


def _compiled(data: DatabaseTable, query: Select[Any]) -> str:
    """The text of a statement of SQLAlchemy, its parameters written out."""
    if isinstance(data.address, str):
        from sqlalchemy import make_url  # noqa: PLC0415 -- the query is of SQLAlchemy

        dialect: Any = make_url(data.address).get_dialect()()
    else:
        dialect = data.address.dialect
    named = type(dialect)(paramstyle="named")  # percent signs stay single
    return str(query.compile(dialect=named, compile_kwargs={"literal_binds": True}))
