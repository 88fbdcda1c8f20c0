"""Tables: columns by name that are scanned block by block, and files that must not change meanwhile."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from fedparity.errors import TableError
from fedparity.errors.base import polars, pyarrow
from fedparity.errors.inputs import shortened
from fedparity.laws.arrays import BoolArray
from fedparity.laws.labels import check_aligned
from fedparity.tables.columns import (
    BLOCK_ROWS,
    ArrowColumn,
    Block,
    Column,
    PandasColumn,
    as_column,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "BatchesTable",
    "BlockTask",
    "Condition",
    "FileState",
    "MemoryTable",
    "Selection",
    "SkippingTable",
    "StreamTable",
    "Table",
    "UnopenedTable",
    "arrow_blocks",
    "blocks_of",
    "mapping_table",
    "parts",
    "require_columns",
    "stream_table",
    "structured_table",
]


@dataclass(frozen=True, slots=True)
class FileState:
    """A file, its size and when it was written, as they were when it was opened."""

    path: Path
    size: int
    written: int
    number: int

    @classmethod
    def from_path(cls, path: Path) -> FileState:
        """Return the state of a file.

        Raises
        ------
        TableError
            If there is no such file, or it may not be read.
        """
        try:
            found = path.stat()
            readable = os.access(path, os.R_OK)
        except FileNotFoundError:
            raise TableError.not_found(path) from None
        except OSError as error:
            raise TableError.unreadable(path, _reason(error)) from None
        if not readable:
            raise TableError.unreadable(path, "permission denied")
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def check(self) -> None:
        """Raise if the file is not what it was: a result would mix two tables.

        Raises
        ------
        TableError
            If it was written, replaced or removed since.
        """
        try:
            now = FileState.from_path(self.path)
        except TableError:
            raise TableError.changed(self.path) from None
        if now != self:
            raise TableError.changed(self.path)

    @contextmanager
    def reading(self, format_name: str, *damage: type[Exception]) -> Iterator[None]:
        """Read a part of the file; damage is a change of the file, or else a corrupt file.

        The text of the library's error is dropped, because it may quote a value of the table.
        """
        try:
            yield
        except damage:
            self.check()
            raise TableError(
                f"{str(self.path)!r} is not a whole {format_name} file: it is truncated or damaged.",
                fix="copy or export the file again, and compare its size with the original.",
            ) from None
        self.check()


def _reason(error: OSError) -> str:
    return (error.strerror or "an error of the system").lower()


Part = TypeVar("Part")

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_CALL = re.compile(r"(\w+)\s*\(")
_STATEMENT = re.compile(r";|\b(?:select|over|union|with|exists)\b", re.IGNORECASE)

_SYNTAX = "and or not in between when then else case is like ilike rlike regexp any all"
_TYPES = "decimal numeric varchar char date time timestamp datetime interval"
_FUNCTIONS = (
    "abs ceil ceiling floor round sign sqrt cbrt exp ln log log2 log10 log1p pow power mod div "
    "greatest least coalesce nullif ifnull if cast try_cast "
    "bit_length char_length character_length length octet_length len lower upper initcap trim ltrim "
    "rtrim btrim substr substring left right lpad rpad concat concat_ws replace reverse starts_with "
    "ends_with strpos position regexp_like contains strptime strftime date_part extract to_date"
)
_ROW_BY_ROW = frozenset(f"{_SYNTAX} {_TYPES} {_FUNCTIONS}".split())
"""Names that are allowed before a parenthesis. An aggregate would see one block of rows at a time and give
another answer for another size of blocks, so a function is refused unless it is known."""


@dataclass(frozen=True)
class Condition:
    """A condition that a row must satisfy to be read; a row for which it is null is left out.

    Parameters
    ----------
    sql : str
        An expression such as ``age >= 18 AND site IN ('N', 'S')``: no statement, no subquery, no
        aggregate. Names with other characters than letters, digits and ``_`` stand in double
        quotes.

    Raises
    ------
    TableError
        If it is not one row-by-row expression, or names no column.
    MissingExtraError
        If polars, which evaluates it, is not installed.

    Examples
    --------
    >>> Condition("age >= 18 AND site = 'N'").columns
    ('age', 'site')
    """

    sql: str
    columns: tuple[str, ...] = field(init=False)
    _expression: pl.Expr = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pl = polars("a filter")
        _refuse_unless_row_by_row(self.sql)
        try:
            expression = pl.sql_expr(self.sql)
            names = tuple(dict.fromkeys(expression.meta.root_names()))
        except pl.exceptions.PolarsError:
            raise TableError.bad_condition(self.sql, "it is not a SQL expression") from None
        if not names or expression.meta.has_multiple_outputs():
            raise TableError.bad_condition(self.sql, "it names no column")
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "_expression", expression)

    def keep(self, columns: Mapping[str, Column]) -> BoolArray:
        """Return which rows satisfy the condition.

        Raises
        ------
        TableError
            If it does not fit the types of the columns, or is neither true nor false.
        """
        pl = polars("a filter")
        frame = pl.DataFrame([_comparable(columns[name].series(name)) for name in self.columns])
        try:
            kept = frame.select(self._expression.alias("keep"))["keep"]
        except pl.exceptions.PolarsError:
            # The text of the error may quote a value of the table.
            raise TableError.bad_condition(self.sql, _types(frame)) from None
        if kept.dtype != pl.Boolean:
            raise TableError.bad_condition(self.sql, "it is neither true nor false")
        return np.asarray(kept.fill_null(False).to_numpy(), dtype=np.bool_)


def _comparable(series: pl.Series) -> pl.Series:
    """Categories as text, NaN and texts of no characters as null: a filter means the same whatever the source.

    A CSV file does not distinguish an empty text from a missing one, nor pandas a NaN from a missing number.
    """
    pl = polars("a filter")
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype.is_float():
        return series.fill_nan(None)
    return series.replace("", None) if series.dtype == pl.String else series


def _types(frame: pl.DataFrame) -> str:
    shown = ", ".join(f"{name} is {dtype}" for name, dtype in list(frame.schema.items())[:8])
    return f"it does not fit the types of its columns ({shown})"


def _refuse_unless_row_by_row(sql: str) -> None:
    bare = _QUOTED.sub(" ", sql)
    if _STATEMENT.search(bare):
        raise TableError.bad_condition(sql, "it is not a single condition on one row")
    unknown = [name for name in _CALL.findall(bare) if name.lower() not in _ROW_BY_ROW]
    if unknown:
        raise TableError.bad_condition(sql, f"the function {unknown[0]} is not for single rows")


BlockTask: TypeAlias = Callable[[], Block]
"""Reads one block; different tasks may run in different threads, in any order."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a scan has to read: columns by the role they play, so that a file can be parsed so."""

    numbers: tuple[str, ...]
    labels: tuple[str, ...]
    where: Condition | None = None
    may_skip: bool = True
    """Whether rows that the filter drops for certain may be left unread."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is needed, once."""
        tested = self.where.columns if self.where else ()
        return tuple(dict.fromkeys((*self.numbers, *self.labels, *tested)))

    @property
    def only_tested(self) -> tuple[str, ...]:
        """Columns that only the filter needs."""
        tested = self.where.columns if self.where else ()
        return tuple(name for name in tested if name not in {*self.numbers, *self.labels})


