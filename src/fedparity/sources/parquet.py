"""Parquet files, decoded by pyarrow, one or more row groups at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from threading import Lock, local
from typing import TYPE_CHECKING, Any

from fedparity.sources.arrow_column import ArrowColumn
from fedparity.sources.columns import BLOCK_ROWS, Block
from fedparity.sources.extras import pyarrow
from fedparity.sources.file_state import FileState
from fedparity.sources.pruning import Pruning
from fedparity.sources.table import BlockTask, Selection, require_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

__all__ = ["ParquetTable"]

_BLOCK_CELLS = BLOCK_ROWS
"""Numbers and labels that are decoded at once, so that memory does not grow with the columns."""
_BUFFER_BYTES = 1 << 20
"""Bytes of a column that are read at once; without it, a whole column of a row group is."""


class ParquetTable:
    """A Parquet file.

    Only the selected columns are decoded, text of labels straight to dictionary codes. Every
    thread opens the file for itself.
    """

    rescannable = True

    def __init__(self, path: Path) -> None:
        self._state = FileState.of(path)
        with self._reading():
            parquet = pyarrow("a Parquet file", "pyarrow.parquet")
            with parquet.ParquetFile(path, memory_map=False) as file:
                self._metadata = file.metadata
                self._schema = file.schema_arrow
        self.columns: Sequence[str] = tuple(self._schema.names)
        self.rows: int = self._metadata.num_rows

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        require_columns(names, self.columns, what=str(self._state.path))

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        files = _Files(self, selection)
        pruning = Pruning(selection.where, self._metadata)
        pack: list[int] = []
        packed = 0
        large: list[int] = []
        for group in filter(pruning.may_hold, range(self._metadata.num_row_groups)):
            rows = self._rows_of(group)
            if rows > files.block_rows * 3:
                large.append(group)
                continue
            if pack and packed + rows > files.block_rows:
                yield _Groups(files, tuple(pack))
                pack, packed = [], 0
            pack.append(group)
            packed += rows
        if pack:
            yield _Groups(files, tuple(pack))
        yield from self._large_groups(files, large)

    def _large_groups(self, files: _Files, groups: Sequence[int]) -> Iterator[BlockTask]:
        """Row groups decoded in parts, two of them in turn, so that two threads can work at once."""
        for first, second in zip_longest(groups[::2], groups[1::2]):
            pair = [self._parts(files, group) for group in (first, second) if group is not None]
            for tasks in zip_longest(*pair):
                yield from (task for task in tasks if task is not None)

    def _parts(self, files: _Files, group: int) -> Iterator[BlockTask]:
        parts = -(-self._rows_of(group) // files.block_rows)
        stream = _Stream(files, group, parts)
        return (stream.read for _ in range(parts))

    def _rows_of(self, group: int) -> int:
        return int(self._metadata.row_group(group).num_rows)

    def open(self, dictionaries: Sequence[str]) -> ParquetFile:
        """Open the file for one thread."""
        parquet = pyarrow("a Parquet file", "pyarrow.parquet")
        return parquet.ParquetFile(
            self._state.path,
            metadata=self._metadata,
            read_dictionary=[name for name in dictionaries if self._is_text(name)],
            memory_map=False,  # mapped pages would count as memory, and a cut file would crash
            pre_buffer=False,
            buffer_size=_BUFFER_BYTES,
            page_checksum_verification=True,
        )

    def _is_text(self, name: str) -> bool:
        return str(self._schema.field(name).type) in {"string", "large_string", "binary"}

    def _reading(self) -> Any:  # noqa: ANN401 -- a context manager
        pa = pyarrow("a Parquet file")
        return self._state.reading("Parquet", pa.ArrowException, OSError, EOFError)

    def block(self, read: Any) -> Block:  # noqa: ANN401 -- what reads a table
        """Run ``read``, which returns an Arrow table, and check that the file is whole."""
        with self._reading():
            table = read()
        columns = {name: ArrowColumn(table.column(name)) for name in table.column_names}
        return Block(table.num_rows, columns)


class _Files:
    """The file as each thread has opened it, for one scan."""

    def __init__(self, table: ParquetTable, selection: Selection) -> None:
        self.table = table
        self.names = list(selection.columns)
        self.block_rows = _BLOCK_CELLS // max(2, len(self.names))
        self._labels = selection.labels
        self._local = local()

    def mine(self) -> ParquetFile:
        """Return the file of the thread that asks."""
        if not hasattr(self._local, "file"):
            self._local.file = self.new()
        return self._local.file

    def new(self) -> ParquetFile:
        return self.table.open(self._labels)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The task that decodes whole row groups."""

    files: _Files
    groups: tuple[int, ...]

    def __call__(self) -> Block:
        return self.files.table.block(self._read)

    def _read(self) -> pa.Table:
        file = self.files.mine()
        return file.read_row_groups(list(self.groups), columns=self.files.names, use_threads=False)


class _Stream:
    """A large row group: every task decodes its next rows, whichever task it is."""

    def __init__(self, files: _Files, group: int, parts: int) -> None:
        self._files = files
        self._group = group
        self._left = parts
        self._batches: Iterator[Any] | None = None
        self._lock = Lock()

    def read(self) -> Block:
        """Return the next rows; the last call returns all that are left."""
        with self._lock:
            return self._files.table.block(self._next)

    def _next(self) -> pa.Table:
        if self._batches is None:
            self._batches = self._files.new().iter_batches(
                self._files.block_rows,
                row_groups=[self._group],
                columns=self._files.names,
                use_threads=False,
            )
        self._left -= 1
        # pyarrow may cut batches shorter than asked, so there can be more than one at the end.
        batches = [next(self._batches)] if self._left else list(self._batches)
        return pyarrow("a Parquet file").Table.from_batches(batches)
