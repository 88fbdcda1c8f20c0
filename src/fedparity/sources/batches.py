"""Tables that come batch by batch, and can be read once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from fedparity.errors import TableError
from fedparity.sources.arrow_column import ArrowColumn
from fedparity.sources.columns import BLOCK_ROWS
from fedparity.sources.extras import pyarrow
from fedparity.sources.memory import blocks_of
from fedparity.sources.table import BlockTask, Selection, Table, require_columns

__all__ = ["BatchesTable", "StreamTable", "arrow_blocks", "stream_table"]


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
