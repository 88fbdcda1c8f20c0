"""The bytes of a CSV file, cut where a record ends."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from fedparity.errors import TableError
from fedparity.sources.extras import pyarrow
from fedparity.sources.file_state import FileState

__all__ = ["CsvFile", "Pieces", "without_blank_lines"]

_BLOCK_BYTES = 8 << 20
_HEADER_BYTES = 1 << 16
_LONGEST_LINE = 64 << 20
_UTF8_MARK = b"\xef\xbb\xbf"
_QUOTE, _NEWLINE = b'"', b"\n"
Pieces: TypeAlias = tuple[bytes | memoryview, ...]

_BLANK_LINES = re.compile(rb"\n(?:\r?\n)+")


@dataclass(frozen=True)
class CsvFile:
    """A file of delimited text, perhaps compressed, with the names of columns in its first line."""

    state: FileState
    delimiter: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, path: Path, delimiter: str) -> CsvFile:
        """Open a file and read its header.

        Raises
        ------
        TableError
            If it is empty, damaged, not in UTF-8, or if its first line does not end.
        """
        state = FileState.of(path)
        with state.reading(*_damage()), _opened(path) as stream:
            header, _ = _header(stream, path)
        return cls(state, delimiter, _names(header, delimiter, path))

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.state.path

    def reading(self) -> AbstractContextManager[None]:
        """Read a part of the file: damage and changes are errors."""
        return self.state.reading(*_damage())

    def blocks(self, prefix: bytes = b"") -> Iterator[Pieces]:
        """Yield the records after the header, in blocks that end where a record does.

        A block comes in pieces that are to be joined, by whoever reads it: that takes a while.
        Every block starts with ``prefix``.

        Raises
        ------
        TableError
            If a line is too long, a quote is not closed, or the file is damaged or changes.
        """
        with ExitStack() as stack:
            with self.reading():
                stream = stack.enter_context(_opened(self.path))
                _, rest = _header(stream, self.path)
            while True:
                with self.reading():
                    data = stream.read(_BLOCK_BYTES)
                if not data:
                    break
                if end := _last_record_end(rest, data):
                    yield prefix, rest, memoryview(data)[:end]
                    rest = data[end:]
                else:
                    rest += data
                if len(rest) > _LONGEST_LINE:
                    raise TableError.line_too_long(self.path, _LONGEST_LINE >> 20)
        if rest.count(_QUOTE) % 2:
            raise TableError.malformed(self.path, len(self.names))
        if rest.strip(b"\r\n"):
            yield prefix, rest


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.open(path)  # type: ignore[return-value]
    if path.suffix == ".zst":
        pa = pyarrow("a file compressed by zstd")
        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")  # type: ignore[no-any-return]
    return path.open("rb")


def _damage() -> tuple[Any, ...]:
    """What is read, and the errors that say it is damaged; OSError is zstd's and a bad gzip's."""
    return "compressed", EOFError, OSError, zlib.error


def _header(stream: IO[bytes], path: Path) -> tuple[bytes, bytes]:
    """The first record, and what was read after it."""
    start = b""
    while not (end := _first_record_end(start)):
        data = stream.read(_HEADER_BYTES)
        if not data:
            end = len(start)
            break
        start += data
        if len(start) > _LONGEST_LINE:
            raise TableError.line_too_long(path, _LONGEST_LINE >> 20)
    if not start.strip():
        raise TableError.empty(str(path))
    return start[:end], start[end:]


def _names(header: bytes, delimiter: str, path: Path) -> tuple[str, ...]:
    try:
        text = header.removeprefix(_UTF8_MARK).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:  # also the mark of UTF-16
        raise TableError.encoding(path) from None
    if "\0" in text:
        raise TableError.encoding(path)
    try:
        (names,) = csv.reader([text], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        raise TableError.malformed(path, text.count(delimiter) + 1) from None
    return tuple(names)


def _first_record_end(data: bytes) -> int:
    """Where the first record ends, or 0: at a line end after an even number of quotes."""
    end = quotes = 0
    while start := data.find(_NEWLINE, end) + 1:
        quotes += data.count(_QUOTE, end, start)
        end = start
        if quotes % 2 == 0:
            return end
    return 0


def _last_record_end(rest: bytes, data: bytes) -> int:
    """Where in ``data``, which follows ``rest``, the last whole record ends, or 0."""
    end = data.rfind(_NEWLINE) + 1
    quotes = 0
    if _QUOTE in rest or _QUOTE in data:
        quotes = rest.count(_QUOTE) + data.count(_QUOTE, 0, end)
    while quotes % 2 and end:
        before = data.rfind(_NEWLINE, 0, end - 1) + 1
        quotes -= data.count(_QUOTE, before, end)
        end = before
    return end


def without_blank_lines(block: bytes) -> bytes:
    """Return the block without lines that hold nothing; line ends between quotes stay."""
    parts = block.split(_QUOTE)
    parts[::2] = [_BLANK_LINES.sub(_NEWLINE, part) for part in parts[::2]]
    return _QUOTE.join(parts).lstrip(b"\r\n")
