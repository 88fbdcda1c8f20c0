"""Tables, columns by name that are scanned block by block; and their records, with what to do about rows that are none."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from fedparity.errors import DatabaseError, LabelError, ScoreError, TableError
from fedparity.errors.inputs import shortened
from fedparity.laws.labels import Group, check_aligned
from fedparity.laws.law import BoolArray, FloatArray
from fedparity.sketches.accumulators import SketchRequest
from fedparity.sketches.records import Batch, BatchTask, Faults, RowCounts
from fedparity.tables.columns import BLOCK_ROWS, Block, Column, Numbers, PandasColumn
from fedparity.tables.groups import Scheme, encode
from fedparity.tables.where import Condition

if TYPE_CHECKING:
    from fedparity.tables.ranking import RanksTable, TableRanks

__all__ = [
    "PAIRED",
    "REPEATED",
    "TABLE_SETTINGS",
    "BlockTask",
    "FileState",
    "MemoryTable",
    "Missing",
    "RankingTable",
    "Roles",
    "Selection",
    "SkippingTable",
    "Table",
    "TableRecords",
    "UnopenedTable",
    "blocks_of",
    "parts",
    "require_columns",
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


Missing = Literal["refuse", "drop"]


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what, which rows count, and what a missing score means."""

    score: str
    groups: tuple[str, ...]
    weight: str | None = None
    where: Condition | None = None
    missing: Missing = "refuse"

    @property
    def selection(self) -> Selection:
        """What a scan has to read."""
        numbers = (self.score,) if self.weight is None else (self.score, self.weight)
        return Selection(numbers=numbers, labels=self.groups, where=self.where)


@runtime_checkable
class RankingTable(Protocol):
    """A table that may rank scores where it is."""

    def ranks(self, roles: Roles, request: SketchRequest) -> RanksTable | None:
        """Return what does so for these columns, or None if they have to be read.

        For bin means it is a :class:`~fedparity.tables.ranking.CutsTable`.
        """
        ...


@dataclass(frozen=True, eq=False)
class TableRecords:
    """The records of a table: a score, a group and perhaps a weight of every row that passes the filter.

    Where the groups are discovered, :attr:`groups` is complete once all tasks have run.
    """

    table: Table
    roles: Roles
    scheme: Scheme

    @property
    def groups(self) -> tuple[Group, ...]:
        """The labels that the codes represent."""
        return self.scheme.groups

    @property
    def weighted(self) -> bool:
        """Whether the records have weights."""
        return self.roles.weight is not None

    @property
    def rescannable(self) -> bool:
        """Whether it can be scanned again."""
        return self.table.rescannable

    @property
    def rows(self) -> int | None:
        """Its number of rows, where it is known."""
        return self.table.rows

    @property
    def resident(self) -> bool:
        """Whether the columns are in memory already."""
        return isinstance(self.table, MemoryTable)

    @property
    def worth_caching(self) -> bool:
        """Whether the result of a scan should be cached for the next one.

        Not for columns in memory that need no filter and whose labels are codes already: they
        are read where they are.
        """
        if not isinstance(self.table, MemoryTable) or self.roles.where is not None:
            return True
        columns = [self.table.column(name) for name in self.roles.groups]
        return len(columns) > 1 or not columns[0].coded

    def ranked(self, request: SketchRequest) -> TableRanks | None:
        """Return the same records, ranked where they are; None if they have to be read."""
        if not isinstance(self.table, RankingTable):
            return None
        table = self.table.ranks(self.roles, request)
        if table is None:
            return None
        from fedparity.tables.ranking import TableRanks  # noqa: PLC0415 -- databases and Spark only

        return TableRanks(self, table, request)

    def batches(self) -> Iterator[BatchTask]:
        """Yield tasks that read all the records once."""
        for task in self.table.scan(self.roles.selection):
            yield _Read(self, task)
        if skipped := self.skipped():
            yield partial(self._nothing_but, RowCounts(read=skipped, filtered=skipped))

    def skipped(self) -> int:
        """Return how many rows a scan does not read, because the filter drops them."""
        if not isinstance(self.table, SkippingTable) or self.roles.where is None:
            return 0
        return self.table.skipped(self.roles.selection)

    def _nothing_but(self, rows: RowCounts) -> Batch:
        """A batch without a record, which says what became of some rows."""
        weights = np.zeros(0) if self.weighted else None
        return Batch(np.zeros(0), np.zeros(0, self.scheme.dtype), weights, Faults(rows=rows))

    def accept(self, faults: Faults) -> RowCounts:
        """Return what became of all rows, or raise if one may not be left out."""
        rows = faults.rows
        if rows.read == rows.filtered and self.roles.where is not None:
            raise TableError.nothing_kept(self.roles.where.sql)
        if not rows.read:
            raise TableError.empty("the table")
        return self.judge(faults)

    def judge(self, faults: Faults) -> RowCounts:
        """Do what :meth:`accept` does, but accept a table without rows."""
        if faults.found:
            from fedparity.tables.row_faults import (  # noqa: PLC0415 -- where there are faults
                FaultLog,
                combined,
                fault_errors,
            )

            errors = fault_errors(FaultLog.from_faults(faults), self.roles, self.scheme)
            if errors:
                raise combined(errors)
        return faults.accepted()

    @contextmanager
    def explained(self, score_range: tuple[float, float]) -> Iterator[None]:
        """Turn the first error of a row into one that names all kinds of faults there are.

        Only a table that can be read again is searched.
        """
        try:
            yield
        except DatabaseError:
            raise
        except (TableError, LabelError, ScoreError):
            from fedparity.tables.row_faults import search_faults  # noqa: PLC0415 -- where there are faults

            found = search_faults(self, score_range) if self.rescannable else None
            if found is None:
                raise
            raise found from None

    def batch(self, block: Block) -> Batch:
        """Return the records of a block; rows that are not records are counted in its faults."""
        faults = Faults()
        where = self.roles.where
        rows = _Rows(block.length, None if where is None else where.keep(block.columns))
        faults.rows.read += block.length
        faults.rows.filtered += block.length - rows.count
        scores = self._scores(block, rows, faults)
        labels = [block.columns[name].labels(name) for name in self.roles.groups]
        codes, coded = encode(self.scheme, labels, rows.keep, faults)
        rows.restrict(coded)
        weights = self._weights(block, rows, faults)
        if rows.keep is None:
            return Batch(scores, codes, weights, faults)
        return Batch(
            scores[rows.keep],
            codes[rows.keep],
            None if weights is None else weights[rows.keep],
            faults,
        )

    def _scores(self, block: Block, rows: _Rows, faults: Faults) -> FloatArray:
        numbers = block.columns[self.roles.score].numbers(self.roles.score)
        scores = _floats(numbers)
        faults.missing_scores += rows.restrict(numbers.valid)
        if self.roles.missing == "drop":  # otherwise the kernels find the NaN while they count
            nan = np.isnan(scores)
            faults.missing_scores += rows.restrict(~nan if nan.any() else None)
        return scores

    def _weights(self, block: Block, rows: _Rows, faults: Faults) -> FloatArray | None:
        name = self.roles.weight
        if name is None:
            return None
        numbers = block.columns[name].numbers(name)
        weights = _floats(numbers)
        faults.bad_weights += rows.restrict(numbers.valid)
        good = (weights >= 0) & (weights < np.inf)
        faults.bad_weights += rows.restrict(None if good.all() else good)
        none = weights == 0 if rows.keep is None else (weights == 0) & rows.keep
        faults.rows.weightless += int(np.count_nonzero(none))
        return weights


