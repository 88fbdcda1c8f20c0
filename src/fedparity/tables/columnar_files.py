"""Parquet and Arrow files, decoded by pyarrow one part at a time: row groups, or record batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from threading import Lock, local
from typing import TYPE_CHECKING, Any

from fedparity.errors.base import pyarrow
from fedparity.tables.columns import BLOCK_ROWS, ArrowColumn, Block
from fedparity.tables.frames import arrow_blocks
from fedparity.tables.table import BlockTask, FileState, Selection, parts, require_columns
from fedparity.tables.where import Condition

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

__all__ = [
    "ArrowFileTable",
    "ParquetTable",
    "Pruning",
]

_COMPARISON = (
    r"""\s*(?P<name>"[^"]+"|[a-z_]\w*)\s*(?P<sign><=|>=|=|<|>)\s*(?P<value>-?\d+|'[^']*')\s*"""
)
_ONE = re.compile(_COMPARISON, re.IGNORECASE | re.ASCII)
_AND = re.compile(r"AND\b", re.IGNORECASE)


class Pruning:
    """Finds the row groups that may contain a row that passes a filter.

    Only comparisons of a column with a whole number or a text, joined by AND, are understood, and
    only for columns of that type; in doubt a row group is read. Floats are left out on purpose: not
    every writer leaves NaN out of its statistics.

    Parameters
    ----------
    where : Condition or None
        The filter.
    metadata
        What the footer of the file says.
    """

    def __init__(self, where: Condition | None, metadata: Any) -> None:  # noqa: ANN401 -- pyarrow's
        self._metadata = metadata
        tests = [] if where is None else _comparisons(where.sql)
        positions = _positions(metadata, {name for name, _, _ in tests})
        self._tests = [
            (positions[name], sign, value) for name, sign, value in tests if name in positions
        ]

    def may_hold(self, group: int) -> bool:
        """Return whether a row group may hold a row to keep."""
        if not self._tests:
            return True
        row_group = self._metadata.row_group(group)
        return all(
            _is_possible(row_group.column(position).statistics, sign, value)
            for position, sign, value in self._tests
        )


def _comparisons(sql: str) -> list[tuple[str, str, int | str]]:
    """The comparisons that must all hold, or none if the filter is anything else."""
    found = []
    position = 0
    while match := _ONE.match(sql, position):
        text = match["value"]
        value = text[1:-1] if text.startswith("'") else int(text)
        found.append((match["name"].strip('"'), match["sign"], value))
        if match.end() == len(sql):
            return found
        joined = _AND.match(sql, match.end())
        if joined is None:
            return []
        position = joined.end()
    return []


def _positions(metadata: Any, names: set[str]) -> dict[str, int]:  # noqa: ANN401 -- pyarrow's
    if not names:
        return {}
    paths = (metadata.schema.column(i).path for i in range(metadata.num_columns))
    return {path: position for position, path in enumerate(paths) if path in names}


def _is_possible(statistics: Any, sign: str, value: int | str) -> bool:  # noqa: ANN401 -- pyarrow's
    if statistics is None or not statistics.has_min_max:
        return True
    low: Any = statistics.min
    high: Any = statistics.max
    if {type(low), type(high)} != {type(value)}:
        return True
    below = low < value or ("=" in sign and low == value)
    above = high > value or ("=" in sign and high == value)
    return bool({"<": below, ">": above}.get(sign[0], below and above))


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
        self._state = FileState.from_path(path)
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
        pruning = self._pruning(selection)
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

    def skipped(self, selection: Selection) -> int:
        """Return how many rows are in row groups that a scan does not read."""
        may_hold = self._pruning(selection).may_hold
        groups = range(self._metadata.num_row_groups)
        return sum(self._rows_of(group) for group in groups if not may_hold(group))

    def _pruning(self, selection: Selection) -> Pruning:
        return Pruning(selection.where if selection.may_skip else None, self._metadata)

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
            read_dictionary=[name for name in dictionaries if self._has_codes(name)],
            memory_map=False,  # mapped pages would count as memory, and a cut file would crash
            pre_buffer=False,
            buffer_size=_BUFFER_BYTES,
            page_checksum_verification=True,
        )

    def _has_codes(self, name: str) -> bool:
        """Whether Arrow can read a column as codes: text, of which no page is written as differences."""
        if str(self._schema.field(name).type) not in {"string", "large_string", "binary"}:
            return False
        schema, groups = self._metadata.schema, range(self._metadata.num_row_groups)
        place = next(i for i in range(len(schema)) if schema.column(i).path == name)
        chunks = (self._metadata.row_group(group).column(place) for group in groups)
        return not any(each.startswith("DELTA") for chunk in chunks for each in chunk.encodings)

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
        """Return the file as the calling thread has opened it."""
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
        # pyarrow may cut batches shorter than requested, so there can be more than one at the end.
        batches = [next(self._batches)] if self._left else list(self._batches)
        return pyarrow("a Parquet file").Table.from_batches(batches)


_FILE_MAGIC = b"ARROW1"


class ArrowFileTable:
    """An Arrow file, read one record batch after the other.

    Memory is as large as the largest record batch of the selected columns; the file is not
    mapped, because a file that is cut while it is mapped would end the process.
    """

    rescannable = True

    def __init__(self, path: Path) -> None:
        self._state = FileState.from_path(path)
        with self._reading(), self._open() as reader:
            self.columns: Sequence[str] = tuple(reader.schema.names)
            count = getattr(reader, "count_rows", None)
            self.rows: int | None = None if count is None else int(count())

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        require_columns(names, self.columns, what=str(self._state.path))

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        names = selection.columns
        fields = sorted(self.columns.index(name) for name in names)
        with ExitStack() as stack:
            with self._reading():
                reader = stack.enter_context(self._open(fields))
            batches = _each(reader)
            # Each batch is read whole before the file is checked.
            whole = parts(lambda: next(batches, None), self._reading)
            yield from arrow_blocks(whole, names)

    @contextmanager
    def _open(self, fields: list[int] | None = None) -> Iterator[Any]:
        pa = pyarrow("an Arrow file")
        options = pa.ipc.IpcReadOptions(included_fields=fields or [], use_threads=False)
        with pa.OSFile(str(self._state.path)) as source:
            is_file = source.read(len(_FILE_MAGIC)) == _FILE_MAGIC
            source.seek(0)
            kind = pa.ipc.open_file if is_file else pa.ipc.open_stream
            with kind(source, options=options) as reader:
                yield reader

    def _reading(self) -> Any:  # noqa: ANN401 -- a context manager
        pa = pyarrow("an Arrow file")
        return self._state.reading("Arrow", pa.ArrowException, OSError, EOFError)


def _each(reader: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 -- of a file or of a stream
    if hasattr(reader, "get_batch"):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    return iter(reader)
