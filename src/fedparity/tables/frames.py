"""Tables in memory: dicts, arrays, batches, streams; frames of pandas, polars and Arrow, eager and lazy; Dask and Ibis, by name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import TableError
from fedparity.errors.base import polars, pyarrow
from fedparity.tables.columns import (
    BLOCK_ROWS,
    ArrowColumn,
    Block,
    Column,
    PandasColumn,
    PolarsColumn,
    as_column,
)
from fedparity.tables.table import (
    BlockTask,
    MemoryTable,
    Selection,
    Table,
    blocks_of,
    parts,
    require_columns,
)

if TYPE_CHECKING:
    import polars as pl
    from narwhals import DataFrame, LazyFrame

__all__ = ["arrow_blocks", "memory_table"]


def memory_table(data: object, open_batch: Callable[[object], Table]) -> Table | None:
    """Return the table of an object of Python, NumPy, Arrow or a library of frames, or None.

    Objects of Dask and Ibis are recognized by name, so that neither is imported, and before narwhals,
    which would collect them whole.
    """
    if isinstance(data, Mapping):
        return mapping_table(data)
    if isinstance(data, np.ndarray):
        return structured_table(data)
    kind = type(data)
    if kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0].startswith("dask"):
        return DaskTable(data)
    if kind.__module__.startswith("ibis.") and hasattr(data, "to_pyarrow_batches"):
        return IbisTable(data)
    table = frame_table(data)
    if table is None and hasattr(data, "__arrow_c_stream__"):
        table = stream_table(data)
    if table is None and isinstance(data, Iterator):
        table = BatchesTable(data, open_batch)
    return table


def frame_table(data: object) -> Table | None:
    """Return the table of a frame, or None if ``data`` is not a supported frame."""
    from narwhals import DataFrame, LazyFrame, from_native  # noqa: PLC0415 -- only for frames

    if _is_pandas_frame(data):  # before narwhals, which refuses names that occur twice
        return _pandas_table(data)
    frame = from_native(data, pass_through=True)
    if isinstance(frame, DataFrame):
        return _eager_table(frame)
    if isinstance(frame, LazyFrame):
        return _LazyTable(frame)
    return None


def polars_blocks(frame: pl.DataFrame, names: Iterable[str]) -> Iterator[BlockTask]:
    """Yield tasks that read slices of a polars frame."""
    yield from blocks_of({name: PolarsColumn(frame.get_column(name)) for name in names})


def _is_pandas_frame(data: object) -> bool:
    kind = type(data)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas"


def _pandas_table(frame: Any) -> MemoryTable:  # noqa: ANN401 -- pandas may not be installed
    names = [str(name) for name in frame.columns]

    def column(name: str) -> Column:
        return PandasColumn(frame.iloc[:, names.index(name)])

    return MemoryTable(names, column, rows=len(frame))


def _eager_table(frame: DataFrame[Any]) -> MemoryTable:
    native = frame.to_native()
    if frame.implementation.is_polars():
        return MemoryTable(
            frame.columns, lambda name: PolarsColumn(native.get_column(name)), rows=len(frame)
        )
    if frame.implementation.is_pyarrow():
        return MemoryTable(
            frame.columns, lambda name: ArrowColumn(native.column(name)), rows=len(frame)
        )
    return _pandas_table(frame.to_pandas())


@dataclass(frozen=True, eq=False)
class _LazyTable:
    """A query: it is run for every scan, on the columns that are selected."""

    frame: LazyFrame[Any]
    rows: None = None
    rescannable: bool = True

    @property
    def columns(self) -> Sequence[str]:
        return self.frame.collect_schema().names()

    def require(self, names: Iterable[str]) -> None:
        require_columns(names, self.columns, what="the query")

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        query = self.frame.select(*selection.columns)
        if self.frame.implementation.is_polars():
            yield from _polars_batches(query.to_native(), selection.columns)
        else:
            pyarrow("a lazy table")
            table = query.collect("pyarrow").to_native()
            yield from blocks_of({n: ArrowColumn(table.column(n)) for n in selection.columns})


def _polars_batches(query: pl.LazyFrame, names: Sequence[str]) -> Iterator[BlockTask]:
    """Run a query in batches where this polars can, else at once."""
    try:
        if not hasattr(query, "collect_batches"):
            yield from polars_blocks(query.collect(), names)
            return
        for frame in query.collect_batches(chunk_size=BLOCK_ROWS, maintain_order=False):
            yield from polars_blocks(frame, names)
    except polars("a polars query").exceptions.PolarsError:
        # The text of the error may quote a value of the table.
        raise TableError.failed("the polars query") from None


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


class IbisTable:
    """The rows of an Ibis expression.

    It can be scanned once: Ibis promises no snapshot, so a second query might see other rows.
    """

    rows = None
    rescannable = False

    def __init__(self, expression: Any) -> None:  # noqa: ANN401 -- Ibis is optional
        self._expression: Any = expression
        self.columns: Sequence[str] = tuple(expression.columns)

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there."""
        require_columns(names, self.columns, what="the Ibis table")

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        expression, self._expression = self._expression, None
        if expression is None:
            raise TableError.read_once()
        names = selection.columns
        yield from arrow_blocks(_batches(expression.select(*names)), names)


