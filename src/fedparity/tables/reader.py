"""From blocks of columns to batches of records: the options of reading, and what to do about rows that are not records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

from fedparity.errors import DatabaseError, LabelError, ScoreError, TableError
from fedparity.laws.arrays import BoolArray, FloatArray
from fedparity.laws.labels import Group
from fedparity.sketches.accumulators import SketchRequest
from fedparity.sketches.records import Batch, BatchTask, Faults, RowCounts
from fedparity.tables.columns import Block, Numbers
from fedparity.tables.groups import Scheme, encode
from fedparity.tables.table import (
    BlockTask,
    Condition,
    MemoryTable,
    Selection,
    SkippingTable,
    Table,
)

if TYPE_CHECKING:
    from fedparity.tables.ranking import RanksTable, TableRanks

__all__ = [
    "PAIRED",
    "REPEATED",
    "TABLE_SETTINGS",
    "Missing",
    "RankingTable",
    "Roles",
    "TableRecords",
]

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
