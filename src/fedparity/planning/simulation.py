"""Drawing audits of one size: order statistics of their cells, and what is estimated from them.

A sketch of n records is made of order statistics, and those of uniform levels are ratios of sums
of independent gamma variables, so that k numbers are drawn per cell, not n; because quantile
functions do not decrease, the mixture over silos is sorted once, in levels, whatever the law.
That is exact. Bin means depend on every record: of cells of more than 500 they are taken over 500
evenly spaced order statistics, which moves the estimate by one or two hundredths of its sampling
error.

What the estimator reads of many audits at once (sketches of cells, mixtures, disparities) is the
arithmetic of a federation, for arrays with one row per audit and for silos of equal counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fedparity.federated.estimate import Estimator
from fedparity.functionals.curves import disparities
from fedparity.laws.law import FloatArray, Law, QuantileTable, common_refinement
from fedparity.planning.scenario import (
    Purpose,
    Scenario,
    Steps,
    disparity_between,
    fewest_replicates,
    upper_limit,
)
from fedparity.sketches.kinds import Kind, ranks
from fedparity.text import OneLine

__all__ = [
    "ENOUGH_NUMBERS",
    "LEVELS",
    "RECORDS",
    "Audit",
    "SizeRow",
    "bin_means_of",
    "chunks",
    "errors_by_levels",
    "errors_by_records",
    "order_statistics",
    "read_mixture",
    "sketch_of",
    "smallest",
    "spread_of",
]


def sketch_of(records: FloatArray, levels: int, kind: Kind) -> FloatArray:
    """Return the k values of cells whose sorted records lie along the last axis."""
    if kind == "mean":
        return bin_means_of(records, levels)
    return records[..., ranks(records.shape[-1], levels) - 1]


def bin_means_of(records: FloatArray, levels: int) -> FloatArray:
    """Return the bin means of cells: differences of the integrated quantile function at l/k.

    Examples
    --------
    >>> bin_means_of(np.array([1.0, 2.0, 6.0]), 2)
    array([1.33333333, 4.66666667])
    """
    count = records.shape[-1]
    sums = np.zeros((*records.shape[:-1], count + 1))
    np.cumsum(records, axis=-1, out=sums[..., 1:])
    whole, part = np.divmod(np.arange(levels + 1) * count, levels)
    areas = sums[..., whole]
    areas[..., :-1] += part[:-1] / levels * records[..., whole[:-1]]
    means: FloatArray = np.diff(areas, axis=-1) * (levels / count)
    return means


def read_mixture(values: FloatArray, estimator: Estimator) -> FloatArray:
    """Return what the estimator reads of a group, from the k values of each of its silos.

    Silos have equal counts, so the mixture gives equal masses to all d·k values: ``exact``
    reads them all, ``grid`` those at the k midpoints.

    Examples
    --------
    >>> read_mixture(np.array([[[1.0, 4.0], [2.0, 3.0]]]), "grid")
    array([[1., 3.]])
    """
    audits, silos, levels = values.shape
    mixture = np.sort(values.reshape(audits, silos * levels), axis=1)
    return mixture if estimator == "exact" else mixture[:, ranks(silos * levels, levels) - 1]


def spread_of(groups: Sequence[FloatArray], shares: Sequence[float]) -> FloatArray:
    """Return the disparity of each audit (row), given sorted values of each group.

    The values of a group have equal masses; groups may have different numbers of them.
    """
    places = [Law.from_sorted(np.arange(float(rows.shape[1]))) for rows in groups]
    widths, positions = common_refinement(places)
    values = np.stack(
        [rows[:, at] for rows, at in zip(groups, positions.astype(np.int64), strict=True)], axis=1
    )
    return disparities(QuantileTable(widths, values), np.asarray(shares), 2)


ENOUGH_NUMBERS = 10**7
"""Once a simulation has drawn this many numbers, it draws more audits only if it must."""
_MOST_NUMBERS = 10**8
"""Numbers that one simulation may draw: 800 megabytes of memory."""
_AT_ONCE = 1 << 21
"""Numbers that are drawn at once."""
_MEANT_RECORDS = 500
"""Order statistics per cell over which bin means are taken: all records up to this many."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """An audit of one size, to be simulated many times."""

    scenario: Scenario
    records: int
    levels: int

    @property
    def numbers(self) -> int:
        """How many random numbers one audit draws."""
        counts = self.scenario.counts(self.records)
        return self.scenario.silos * sum(self._levels_drawn(count) + 1 for count in counts)

    @property
    def most_replicates(self) -> int:
        """How many audits of this size can be simulated."""
        return _MOST_NUMBERS // self.numbers

    @property
    def is_feasible(self) -> bool:
        """Whether the simulated audits draw few enough numbers together."""
        return self.scenario.replicates <= self.most_replicates

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares of the groups."""
        return self.scenario.observed_shares(self.records)

    def draws(self, audits: int, purpose: Purpose) -> Iterator[list[FloatArray]]:
        """Yield what is random, one array per group with one row per audit, chunk by chunk."""
        random = self.scenario.random(purpose, self.records)
        counts = self.scenario.counts(self.records)
        for chunk in chunks(audits, self.numbers):
            yield [self._drawn(random, count, chunk) for count in counts]

    def estimates(self, strength: float, draws: Iterable[list[FloatArray]]) -> FloatArray:
        """Return the estimated disparity of every audit, the laws being this far apart."""
        laws, shares = self.scenario.laws(strength), self.shares

        def estimated(chunk: list[FloatArray]) -> FloatArray:
            groups = [self._read(law.quantile(x)) for law, x in zip(laws, chunk, strict=True)]
            return spread_of(groups, shares)

        return np.concatenate([estimated(chunk) for chunk in draws])

    def _drawn(self, random: np.random.Generator, count: int, audits: int) -> FloatArray:
        size = audits, self.scenario.silos
        cells = order_statistics(random, ranks(count, self._levels_drawn(count)), count, size)
        if self.scenario.kind == "mean":
            return cells
        return read_mixture(cells, self.scenario.estimator)

    def _levels_drawn(self, count: int) -> int:
        return min(count, _MEANT_RECORDS) if self.scenario.kind == "mean" else self.levels

    def _read(self, values: FloatArray) -> FloatArray:
        """What is compared between groups; quantiles were selected before the law was known."""
        if self.scenario.kind == "quantile":
            return values
        return read_mixture(bin_means_of(values, self.levels), self.scenario.estimator)