@dataclass(frozen=True, slots=True)
class _Read:
    """The task that reads one block and makes a batch of it."""

    records: TableRecords
    task: BlockTask

    def __call__(self) -> Batch:
        return self.records.batch(self.task())


class _Rows:
    """Which rows of a block pass the filter (None: all)."""

    def __init__(self, length: int, keep: BoolArray | None) -> None:
        self.keep = keep
        self.count = length if keep is None else int(np.count_nonzero(keep))

    def restrict(self, good: BoolArray | None) -> int:
        """Keep only the rows that are ``good`` (None: all), and return how many that drops."""
        if good is None:
            return 0
        before = self.count
        self.keep = good if self.keep is None else self.keep & good
        self.count = int(np.count_nonzero(self.keep))
        return before - self.count


def _floats(numbers: Numbers) -> FloatArray:
    return np.ascontiguousarray(numbers.values, dtype=np.float64)


TABLE_SETTINGS: dict[str, str] = {
    "data": "a file, a folder or pattern of files, or the address of a database",
    "url-file": "a file with the address of a database, instead of data",
    "table": "table of the database",
    "query": "one statement that reads, instead of table",
    "delimiter": "what is between the fields of a text: one character, or tab; a comma if absent",
    "decimal": "decimal mark of the numbers in a text: , or . (the default)",
    "encoding": "encoding of a text, such as cp1252; UTF-8 if absent",
    "na": "texts that mean a missing value; several separated by commas",
    "sheet": "sheet of an Excel workbook; the first if absent",
    "score": "column of the scores",
    "group": "column of the groups; several separated by commas",
    "axis": "columns of the plan's axes, by their names: axis.NAME",
    "outcome": "column of the outcome, if the plan requests it",
    "weight": "column of weights",
    "where": "a SQL condition on the rows that are read",
    "map": "labels that are read as another one: map.LABEL",
    "missing": "rows without a score: refuse (the default) or drop",
    "other": "group that takes labels the plan does not list",
}
"""Each key with its meaning."""
REPEATED = "group", "na"
"""Keys that may have several values."""
PAIRED = "map", "axis"
"""Keys that are tables, from one name to another."""
