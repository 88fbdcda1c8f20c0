"""Spark frames: ranked inside Spark where that is possible, else read partition by partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from fedparity.errors import TableError
from fedparity.sketches.selection.asked import Asked
from fedparity.sources.ranking import RanksTable
from fedparity.sources.spark.conditions import spark_condition
from fedparity.sources.spark.failures import telling
from fedparity.sources.spark.literals import name_of
from fedparity.sources.spark.ranks import SparkRanks
from fedparity.sources.sql.sessions import CHUNK_ROWS, row_blocks
from fedparity.sources.table import BlockTask, Selection, require_columns
from fedparity.sources.where import Condition

if TYPE_CHECKING:
    from fedparity.sources.reader import Roles

__all__ = ["SparkTable", "is_spark_frame"]

_SCORES = frozenset(("boolean", "byte", "short", "integer", "long", "float", "double", "decimal"))
_LABELS = _SCORES | {"string", "char", "varchar"}
_TEXTS = frozenset(("string", "char", "varchar"))


def is_spark_frame(data: object) -> bool:
    """Return whether this is a PySpark frame, without importing PySpark."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")
        for kind in type(data).__mro__
    )


class SparkTable:
    """The rows of a Spark frame.

    Raises
    ------
    TableError
        If the frame is a stream, which has no end.
    """

    rows = None

    def __init__(self, frame: Any, *, rescannable: bool = True) -> None:  # noqa: ANN401 -- optional
        with telling():
            fields, streams = list(frame.schema.fields), frame.isStreaming
        if streams:
            raise TableError.endless("the Spark frame")
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
        kept = self._kept(selection.where)
        frame = self._frame if kept is None else kept
        with telling():
            rows = frame.select(*map(name_of, names)).toLocalIterator()
        yield from row_blocks(_chunks(rows), names)

    def ranks(self, roles: Roles, asked: Asked) -> RanksTable | None:
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
        with telling():
            rows = frame.selectExpr(*columns)
        return SparkRanks(rows, roles.groups, asked)

    def _kept(self, where: Condition | None) -> Any:  # noqa: ANN401 -- PySpark is optional
        """The frame without the rows that a filter drops; None if Spark cannot tell."""
        condition = None if where is None else spark_condition(where, self._types)
        if condition is None:
            return None
        with telling():
            return self._frame.where(condition)


def _chunks(rows: Iterator[Any]) -> Iterator[Sequence[Any]]:
    while True:
        with telling():
            chunk = list(islice(rows, CHUNK_ROWS))
        if not chunk:
            return
        yield chunk
