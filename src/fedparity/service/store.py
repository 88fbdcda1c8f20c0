"""What a collector keeps: one database, in which every change and its line in the log are one transaction.

SQLite is the default, with a write-ahead log that is synced at every commit; PostgreSQL is used where its
URL is given. Nothing is acknowledged before it is on the disk. The log is only ever added to, and every
line holds the digest of the one before it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from fedparity.documents.json_text import canonical_bytes, digest_of
from fedparity.errors import OptionError, OutputError

__all__ = ["Change", "Event", "Receipt", "Store", "now", "tables"]

Result = TypeVar("Result")

_VERSION = 2
_FIRST = "sha256:" + 64 * "0"
_FILE = "collector.sqlite"
_THREADS = 40
"""As many as answer requests at once."""

tables = sa.MetaData()
head = sa.Table(
    "head",
    tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("sequence", sa.Integer, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
)
event = sa.Table(
    "event",
    tables,
    sa.Column("sequence", sa.Integer, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("study", sa.Text, index=True),
    sa.Column("silo", sa.Text),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("previous", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
)
study = sa.Table(
    "study",
    tables,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("plan", sa.LargeBinary, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("deadline", sa.Text),
    sa.Column("created", sa.Text, nullable=False),
)
silo = sa.Table(
    "silo",
    tables,
    sa.Column("study", sa.ForeignKey("study.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("invited", sa.Text),
    sa.Column("seen", sa.Text),
    sa.Column("approved", sa.Text),
    sa.Column("refused", sa.Text),
    sa.Column("reopened", sa.Boolean, nullable=False, default=False),
)
message = sa.Table(
    "message",
    tables,
    sa.Column("study", sa.Text, primary_key=True),
    sa.Column("silo", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("received", sa.Text, nullable=False),
    sa.Column("records", sa.Text, nullable=False),
    sa.Column("current", sa.Boolean, nullable=False),
    sa.ForeignKeyConstraint(["study", "silo"], ["silo.study", "silo.name"], ondelete="CASCADE"),
)
run = sa.Table(
    "run",
    tables,
    sa.Column("study", sa.ForeignKey("study.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("digests", sa.Text, nullable=False),
    sa.Column("result", sa.LargeBinary, nullable=False),
)
round_message = sa.Table(  # the key lets a silo make each step of a secure sum once
    "round_message",
    tables,
    sa.Column("study", sa.Text, primary_key=True),
    sa.Column("silo", sa.Text, primary_key=True),
    sa.Column("step", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("received", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(["study", "silo"], ["silo.study", "silo.name"], ondelete="CASCADE"),
)
round_request = sa.Table(  # and the auditor one request
    "round_request",
    tables,
    sa.Column("study", sa.ForeignKey("study.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
)
reader = sa.Table(
    "reader",
    tables,
    sa.Column("study", sa.ForeignKey("study.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("invited", sa.Text, nullable=False),
)
credential = sa.Table(
    "credential",
    tables,
    sa.Column("hash", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("study", sa.ForeignKey("study.id", ondelete="CASCADE")),
    sa.Column("silo", sa.Text),
    sa.Column("reader", sa.Text),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("expires", sa.Text, nullable=False),
)


def now() -> str:
    """Return the time as the store keeps it: UTC, to the second, in an order that text has too."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, kw_only=True)
class Event:
    """A line of the log."""

    sequence: int
    at: str
    actor: str
    action: str
    study: str | None
    silo: str | None
    detail: str
    previous: str
    digest: str

    def expected_digest(self) -> str:
        """Return the digest that this line must have."""
        fields = {name: getattr(self, name) for name in _DIGESTED}
        return digest_of(canonical_bytes(fields))


@dataclass(frozen=True)
class Receipt:
    """What became of a message that was accepted: it is on the disk."""

    digest: str
    new: bool
    """Whether it was not there before."""


_DIGESTED = ("sequence", "at", "actor", "action", "study", "silo", "detail", "previous")


