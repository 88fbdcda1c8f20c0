"""Files that hold a table: which format, how they are written, and all files of a folder or pattern."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from glob import glob, has_magic
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from fedparity.errors import OptionError, TableError
from fedparity.errors.base import listed
from fedparity.errors.table_errors import shortened
from fedparity.tables.csv_bytes import TextFormat
from fedparity.tables.table import BlockTask, Selection, SkippingTable, Table

__all__ = ["STANDARD_INPUT", "FileTable", "UnionTable", "path_table"]

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
class FileTable:
    r"""A file, and how it is written where that does not follow from its name.

    Parameters
    ----------
    path : path
        A file, a folder or a pattern of files; ``"-"`` for delimited text on the standard input.
    delimiter : str, optional
        What stands between two fields: one character, or ``"tab"``. A comma if None, a tab in a ``.tsv`` file. A file
        whose ending is not known is delimited text if this is given.
    decimal : {".", ","}
        What stands before the decimals of a number.
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
        """Whether it is no file, but what comes on the standard input."""
        return self.path == STANDARD_INPUT

    def open(self) -> Table:
        """Open the file, and return the table that is read.

        Raises
        ------
        TableError
            If there is no such file, or it cannot be read.
        """
        return path_table(self)


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
    """All files below a folder, without those that writers hide beside the data."""
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
