"""A file, a folder or a pattern of files, read by what their names end in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from fedparity.errors import TableError
from fedparity.errors.tables import shortened
from fedparity.sources.table import BlockTask, Selection, Table

__all__ = ["UnionTable", "path_table"]

_FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".arrows": "Arrow",
    ".ipc": "Arrow",
    ".feather": "Arrow",
}
_COMPRESSIONS = ".gz", ".zst"
_KNOWN = ".csv", ".csv.gz", ".csv.zst", ".tsv", ".parquet", ".arrow", ".feather"
_DELIMITERS = {"CSV": ",", "TSV": "\t"}


def path_table(data: str | os.PathLike[str]) -> Table:
    """Return the table of a file, of all files in a folder, or of all that match a pattern.

    Raises
    ------
    TableError
        If there is no such file, if one is of a format that is not known, or if they are of several
        formats.
    """
    path = Path(data)
    if "\n" in str(path):  # the text of a table, which no message may show
        raise TableError.unsupported("text of several lines")
    if _is_file(path):
        return _file_table(path)
    if path.is_dir():
        paths = _in_folder(path)
    elif has_magic(str(path)):
        paths = sorted(Path(name) for name in glob(str(path), recursive=True))  # noqa: PTH207 -- may start at the root
        paths = [found for found in paths if found.is_file()]
    else:
        raise TableError.not_found(path)
    if not paths:
        raise TableError.nothing_in(path, _KNOWN)
    formats = sorted({_format(found) for found in paths})
    if len(formats) > 1:
        raise TableError.mixed_formats(path, formats)
    return UnionTable(tuple(_file_table(found) for found in paths))


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


def _format(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    packed = bool(suffixes) and suffixes[-1] in _COMPRESSIONS
    format_name = _FORMATS.get(suffixes[-2 if packed else -1] if suffixes[packed:] else "")
    if format_name is None or (packed and format_name not in _DELIMITERS):
        raise TableError.unknown_format(path, _KNOWN)
    return format_name


def _file_table(path: Path) -> Table:
    format_name = _format(path)
    if format_name == "Parquet":
        from fedparity.sources.parquet import ParquetTable  # noqa: PLC0415 -- only where needed

        return ParquetTable(path)
    if format_name == "Arrow":
        from fedparity.sources.arrow_files import ArrowFileTable  # noqa: PLC0415

        return ArrowFileTable(path)
    if find_spec("polars") is None:
        from fedparity.sources.plain_csv import PlainCsvTable  # noqa: PLC0415

        return PlainCsvTable(path, _DELIMITERS[format_name])
    from fedparity.sources.delimited import DelimitedTable  # noqa: PLC0415

    return DelimitedTable(path, _DELIMITERS[format_name])
