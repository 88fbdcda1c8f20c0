"""Open any table as records: the one entry to this layer."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fedparity.errors import DatabaseError, LabelError, OptionError, TableError
from fedparity.laws.labels import Group
from fedparity.tables.databases import DatabaseTable, is_address
from fedparity.tables.file_tables import FileTable, UnionTable, path_table
from fedparity.tables.groups import Discovery, Listing, Scheme
from fedparity.tables.reader import Missing, Roles, TableRecords
from fedparity.tables.table import (
    BatchesTable,
    Condition,
    Table,
    mapping_table,
    stream_table,
    structured_table,
)

__all__ = ["is_spark_frame", "open_records", "open_table"]


def open_records(
    data: object,
    *,
    score: str | None,
    group: str | Sequence[str] | None,
    groups: Sequence[Group] | None,
    weight: str | None = None,
    where: str | None = None,
    mapping: Mapping[str, str] | None = None,
    missing: Missing = "refuse",
    other: str | None = None,
) -> TableRecords:
    """Return the records of a table, wherever it is.

    Nothing but names and sizes is read before the records are.

    Parameters
    ----------
    data : path, frame, dict of arrays, or iterator of these
        A file (CSV, TSV, Excel, Parquet, Arrow), a folder or pattern of files, a file that is written in another
        way (:class:`fedparity.FileTable`), a dict of arrays, an array with named fields, a frame of pandas, polars, Arrow, Dask, Ibis or PySpark, a table of a database
        (:class:`fedparity.DatabaseTable`), anything that exports an Arrow stream, or an iterator of
        any of these, which is read once.
    score, group : str
        Names of columns; several for ``group`` make intersections, whose labels are tuples. If
        None, the columns named ``score`` and ``group``.
    groups : sequence of labels, or None
        The groups of the plan; labels are compared by their text. None discovers them: a label
        gets its code when it is first seen, and ``records.groups`` is complete (as texts, in no
        particular order) once all batches have been read.
    weight : str, optional
        Name of a column of weights.
    where : str, optional
        A SQL condition on the columns of a row; the others are left out.
    mapping : mapping of str to str, optional
        Texts of labels that stand for another, ``""`` for a missing one.
    missing : {"refuse", "drop"}
        What to do about rows without a score.
    other : str, optional
        The group that takes every label that is not a group of the plan.

    Raises
    ------
    TableError
        If the table cannot be read, lacks a column, or its filter is invalid.
    LabelError
        If the groups, the mapping and the columns do not fit together.
    MissingExtraError
        If a package that the table or the filter needs is not installed.

    Examples
    --------
    >>> table = {"risk": [0.1, 0.7, 0.4], "sex": ["f", "m", "f"]}
    >>> records = open_records(table, score="risk", group="sex", groups=("f", "m"))
    >>> [task().codes.tolist() for task in records.batches()]
    [[0, 1, 0]]
    """
    if missing not in ("refuse", "drop"):
        raise OptionError.unknown("missing", missing, ("refuse", "drop"))
    table = open_table(data)
    roles = Roles(
        score=_named(score, "score", table),
        groups=_group_columns(group, table),
        weight=weight,
        where=None if where is None else Condition(where),
        missing=missing,
    )
    _refuse_two_roles(roles)
    table.require(roles.selection.columns)
    return TableRecords(table, roles, _scheme(groups, roles, mapping, other))


def open_table(data: object) -> Table:
    """Return the table of a path, frame, dict of arrays, stream, or iterator of these.

    Raises
    ------
    TableError
        If it is none of these, or a file cannot be opened.

    Examples
    --------
    >>> open_table({"risk": [0.1, 0.7], "sex": ["f", "m"]}).columns
    ('risk', 'sex')
    """
    if isinstance(data, DatabaseTable | FileTable):
        return data.open()
    if isinstance(data, str | os.PathLike):
        if isinstance(data, str) and is_address(data):
            raise DatabaseError.table_or_query()
        return path_table(data)
    if isinstance(data, io.IOBase):  # an iterator of lines, which must not be taken for names
        raise TableError.unsupported("an open file")
    table = _plain_table(data) or _query_table(data)
    if table is None:
        from fedparity.tables.frames import frame_table  # noqa: PLC0415 -- not for files

        table = frame_table(data)
    if table is None and hasattr(data, "__arrow_c_stream__"):
        table = stream_table(data)
    if table is None and isinstance(data, Iterator):
        table = BatchesTable(data, open_table)
    if table is None:
        raise TableError.unsupported(type(data).__name__)
    return table


def _plain_table(data: object) -> Table | None:
    """The table of Python's and NumPy's own objects."""
    if isinstance(data, Mapping):
        return mapping_table(data)
    if isinstance(data, np.ndarray):
        return structured_table(data)
    if isinstance(data, list | tuple) and data:
        return UnionTable(tuple(open_table(part) for part in data))
    return None


def _query_table(data: object) -> Table | None:
    """The table of what runs when it is read; before narwhals, which would collect it whole.

    Objects of Spark, Dask and Ibis are recognized by name, so that none of them is imported.
    """
    if is_spark_frame(data):
        from fedparity.tables.spark.spark_table import SparkTable  # noqa: PLC0415 -- optional

        return SparkTable(data)
    kind = type(data)
    if kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0].startswith("dask"):
        from fedparity.tables.frames import DaskTable  # noqa: PLC0415 -- optional

        return DaskTable(data)
    if kind.__module__.startswith("ibis.") and hasattr(data, "to_pyarrow_batches"):
        from fedparity.tables.frames import IbisTable  # noqa: PLC0415 -- optional

        return IbisTable(data)
    return None


def is_spark_frame(data: object) -> bool:
    """Return whether this is a PySpark frame, without importing PySpark."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")
        for kind in type(data).__mro__
    )


def _named(name: str | None, role: str, table: Table) -> str:
    if name is not None:
        return name
    if role in table.columns:
        return role
    raise TableError.column_needed(role, table.columns)


def _group_columns(group: str | Sequence[str] | None, table: Table) -> tuple[str, ...]:
    if group is None or isinstance(group, str):
        return (_named(group, "group", table),)
    return tuple(group) or (_named(None, "group", table),)


def _refuse_two_roles(roles: Roles) -> None:
    names = [roles.score, *roles.groups, *([] if roles.weight is None else [roles.weight])]
    for name in names:
        if names.count(name) > 1:
            raise TableError.used_twice(name)


def _scheme(
    groups: Sequence[Group] | None,
    roles: Roles,
    mapping: Mapping[str, str] | None,
    other: str | None,
) -> Scheme:
    if groups is not None:
        return Listing(groups, roles.groups, mapping=mapping, other=other)
    if other is not None:
        raise LabelError(
            f"the group {other!r} cannot take all other labels where no group is listed.",
            fix="list the groups in a plan, or leave --other out.",
        )
    return Discovery(roles.groups, mapping=mapping)
