"""One table with the records of all silos, split by silo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import MassError, ScoreError, TableError
from fedparity.laws.labels import Group, Labels, canonical_order
from fedparity.laws.law import BoolArray, FloatArray, IntArray
from fedparity.sketches.records import ArrayRecords, Batch, Codes, Faults, RowCounts
from fedparity.tables.columns import Block, Column, Numbers
from fedparity.tables.groups import Discovery, LabelType, encode, typed_text
from fedparity.tables.opening import open_records
from fedparity.tables.table import Missing, TableRecords

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "ONE_SILO",
    "PooledTable",
    "filtered",
    "read_pooled",
]


def filtered(block: Block, keep: BoolArray) -> Block:
    """Return the rows of a block that pass the filter; nothing is read yet.

    Examples
    --------
    >>> from fedparity.tables.columns import NumpyColumn
    >>> block = Block(3, {"z": NumpyColumn(np.array([0.1, 0.2, 0.3]))})
    >>> filtered(block, np.array([True, False, True])).columns["z"].numbers("z").values
    array([0.1, 0.3])
    """
    if keep.all():
        return block
    columns = {name: _FilteredColumn(column, keep) for name, column in block.columns.items()}
    return Block(int(np.count_nonzero(keep)), columns)


@dataclass(frozen=True, eq=False, slots=True)
class _FilteredColumn:
    """Some rows of a column."""

    column: Column
    keep: BoolArray

    def __len__(self) -> int:
        return int(np.count_nonzero(self.keep))

    def rows(self, start: int, stop: int) -> _FilteredColumn:
        """Return the rows from ``start`` to before ``stop`` of those that pass the filter."""
        keep = np.zeros_like(self.keep)
        keep[np.flatnonzero(self.keep)[start:stop]] = True
        return _FilteredColumn(self.column, keep)

    def numbers(self, name: str) -> Numbers:
        """Return the numbers of the rows."""
        every = self.column.numbers(name)
        return Numbers(
            every.values[self.keep], None if every.valid is None else every.valid[self.keep]
        )

    @property
    def coded(self) -> bool:
        """Whether its labels are numbers already."""
        return self.column.coded

    @property
    def label_type(self) -> LabelType:
        """What its labels are."""
        return self.column.label_type

    def labels(self, name: str) -> Labels:
        """Return the labels of the rows."""
        every = self.column.labels(name)
        return Labels(every.codes[self.keep], every.distinct)

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series."""
        return self.column.series(name).filter(self.keep)


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledTable:
    """The records of all silos in memory: those of one silo lie side by side.

    Build it with :meth:`from_records`. Scores are finite, and weights, where there are any, positive.
    """

    groups: tuple[Group, ...]
    silos: tuple[str, ...]
    """Their names, in canonical order."""
    starts: IntArray
    """Where the records of each silo start, and where the last ones end."""
    scores: FloatArray
    codes: Codes
    """The position of each record's group."""
    weights: FloatArray | None
    dropped: IntArray
    """Rows of each silo without a score, which were left out."""
    filtered: IntArray
    """Rows of each silo that the filter left out; of silos that have other rows."""

    @classmethod
    def from_records(
        cls,
        *,
        groups: Sequence[Group],
        codes: Codes,
        silos: Sequence[str],
        silo_codes: npt.NDArray[Any],
        scores: FloatArray,
        weights: FloatArray | None = None,
        dropped: npt.NDArray[Any] | None = None,
        filtered: Mapping[str, int] | None = None,
    ) -> PooledTable:
        """Return the table of these records.

        ``codes`` and ``silo_codes`` are positions in ``groups`` and ``silos``, one per record;
        ``dropped`` holds the silos of rows without a score, and ``filtered`` the number of rows that the
        filter left out by silo. Records without weight count
        nowhere, and are not kept.
        """
        names = canonical_order(silos)
        place = _places(silos, names)
        where = place[silo_codes]
        if weights is not None:
            counted = np.flatnonzero(weights > 0)
            where, codes = where[counted], codes[counted]
            scores, weights = scores[counted], weights[counted]
        order = np.argsort(where.astype(_smallest(len(names))), kind="stable")
        sizes = np.bincount(where, minlength=len(names))
        none = np.zeros(0, dtype=np.int64)
        return cls(
            groups=tuple(groups),
            silos=names,
            starts=np.concatenate(([0], np.cumsum(sizes))),
            scores=scores[order],
            codes=codes[order],
            weights=None if weights is None else weights[order],
            dropped=np.bincount(place[none if dropped is None else dropped], minlength=len(names)),
            filtered=np.array([(filtered or {}).get(name, 0) for name in names], np.int64),
        )

    def with_found_groups(self) -> PooledTable:
        """Return the same records with only the groups that have one, in canonical order."""
        met = np.bincount(self.codes, minlength=len(self.groups)) > 0
        found = canonical_order(
            group for group, has_records in zip(self.groups, met, strict=True) if has_records
        )
        place = _places(self.groups, found)
        return replace(self, groups=found, codes=place.astype(_smallest(len(found)))[self.codes])

    def in_groups(self, groups: Sequence[Group]) -> PooledTable:
        """Return the same records with these groups, which include all that have one, in this order."""
        place = _places(self.groups, groups)
        codes = place.astype(_smallest(len(groups)))[self.codes]
        return replace(self, groups=tuple(groups), codes=codes)

    def in_canonical_order(self) -> PooledTable:
        """Return the same records in an order that does not depend on the order in which they were read.

        By silo, score, group and weight; an allocation of them is then the same for every source.
        """
        silos = np.repeat(np.arange(len(self.silos)), np.diff(self.starts))
        weights = () if self.weights is None else (self.weights,)
        order = np.lexsort((*weights, self.codes, self.scores, silos))
        return replace(
            self,
            scores=self.scores[order],
            codes=self.codes[order],
            weights=None if self.weights is None else self.weights[order],
        )

    def records(self, silo: int) -> ArrayRecords:
        """Return the records of the silo at this position, as it would read them itself."""
        rows = slice(int(self.starts[silo]), int(self.starts[silo + 1]))
        found = int(self.starts[silo + 1] - self.starts[silo])
        dropped, filtered = int(self.dropped[silo]), int(self.filtered[silo])

        def accept(_: Faults) -> RowCounts:
            read = found + dropped + filtered
            return RowCounts(read=read, filtered=filtered, without_score=dropped)

        return ArrayRecords(
            self.groups,
            self.scores[rows],
            self.codes[rows],
            None if self.weights is None else self.weights[rows],
            accepting=accept,
        )