def order_statistics(
    random: np.random.Generator, wanted: npt.NDArray[Any], count: int, size: tuple[int, ...]
) -> FloatArray:
    r"""Return uniform order statistics of the ``wanted`` ranks among ``count``, on a last axis.

    With independent :math:`E_i` exponential, :math:`U_{(r)} = \sum_{i \le r} E_i / \sum_{i \le
    n+1} E_i` jointly in r; a sum of g of them is a gamma variable of shape g.
    """
    gaps = np.diff(wanted, prepend=0, append=count + 1)
    sums = np.cumsum(random.standard_gamma(gaps, size=(*size, gaps.size)), axis=-1)
    levels: FloatArray = sums[..., :-1] / sums[..., -1:]
    return levels


def chunks(audits: int, numbers: int) -> Iterator[int]:
    """Cut ``audits`` that draw ``numbers`` numbers each into parts that fit the memory."""
    most = max(1, _AT_ONCE // numbers)
    for start in range(0, audits, most):
        yield min(most, audits - start)


LEVELS = (5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
RECORDS = (30, *(step * 10**power for power in range(1, 7) for step in (5, 10, 20)))
_SKETCHED_RECORDS = 2000
"""Records per cell in the simulations that compare a sketch with its own records."""


@dataclass(frozen=True, kw_only=True)
class SizeRow(OneLine):
    """One size of audit, and how far its disparity is from the truth."""

    levels: int
    records: int
    """Records per cell of the smallest group."""
    compared_with: Literal["records", "law"]
    """The truth: the disparity of the same records (the sketch's part), or that of the laws."""
    error: float
    """The bound that the error satisfies in the given share of the simulated audits."""
    bound: float
    """The bound that it satisfies for all laws to which the bounds apply."""


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