def _batches(expression: Any) -> Iterator[Any]:  # noqa: ANN401 -- Ibis is optional
    with _boundary():
        reader = expression.to_pyarrow_batches(chunk_size=BLOCK_ROWS)
    return parts(lambda: next(reader, None), _boundary)


@contextmanager
def _boundary() -> Iterator[None]:
    try:
        yield
    except Exception:  # noqa: BLE001 -- the words of a backend may quote a value
        raise TableError.failed("the Ibis table") from None


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


class BatchesTable:
    """An iterator of tables with the same columns; the first is read to know them.

    Raises
    ------
    TableError
        If there is no batch, if a batch lacks a column, or on a second scan.
    """

    rows = None
    rescannable = False

    def __init__(self, batches: Iterator[object], open_batch: Callable[[object], Table]) -> None:
        first = next(batches, None)
        if first is None:
            raise TableError.empty("the iterator of batches")
        self._open = open_batch
        self._batches: Iterator[object] | None = chain([first], batches)
        self._first = self._opened(first)

    def _opened(self, batch: object) -> Table:
        if isinstance(batch, str):  # lines of a file, which must not be taken for names of files
            raise TableError.unsupported("an iterator of text")
        return self._open(batch)

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self._first.columns

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        self._first.require(names)

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        batches, self._batches = self._batches, None
        if batches is None:
            raise TableError.read_once()
        for batch in batches:
            table = self._opened(batch)
            table.require(selection.columns)
            yield from table.scan(selection)


class StreamTable:
    """A stream of Arrow record batches; it can be read once."""

    rows = None
    rescannable = False

    def __init__(self, reader: Any) -> None:  # noqa: ANN401 -- pyarrow is optional
        self._reader: Any = reader
        self.columns: Sequence[str] = tuple(reader.schema.names)

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        require_columns(names, self.columns, what="the stream")

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        reader, self._reader = self._reader, None
        if reader is None:
            raise TableError.read_once()
        yield from arrow_blocks(reader, selection.columns)


def stream_table(data: object) -> StreamTable:
    """Return the table of an object that exports an Arrow stream."""
    pa = pyarrow("an Arrow stream")
    if not isinstance(data, pa.RecordBatchReader):
        data = pa.RecordBatchReader.from_stream(data)
    return StreamTable(data)


def arrow_blocks(batches: Iterable[Any], names: Sequence[str]) -> Generator[BlockTask, None, None]:
    """Yield tasks that read slices of Arrow record batches; small batches are read together."""
    pa = pyarrow("an Arrow stream")
    try:
        for pack in _packs(batches):
            table = pa.Table.from_batches(pack)
            yield from blocks_of({name: ArrowColumn(table.column(name)) for name in names})
    except pa.ArrowException:
        raise TableError.failed("the Arrow stream") from None


def _packs(batches: Iterable[Any]) -> Iterator[list[Any]]:
    pack: list[Any] = []
    rows = 0
    for batch in batches:
        pack.append(batch)
        rows += batch.num_rows
        if rows >= BLOCK_ROWS // 2:
            yield pack
            pack, rows = [], 0
    if pack:
        yield pack
