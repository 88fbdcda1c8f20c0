"""Frames of pandas, polars and Arrow, eager and lazy, recognised by narwhals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedparity.errors import TableError
from fedparity.sources.arrow_column import ArrowColumn
from fedparity.sources.columns import BLOCK_ROWS, Column
from fedparity.sources.extras import polars, pyarrow
from fedparity.sources.memory import MemoryTable, blocks_of
from fedparity.sources.pandas_column import PandasColumn
from fedparity.sources.polars_column import PolarsColumn
from fedparity.sources.table import BlockTask, Selection, Table, require_columns

if TYPE_CHECKING:
    import polars as pl
    from narwhals import DataFrame, LazyFrame

__all__ = ["frame_table", "polars_blocks"]


def frame_table(data: object) -> Table | None:
    """Return the table of a frame, or None if ``data`` is no frame that is known."""
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
    """A query: it is run for every scan, on the columns that are asked for."""

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