def _places(labels: Sequence[Group], ordered: Sequence[Group]) -> IntArray:
    """The position of each label in another order; 0 where it has none."""
    at = {label: position for position, label in enumerate(ordered)}
    return np.array([at.get(label, 0) for label in labels], dtype=np.int64)


def _smallest(labels: int) -> npt.DTypeLike:
    """The type of the codes: sorting small whole numbers takes one pass per byte."""
    return np.min_scalar_type(max(labels - 1, 0))


ONE_SILO = "all"
"""The name of the silo of all records, where no column names silos."""


def read_pooled(
    data: object,
    *,
    silo: str | None,
    score: str | None = None,
    group: str | Sequence[str] | None = None,
    groups: Sequence[Group] | None = None,
    weight: str | None = None,
    where: str | None = None,
    mapping: Mapping[str, str] | None = None,
    missing: Missing = "refuse",
    other: str | None = None,
) -> PooledTable:
    """Return the records of a table, silo by silo.

    Parameters are those of :func:`fedparity.tables.opening.open_records`; ``silo`` names the
    column of silos, whose labels are their names, or is None if all records are of one; they are
    then in an order that does not depend on the order of reading. Groups are the labels found, of the type
    of their column and in canonical order, if none are given.

    A row is a record here if and only if it would be one in the silo's own table.

    Raises
    ------
    TableError
        If the table cannot be read, lacks a column, or has rows without a silo.
    LabelError
        If labels and groups do not fit together.
    """
    records = open_records(
        data,
        score=score,
        group=group,
        groups=groups,
        weight=weight,
        where=where,
        mapping=mapping,
        missing=missing,
        other=other,
    )
    reading = _Reading(records, silo)
    with records.explained((-np.inf, np.inf)):
        for task in records.table.scan(reading.selection):
            reading.add(task())
        table = reading.finish()
    if groups is None:
        if not mapping:  # which has texts for labels
            table = replace(table, groups=tuple(map(reading.typed, table.groups)))
        table = table.with_found_groups()
    return table.in_canonical_order() if silo is None else table


