"""A dict of arrays, and a NumPy array with named fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import TableError
from fedparity.sources.columns import Column
from fedparity.sources.memory import MemoryTable
from fedparity.sources.native import as_column

__all__ = ["mapping_table", "structured_table"]


def mapping_table(data: Mapping[Any, object]) -> MemoryTable:
    """Return the table of a dict of arrays, sequences or series.

    Raises
    ------
    TableError
        When it is scanned, if a column is not one-dimensional, or longer than another.
    """
    values = {str(name): column for name, column in data.items()}
    first = next(iter(values), None)
    if first is None:
        raise TableError.empty("the table")

    def column(name: str) -> Column:
        return as_column(values[name], name)

    return MemoryTable(tuple(values), column, rows=len(column(first)))


def structured_table(data: npt.NDArray[Any]) -> MemoryTable:
    """Return the table of an array with named fields."""
    names = data.dtype.names
    if names is None or data.ndim != 1:
        raise TableError.unsupported(f"an array of {data.dtype} with shape {np.shape(data)}")
    return MemoryTable(names, lambda name: as_column(data[name], name), rows=data.shape[0])
