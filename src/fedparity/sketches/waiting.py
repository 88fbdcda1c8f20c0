"""Records that wait until there are enough of them, in memory that is used again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.sketches.records import Batch

__all__ = ["WaitingRoom"]

_BLOCK = 1 << 20
"""Rows of a batch that is given back, so that several threads can share the work."""


@dataclass(eq=False, slots=True)
class WaitingRoom:
    """Copies of batches, one after the other; whoever made a batch may use its memory again.

    The room keeps its memory when it is emptied: fresh memory costs more than a copy. Memory is
    asked for at once and used as it fills. Only what waits is pickled.

    Examples
    --------
    >>> room = WaitingRoom()
    >>> room.add(Batch(np.array([0.1, 0.9]), np.array([0, 1], np.uint8)))
    >>> room.size, [batch.scores.tolist() for batch in room.batches()]
    (2, [[0.1, 0.9]])
    """

    capacity: int = 0
    """Records that are expected; more find room, too."""
    size: int = 0
    """Records that wait."""
    _columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def add(self, batch: Batch) -> None:
        """Copy the records of a batch; all batches have weights, or none has."""
        stop = self.size + batch.scores.size
        for name in ("scores", "codes", "weights"):
            values = getattr(batch, name)
            if values is not None:
                self._room(name, stop, values.dtype)[self.size : stop] = values
        self.size = stop

    def batches(self) -> Iterator[Batch]:
        """Yield what waits, as views that hold until the room is filled again."""
        for start in range(0, self.size, _BLOCK):
            rows = slice(start, min(start + _BLOCK, self.size))
            weights = self._columns.get("weights")
            yield Batch(
                self._columns["scores"][rows],
                self._columns["codes"][rows],
                None if weights is None else weights[rows],
            )

    def empty(self) -> None:
        """Let go of what waits."""
        self.size = 0

    def _room(self, name: str, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """A column with room for so many records of this type, and those that wait in it."""
        column = self._columns.get(name, np.empty(0, dtype))
        wide = np.promote_types(column.dtype, dtype)
        if column.size < size or column.dtype != wide:
            grown = np.empty(max(size, self.capacity, 2 * column.size), wide)
            grown[: self.size] = column[: self.size]
            self._columns[name] = column = grown
        return column

    def __getstate__(self) -> dict[str, Any]:
        filled = {name: column[: self.size].copy() for name, column in self._columns.items()}
        return {"capacity": self.capacity, "size": self.size, "_columns": filled}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.capacity, self.size = state["capacity"], state["size"]
        self._columns = state["_columns"]
