"""Open any table as records: the one entry to this layer; files, folders and patterns of files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from glob import glob, has_magic
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from fedparity.documents.files import is_address
from fedparity.documents.plan import Plan
from fedparity.errors import DatabaseError, LabelError, OptionError, TableError
from fedparity.errors.base import listed
from fedparity.errors.inputs import shortened
from fedparity.laws.labels import Group
from fedparity.tables.csv_bytes import TextFormat
from fedparity.tables.groups import Discovery, Listing, Scheme
from fedparity.tables.table import (
    BlockTask,
    Missing,
    Roles,
    Selection,
    SkippingTable,
    Table,
    TableRecords,
    UnopenedTable,
)
from fedparity.tables.where import Condition

__all__ = [
    "STANDARD_INPUT",
    "FileTable",
    "UnionTable",
    "file_source",
    "in_columns",
    "is_spark_frame",
    "label_columns",
    "open_records",
    "open_table",
    "path_table",
    "planned_records",
    "table_names",
]

_FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".arrows": "Arrow",
    ".ipc": "Arrow",
    ".feather": "Arrow",
    ".xlsx": "Excel",
    ".xlsm": "Excel",
}
_COMPRESSIONS = ".gz", ".zst"
_KNOWN = ".csv", ".csv.gz", ".csv.zst", ".tsv", ".xlsx", ".parquet", ".arrow", ".feather"
_DELIMITERS = {"CSV": ",", "TSV": "\t"}
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class FileTable(UnopenedTable):
    r"""A file, and how it is written where that does not follow from its name.

    Parameters
    ----------
    path : path
        A file, a folder or a pattern of files; ``"-"`` for delimited text on the standard input.
    delimiter : str, optional
        The delimiter between two fields: one character, or ``"tab"``. A comma if None, a tab in a ``.tsv`` file. A file
        whose ending is not known is delimited text if this is given.
    decimal : {".", ","}
        The decimal mark of numbers.
    encoding : str, optional
        UTF-8, with or without a byte order mark, if None; ``"utf-16"``, ``"cp1252"``, ``"latin-1"``, or another one of
        Python's.
    na : sequence of str
        Fields that mean that nothing is there, besides empty ones, such as ``"NA"``.
    sheet : str, optional
        The sheet of a workbook; the first if None.

    Raises
    ------
    OptionError
        If one of them is not valid, or does not go with the format of the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "visits.csv"
    >>> _ = path.write_text("Risiko;Geschlecht\n0,25;Frau\n", encoding="utf-16")
    >>> FileTable(path, delimiter=";", decimal=",", encoding="utf-16").open().columns
    ('Risiko', 'Geschlecht')
    """

    path: str | os.PathLike[str]
    _: KW_ONLY
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    na: Sequence[str] = ()
    sheet: str | None = None

    def __post_init__(self) -> None:
        na = (self.na,) if isinstance(self.na, str) else tuple(self.na)
        object.__setattr__(self, "na", na)
        TextFormat(self.delimiter or ",", self.decimal, self.encoding, na)  # which raises

    @property
    def is_standard_input(self) -> bool:
        """Whether it is the standard input instead of a file."""
        return self.path == STANDARD_INPUT

    @property
    def names(self) -> tuple[str, ...]:
        """The absolute paths of its files, links followed; none of the standard input."""
        return () if self.is_standard_input else table_names(self.path)

    def open(self) -> Table:
        """Open the file, and return the table that is read.

        Raises
        ------
        TableError
            If there is no such file, or it cannot be read.
        """
        return path_table(self)


def table_names(data: object) -> tuple[str, ...]:
    """Return the names by which a policy knows what is read; none for records in memory.

    The absolute paths of files, links followed; or a database without its password, and its table.
    """
    if isinstance(data, UnopenedTable):
        return data.names
    if not isinstance(data, str | os.PathLike):
        return ()
    path = Path(data)
    if has_magic(str(path)) and not path.exists():
        found = sorted(glob(str(path), recursive=True))  # noqa: PTH207 -- may start at the root
        return tuple(os.path.realpath(name) for name in found)
    return (os.path.realpath(path),)


def file_source(path: str, **written: Any) -> str | FileTable:  # noqa: ANN401 -- as FileTable takes them
    """Return a path; or a :class:`FileTable`, if the file is written in another way than its name says."""
    plain, file = FileTable(path), FileTable(path, **written)
    return path if file == plain and not plain.is_standard_input else file


def path_table(data: str | os.PathLike[str] | FileTable) -> Table:
    """Return the table of a file, of all files in a folder, or of all that match a pattern.

    Raises
    ------
    TableError
        If there is no such file, if one is of a format that is not known, or if they are of several
        formats.
    """
    file = data if isinstance(data, FileTable) else FileTable(data)
    if file.is_standard_input:
        return _opened_as(file, "CSV", None)
    path = Path(file.path)
    if "\n" in str(path):  # the text of a table, which no message may show
        raise TableError.unsupported("text of several lines")
    if _is_file(path):
        return _file_table(path, file)
    if path.is_dir():
        paths = _in_folder(path)
    elif has_magic(str(path)):
        paths = sorted(Path(name) for name in glob(str(path), recursive=True))  # noqa: PTH207 -- may start at the root
        paths = [found for found in paths if found.is_file()]
    else:
        raise TableError.not_found(path)
    if not paths:
        raise TableError(
            f"{str(path)!r} holds no file that can be read.",
            fix=f"give files that end in {', '.join(_KNOWN)}.",
        )
    formats = sorted({_format(found, file) for found in paths})
    if len(formats) > 1:
        raise TableError(
            f"{str(path)!r} holds files of several formats: {listed(formats)}.",
            fix="name the files of one format, for example with a pattern such as 'data/*.parquet'.",
        )
    return UnionTable(tuple(_file_table(found, file) for found in paths))


@dataclass(frozen=True, eq=False)
class UnionTable:
    """Several tables, one after the other."""

    parts: tuple[Table, ...]

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self.parts[0].columns

    @property
    def rows(self) -> int | None:
        """Its number of rows, where it is known."""
        counts = [part.rows for part in self.parts]
        return None if None in counts else sum(count or 0 for count in counts)

    @property
    def rescannable(self) -> bool:
        """Whether it can be scanned again."""
        return all(part.rescannable for part in self.parts)

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        wanted = tuple(names)
        for part in self.parts:
            part.require(wanted)

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        return chain.from_iterable(part.scan(selection) for part in self.parts)

    def skipped(self, selection: Selection) -> int:
        """Return how many rows a scan does not read."""
        parts = (part for part in self.parts if isinstance(part, SkippingTable))
        return sum(part.skipped(selection) for part in parts)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a name that is too long
        raise TableError.unreadable(shortened(str(path)), str(error.strerror).lower()) from None


def _in_folder(folder: Path) -> list[Path]:
    """All files below a folder, without the hidden files that writers add to the data."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(
        path
        for path in found
        if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )


