"""Columns of which only some rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedparity.sources.columns import Block, BoolArray, Column, Labels, Numbers

if TYPE_CHECKING:
    import polars as pl

__all__ = ["picked"]


def picked(block: Block, keep: BoolArray) -> Block:
    """Return the rows of a block that are kept; nothing is read yet.

    Examples
    --------
    >>> from fedparity.sources.numpy_column import NumpyColumn
    >>> block = Block(3, {"z": NumpyColumn(np.array([0.1, 0.2, 0.3]))})
    >>> picked(block, np.array([True, False, True])).columns["z"].numbers("z").values
    array([0.1, 0.3])
    """
    if keep.all():
        return block
    columns = {name: _Picked(column, keep) for name, column in block.columns.items()}
    return Block(int(np.count_nonzero(keep)), columns)


@dataclass(frozen=True, eq=False, slots=True)
class _Picked:
    """Some rows of a column."""

    column: Column
    keep: BoolArray

    def __len__(self) -> int:
        return int(np.count_nonzero(self.keep))

    def rows(self, start: int, stop: int) -> _Picked:
        """Return the rows from ``start`` to before ``stop`` of those that are kept."""
        keep = np.zeros_like(self.keep)
        keep[np.flatnonzero(self.keep)[start:stop]] = True
        return _Picked(self.column, keep)

    def numbers(self, name: str) -> Numbers:
        """Return the numbers of the rows."""
        every = self.column.numbers(name)
        return Numbers(
            every.values[self.keep], None if every.valid is None else every.valid[self.keep]
        )

    @property
    def coded(self) -> bool:
        """Whether its labels are numbers already."""
        return self.column.coded

    def labels(self, name: str) -> Labels:
        """Return the labels of the rows."""
        every = self.column.labels(name)
        return Labels(every.codes[self.keep], every.texts)

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series."""
        return self.column.series(name).filter(self.keep)