class Table(Protocol):
    """Something with columns, in memory or in files."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns, in their order."""
        ...

    @property
    def rows(self) -> int | None:
        """Its number of rows, where it is known before they are read."""
        ...

    @property
    def rescannable(self) -> bool:
        """Whether it can be scanned again, with the same outcome."""
        ...

    def require(self, names: Iterable[str]) -> None:
        """Raise a TableError if one of the columns is not there, or there twice."""
        ...

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once; their blocks hold the selected columns.

        The iterator is advanced by one thread at a time. The filter is not applied, but rows of
        which it is known, without reading them, that it drops them may be left out.
        """
        ...


class UnopenedTable:
    """A file or a database that is opened when its table is read, and not before."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a silo's policy and ledger know it; none if it has none."""
        raise NotImplementedError  # pragma: no cover

    def open(self) -> Table:
        """Open it, and return the table that is read."""
        raise NotImplementedError  # pragma: no cover


@runtime_checkable
class SkippingTable(Protocol):
    """A table whose scan may leave out rows that the filter drops."""

    def skipped(self, selection: Selection) -> int:
        """Return how many rows a scan does not read."""
        ...


def require_columns(
    names: Iterable[str], columns: Sequence[str], *, what: str, hint: str = ""
) -> None:
    """Raise if a name is not among the columns, or more than once.

    Raises
    ------
    TableError
        With the nearest names, and not more than a few of the columns there are.
    """
    counts = Counter(columns)
    wanted = tuple(names)
    if missing := [name for name in wanted if counts[name] == 0]:
        raise TableError.missing_columns(missing, columns, what=what, hint=hint)
    for name in wanted:
        if counts[name] > 1:
            raise TableError(
                f"{what} has more than one column {shortened(name)!r}.",
                fix="give every column a name of its own.",
            )


