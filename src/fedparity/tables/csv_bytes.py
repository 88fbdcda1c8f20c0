"""The bytes of delimited text: plain or compressed, in any encoding, in blocks that end where a record does."""

from __future__ import annotations

import codecs
import csv
import gzip
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, Protocol, TypeAlias

from fedparity.errors import OptionError, TableError
from fedparity.errors.base import pyarrow
from fedparity.tables.table import FileState

__all__ = ["CsvFile", "Pieces", "StandardInput", "TextFormat", "header_error"]

_BLOCK_BYTES = 8 << 20
_HEADER_BYTES = 1 << 16
_LONGEST_LINE = 64 << 20
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = b"\xff\xfe", b"\xfe\xff"
_GZIP = b"\x1f\x8b"
_QUOTE, _NEWLINE = b'"', b"\n"
Pieces: TypeAlias = tuple[bytes | memoryview, ...]
_DELIMITERS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars"}
_SPELLED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


@dataclass(frozen=True, slots=True)
class TextFormat:
    r"""How a delimited text is written.

    Raises
    ------
    OptionError
        If a delimiter, a decimal mark or an encoding is not one that can be read.

    Examples
    --------
    >>> TextFormat(delimiter="tab", decimal=",").delimiter
    '\t'
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str | None = None
    """None for UTF-8, with or without a byte order mark."""
    na: tuple[str, ...] = ()
    """Texts of fields that mean that nothing is there, besides the empty one."""

    def __post_init__(self) -> None:
        delimiter = _SPELLED.get(self.delimiter, self.delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n\0\ufeff' or ord(delimiter) > 127:
            raise OptionError(
                f"the delimiter must be one ASCII character, not {self.delimiter!r}.",
                fix="pass --delimiter ';', --delimiter tab or the like (delimiter=';').",
            )
        if self.decimal not in (".", ","):
            raise OptionError.unknown("decimal", self.decimal, (".", ","))
        object.__setattr__(self, "delimiter", delimiter)
        object.__setattr__(self, "encoding", _codec(self.encoding))


def _codec(name: str | None) -> str | None:
    """The name of an encoding as Python spells it; None for UTF-8."""
    if name is None:
        return None
    try:
        found = codecs.lookup(name)
        "".encode(found.name)  # refuses what is not of text, such as base64
    except (LookupError, ValueError):
        raise OptionError(
            f"there is no encoding {name!r}.",
            fix="pass --encoding utf-8, utf-16, cp1252 or latin-1 (encoding='cp1252').",
        ) from None
    return None if found.name in ("utf-8", "utf-8-sig", "ascii") else found.name


class _Origin(Protocol):
    """Where the bytes are, and whether they are still the same."""

    @property
    def path(self) -> Path:
        """The name in errors."""
        ...

    def reading(self, format_name: str, *damage: type[Exception]) -> AbstractContextManager[None]:
        """Read a part: damage and changes are errors."""
        ...


class StandardInput:
    """What the standard input holds, in a temporary file that no other process can open.

    It is on disk because an exact sketch may need more than one scan; the file has no name and ends
    with the process.
    """

    path = Path("<stdin>")

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- open as long as the table is
        weakref.finalize(self, self._file.close)
        copyfileobj(sys.stdin.buffer, self._file, _BLOCK_BYTES)

    @contextmanager
    def reading(self, format_name: str, *damage: type[Exception]) -> Iterator[None]:
        """Read a part of it; damage is an error."""
        try:
            yield
        except damage:
            raise TableError(
                f"the standard input is not a whole {format_name} file: it is truncated or damaged.",
                fix="run the command that writes it again, and look at what it prints.",
            ) from None

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open it from its start."""
        self._file.seek(0)
        packed = self._file.read(len(_GZIP)) == _GZIP
        self._file.seek(0)
        if packed:
            with gzip.GzipFile(fileobj=self._file) as stream:
                yield stream  # type: ignore[misc]
        else:
            yield self._file


