"""CSV and TSV files, parsed by the standard library where polars is not installed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedparity.errors import TableError
from fedparity.sources.columns import Block, Column
from fedparity.sources.csv_bytes import CsvFile
from fedparity.sources.delimited import delimiter_hint
from fedparity.sources.numpy_column import NumpyColumn
from fedparity.sources.table import BlockTask, Selection, require_columns

__all__ = ["PlainCsvTable"]

_ROWS = 1 << 16
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE
)
"""What polars and Arrow read as a number, without the spaces around it; float() would also read 1_000."""


class PlainCsvTable:
    """A CSV file, plain or compressed, read row by row; slower than polars, with the same outcome."""

    rows = None
    rescannable = True

    def __init__(self, path: Path, delimiter: str) -> None:
        self._file = CsvFile.of(path, delimiter)
        self.columns: Sequence[str] = self._file.names

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        hint = delimiter_hint(self._file)
        require_columns(names, self.columns, what=str(self._file.path), hint=hint)

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        for rows in self._rows():
            yield _Parse(self._file, selection, rows)

    def _rows(self) -> Iterator[list[list[str]]]:
        """Rows of fields, some thousand at a time."""
        width = len(self._file.names)
        rows: list[list[str]] = []
        for pieces in self._file.blocks():
            try:
                text = io.StringIO(b"".join(pieces).decode("utf-8"), newline="")
                for row in csv.reader(text, delimiter=self._file.delimiter, strict=True):
                    if not row:
                        continue
                    if len(row) != width:
                        raise TableError.malformed(self._file.path, width)
                    rows.append(row)
                    if len(rows) == _ROWS:
                        yield rows
                        rows = []
            except UnicodeDecodeError:
                raise TableError.encoding(self._file.path) from None
            except csv.Error:
                raise TableError.malformed(self._file.path, width) from None
        if rows:
            yield rows


@dataclass(frozen=True, slots=True)
class _Parse:
    """The task that makes columns of rows of fields."""

    file: CsvFile
    selection: Selection
    rows: list[list[str]]

    def __call__(self) -> Block:
        columns: dict[str, Column] = {}
        for name in self.selection.columns:
            position = self.file.names.index(name)
            fields = [row[position] for row in self.rows]
            if self._is_number(name):
                columns[name] = self._numbers(name, [field.strip(" \t") for field in fields])
            else:
                columns[name] = _texts(fields)
        return Block(len(self.rows), columns)

    def _is_number(self, name: str) -> bool:
        return name in self.selection.numbers

    def _numbers(self, name: str, fields: list[str]) -> NumpyColumn:
        wrong = sum(1 for field in fields if field and not _NUMBER.fullmatch(field))
        if wrong:
            raise TableError.unparsable(name, wrong, self.file.path)
        values = np.fromiter((float(field or "nan") for field in fields), np.float64, len(fields))
        empty = np.fromiter((not field for field in fields), np.bool_, len(fields))
        return NumpyColumn(np.ma.masked_array(values, empty) if empty.any() else values)


def _texts(fields: list[str]) -> NumpyColumn:
    return NumpyColumn(np.array(fields, dtype=object))
