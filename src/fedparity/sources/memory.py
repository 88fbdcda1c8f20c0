"""Tables in memory: columns that are read where they are, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fedparity.errors import TableError
from fedparity.sources.columns import BLOCK_ROWS, Block, Column
from fedparity.sources.table import BlockTask, Selection, require_columns

__all__ = ["MemoryTable", "blocks_of"]


@dataclass(frozen=True, eq=False)
class MemoryTable:
    """Columns by name, made only when they are asked for."""

    columns: Sequence[str]
    column: Callable[[str], Column]
    """Gives a column by its name."""
    rows: int
    rescannable: bool = True

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        require_columns(names, self.columns, what="the table")

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        yield from blocks_of({name: self.column(name) for name in selection.columns})


def blocks_of(columns: Mapping[str, Column]) -> Iterator[BlockTask]:
    """Yield tasks that read slices of columns.

    Raises
    ------
    TableError
        If the columns do not have the same length.
    """
    first = next(iter(columns))
    length = len(columns[first])
    for name, column in columns.items():
        if len(column) != length:
            raise TableError.lengths_differ(name, len(column), first, length)
    for start in range(0, length, BLOCK_ROWS):
        yield _Slice(columns, start, min(start + BLOCK_ROWS, length))


@dataclass(frozen=True, slots=True)
class _Slice:
    """The task that reads some rows of columns in memory."""

    columns: Mapping[str, Column]
    start: int
    stop: int

    def __call__(self) -> Block:
        rows = {name: column.rows(self.start, self.stop) for name, column in self.columns.items()}
        return Block(self.stop - self.start, rows)
