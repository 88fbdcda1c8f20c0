"""Spark frames: ranked inside Spark where that is possible, else read partition by partition."""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedparity.errors import DatabaseError, DatabaseNameError, MissingExtraError, TableError
from fedparity.errors.base import extra
from fedparity.sketches.accumulators import SketchRequest
from fedparity.tables.databases import Address
from fedparity.tables.ranking import RanksTable
from fedparity.tables.spark.spark_ranks import SparkRanks
from fedparity.tables.spark.spark_sql import PLACE, error_boundary, name_of, spark_condition
from fedparity.tables.sql.sessions import CHUNK_ROWS, row_blocks
from fedparity.tables.sql.statements import Relation
from fedparity.tables.table import BlockTask, Selection, require_columns
from fedparity.tables.where import Condition

if TYPE_CHECKING:
    from fedparity.tables.table import Roles

__all__ = [
    "SparkTable",
    "open_spark",
]

_SCORES = frozenset(("boolean", "byte", "short", "integer", "long", "float", "double", "decimal"))
_LABELS = _SCORES | {"string", "char", "varchar"}
_TEXTS = frozenset(("string", "char", "varchar"))


class SparkTable:
    """The rows of a Spark frame.

    Raises
    ------
    TableError
        If the frame is a stream, which has no end.
    """

    rows = None

    def __init__(self, frame: Any, *, rescannable: bool = True) -> None:  # noqa: ANN401 -- optional
        with error_boundary():
            fields, streams = list(frame.schema.fields), frame.isStreaming
        if streams:
            raise TableError(
                "the Spark frame is a stream, which has no end.",
                fix="write it to a table, and give that.",
            )
        self._frame = frame
        self.rescannable = rescannable
        self._scanned = False
        self.columns: Sequence[str] = tuple(field.name for field in fields)
        self._types: Mapping[str, str] = {
            field.name: field.dataType.typeName().partition("(")[0] for field in fields
        }

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        require_columns(names, self.columns, what="the Spark table")

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once, one partition after the other."""
        if self._scanned and not self.rescannable:
            raise TableError.read_once()
        self._scanned = True
        names = selection.columns
        kept = self._kept(selection.where) if selection.may_skip else None
        frame = self._frame if kept is None else kept
        with error_boundary():
            rows = frame.select(*map(name_of, names)).toLocalIterator()
        yield from row_blocks(_chunks(rows), names)

    def skipped(self, selection: Selection) -> int:
        """Return how many rows a filter drops inside Spark; this takes a query of its own."""
        kept = self._kept(selection.where) if selection.may_skip else None
        if kept is None:
            return 0
        with error_boundary():
            return int(self._frame.count()) - int(kept.count())

    def ranks(self, roles: Roles, request: SketchRequest) -> RanksTable | None:
        """Return what finds ranks, or counts scores, inside Spark, where it can."""
        frame = self._frame if roles.where is None else self._kept(roles.where)
        if frame is None or roles.weight is not None or not self.rescannable:
            return None
        if self._types[roles.score] not in _SCORES:
            return None
        if not all(self._types[name] in _LABELS for name in roles.groups):
            return None
        columns = [f"CAST({name_of(roles.score)} AS DOUBLE) AS x"]
        for place, name in enumerate(roles.groups):
            text = f"CAST({name_of(name)} AS STRING)"  # which is without a collation
            label = text if self._types[name] in _TEXTS else name_of(name)
            columns += [f"{label} AS v{place}", f"{text} AS t{place}"]
        with error_boundary():
            rows = frame.selectExpr(*columns)
        return SparkRanks(rows, roles.groups, request)

    def _kept(self, where: Condition | None) -> Any:  # noqa: ANN401 -- PySpark is optional
        """The frame without the rows that a filter drops; None if Spark cannot evaluate it."""
        condition = None if where is None else spark_condition(where, self._types)
        if condition is None:
            return None
        with error_boundary():
            return self._frame.where(condition)


def _chunks(rows: Iterator[Any]) -> Iterator[Sequence[Any]]:
    while True:
        with error_boundary():
            chunk = list(islice(rows, CHUNK_ROWS))
        if not chunk:
            return
        yield chunk


_SETTINGS = {
    "spark.app.name": "fedparity",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def open_spark(address: Address, relation: Relation) -> SparkTable:
    """Return a table, or the rows of a query, of the Spark at an address.

    ``sc://host:15002`` is a server of Spark Connect, ``spark://host:7077`` a standalone cluster, and
    the part after ``spark:///`` is any master that Spark knows: ``local[2]``, ``yarn``; if
    it is empty, the one that Spark's own settings name.

    Raises
    ------
    DatabaseError
        If Spark refuses the query, has no such table, or another session is active.
    DatabaseUnreachableError
        If it does not answer.
    MissingExtraError
        If PySpark, or Java, is not there.
    """
    module: Any = extra("pyspark.sql", "a Spark table", "spark")
    session, own = _session(module.SparkSession, address)
    try:
        with error_boundary(), _tidying():
            frame = session.sql(f"SELECT * FROM {relation.source}")  # noqa: S608 -- quoted, or checked
            table = SparkTable(frame, rescannable=relation.steady)
    except BaseException as error:
        if own:
            _stop(session)
        if isinstance(error, DatabaseNameError) and relation.table is not None:
            name = ".".join(relation.table)
            raise DatabaseNameError.no_table(name, PLACE, ()) from None
        raise
    if own:
        weakref.finalize(table, _stop, session)
    return table


def _session(kind: Any, address: Address) -> tuple[Any, bool]:  # noqa: ANN401 -- PySpark is optional
    """The session, and whether it was started here."""
    place = address.url.partition("://")[2]
    master = place[1:] if place.startswith("/") else address.url
    with error_boundary():
        active = kind.getActiveSession()
        if active is not None:
            if address.kind == "sc" or master not in ("", active.conf.get("spark.master", None)):
                raise DatabaseError(
                    "a Spark session is active already, and it is not that of the address.",
                    fix="pass a DataFrame of the active session, or stop it first.",
                )
            return active, False
        builder = kind.builder
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        if address.kind == "sc":
            builder = builder.remote(address.url)
        elif master:
            builder = builder.master(master)
        try:
            with _silence():
                return builder.getOrCreate(), True
        except ImportError:  # what Spark Connect needs beyond PySpark
            raise MissingExtraError(
                "an address that starts with sc:// needs Spark Connect, parts of which are not installed.",
                fix="pip install 'pyspark[connect]'",
            ) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Give what is started here, Java too, no terminal to write to: its log may hold values."""
    sys.stdout.flush()
    sys.stderr.flush()
    nowhere, kept = os.open(os.devnull, os.O_WRONLY), [os.dup(1), os.dup(2)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PySpark's opinion of the version of pandas
            for stream in (1, 2):
                os.dup2(nowhere, stream)
            yield
    finally:
        for stream, before in enumerate(kept, start=1):
            os.dup2(before, stream)
            os.close(before)
        os.close(nowhere)


@contextmanager
def _tidying() -> Iterator[None]:
    """Remove the empty folder that Spark makes wherever it runs its first query."""
    folder = Path("spark-warehouse")
    before = folder.exists()
    try:
        yield
    finally:
        if not before:
            with suppress(OSError):  # not there, or not empty
                folder.rmdir()


def _stop(session: Any) -> None:  # noqa: ANN401 -- PySpark is optional
    """End a session whose table is no longer read; a failure cannot be reported to anyone."""
    with suppress(Exception):
        session.stop()
