"""Read one table with a column of silos, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.engines.picked import picked
from fedparity.engines.pooled_table import PooledTable
from fedparity.errors import MassError, ScoreError, TableError
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.sketches.records import Batch, Codes, Faults
from fedparity.sources.columns import Block, BoolArray
from fedparity.sources.labels import Discovery, encode
from fedparity.sources.opening import open_records
from fedparity.sources.reader import Missing, TableRecords

__all__ = ["read_pooled"]

_ONE_SILO = "all"


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

    Parameters are those of :func:`fedparity.sources.opening.open_records`; ``silo`` names the
    column of silos, whose labels are their names, or is None if all records are of one; they are
    then in an order that does not depend on how they came. Groups are the labels found, in
    canonical order, if none are given.

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
    for task in records.table.scan(reading.selection):
        reading.add(task())
    table = reading.finish()
    if groups is None:
        table = table.with_found_groups()
    return table.in_canonical_order() if silo is None else table


class _Reading:
    """The blocks of a table, added one by one."""

    def __init__(self, records: TableRecords, silo: str | None) -> None:
        roles = records.roles
        self.silo, self.where, self.missing = silo, roles.where, roles.missing
        self.selection = roles.selection
        if silo is not None:
            if silo in (*self.selection.numbers, *self.selection.labels):
                raise TableError.used_twice(silo)
            records.table.require([silo])
            labels = (*self.selection.labels, silo)
            self.selection = replace(self.selection, labels=labels)
        # The filter is applied here, so that it is known of which silo a dropped row is.
        self.records = TableRecords(records.table, replace(roles, where=None), records.scheme)
        self.silos = Discovery([silo or _ONE_SILO])
        self.faults, self.silo_faults = Faults(), Faults()
        self.batches: list[Batch] = []
        self.silo_codes: list[Codes] = []
        self.dropped: list[Codes] = []
        self.rows = self.kept = 0

    def add(self, block: Block) -> None:
        """Read the records of a block."""
        self.rows += block.length
        if self.where is not None:
            block = picked(block, self.where.keep(block.columns))
        self.kept += block.length
        if not block.length:
            return
        silos = self._silos(block)
        if self.missing == "drop":
            gone = self._without_score(block)
            self.dropped.append(silos[gone])
            block, silos = picked(block, ~gone), silos[~gone]
        batch = self.records.batch(block)
        if batch.faults is not None:
            self.faults.add(batch.faults)
        self.batches.append(batch)
        self.silo_codes.append(silos)

    def _silos(self, block: Block) -> Codes:
        if self.silo is None:
            self.silos.admit((_ONE_SILO,), block.length, self.silo_faults)
            return np.zeros(block.length, dtype=np.uint32)
        labels = block.columns[self.silo].labels(self.silo)
        codes, _ = encode(self.silos, [labels], None, self.silo_faults)
        return codes

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
        if scores.size or not self.kept or self.faults != Faults():
            self.records.accept(self.faults)
        table = PooledTable.of(
            groups=self.records.groups,
            codes=_joined([batch.codes for batch in self.batches]),
            silos=self.silos.groups,
            silo_codes=_joined(self.silo_codes),
            scores=scores,
            weights=weights,
            dropped=_joined(self.dropped),
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