@dataclass(frozen=True)
class CsvFile:
    """A file of delimited text, perhaps compressed, with the names of columns in its first line."""

    origin: _Origin
    format: TextFormat
    names: tuple[str, ...]

    @classmethod
    def from_path(cls, path: Path | None, text_format: TextFormat) -> CsvFile:
        """Open a file, or the standard input if it has no path, and read its header.

        Raises
        ------
        TableError
            If it is empty, damaged or not in its encoding, if its first line does not end, or if it
            seems to have another delimiter.
        """
        origin: _Origin = StandardInput() if path is None else FileState.from_path(path)
        with origin.reading(*_damage()), _opened(origin, text_format) as stream:
            header, _ = _header(stream, origin.path)
        return cls(origin, text_format, _names(header, text_format, origin.path))

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.origin.path

    @property
    def delimiter(self) -> str:
        """The delimiter between two fields."""
        return self.format.delimiter

    def reading(self) -> AbstractContextManager[None]:
        """Read a part of the file: damage and changes are errors."""
        return self.origin.reading(*_damage())

    def header_lines(self) -> int:
        """Return how many lines the header takes; a name between quotes may hold line ends."""
        with self.reading(), _opened(self.origin, self.format) as stream:
            return max(1, _header(stream, self.path)[0].count(_NEWLINE))

    def blocks(self, prefix: bytes = b"") -> Iterator[Pieces]:
        """Yield the records after the header in UTF-8, in blocks that end where a record does.

        A block comes in pieces, which the task that parses it joins: that takes a while.
        Every block starts with ``prefix``.

        Raises
        ------
        TableError
            If a line is too long, a quote is not closed, or the file is damaged or changes.
        """
        with ExitStack() as stack:
            with self.reading():
                stream = stack.enter_context(_opened(self.origin, self.format))
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

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield every line after the header with its number, from 1; for the search for faults.

        Raises
        ------
        TableError
            If a line is too long, or the file is damaged or changes.
        """
        with ExitStack() as stack:
            with self.reading():
                stream = stack.enter_context(_opened(self.origin, self.format))
                header, rest = _header(stream, self.path)
            number = max(1, header.count(_NEWLINE))
            while True:
                with self.reading():
                    data = stream.read(_BLOCK_BYTES)
                *whole, rest = (rest + data).split(_NEWLINE)
                for line in whole:
                    number += 1
                    yield number, line + _NEWLINE
                if len(rest) > _LONGEST_LINE:
                    raise TableError.line_too_long(self.path, _LONGEST_LINE >> 20)
                if not data:
                    break
        if rest:
            yield number + 1, rest


@contextmanager
def _opened(origin: _Origin, text_format: TextFormat) -> Iterator[Any]:
    """The bytes from the start, as UTF-8."""
    stream = origin.open() if isinstance(origin, StandardInput) else _unpacked(origin.path)
    with stream as found:
        if text_format.encoding is None:
            yield found
        else:
            yield _Transcoded(found, text_format.encoding, origin.path)


def _unpacked(path: Path) -> Any:  # noqa: ANN401 -- each library has its own stream
    if path.suffix == ".gz":
        return gzip.open(path)
    if path.suffix == ".zst":
        pa = pyarrow("a file compressed by zstd")
        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return path.open("rb")


class _Transcoded:
    """A stream of text in another encoding, read as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str, path: Path) -> None:
        self._stream, self._path, self._encoding = stream, path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ended = False

    def read(self, size: int) -> bytes:
        """Return some of the text; nothing at its end."""
        while not self._ended:
            data = self._stream.read(size)
            self._ended = not data
            try:
                text = self._decoder.decode(data, final=self._ended).encode("utf-8")
            except UnicodeError:
                raise TableError(
                    f"{str(self._path)!r} is not text in {self._encoding}.",
                    fix="pass the encoding it was saved in: --encoding utf-8, utf-16, cp1252 or latin-1 "
                    "(encoding='cp1252').",
                ) from None
            if text:
                return text
        return b""


def _damage() -> tuple[Any, ...]:
    """What is read, and the errors that say it is damaged; OSError is zstd's and a bad gzip's."""
    return "compressed", EOFError, OSError, zlib.error


def _header(stream: Any, path: Path) -> tuple[bytes, bytes]:  # noqa: ANN401 -- what has read()
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


def _names(header: bytes, text_format: TextFormat, path: Path) -> tuple[str, ...]:
    try:
        text = header.removeprefix(_UTF8_MARK).decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:  # also the mark of UTF-16
        utf16 = header.startswith(_UTF16_MARKS)
        raise TableError.encoding(path, "utf-16" if utf16 else "cp1252") from None
    if "\0" in text:
        raise TableError.encoding(path, "utf-16")
    names = _split(text, text_format.delimiter)
    if names is None:
        raise TableError.malformed(path, text.count(text_format.delimiter) + 1)
    if len(names) == 1:
        for mark, words in _DELIMITERS.items():
            if mark in text and mark != text_format.delimiter:
                raise header_error(path, mark, words)
    return names


def _split(text: str, delimiter: str) -> tuple[str, ...] | None:
    try:
        (names,) = csv.reader([text], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return None
    return tuple(names)


def delimiter_with(names: Sequence[str], delimiter: str, wanted: Sequence[str]) -> str | None:
    """Return another delimiter with which a header has all required columns, or None."""
    header = delimiter.join(names)
    for mark in _DELIMITERS:
        found = _split(header, mark) if mark != delimiter and mark in header else None
        if found is not None and set(wanted) <= set(found):
            return mark
    return None


def header_error(path: object, mark: str, words: str | None = None) -> TableError:
    """Return the error that a file has another delimiter than it was read with."""
    shown = "tab" if mark == "\t" else f"'{mark}'"
    return TableError(
        f"the header of {str(path)!r} seems to be delimited by {words or _DELIMITERS[mark]}.",
        fix=f"pass --delimiter {shown} (in Python, fedparity.FileTable(path, delimiter={mark!r})).",
    )


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
