"""CSV and TSV files, parsed by polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import TableError
from fedparity.sources.arrow_column import ArrowColumn
from fedparity.sources.arrow_csv import Kind, parsed_by_arrow
from fedparity.sources.columns import Block
from fedparity.sources.csv_bytes import CsvFile, Pieces, without_blank_lines
from fedparity.sources.extras import polars
from fedparity.sources.polars_column import PolarsColumn
from fedparity.sources.table import BlockTask, Selection, require_columns

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DelimitedTable", "delimiter_hint"]

_PART = 1 << 16


class DelimitedTable:
    """A CSV file, plain or compressed, read in blocks of some megabytes.

    Scores and weights are parsed as numbers and labels as text, so that ``01`` stays ``01``. The
    type of a column that only a filter needs is taken from the first block.
    """

    rows = None
    rescannable = True

    def __init__(self, path: Path, delimiter: str) -> None:
        polars("a CSV file")
        self._file = CsvFile.of(path, delimiter)
        self.columns: Sequence[str] = self._file.names

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        hint = delimiter_hint(self._file)
        require_columns(names, self.columns, what=str(self._file.path), hint=hint)

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
    """Whether the delimiters outside quotes are as many as the rows need.

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
