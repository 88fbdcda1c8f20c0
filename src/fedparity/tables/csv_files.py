"""Delimited text, such as CSV files, read in blocks of some megabytes.

Blocks are parsed by polars, plain ones by pyarrow where it is installed (with compiled labels it needs a
tenth less time for short numbers); without polars, by the standard library. All give the same records.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.errors import TableError
from fedparity.errors.base import installed_pyarrow, polars, pyarrow
from fedparity.laws.law import BoolArray
from fedparity.tables.columns import ArrowColumn, Block, Column, NumpyColumn, PolarsColumn
from fedparity.tables.csv_bytes import CsvFile, Pieces, TextFormat, delimiter_with, header_error
from fedparity.tables.table import BlockTask, Selection, require_columns

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from fedparity.tables.row_faults import CheckedBlock, FaultLog

__all__ = [
    "MISSING_MARKS",
    "DelimitedTable",
    "Kind",
    "PlainCsvTable",
    "parsed_by_arrow",
    "without_blank_lines",
]

_QUOTE, _NEWLINE = b'"', b"\n"
_BLANK_LINES = re.compile(rb"\n(?:\r?\n)+")


def without_blank_lines(block: bytes) -> bytes:
    """Return the block without lines that hold nothing; line ends between quotes stay."""
    parts = block.split(_QUOTE)
    parts[::2] = [_BLANK_LINES.sub(_NEWLINE, part) for part in parts[::2]]
    return _QUOTE.join(parts).lstrip(b"\r\n")


Kind: TypeAlias = Literal["number", "text"]


def parsed_by_arrow(
    block: bytes, text_format: TextFormat, kinds: Mapping[str, Kind]
) -> pa.Table | None:
    r"""Return some columns of a block that starts with a header, or None if polars has to look at it.

    Only blocks on which both agree are parsed here: without quotes and carriage returns, every row as
    wide as the header, every number valid. Anything else is left to polars, whose errors say what is
    wrong. An empty field is missing.

    Examples
    --------
    >>> table = parsed_by_arrow(b"a,b\n0.5,x\n,y\n", TextFormat(), {"a": "number"})
    >>> None if table is None else table.to_pydict()
    {'a': [0.5, None]}
    >>> parsed_by_arrow(b'a,b\n0.5,"x"\n', TextFormat(), {"a": "number"})
    """
    if installed_pyarrow() is None or b'"' in block or b"\r" in block:
        return None
    pa, csv = pyarrow("a CSV file"), pyarrow("a CSV file", "pyarrow.csv")
    types = {"number": pa.float64(), "text": pa.string()}
    try:
        return csv.read_csv(
            pa.BufferReader(block),
            read_options=csv.ReadOptions(use_threads=False, block_size=len(block)),
            parse_options=csv.ParseOptions(delimiter=text_format.delimiter, quote_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=list(kinds),
                column_types={name: types[kind] for name, kind in kinds.items()},
                null_values=["", *text_format.na],
                strings_can_be_null=True,
                decimal_point=text_format.decimal,
            ),
        )
    except pa.ArrowException:
        return None


class _CsvTable:
    """Delimited text: its columns, of which the header gives the names.

    Parameters
    ----------
    path : Path or None
        None for the standard input.
    text_format : TextFormat
    """

    rows = None
    rescannable = True

    def __init__(self, path: Path | None, text_format: TextFormat) -> None:
        self._file = CsvFile.from_path(path, text_format)
        self.columns: Sequence[str] = self._file.names

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        file, wanted = self._file, tuple(names)
        if not set(wanted) <= set(file.names):
            mark = delimiter_with(file.names, file.delimiter, wanted)
            if mark is not None:
                raise header_error(file.path, mark)
        require_columns(wanted, self.columns, what=str(file.path))

    def checked(self, selection: Selection, log: FaultLog) -> Iterator[CheckedBlock]:
        """Yield all rows that can be taken apart, with their lines, and log those that cannot."""
        types = _tested_types(self._file, selection) if selection.only_tested else {}
        rows: list[list[str]] = []
        lines: list[int] = []
        read = [self._file.names.index(name) for name in selection.columns]
        for line, row in _careful_rows(self._file, log):
            if any(_is_broken(row[place]) for place in read):
                log.encoding.add(1, [line])
                continue
            rows.append(row)
            lines.append(line)
            if len(rows) == _ROWS:
                yield _checked(self._file, selection, rows, lines, types=types, log=log)
                rows, lines = [], []
        if rows:
            yield _checked(self._file, selection, rows, lines, types=types, log=log)


class DelimitedTable(_CsvTable):
    """A CSV file, plain or compressed, read in blocks of some megabytes.

    Scores and weights are parsed as numbers and labels as text, so that ``01`` stays ``01``. The
    type of a column that only a filter needs is taken from the first block.
    """

    def __init__(self, path: Path | None, text_format: TextFormat) -> None:
        polars("a CSV file")
        super().__init__(path, text_format)

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        parser: _Parser | None = None
        for pieces in self._file.blocks(_own_header(self._file)):
            if parser is None:
                parser = _Parser(self._file, _types(self._file, selection, pieces))
            yield _Parse(parser, pieces)


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
            # To polars 1.234 would be a number among numbers with a decimal comma.
            if self.file.format.decimal == "," and None not in self.types.values():
                frame = self._parsed_with_care(block)
            else:
                frame = self._parsed(block, self.types)
        except pl.exceptions.PolarsError:
            # The text of the error may quote a field, so it is replaced by what can be found out.
            frame = self._parsed_with_care(block)
        if _rows_fit(block, self.file.delimiter, len(self.file.names), frame.height + 1):
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
            null_values=list(self.file.format.na) or None,
            decimal_comma=self.file.format.decimal == ",",
        )
        return frame.rename(marks)  # type: ignore[no-any-return]

    def _parsed_with_care(self, block: bytes) -> pl.DataFrame:
        """Parse everything as text first, to report the column that contains something other than numbers."""
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
        text_format = self.file.format
        stripped = texts.str.strip_chars(" \t")
        filled = stripped.set(stripped.is_in(["", *text_format.na]), None)
        wider = pl.Float64 if dtype == pl.Int64 else dtype  # 1.5 after whole numbers is valid
        written = filled
        if text_format.decimal == "," and wider.is_numeric():
            plain = filled.set(filled.str.contains(".", literal=True), "?")
            written = plain.str.replace(",", ".", literal=True)
        values = written.cast(wider, strict=False)
        if values.null_count() > filled.null_count():
            raise TableError.unparsable(texts.name, self.file.path)
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
        text_format = self.parser.file.format
        table = None if kinds is None else parsed_by_arrow(block, text_format, kinds)
        if table is not None:
            names = zip(self.parser.types, table.columns, strict=True)
            return Block(table.num_rows, {name: ArrowColumn(column) for name, column in names})
        frame = self.parser.parse(block)
        columns = {name: PolarsColumn(frame.get_column(name)) for name in frame.columns}
        return Block(frame.height, columns)


def _rows_fit(block: bytes, delimiter: str, width: int, rows: int) -> bool:
    """Whether a block has so many rows, all of them as wide as the header, with quotes that fit.

    polars reads a row with too few or too many fields without a word once columns are projected,
    and a name with a comma in it would then shift a score to the left; a quote inside a field makes one
    row of two.
    """
    marks = _marks(block, delimiter)
    if marks is None:
        return False
    is_end = marks == ord("\n")
    if not block.endswith(_NEWLINE):
        is_end = np.append(is_end, True)
    lasts = int(np.count_nonzero(is_end[width - 1 :: width]))
    return bool(is_end.size == rows * width == lasts * width)


def _marks(block: bytes, delimiter: str) -> npt.NDArray[np.uint8] | None:
    """The delimiters and line ends of a block, in their order; None if some quotes do not fit.

    Quotes are around whole fields, or in pairs inside a field without quotes around it. The page that
    sketches reads them likewise.
    """
    characters = np.frombuffer(block, np.uint8)
    special = (characters == ord("\n")) | (characters == ord(delimiter))
    if _QUOTE not in block:
        return characters[special]  # type: ignore[no-any-return]
    at = np.flatnonzero(special | (characters == ord(_QUOTE)))
    kinds, gaps = characters[at], np.diff(at, append=characters.size)
    is_quote = kinds == ord(_QUOTE)
    quotes = np.cumsum(is_quote)
    is_outside = quotes & 1 == 0
    if not is_outside[-1]:
        return None
    opening, closing = (
        np.flatnonzero(is_quote & ~is_outside),
        np.flatnonzero(is_quote & is_outside),
    )
    apart = gaps[closing[:-1]] != 1  # else two quotes inside quotes, which are one of the text
    apart |= opening[1:] != closing[:-1] + 1
    first, last = opening[np.append(True, apart)], closing[np.append(apart, True)]
    is_around = np.append(at[0] == 0, gaps[:-1] == 1)[first]
    ends = gaps[last] == 1
    if b"\r" in block:
        line_ends = np.append(kinds, ord("\n"))[last + 1] == ord("\n")
        after = characters[np.minimum(at[last] + 1, characters.size - 1)]
        ends |= line_ends & (gaps[last] == 2) & (after == ord("\r"))
    is_one_field = quotes[last] - quotes[first] == last - first
    if not np.where(is_around, ends, is_one_field).all():
        return None
    return kinds[is_outside & ~is_quote]  # type: ignore[no-any-return]


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
            block = b"".join(pieces)
            if _marks(block, self._file.delimiter) is None:
                raise TableError.malformed(self._file.path, width)
            try:
                text = io.StringIO(block.decode("utf-8"), newline="")
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
        block, unparsed = _columns_of(self.file, self.selection, self.rows)
        for name in unparsed:
            raise TableError.unparsable(name, self.file.path)
        return block


def _columns_of(
    file: CsvFile, selection: Selection, rows: list[list[str]]
) -> tuple[Block, dict[str, BoolArray]]:
    """The columns of rows of fields, and which fields are not numbers; those are missing."""
    na, columns, unparsed = frozenset(file.format.na), dict[str, Column](), dict[str, BoolArray]()
    for name in selection.columns:
        position = file.names.index(name)
        fields = [row[position] for row in rows]
        if name in selection.numbers:
            texts = [_plain_number(field, file.format.decimal, na) for field in fields]
            wrong = np.fromiter((text is None for text in texts), np.bool_, len(texts))
            if wrong.any():
                unparsed[name] = wrong
            empty = np.fromiter((not text for text in texts), np.bool_, len(texts))
            values = np.fromiter((float(text or "nan") for text in texts), np.float64, len(texts))
            array: npt.NDArray[Any] = np.ma.masked_array(values, empty) if empty.any() else values
        else:
            array = np.array([None if field in na else field for field in fields], dtype=object)
        columns[name] = NumpyColumn(array)
    return Block(len(rows), columns), unparsed


def _plain_number(field: str, decimal: str, na: frozenset[str]) -> str | None:
    """The text that ``float`` reads, nothing if the number is missing, None if it is not a number."""
    text = field.strip(" \t")
    if not text or text in na:
        return ""
    if decimal == ",":
        text = "?" if "." in text else text.replace(",", ".", 1)
    return text if _NUMBER.fullmatch(text) else None


_COMMA = re.compile(r"[+-]?\d*,\d+", re.ASCII)
MISSING_MARKS = frozenset(
    [
        "NA",
        "N/A",
        "n/a",
        "na",
        "#N/A",
        "NULL",
        "null",
        "Null",
        "None",
        "none",
        "NaT",
        "-",
        "--",
        ".",
        "?",
        "*",
        "missing",
        "MISSING",
        "\\N",
    ]
)
"""What programs write where a number is missing: no value of a record, so that an error may show it."""


def _careful_rows(file: CsvFile, log: FaultLog) -> Iterator[tuple[int, list[str]]]:
    """Every record with as many fields as the header, and its first line; others are logged."""
    width, last, record = len(file.names), file.header_lines(), b""

    def decoded() -> Iterator[str]:
        nonlocal last, record
        for number, line in file.lines():
            last = number
            record += line
            yield line.decode("utf-8", "surrogateescape")

    reader = csv.reader(decoded(), delimiter=file.delimiter)
    while True:
        first, record, is_whole = last + 1, b"", True
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:  # a field that does not end
            is_whole = False
        if not is_whole or _marks(record, file.delimiter) is None:
            log.quotes.add(1, [first])
        elif row and len(row) != width:
            log.fields.add(1, [first])
        elif row:
            yield first, row


def _is_broken(field: str) -> bool:
    """Whether a field has bytes that are not UTF-8; those are half characters here."""
    return not field.isascii() and any("\udc80" <= character <= "\udcff" for character in field)


def _checked(
    file: CsvFile,
    selection: Selection,
    rows: list[list[str]],
    lines: list[int],
    *,
    types: Mapping[str, Any],
    log: FaultLog,
) -> CheckedBlock:
    """Rows as columns; fields that are not numbers are logged."""
    from fedparity.tables.row_faults import CheckedBlock, FaultyRows  # noqa: PLC0415 -- where there are faults

    block, unparsed = _columns_of(file, selection, rows)
    places = np.array(lines, np.int64)
    columns = dict(block.columns)
    for name, wrong in unparsed.items():
        found = log.numbers.setdefault(name, FaultyRows())
        found.add(int(np.count_nonzero(wrong)), places[wrong].tolist())
        position = file.names.index(name)
        texts = [rows[place][position].strip(" \t") for place in np.flatnonzero(wrong)]
        log.comma_decimals += sum(1 for text in texts if _COMMA.fullmatch(text))
        log.marks.update(text for text in texts if text in MISSING_MARKS)
    for name, dtype in types.items():  # of columns that only a filter needs
        series = columns[name].series(name).replace("", None)
        columns[name] = PolarsColumn(series.cast(dtype, strict=False))
    return CheckedBlock(Block(block.length, columns), places, unparsed)


def _tested_types(file: CsvFile, selection: Selection) -> dict[str, Any]:
    """The types of the columns that only the filter needs, as the first block shows them."""
    for pieces in file.blocks(_own_header(file)):
        types = _types(file, selection, pieces)
        return {name: types[name] for name in selection.only_tested}
    return {}