class Change:
    """A transaction that holds the end of the log, so that changes come one after the other."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection
        end = connection.execute(_END).one()
        self._sequence, self._digest = end.sequence, end.digest
        self._lines: list[dict[str, Any]] = []

    def log(
        self,
        actor: str,
        action: str,
        *,
        study: str | None = None,
        silo: str | None = None,
        detail: str = "",
    ) -> None:
        """Add a line to the log; it is there if and only if the change is."""
        fields: dict[str, Any] = {
            "sequence": self._sequence + 1,
            "at": now(),
            "actor": actor,
            "action": action,
            "study": study,
            "silo": silo,
            "detail": detail,
            "previous": self._digest,
        }
        self._sequence, self._digest = fields["sequence"], digest_of(canonical_bytes(fields))
        self._lines.append(fields | {"digest": self._digest})

    def finish(self) -> None:
        """Write the lines of the log and its new end."""
        if self._lines:
            self.connection.execute(_NEW_LINES, self._lines)
            end = {"sequence": self._sequence, "digest": self._digest}
            self.connection.execute(_NEW_END, end)


# Built once: every change asks them.
_END = sa.select(head).with_for_update()
_NEW_LINES = sa.insert(event)
_NEW_END = sa.update(head).values(sequence=sa.bindparam("sequence"), digest=sa.bindparam("digest"))


class Store:
    """The database of a collector.

    Parameters
    ----------
    url : str or sqlalchemy.URL
        ``sqlite:///…`` or ``postgresql+psycopg://…``.

    Raises
    ------
    OptionError
        If the database cannot be opened, or was made by a later version.
    """

    def __init__(self, url: str | sa.URL) -> None:
        self._queue: list[_Pending] = []
        self._queue_lock, self._commit_lock = threading.Lock(), threading.Lock()
        try:
            self.engine = _engine(url)
            with self.engine.begin() as connection:
                found = _upgrade(connection)
        except (sa.exc.SQLAlchemyError, ImportError) as problem:
            # Words of a driver may repeat the address, and a password in it.
            raise OptionError(
                f"the collector's database cannot be opened: {type(problem).__name__}.",
                fix="check that its folder can be written to, or that its server runs and lets this "
                "user in.",
            ) from None
        if found != _VERSION:
            raise OptionError(
                f"the collector's database has version {found}, and this program knows {_VERSION}.",
                fix="start the version of fedparity that wrote it, or a later one.",
            )

    @classmethod
    def in_folder(cls, folder: str, *, new: bool = True) -> Store:
        """Return the store of a folder; a new one is made if there is none, which only its owner can read."""
        if not new and not (Path(folder) / _FILE).is_file():
            raise OptionError(
                f"there is no collector in {folder}.",
                fix="name the folder that fedparity serve was started with.",
            )
        path = Path(folder).resolve() / _FILE
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)  # the folder may have been there, and open to others
        except OSError as problem:
            raise OutputError(
                f"the folder {folder} cannot be made or written to: {problem.strerror}.",
                fix="choose another folder with --data.",
            ) from None
        return cls(sa.URL.create("sqlite", database=str(path)))

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Give a connection that changes nothing."""
        with self.engine.connect().execution_options(reads=True) as connection:
            yield connection

    @contextmanager
    def change(self) -> Iterator[Change]:
        """Give a transaction; when it has ended without an error, its changes are on the disk."""
        with self.engine.begin() as connection:
            change = Change(connection)
            yield change
            change.finish()

    def together(self, work: Callable[[Change], Result]) -> Result:
        """Do some work in a transaction that it may share with that of other threads, and return its result.

        A sync of the disk takes longer than most work. Whoever comes while one is under way waits, and all
        who wait then share the next. The work must not raise: an error undoes that of all.
        """
        own = _Pending(work)
        with self._queue_lock:
            self._queue.append(own)
        with self._commit_lock:
            if not own.done:  # otherwise the thread before this one did it
                with self._queue_lock:
                    batch, self._queue = self._queue, []
                _commit(self, batch)
        if own.error is not None:
            raise own.error
        return own.result  # type: ignore[no-any-return]

    def events(self, study_id: str | None = None, *, last: int | None = None) -> list[Event]:
        """Return the lines of the log, of one study or of all; or the last of them, the newest first."""
        query = sa.select(event).order_by(event.c.sequence)
        if last is not None:
            query = sa.select(event).order_by(event.c.sequence.desc()).limit(last)
        if study_id is not None:
            query = query.where(event.c.study == study_id)
        with self.read() as connection:
            return [Event(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001

    def check_log(self) -> int:
        """Return the number of lines of the log if none was changed or taken out.

        Raises
        ------
        OptionError
            If the chain is broken.
        """
        end = (head.c.sequence.label("last"), head.c.digest.label("end"))
        query = sa.select(*end, event).join_from(head, event, sa.true(), isouter=True)
        with self.read() as connection:  # one statement: the service may add lines meanwhile
            rows = connection.execute(query.order_by(event.c.sequence)).all()
        previous, number = _FIRST, 0
        for number, row in enumerate(rows if rows[0].sequence else (), start=1):
            line = Event(**{each.name: getattr(row, each.name) for each in fields(Event)})
            if (line.sequence, line.previous) != (
                number,
                previous,
            ) or line.digest != line.expected_digest():
                raise _broken(number)
            previous = line.digest
        if (rows[0].last, rows[0].end) != (number, previous):
            raise _broken(rows[0].last)
        return number

    def back_up(self, path: str) -> None:
        """Write a copy of an SQLite database that is whole, while the service runs."""
        if self.engine.dialect.name != "sqlite":
            raise OptionError(
                "the collector keeps its data in PostgreSQL.", fix="use pg_dump to back it up."
            )
        try:
            Path(path).touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            raise OutputError(f"{path} exists already.", fix="choose another name.") from None
        except OSError as problem:
            raise OutputError.unwritable(path, problem.strerror or "") from None
        source = self.engine.raw_connection()
        try:
            with closing(sqlite3.connect(path)) as copy:
                source.driver_connection.backup(copy)  # type: ignore[union-attr]
        finally:
            source.close()

    def shrink(self) -> None:
        """Move what is in SQLite's write-ahead log into the database: deleted pages are gone then."""
        if self.engine.dialect.name == "sqlite":
            connection = self.engine.raw_connection()
            try:
                connection.driver_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[union-attr]
            finally:
                connection.close()

    def close(self) -> None:
        """Give up all connections."""
        self.engine.dispose()


@dataclass(eq=False)
class _Pending:
    """Work that waits for a transaction."""

    work: Callable[[Change], Any]
    result: Any = None
    error: Exception | None = None
    done: bool = False


def _commit(store: Store, batch: list[_Pending]) -> None:
    try:
        with store.change() as change:
            for each in batch:
                each.result = each.work(change)
    except Exception as problem:  # noqa: BLE001 -- every thread raises it again
        for each in batch:
            each.error = problem
    for each in batch:
        each.done = True


_MIGRATIONS: dict[int, tuple[str, ...]] = {
    1: ("ALTER TABLE credential ADD COLUMN reader TEXT",),
}
"""What makes a database of this version one of the next, besides new tables."""


def _upgrade(connection: sa.Connection) -> int:
    """Create what is missing, in one transaction, and return the version that the database has then.

    One of a later version, or of one that this program cannot upgrade, stays as it is.
    """
    if not sa.inspect(connection).has_table("head"):
        tables.create_all(connection)
        start = {"id": 1, "version": _VERSION, "sequence": 0, "digest": _FIRST}
        connection.execute(sa.insert(head).values(**start))
        return _VERSION
    found = int(connection.execute(_END).one().version)
    if found < _VERSION and all(version in _MIGRATIONS for version in range(found, _VERSION)):
        for version in range(found, _VERSION):
            for statement in _MIGRATIONS[version]:
                connection.exec_driver_sql(statement)
        tables.create_all(connection)
        connection.execute(sa.update(head).values(version=_VERSION))
        return _VERSION
    return found


def _broken(number: int) -> OptionError:
    return OptionError(
        f"the log of the collector is broken at line {number:,}: it was changed outside the program.",
        fix="restore a backup, and find out who can write to the database.",
    )


def _engine(url: str | sa.URL) -> sa.Engine:
    # Errors of a database repeat the values of a statement otherwise: they are silos' messages. A
    # connection for each thread is kept: opening one takes longer than most work.
    shared: dict[str, Any] = {"hide_parameters": True, "pool_size": _THREADS}
    if sa.make_url(url).get_backend_name() != "sqlite":
        return sa.create_engine(url, pool_pre_ping=True, **shared)
    engine = sa.create_engine(url, connect_args={"timeout": 30}, **shared)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:  # noqa: ANN401 -- of sqlite3
        connection.isolation_level = None  # transactions are begun below, not by the driver
        for setting in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "secure_delete=ON",  # what is deleted is overwritten
        ):
            connection.execute(f"PRAGMA {setting}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A writer waits here for the one before it, instead of failing when it wants to write.
        reads = connection.get_execution_options().get("reads", False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine
