"""Spark by its address: a session that is started, or joined, to read one table."""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fedparity.errors import DatabaseError, DatabaseNameError, MissingExtraError
from fedparity.sources.extras import extra
from fedparity.sources.spark.failures import PLACE, telling
from fedparity.sources.spark.table import SparkTable
from fedparity.sources.sql.addresses import Address
from fedparity.sources.sql.relations import Relation

__all__ = ["open_spark"]

_SETTINGS = {
    "spark.app.name": "fedparity",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def open_spark(address: Address, relation: Relation) -> SparkTable:
    """Return a table, or the rows of a query, of the Spark at an address.

    ``sc://host:15002`` is a server of Spark Connect, ``spark://host:7077`` a standalone cluster, and
    what stands after ``spark:///`` is any master that Spark knows: ``local[2]``, ``yarn``; if
    nothing stands there, the one that Spark's own settings name.

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
        with telling(), _tidying():
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
    with telling():
        active = kind.getActiveSession()
        if active is not None:
            if address.kind == "sc" or master not in ("", active.conf.get("spark.master", None)):
                raise DatabaseError.other_session()
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
            raise MissingExtraError.without_connect() from None


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
    """Remove the empty folder that Spark makes wherever it is first asked something."""
    folder = Path("spark-warehouse")
    before = folder.exists()
    try:
        yield
    finally:
        if not before:
            with suppress(OSError):  # not there, or not empty
                folder.rmdir()


def _stop(session: Any) -> None:  # noqa: ANN401 -- PySpark is optional
    """End a session whose table nobody reads any more; there is nobody to tell if that fails."""
    with suppress(Exception):
        session.stop()
