"""A table or query of a database, as a table of this library."""

from __future__ import annotations

import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from fedparity.errors import DatabaseError, DatabaseNameError, TableError
from fedparity.sketches.selection.asked import Asked
from fedparity.sources.ranking import RanksTable
from fedparity.sources.sql.dialects import POSTGRESQL
from fedparity.sources.sql.postgresql_ranks import PostgresqlRanks, can_rank
from fedparity.sources.sql.relations import Relation
from fedparity.sources.sql.sessions import Session
from fedparity.sources.table import BlockTask, Selection, require_columns

if TYPE_CHECKING:
    from fedparity.sources.reader import Roles

__all__ = ["SqlTable"]


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
        """Its number of rows, counted by the database; of a query it is not asked."""
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

    def ranks(self, roles: Roles, asked: Asked) -> RanksTable | None:
        """Return what finds ranks, or counts scores, inside the database, where it can."""
        if self._session.dialect is not POSTGRESQL or not self.rescannable:
            return None
        if roles.where is not None or roles.weight is not None:
            return None
        if not can_rank(self._types[roles.score]):
            return None
        return PostgresqlRanks(self._session, self._relation, self._types, roles, asked)

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
        """The tables there are; none where that cannot be asked any more."""
        listing = self._session.dialect.tables
        if listing is None:
            return []
        try:
            self._session.restart()
            return sorted(str(row[0]) for row in self._session.fetch(listing))
        except DatabaseError:
            return []


def _close(session: Session) -> None:
    """End a session whose table nobody reads any more; there is nobody to tell if that fails."""
    with suppress(Exception):
        session.close()