def _format(path: Path, file: FileTable) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    packed = bool(suffixes) and suffixes[-1] in _COMPRESSIONS
    format_name = _FORMATS.get(suffixes[-2 if packed else -1] if suffixes[packed:] else "")
    if format_name is None and (packed or file.delimiter is not None):
        return "CSV"  # patients.gz, or an export of any name whose delimiter was given
    if format_name is None or (packed and format_name not in _DELIMITERS):
        raise TableError(
            f"the format of {str(path)!r} is not known by its ending.",
            fix=f"give a file that ends in {', '.join(_KNOWN)}; for delimited text of another ending, "
            "pass --delimiter.",
        )
    return format_name


def _file_table(path: Path, file: FileTable) -> Table:
    return _opened_as(file, _format(path, file), path)


def _opened_as(file: FileTable, format_name: str, path: Path | None) -> Table:
    _refuse_other_options(file, format_name)
    if format_name == "Parquet" and path is not None:
        from fedparity.tables.columnar_files import ParquetTable  # noqa: PLC0415 -- only where needed

        return ParquetTable(path)
    if format_name == "Arrow" and path is not None:
        from fedparity.tables.columnar_files import ArrowFileTable  # noqa: PLC0415

        return ArrowFileTable(path)
    if format_name == "Excel" and path is not None:
        from fedparity.tables.sheets import SheetTable  # noqa: PLC0415

        return SheetTable(path, file.sheet, tuple(file.na))
    delimiter = file.delimiter or _DELIMITERS[format_name]
    text_format = TextFormat(delimiter, file.decimal, file.encoding, tuple(file.na))
    if find_spec("polars") is None:
        from fedparity.tables.csv_files import PlainCsvTable  # noqa: PLC0415

        return PlainCsvTable(path, text_format)
    from fedparity.tables.csv_files import DelimitedTable  # noqa: PLC0415

    return DelimitedTable(path, text_format)


