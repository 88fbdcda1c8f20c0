"""Drawing audits of one size: order statistics of their cells, and what is estimated from them.

A sketch of n records is made of order statistics, and those of uniform levels are ratios of sums
of independent gamma variables, so that k numbers are drawn per cell, not n; because quantile
functions do not decrease, the mixture over silos is sorted once, in levels, whatever the law.
That is exact. Bin means depend on every record: of cells of more than 500 they are taken over 500
evenly spaced order statistics, which moves the estimate by one or two hundredths of its sampling
error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.diagnostics.planning.readings import bin_means_of, read_mixture, spread_of
from fedparity.diagnostics.planning.scenario import Purpose, Scenario
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.levels import ranks

__all__ = ["ENOUGH_NUMBERS", "Audit", "chunks", "order_statistics"]

ENOUGH_NUMBERS = 10**7
"""Once a simulation has drawn this many numbers, it draws more audits only if it must."""
_MOST_NUMBERS = 10**8
"""Numbers that one simulation may draw: 800 megabytes where they are kept."""
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
    """Cut ``audits`` of so many ``numbers`` each into parts that fit the memory."""
    most = max(1, _AT_ONCE // numbers)
    for start in range(0, audits, most):
        yield min(most, audits - start)
