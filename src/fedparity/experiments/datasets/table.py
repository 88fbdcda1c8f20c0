"""A file of records read as a whole: columns of texts or numbers, and the digest of its bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import TableError
from fedparity.laws.arrays import FloatArray

__all__ = ["Table", "read_csv", "read_file"]

_LARGEST = 1 << 26
"""Bytes; the files are a few million long."""


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, all of one length."""

    file: str
    sha256: str
    columns: dict[str, npt.NDArray[Any]]

    def __len__(self) -> int:
        return next(iter(self.columns.values())).size

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self.columns:
            raise TableError.missing_column(name, list(self.columns), what=repr(self.file))
        return self.columns[name]

    def numbers(self, name: str) -> FloatArray:
        """Return a column as finite numbers."""
        try:
            values = self[name].astype(np.float64)
        except ValueError:
            values = np.array([np.nan])
        if not np.isfinite(values).all():
            raise TableError(
                f"column {name!r} of {self.file!r} must hold numbers only.",
                fix="run `fedparity datasets check`: the file may not be the one it should be.",
            )
        return values

    def rows(self, kept: npt.NDArray[np.bool_]) -> Table:
        """Return the table of some of its rows."""
        columns = {name: column[kept] for name, column in self.columns.items()}
        return Table(self.file, self.sha256, columns)


def read_file(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a file and their digest."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as problem:
        raise TableError.unreadable(path, (problem.strerror or "error").lower()) from None
    if len(content) > _LARGEST:
        raise TableError(
            f"{str(path)!r} is far larger than the file it should be.",
            fix="run `fedparity datasets fetch` into another folder, and name that with --data.",
        )
    return content, sha256(content).hexdigest()


def read_csv(path: Path, *, wanted: Collection[str], header: Sequence[str] | None = None) -> Table:
    """Return the ``wanted`` columns of a CSV file: every row whole, or an error.

    Parameters
    ----------
    path : path
    wanted : names of columns
        A name that the header has twice, as COMPAS does, must hold the same twice.
    header : sequence of str, optional
        The names of all columns, for a file that does not say them.

    Raises
    ------
    TableError
        If the file cannot be read, is not UTF-8, lacks a column, or a row of it a field.
    """
    content, digest = read_file(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TableError.encoding(path) from None
    lines = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    try:
        rows = [row for row in lines if row]
    except csv.Error:
        raise TableError.malformed(path, len(header or ())) from None
    names = list(header) if header is not None else (rows.pop(0) if rows else [])
    if not rows:
        raise TableError.empty(repr(str(path)))
    if any(len(row) != len(names) for row in rows):
        raise TableError.malformed(path, len(names))
    columns = {name: _column(path, name, names, rows) for name in wanted}
    return Table(path.name, digest, columns)


def _column(
    path: Path, wanted: str, names: Sequence[str], rows: Iterable[Sequence[str]]
) -> npt.NDArray[Any]:
    places = [place for place, name in enumerate(names) if name == wanted]
    if not places:
        raise TableError.missing_column(wanted, names, what=repr(path.name))
    first, *others = (np.array([row[place] for row in rows]) for place in places)
    if any((other != first).any() for other in others):
        raise TableError.duplicate_column(wanted, repr(path.name))
    return first
