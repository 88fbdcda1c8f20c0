"""Simulated errors along ladders of sizes: of levels for the sketch, of records for the audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fedparity.diagnostics.planning.limits import fewest_replicates, upper_limit
from fedparity.diagnostics.planning.progress import Steps
from fedparity.diagnostics.planning.readings import read_mixture, sketch_of, spread_of
from fedparity.diagnostics.planning.scenario import Purpose, Scenario
from fedparity.diagnostics.planning.score_laws import disparity_between
from fedparity.diagnostics.planning.simulation import (
    ENOUGH_NUMBERS,
    Audit,
    chunks,
    order_statistics,
)
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.levels import ranks

__all__ = ["LEVELS", "RECORDS", "SizeRow", "errors_by_levels", "errors_by_records", "smallest"]

LEVELS = (5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
RECORDS = (30, *(step * 10**power for power in range(1, 7) for step in (5, 10, 20)))
_SKETCHED_RECORDS = 2000
"""Records per cell in the simulations that compare a sketch with its own records."""


@dataclass(frozen=True, kw_only=True)
class SizeRow:
    """One size of audit, and how far its disparity is from the truth."""

    levels: int
    records: int
    """Records per cell of the smallest group."""
    compared_with: Literal["records", "law"]
    """The truth: the disparity of the same records (the sketch's part), or that of the laws."""
    error: float
    """What the error stays within in the wanted share of the simulated audits."""
    bound: float
    """What it stays within for any laws that the bounds speak of."""


def errors_by_levels(
    scenario: Scenario, strength: float, ladder: Sequence[int]
) -> tuple[SizeRow, ...]:
    """Return the errors of the sketch at each k, all read from the same simulated records."""
    shares = scenario.observed_shares(_SKETCHED_RECORDS)
    chunked = [
        _sketch_errors(scenario, cells, shares, ladder)
        for cells in _simulated_records(scenario, strength)
    ]
    return tuple(
        SizeRow(
            levels=levels,
            records=_SKETCHED_RECORDS,
            compared_with="records",
            error=upper_limit(errors, scenario.confidence),
            bound=scenario.bounds(shares).sketch(levels),
        )
        for levels, errors in zip(ladder, np.concatenate(chunked, axis=1), strict=True)
    )


def errors_by_records(
    scenario: Scenario, strength: float, levels: int, *, wanted: float, steps: Steps
) -> tuple[SizeRow, ...]:
    """Return the errors of the audit, until two sizes in a row are within ``wanted``."""
    rows: list[SizeRow] = []
    for records in RECORDS:
        audit = Audit(scenario=scenario, records=records, levels=levels)
        if not audit.is_feasible:
            break
        rows.append(_audit_row(audit, strength))
        steps.advance()
        if len(rows) > 1 and max(row.error for row in rows[-2:]) <= wanted:
            break
    return tuple(rows)


def smallest(
    size: Literal["levels", "records"], rows: Sequence[SizeRow], *, wanted: float
) -> int | None:
    """Return the smallest size from which on all errors are within ``wanted``."""
    found = None
    for row in reversed(rows):
        if row.error > wanted:
            break
        found = row.levels if size == "levels" else row.records
    return found


def _sketch_errors(
    scenario: Scenario, cells: list[FloatArray], shares: Sequence[float], ladder: Sequence[int]
) -> FloatArray:
    """Errors of the sketches of these cells: one row per k, one column per audit."""

    def estimated(levels: int) -> FloatArray:
        sketches = [sketch_of(group, levels, scenario.kind) for group in cells]
        return spread_of([read_mixture(x, scenario.estimator) for x in sketches], shares)

    exact = spread_of([read_mixture(group, "exact") for group in cells], shares)
    return np.stack([np.abs(estimated(levels) - exact) for levels in ladder])


def _simulated_records(scenario: Scenario, strength: float) -> Iterator[list[FloatArray]]:
    """Sorted records of all cells: one array of (audits, silos, records) per group.

    Large federations have fewer audits: the error of a sketch varies little between them.
    """
    random = scenario.random(Purpose.SKETCHES, _SKETCHED_RECORDS)
    counts, laws = scenario.counts(_SKETCHED_RECORDS), scenario.laws(strength)
    numbers = scenario.silos * sum(counts)
    enough = max(fewest_replicates(scenario.confidence), ENOUGH_NUMBERS // numbers)
    for chunk in chunks(min(scenario.replicates, enough), numbers):
        size = chunk, scenario.silos
        yield [
            law.quantile(order_statistics(random, ranks(count, count), count, size))
            for law, count in zip(laws, counts, strict=True)
        ]


def _audit_row(audit: Audit, strength: float) -> SizeRow:
    scenario = audit.scenario
    truth = disparity_between(scenario.laws(strength), audit.shares)
    estimates = audit.estimates(strength, audit.draws(scenario.replicates, Purpose.ERRORS))
    return SizeRow(
        levels=audit.levels,
        records=audit.records,
        compared_with="law",
        error=upper_limit(np.abs(estimates - truth), scenario.confidence),
        bound=scenario.bounds(audit.shares).audit(
            audit.levels, audit.records, disparity=truth, confidence=scenario.confidence
        ),
    )
