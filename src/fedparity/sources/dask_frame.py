"""Dask frames, read partition by partition: the whole is never one pandas frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedparity.errors import TableError
from fedparity.sources.columns import Block
from fedparity.sources.pandas_column import PandasColumn
from fedparity.sources.table import BlockTask, Selection, require_columns

__all__ = ["DaskTable", "is_dask_frame"]


def is_dask_frame(data: object) -> bool:
    """Return whether this is a Dask frame, without importing Dask."""
    kind = type(data)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0].startswith("dask")


class DaskTable:
    """Partitions that are computed one by one, and again for every scan."""

    rows = None
    rescannable = True

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 -- Dask is optional
        self._frame = frame
        self.columns: Sequence[str] = tuple(str(name) for name in frame.columns)

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        require_columns(names, self.columns, what="the Dask frame")

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that compute one partition each."""
        places = {name: self.columns.index(name) for name in selection.columns}
        own = list(dict.fromkeys(places.values()))
        frame = self._frame.iloc[:, own]
        positions = {name: own.index(place) for name, place in places.items()}
        for number in range(frame.npartitions):
            yield _Partition(frame.get_partition(number), positions)


@dataclass(frozen=True, slots=True)
class _Partition:
    """The task that computes one partition, in the thread that runs it."""

    frame: Any
    places: Mapping[str, int]

    def __call__(self) -> Block:
        try:
            frame = self.frame.compute(scheduler="synchronous")
        except Exception:  # noqa: BLE001 -- whatever a graph raises may quote a value
            raise TableError.failed("a partition of the Dask frame") from None
        columns = {name: PandasColumn(frame.iloc[:, at]) for name, at in self.places.items()}
        return Block(len(frame), columns)