_USED = {"Excel": ("sheet", "na")} | dict.fromkeys(
    _DELIMITERS, ("delimiter", "decimal", "encoding", "na")
)
"""The options that a format has a use for."""


def _refuse_other_options(file: FileTable, format_name: str) -> None:
    for each in fields(FileTable)[1:]:
        if getattr(file, each.name) == each.default or each.name in _USED.get(format_name, ()):
            continue
        goes = (
            "a workbook (.xlsx)" if each.name == "sheet" else "delimited text, such as a CSV file"
        )
        raise OptionError(
            f"--{each.name} goes with {goes}, and the data are of the format {format_name}.",
            fix=f"leave out --{each.name} ({each.name}=).",
        )


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
        Texts of labels that are read as another one; the key ``""`` is a missing label.
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
    if isinstance(data, UnopenedTable):
        return data.open()
    if isinstance(data, str | os.PathLike):
        if isinstance(data, str) and is_address(data):
            raise DatabaseError.table_or_query()
        return path_table(data)
    if isinstance(data, io.IOBase):  # an iterator of lines, which must not be taken for names
        raise TableError.unsupported("an open file")
    if isinstance(data, list | tuple) and data:
        return UnionTable(tuple(open_table(part) for part in data))
    if is_spark_frame(data):
        from fedparity.tables.spark.spark_table import SparkTable  # noqa: PLC0415 -- optional

        return SparkTable(data)
    from fedparity.tables.frames import memory_table  # noqa: PLC0415 -- not for files

    table = memory_table(data, open_table)
    if table is None:
        raise TableError.unsupported(type(data).__name__)
    return table


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


def label_columns(
    plan: Plan,
    *,
    group: str | Sequence[str] | None = None,
    axes: Mapping[str, str] | None = None,
    outcome: str | None = None,
) -> str | Sequence[str] | None:
    """Return the columns whose labels distinguish the records of a plan: groups or axes, then the outcome.

    An axis whose column is not named is the column of its own name, and so is the outcome.

    Raises
    ------
    OptionError
        If columns are named that the plan does not request.

    Examples
    --------
    >>> plan = Plan(title="Q4", axes={"sex": ["F", "M"], "race": ["A", "B"]}, score_range=(0, 1))
    >>> label_columns(plan, axes={"sex": "gender"})
    ['gender', 'race']
    """
    named = dict(axes or {})
    unknown = [name for name in named if name not in plan.axes]
    if unknown:
        raise OptionError(
            f"the plan has no axis {unknown[0]!r}.",
            fix=f"name one of {', '.join(plan.axes)}."
            if plan.axes
            else "name the column as group.",
        )
    if plan.axes and group is not None:
        raise OptionError(
            "the plan has axes, so its columns are not named as group.",
            fix="name a column for each: --axis "
            + " --axis ".join(f"{n}=COLUMN" for n in plan.axes),
        )
    if outcome is not None and plan.outcome is None:
        raise OptionError(
            "the plan requests no outcome, so its column is not read.",
            fix="leave the outcome out, or add [outcome] to the plan.",
        )
    columns = [named.get(name, name) for name in plan.axes] if plan.axes else group
    if plan.outcome is None:
        return columns
    groups = ["group"] if columns is None else [columns] if isinstance(columns, str) else columns
    return [*groups, outcome or "outcome"]


def in_columns(plan: Plan, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a table is read under a plan: axes and the outcome become columns of its labels.

    Examples
    --------
    >>> plan = Plan(title="Q4", axes={"sex": ["F", "M"], "race": ["A", "B"]}, score_range=(0, 1))
    >>> in_columns(plan, {"score": "z", "axes": {"sex": "gender"}})
    {'score': 'z', 'group': ['gender', 'race']}
    """
    columns = dict(reading)
    named = {name: columns.pop(name, None) for name in ("group", "axes", "outcome")}
    return {**columns, "group": label_columns(plan, **named)}


def planned_records(data: object, plan: Plan, **reading: Any) -> TableRecords:  # noqa: ANN401 -- as open_records takes them
    """Return the records of a table in the groups of a plan; they are not read yet."""
    columns = in_columns(plan, {"score": None, **reading})
    return open_records(data, groups=plan.record_labels, **columns)
