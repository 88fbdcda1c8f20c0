"""CSV and TSV files, plain or compressed, read in blocks of some megabytes that end where a record does.

Blocks are parsed by polars, plain ones by pyarrow where it is installed (with compiled labels it needs a
tenth less time for short numbers); without polars, by the standard library. All give the same records.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.errors import TableError
from fedparity.errors.extras import installed_pyarrow, polars, pyarrow
from fedparity.tables.column_types import ArrowColumn, NumpyColumn, PolarsColumn
from fedparity.tables.columns import Block, Column
from fedparity.tables.file_state import FileState
from fedparity.tables.table import BlockTask, Selection, require_columns

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = [
    "CsvFile",
    "DelimitedTable",
    "Kind",
    "Pieces",
    "PlainCsvTable",
    "delimiter_hint",
    "parsed_by_arrow",
    "without_blank_lines",
]

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
    def from_path(cls, path: Path, delimiter: str) -> CsvFile:
        """Open a file and read its header.

        Raises
        ------
        TableError
            If it is empty, damaged, not in UTF-8, or if its first line does not end.
        """
        state = FileState.from_path(path)
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

        A block comes in pieces, which the task that parses it joins: that takes a while.
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


Kind: TypeAlias = Literal["number", "text"]


def parsed_by_arrow(block: bytes, delimiter: str, kinds: Mapping[str, Kind]) -> pa.Table | None:
    r"""Return some columns of a block that starts with a header, or None if polars has to look at it.

    Only blocks on which both agree are parsed here: without quotes and carriage returns, every row as
    wide as the header, every number valid. Anything else is left to polars, whose errors say what is
    wrong. An empty field is missing.

    Examples
    --------
    >>> table = parsed_by_arrow(b"a,b\n0.5,x\n,y\n", ",", {"a": "number"})
    >>> None if table is None else table.to_pydict()
    {'a': [0.5, None]}
    >>> parsed_by_arrow(b'a,b\n0.5,"x"\n', ",", {"a": "number"})
    """
    if installed_pyarrow() is None or b'"' in block or b"\r" in block:
        return None
    pa, csv = pyarrow("a CSV file"), pyarrow("a CSV file", "pyarrow.csv")
    types = {"number": pa.float64(), "text": pa.string()}
    try:
        return csv.read_csv(
            pa.BufferReader(block),
            read_options=csv.ReadOptions(use_threads=False, block_size=len(block)),
            parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=list(kinds),
                column_types={name: types[kind] for name, kind in kinds.items()},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowException:
        return None


_PART = 1 << 16


class _CsvTable:
    """A CSV file, plain or compressed: its columns, of which the header gives the names."""

    rows = None
    rescannable = True

    def __init__(self, path: Path, delimiter: str) -> None:
        self._file = CsvFile.from_path(path, delimiter)
        self.columns: Sequence[str] = self._file.names

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        hint = delimiter_hint(self._file)
        require_columns(names, self.columns, what=str(self._file.path), hint=hint)


class DelimitedTable(_CsvTable):
    """A CSV file, plain or compressed, read in blocks of some megabytes.

    Scores and weights are parsed as numbers and labels as text, so that ``01`` stays ``01``. The
    type of a column that only a filter needs is taken from the first block.
    """

    def __init__(self, path: Path, delimiter: str) -> None:
        polars("a CSV file")
        super().__init__(path, delimiter)

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        parser: _Parser | None = None
        for pieces in self._file.blocks(_own_header(self._file)):
            if parser is None:
                parser = _Parser(self._file, _types(self._file, selection, pieces))
            yield _Parse(parser, pieces)


def delimiter_hint(file: CsvFile) -> str:
    """What to do about a file whose header seems to have another delimiter."""
    header = file.names[0] if len(file.names) == 1 else ""
    others = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars"}
    found = [name for mark, name in others.items() if mark in header and mark != file.delimiter]
    if not found:
        return ""
    return (
        f"its header seems to be delimited by {found[0]}: a .csv file must have commas and a .tsv "
        "file tabs."
    )


def _own_header(file: CsvFile) -> bytes:
    """A header with names of our own: those in the file may occur twice, or be quoted."""
    marks = (f"c{position}" for position in range(len(file.names)))
    return (file.delimiter.join(marks) + "\n").encode()


def _types(file: CsvFile, selection: Selection, first: Pieces) -> dict[str, Any]:
    pl = polars("a CSV file")
    types = dict.fromkeys(selection.columns, pl.String)
    types.update(dict.fromkeys(selection.numbers, pl.Float64))
    if selection.only_tested:
        tested = dict.fromkeys(selection.only_tested, None)
        types.update(_Parser(file, tested).parse(b"".join(first)).schema)
    return types


@dataclass(frozen=True)
class _Parser:
    """Parses blocks of one file; a type of None is found from the block."""

    file: CsvFile
    types: Mapping[str, Any]

    @cached_property
    def kinds(self) -> dict[str, Kind] | None:
        """What is in each column, by its name in the block; None if there is more than scores and labels."""
        pl = polars("a CSV file")
        known: dict[Any, Kind] = {pl.Float64: "number", pl.String: "text"}
        if any(kind not in known for kind in self.types.values()):
            return None
        return {self._mark(name): known[kind] for name, kind in self.types.items()}

    def parse(self, block: bytes) -> pl.DataFrame:
        pl = polars("a CSV file")
        try:
            frame = self._parsed(block, self.types)
        except pl.exceptions.PolarsError:
            # The text of the error may quote a field, so it is replaced by what can be found out.
            frame = self._parsed_with_care(block)
        if _has_fields(
            block, self.file.delimiter, (frame.height + 1) * (len(self.file.names) - 1)
        ):
            return frame
        clean = without_blank_lines(block)
        if len(clean) == len(block):
            raise TableError.malformed(self.file.path, len(self.file.names))
        return self.parse(clean)

    def _parsed(self, block: bytes, types: Mapping[str, Any]) -> pl.DataFrame:
        marks = {self._mark(name): name for name in types}
        typed = {mark: types[name] for mark, name in marks.items() if types[name] is not None}
        frame = polars("a CSV file").read_csv(
            block,
            separator=self.file.delimiter,
            columns=list(marks),
            schema_overrides=typed,
            infer_schema_length=None if len(typed) < len(marks) else 0,
        )
        return frame.rename(marks)  # type: ignore[no-any-return]

    def _parsed_with_care(self, block: bytes) -> pl.DataFrame:
        """Parse everything as text first, to say which column holds what is no number."""
        pl = polars("a CSV file")
        try:
            block.decode("utf-8")
            frame = self._parsed(block, dict.fromkeys(self.types, pl.String))
        except UnicodeDecodeError:
            raise TableError.encoding(self.file.path) from None
        except pl.exceptions.PolarsError:
            raise TableError.malformed(self.file.path, len(self.file.names)) from None
        return frame.with_columns(
            [self._cast(frame[name], self.types[name]) for name in self.types]
        )

    def _cast(self, texts: pl.Series, dtype: Any) -> pl.Series:  # noqa: ANN401 -- a polars type
        pl = polars("a CSV file")
        if dtype in (None, pl.String):
            return texts
        filled = texts.str.strip_chars(" \t").replace("", None)
        wider = pl.Float64 if dtype == pl.Int64 else dtype  # 1.5 after whole numbers is no fault
        values = filled.cast(wider, strict=False)
        if failed := values.null_count() - filled.null_count():
            raise TableError.unparsable(texts.name, failed, self.file.path)
        return values

    def _mark(self, name: str) -> str:
        return f"c{self.file.names.index(name)}"


@dataclass(frozen=True, slots=True)
class _Parse:
    """The task that parses one block."""

    parser: _Parser
    pieces: Pieces

    def __call__(self) -> Block:
        block = b"".join(self.pieces)
        kinds = self.parser.kinds
        delimiter = self.parser.file.delimiter
        table = None if kinds is None else parsed_by_arrow(block, delimiter, kinds)
        if table is not None:
            names = zip(self.parser.types, table.columns, strict=True)
            return Block(table.num_rows, {name: ArrowColumn(column) for name, column in names})
        frame = self.parser.parse(block)
        columns = {name: PolarsColumn(frame.get_column(name)) for name in frame.columns}
        return Block(frame.height, columns)


def _has_fields(block: bytes, delimiter: str, expected: int) -> bool:
    """Whether the number of delimiters outside quotes is the number that the rows need.

    polars reads a row with too few or too many fields without a word once columns are projected,
    and a name with a comma in it would then shift a score to the left.
    """
    characters = np.frombuffer(block, np.uint8)
    if b'"' not in block:
        return _count(characters, ord(delimiter)) == expected
    quotes = np.cumsum(characters == ord('"'), dtype=np.uint8)
    delimiters = (characters == ord(delimiter)) & ((quotes & 1) == 0)
    return int(np.count_nonzero(delimiters)) == expected


def _count(characters: npt.NDArray[np.uint8], wanted: int) -> int:
    """How often a character occurs; a part at a time, as fresh memory would cost more."""
    return sum(
        int(np.count_nonzero(characters[start : start + _PART] == wanted))
        for start in range(0, characters.size, _PART)
    )


_ROWS = 1 << 16
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE
)
"""What polars and Arrow read as a number, without the spaces around it; float() would also read 1_000."""


class PlainCsvTable(_CsvTable):
    """A CSV file, plain or compressed, read row by row; slower than polars, with the same outcome."""

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        for rows in self._rows():
            yield _ParseText(self._file, selection, rows)

    def _rows(self) -> Iterator[list[list[str]]]:
        """Rows of fields, some thousand at a time."""
        width = len(self._file.names)
        rows: list[list[str]] = []
        for pieces in self._file.blocks():
            try:
                text = io.StringIO(b"".join(pieces).decode("utf-8"), newline="")
                for row in csv.reader(text, delimiter=self._file.delimiter, strict=True):
                    if not row:
                        continue
                    if len(row) != width:
                        raise TableError.malformed(self._file.path, width)
                    rows.append(row)
                    if len(rows) == _ROWS:
                        yield rows
                        rows = []
            except UnicodeDecodeError:
                raise TableError.encoding(self._file.path) from None
            except csv.Error:
                raise TableError.malformed(self._file.path, width) from None
        if rows:
            yield rows


@dataclass(frozen=True, slots=True)
class _ParseText:
    """The task that makes columns of rows of fields."""

    file: CsvFile
    selection: Selection
    rows: list[list[str]]

    def __call__(self) -> Block:
        columns: dict[str, Column] = {}
        for name in self.selection.columns:
            position = self.file.names.index(name)
            fields = [row[position] for row in self.rows]
            if name in self.selection.numbers:
                columns[name] = self._numbers(name, [field.strip(" \t") for field in fields])
            else:
                columns[name] = NumpyColumn(np.array(fields, dtype=object))
        return Block(len(self.rows), columns)

    def _numbers(self, name: str, fields: list[str]) -> NumpyColumn:
        wrong = sum(1 for field in fields if field and not _NUMBER.fullmatch(field))
        if wrong:
            raise TableError.unparsable(name, wrong, self.file.path)
        values = np.fromiter((float(field or "nan") for field in fields), np.float64, len(fields))
        empty = np.fromiter((not field for field in fields), np.bool_, len(fields))
        return NumpyColumn(np.ma.masked_array(values, empty) if empty.any() else values)
