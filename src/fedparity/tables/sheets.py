"""Sheets of Excel workbooks, read by calamine: one row after the other, numbers as they are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedparity.errors import TableError
from fedparity.errors.base import extra, listed
from fedparity.errors.inputs import nearest
from fedparity.laws.law import BoolArray
from fedparity.tables.columns import Block, Column, NumpyColumn
from fedparity.tables.row_faults import CheckedBlock, FaultLog, FaultyRows
from fedparity.tables.table import BlockTask, FileState, Selection, require_columns

__all__ = ["SheetTable"]

_ROWS = 1 << 16


class SheetTable:
    """A sheet of a workbook, with the names of columns in its first row that is not empty.

    A workbook is opened whole, as its format demands; it holds at most 1,048,576 rows.

    Raises
    ------
    TableError
        If it is not a workbook, or has no such sheet.
    """

    rows = None
    rescannable = True

    def __init__(self, path: Path, sheet: str | None, na: tuple[str, ...]) -> None:
        self._state, self._na = FileState.from_path(path), frozenset(na)
        with self._reading() as library:
            book = library.load_workbook(str(path))
            names = list(book.sheet_names)
        if sheet is not None and sheet not in names:
            near = nearest(sheet, names)
            raise TableError(
                f"{str(path)!r} has no sheet {sheet!r}; it has {listed(names)}.",
                fix=f"did you mean --sheet {near[0]!r}?" if near else "name one of them.",
            )
        if not names:
            raise TableError.empty(str(path))
        self._others = names[1:] if sheet is None else []
        with self._reading():
            self._sheet: Any = book.get_sheet_by_name(names[0] if sheet is None else sheet)
        header = next(self._filled(), None)
        if header is None:
            raise TableError(
                f"{self._what} has no row.", fix=self._hint or "give at least one record."
            )
        self.columns: Sequence[str] = tuple(_name(value) for value in header[1])

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        wanted = tuple(names)
        guessed = any(nearest(name, self.columns) for name in wanted)
        hint = "" if guessed else self._hint
        require_columns(wanted, self.columns, what=self._what, hint=hint)

    @property
    def _what(self) -> str:
        path = str(self._state.path)
        return f"the first sheet of {path}" if self._others else path

    @property
    def _hint(self) -> str:
        """What to do if the first sheet is not the one that was meant."""
        if not self._others:
            return ""
        return (
            f"name the sheet to read, such as --sheet {self._others[0]!r} (in Python, "
            f"fedparity.FileTable(path, sheet={self._others[0]!r}))."
        )

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        for rows in self._chunks():
            yield _Cells(self, selection, rows)

    def checked(self, selection: Selection, log: FaultLog) -> Iterator[CheckedBlock]:
        """Yield all rows with their numbers in the sheet; cells that are not numbers are logged."""
        log.place = "row"
        for rows in self._chunks():
            block, unparsed = self.block(selection, rows)
            places = np.array([place for place, _ in rows], np.int64)
            for name, wrong in unparsed.items():
                found = log.numbers.setdefault(name, FaultyRows())
                found.add(int(np.count_nonzero(wrong)), places[wrong].tolist())
            yield CheckedBlock(block, places, unparsed)

    def block(
        self, selection: Selection, rows: Sequence[tuple[int, list[Any]]]
    ) -> tuple[Block, dict[str, BoolArray]]:
        """Return the columns of some rows, and which cells are not numbers; those are missing."""
        columns, unparsed = dict[str, Column](), dict[str, BoolArray]()
        for name in selection.columns:
            place = self.columns.index(name)
            cells = [self._cell(row[place] if place < len(row) else None) for _, row in rows]
            if name in selection.numbers:
                wrong = np.fromiter(
                    (isinstance(cell, str) for cell in cells), np.bool_, len(cells)
                )
                if wrong.any():
                    unparsed[name] = wrong
                    cells = [None if isinstance(cell, str) else cell for cell in cells]
            values = np.empty(len(cells), dtype=object)
            values[:] = cells
            columns[name] = NumpyColumn(values)
        return Block(len(rows), columns), unparsed

    @property
    def path(self) -> Path:
        """Where the workbook is."""
        return self._state.path

    def _cell(self, value: object) -> object:
        """A number, a text or None; an error of a formula and a mark of a missing value are None."""
        if value is None or value == "" or (isinstance(value, str) and value in self._na):
            return None
        return value if isinstance(value, bool | int | float | str) else str(value)

    def _chunks(self) -> Iterator[list[tuple[int, list[Any]]]]:
        """Rows below the header, some thousand at a time."""
        filled = self._filled()
        next(filled, None)
        rows: list[tuple[int, list[Any]]] = []
        for row in filled:
            rows.append(row)
            if len(rows) == _ROWS:
                yield rows
                rows = []
        if rows:
            yield rows

    def _filled(self) -> Iterator[tuple[int, list[Any]]]:
        """Rows that are not empty, with their numbers in the sheet."""
        first = 1 if self._sheet.start is None else int(self._sheet.start[0]) + 1
        for place, row in enumerate(self._sheet.iter_rows(), start=first):
            if any(value not in ("", None) for value in row):
                yield place, row

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        library = extra("python_calamine", "a workbook of Excel", "excel")
        with self._state.reading("Excel", library.CalamineError, OSError):
            yield library


def _name(value: object) -> str:
    """The name of a column: 2026 and not 2026.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@dataclass(frozen=True, slots=True)
class _Cells:
    """The task that makes columns of rows of cells."""

    table: SheetTable
    selection: Selection
    rows: list[tuple[int, list[Any]]]

    def __call__(self) -> Block:
        block, unparsed = self.table.block(self.selection, self.rows)
        for name in unparsed:
            raise TableError.unparsable(name, self.table.path)
        return block