class _Reading:
    """The blocks of a table, added one by one."""

    def __init__(self, records: TableRecords, silo: str | None) -> None:
        roles = records.roles
        self.silo, self.where, self.missing = silo, roles.where, roles.missing
        # No row is skipped, so that it is known of which silo a row is that the filter drops.
        self.selection = replace(roles.selection, may_skip=False)
        if silo is not None:
            if silo in (*self.selection.numbers, *self.selection.labels):
                raise TableError.used_twice(silo)
            records.table.require([silo])
            labels = (*self.selection.labels, silo)
            self.selection = replace(self.selection, labels=labels)
        # The filter is applied here, for the same reason.
        self.records = TableRecords(records.table, replace(roles, where=None), records.scheme)
        self.silos = Discovery([silo or ONE_SILO])
        self.faults, self.silo_faults = Faults(), Faults()
        self.batches: list[Batch] = []
        self.silo_codes: list[Codes] = []
        self.dropped: list[Codes] = []
        self.types: list[set[LabelType]] = [set() for _ in roles.groups]
        self.filtered: Counter[str] = Counter()
        self.rows = self.kept = 0

    def add(self, block: Block) -> None:
        """Read the records of a block."""
        self.rows += block.length
        if self.where is not None:
            keep = self.where.keep(block.columns)
            self._count_filtered(filtered(block, ~keep))
            block = filtered(block, keep)
        self.kept += block.length
        if not block.length:
            return
        for found, name in zip(self.types, self.records.roles.groups, strict=True):
            found.add(block.columns[name].label_type)
        silos = self._silos(block)
        if self.missing == "drop":
            gone = self._without_score(block)
            self.dropped.append(silos[gone])
            block, silos = filtered(block, ~gone), silos[~gone]
        batch = self.records.batch(block)
        if batch.faults is not None:
            self.faults.add(batch.faults)
        self.batches.append(batch)
        self.silo_codes.append(silos)

    def typed(self, group: Group) -> Group:
        """Return a group that was found by its texts as the labels that the columns hold.

        Whole numbers stay whole numbers, and booleans booleans; in a CSV file all labels are texts.
        """
        texts = group if isinstance(group, tuple) else (group,)
        parts = tuple(
            typed_text(text, *found) if len(found) == 1 else text
            for text, found in zip(texts, self.types, strict=True)
        )
        return parts if isinstance(group, tuple) else parts[0]

    def _silos(self, block: Block) -> Codes:
        if self.silo is None:
            self.silos.admit((ONE_SILO,), block.length, self.silo_faults)
            return np.zeros(block.length, dtype=np.uint32)
        labels = block.columns[self.silo].labels(self.silo)
        codes, _ = encode(self.silos, [labels], None, self.silo_faults)
        return codes

    def _count_filtered(self, block: Block) -> None:
        """Count rows that the filter dropped, by silo."""
        if self.silo is None:
            self.filtered[ONE_SILO] += block.length
            return
        labels = block.columns[self.silo].labels(self.silo)
        counts = np.bincount(labels.codes, minlength=len(labels.distinct)).tolist()
        for label, count in zip(labels.distinct, counts, strict=True):
            if label is not None:
                self.filtered[label] += count

    def _without_score(self, block: Block) -> BoolArray:
        name = self.records.roles.score
        numbers = block.columns[name].numbers(name)
        gone = np.isnan(np.asarray(numbers.values, dtype=np.float64))
        if numbers.valid is not None:
            gone |= ~numbers.valid
        return gone

    def finish(self) -> PooledTable:
        """Return all records, or raise if there is a row that may not be one."""
        if self.where is not None and self.rows and not self.kept:
            raise TableError.nothing_kept(self.where.sql)
        if self.silo is not None and self.silo_faults.missing_labels:
            raise _rows_without_silo(self.silo, self.silo_faults.missing_labels)
        scores, weights = self._numbers()
        _count_not_finite(scores, weights, self.faults)
        if scores.size or not self.kept or self.faults.found:
            self.records.accept(self.faults)
        table = PooledTable.from_records(
            groups=self.records.groups,
            codes=_joined([batch.codes for batch in self.batches]),
            silos=self.silos.groups,
            silo_codes=_joined(self.silo_codes),
            scores=scores,
            weights=weights,
            dropped=_joined(self.dropped),
            filtered=self.filtered,
        )
        if not table.scores.size:
            raise MassError.all_zero("weights") if scores.size else ScoreError.empty("the rows")
        return table

    def _numbers(self) -> tuple[FloatArray, FloatArray | None]:
        scores: FloatArray = _joined([batch.scores for batch in self.batches])
        weights = [batch.weights for batch in self.batches if batch.weights is not None]
        return scores, _joined(weights) if self.records.weighted else None


def _joined(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint32)


def _count_not_finite(scores: FloatArray, weights: FloatArray | None, faults: Faults) -> None:
    """Count what a silo's kernels would: nothing of a record without weight."""
    bad = ~np.isfinite(scores)
    if weights is not None and weights.size == scores.size:
        bad &= weights > 0
    missing = int(np.count_nonzero(np.isnan(scores[bad])))
    faults.missing_scores += missing
    faults.infinite_scores += int(np.count_nonzero(bad)) - missing


def _rows_without_silo(column: str, count: int) -> TableError:
    return TableError(
        f"{count:,} rows have no silo in column {column!r}.",
        fix="give them the name of a silo, or leave them out with where=.",
    )
