"""From blocks of columns to batches of records, and what to do about rows that are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

from fedparity.errors import LabelError, TableError
from fedparity.errors.base import listed
from fedparity.errors.table_errors import shortened
from fedparity.laws.arrays import BoolArray, FloatArray
from fedparity.laws.labels import Group
from fedparity.sketches.records import Batch, BatchTask, Faults
from fedparity.sketches.selection.moments import Asked
from fedparity.tables.columns import Block, Numbers
from fedparity.tables.groups import Listing, Scheme, encode
from fedparity.tables.table import BlockTask, Condition, MemoryTable, Selection, Table

if TYPE_CHECKING:
    from fedparity.tables.ranking import RanksTable, TableRanks

__all__ = ["Missing", "RankingTable", "Roles", "TableRecords"]

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

    def ranks(self, roles: Roles, asked: Asked) -> RanksTable | None:
        """Return what does so for these columns, or None if they have to be read.

        For bin means it is a :class:`~fedparity.tables.ranking.CutsTable`.
        """
        ...


class _Seen:
    """How many rows there were, and how many the filter kept, in all scans so far."""

    def __init__(self) -> None:
        self._rows = self._kept = 0
        self._lock = Lock()

    def add(self, rows: int, kept: int) -> None:
        with self._lock:
            self._rows += rows
            self._kept += kept

    def refuse_if_none(self, roles: Roles) -> None:
        if self._kept == 0 and roles.where is not None:
            raise TableError.nothing_kept(roles.where.sql)
        if self._rows == 0:
            raise TableError.empty("the table")


@dataclass(frozen=True, eq=False)
class TableRecords:
    """The records of a table: a score, a group, perhaps a weight, of every row that is kept.

    Where the groups are discovered, :attr:`groups` is complete once all tasks have run.
    """

    table: Table
    roles: Roles
    scheme: Scheme
    _seen: _Seen = field(default_factory=_Seen, init=False, repr=False)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The labels that codes stand for."""
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
        """Whether what a scan makes of the table should be kept for the next one.

        Not for columns in memory that need no filter and whose labels are codes already: they
        are read where they are.
        """
        if not isinstance(self.table, MemoryTable) or self.roles.where is not None:
            return True
        columns = [self.table.column(name) for name in self.roles.groups]
        return len(columns) > 1 or not columns[0].coded

    def ranked(self, asked: Asked) -> TableRanks | None:
        """Return the same records, ranked where they are; None if they have to be read."""
        if not isinstance(self.table, RankingTable):
            return None
        table = self.table.ranks(self.roles, asked)
        if table is None:
            return None
        from fedparity.tables.ranking import TableRanks  # noqa: PLC0415 -- databases and Spark only

        return TableRanks(self, table, asked)

    def batches(self) -> Iterator[BatchTask]:
        """Yield tasks that read all the records once."""
        for task in self.table.scan(self.roles.selection):
            yield _Read(self, task)

    def accept(self, faults: Faults) -> int:
        """Return how many rows were dropped as allowed, or raise if one may not be."""
        self._seen.refuse_if_none(self.roles)
        return self.judge(faults)

    def accept_counted(self, rows: int, faults: Faults) -> int:
        """Do what :meth:`accept` does, of rows that were counted and not read."""
        self._seen.add(rows, rows)
        return self.accept(faults)

    def judge(self, faults: Faults) -> int:
        """Do what :meth:`accept` does, wherever the rows were seen."""
        score, weight = self.roles.score, self.roles.weight
        if faults.missing_scores and self.roles.missing == "refuse":
            raise TableError(
                f"column {shortened(score)!r} lacks a score in {faults.missing_scores:,} rows.",
                fix="pass --missing drop (missing='drop') to leave them out; the message says how many.",
            )
        if faults.infinite_scores:
            raise TableError(
                f"column {shortened(score)!r} holds {faults.infinite_scores:,} infinite scores.",
                fix="repair those records, or leave them out with a filter (--where).",
            )
        if faults.missing_labels:
            raise LabelError(
                f"{faults.missing_labels:,} records have no label in {listed(self.roles.groups)}.",
                fix="add the group 'unknown' to the plan, or map the missing label to a group with "
                '--map "=LABEL" (mapping={"": LABEL}).',
            )
        if faults.unlisted:
            known = self.scheme.texts if isinstance(self.scheme, Listing) else ()
            raise LabelError.unlisted(self.roles.groups, faults.unlisted, known)
        if faults.bad_weights and weight is not None:
            raise TableError(
                f"column {shortened(weight)!r} holds {faults.bad_weights:,} weights that are missing, negative or not "
                "finite.",
                fix="repair them; a record that must not count has weight 0.",
            )
        return faults.missing_scores

    def batch(self, block: Block) -> Batch:
        """Return the records of a block; rows that are none are counted in its faults."""
        faults = Faults()
        where = self.roles.where
        rows = _Rows(block.length, None if where is None else where.keep(block.columns))
        self._seen.add(block.length, rows.count)
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
        return weights


@dataclass(frozen=True, slots=True)
class _Read:
    """The task that reads one block and makes a batch of it."""

    records: TableRecords
    task: BlockTask

    def __call__(self) -> Batch:
        return self.records.batch(self.task())


class _Rows:
    """Which rows of a block are still kept (None: all)."""

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
