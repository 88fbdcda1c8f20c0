"""Arrow files: the IPC file format (also called Feather) and the IPC stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedparity.sources.batches import arrow_blocks
from fedparity.sources.extras import pyarrow
from fedparity.sources.file_state import FileState
from fedparity.sources.table import BlockTask, Selection, require_columns

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrowFileTable"]

_FILE_MAGIC = b"ARROW1"


class ArrowFileTable:
    """An Arrow file, read one record batch after the other.

    Memory is as large as the largest record batch of the selected columns; the file is not
    mapped, because a file that is cut while it is mapped would end the process.
    """

    rescannable = True

    def __init__(self, path: Path) -> None:
        self._state = FileState.of(path)
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
            yield from arrow_blocks(self._batches(reader), names)

    def _batches(self, reader: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
        """Record batches, each read whole before the file is checked."""
        batches = _each(reader)
        while True:
            with self._reading():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

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
