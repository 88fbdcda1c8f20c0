"""Columns: what every source gives, whatever library holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BLOCK_ROWS", "Block", "BoolArray", "Column", "Labels", "Numbers"]

BoolArray = npt.NDArray[np.bool_]

BLOCK_ROWS = 1 << 20
"""Rows that are read at once: large enough to hide the dealing, small enough for the memory."""


@dataclass(frozen=True, eq=False, slots=True)
class Numbers:
    """The numbers of a column.

    ``values`` is of a boolean, integer or floating type; where ``valid`` is False the entry is
    missing and its value means nothing. ``valid`` is None when no entry is missing. Either way a
    NaN may be among the values.
    """

    values: npt.NDArray[Any]
    valid: BoolArray | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """The labels of a column: for each row the position of its text in ``texts``.

    A missing label has the text None. Some texts may belong to no row. Codes are of a signed
    type, or an unsigned one of less than 64 bits.
    """

    codes: npt.NDArray[Any]
    texts: tuple[str | None, ...]


class Column(Protocol):
    """One column of a table, or some rows of it."""

    def __len__(self) -> int: ...

    def rows(self, start: int, stop: int) -> Column:
        """Return the column from row ``start`` to before row ``stop``, without a copy."""
        ...  # pragma: no cover

    def numbers(self, name: str) -> Numbers:
        """Return its numbers, without a copy where they are float64.

        Raises
        ------
        ScoreError
            If they are no numbers; text that looks like numbers is none. ``name`` says which
            column it is.
        """
        ...  # pragma: no cover

    @property
    def coded(self) -> bool:
        """Whether its labels are numbers already, so that to read them again costs little."""
        ...  # pragma: no cover

    def labels(self, name: str) -> Labels:
        """Return its labels.

        Raises
        ------
        LabelError
            If its entries cannot be labels.
        """
        ...  # pragma: no cover

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        ...  # pragma: no cover


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Some rows of the columns that were asked for."""

    length: int
    columns: Mapping[str, Column]