@dataclass(frozen=True, eq=False)
class MemoryTable:
    """Columns by name, made only when they are needed."""

    columns: Sequence[str]
    column: Callable[[str], Column]
    """Gives a column by its name."""
    rows: int
    rescannable: bool = True

    def require(self, names: Iterable[str]) -> None:
        """Raise if a column is not there, or there twice."""
        require_columns(names, self.columns, what="the table")

    def scan(self, selection: Selection) -> Iterator[BlockTask]:
        """Yield tasks that read all rows once."""
        yield from blocks_of({name: self.column(name) for name in selection.columns})


def blocks_of(columns: Mapping[str, Column]) -> Iterator[BlockTask]:
    """Yield tasks that read slices of columns.

    Raises
    ------
    TableError
        If the columns do not have the same length.
    ScoreError
        If they are pandas columns with different indexes.
    """
    first = next(iter(columns))
    length = len(columns[first])
    for name, column in columns.items():
        if len(column) != length:
            raise TableError(
                f"columns must have one entry per record, but {shortened(name)!r} has {len(column):,} and "
                f"{shortened(first)!r} has {length:,}.",
                fix="take all columns from the same rows of the same table.",
            )
    check_aligned(
        {f"column {n!r}": c.values for n, c in columns.items() if isinstance(c, PandasColumn)}
    )
    for start in range(0, length, BLOCK_ROWS):
        yield _Slice(columns, start, min(start + BLOCK_ROWS, length))


@dataclass(frozen=True, slots=True)
class _Slice:
    """The task that reads some rows of columns in memory."""

    columns: Mapping[str, Column]
    start: int
    stop: int

    def __call__(self) -> Block:
        rows = {name: column.rows(self.start, self.stop) for name, column in self.columns.items()}
        return Block(self.stop - self.start, rows)


def mapping_table(data: Mapping[Any, object]) -> MemoryTable:
    """Return the table of a dict of arrays, sequences or series.

    Raises
    ------
    TableError
        When it is scanned, if a column is not one-dimensional, or longer than another.
    """
    values = {str(name): column for name, column in data.items()}
    first = next(iter(values), None)
    if first is None:
        raise TableError.empty("the table")

    def column(name: str) -> Column:
        return as_column(values[name], name)

    return MemoryTable(tuple(values), column, rows=len(column(first)))


def structured_table(data: npt.NDArray[Any]) -> MemoryTable:
    """Return the table of an array with named fields."""
    names = data.dtype.names
    if names is None or data.ndim != 1:
        raise TableError.unsupported(f"an array of {data.dtype} with shape {np.shape(data)}")
    return MemoryTable(names, lambda name: as_column(data[name], name), rows=data.shape[0])


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


def parts(
    fetch: Callable[[], Part | None], boundary: Callable[[], AbstractContextManager[object]]
) -> Iterator[Part]:
    """Yield what ``fetch`` returns until it returns None; every call is inside a new ``boundary``.

    A boundary turns the errors of a library into errors that quote no value of the table.
    """
    while True:
        with boundary():
            part = fetch()
        if part is None:
            return
        yield part


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
