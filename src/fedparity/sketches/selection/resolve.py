"""From kept records to the numbers of a sketch."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.exact_sums import LOWEST_EXPONENT, ExactSums
from fedparity.sketches.kinds import Kind
from fedparity.sketches.selection.bucket_maps import Integers
from fedparity.sketches.selection.means import BinMeans
from fedparity.sketches.selection.readings import (
    counted_means,
    counted_values,
    weighted_means,
    weighted_values,
)
from fedparity.sketches.selection.run import Run
from fedparity.sketches.selection.runs import CountedRuns, WeightedRuns
from fedparity.sketches.selection.stages import Stage
from fedparity.sketches.selection.state import Bag, taken
from fedparity.sketches.selection.targets import MassTargets, RankTargets

__all__ = ["Resolved", "Resolver", "Values"]

Values: TypeAlias = npt.NDArray[Any]
"""The numbers of a sketch: floats, or whole numbers where records are counted."""

_MANY = 1 << 14
"""Kept records from which threads that sort them are worth their start."""


class Resolved(NamedTuple):
    """The sketch of one group."""

    total: int | float
    """Its count, or its total weight."""
    values: Values | None = None
    inside: float | None = None
    """For bin means: the variance inside the bins."""

    @classmethod
    def of_means(cls, total: float, means: BinMeans, squares: int) -> Resolved:
        """Return bin means, and what they leave inside."""
        return cls(total, means.values, means.inside(squares))


@dataclass(frozen=True, eq=False)
class Resolver:
    """The last step: kept records are sorted, and the numbers read off."""

    run: Run
    kind: Kind
    last: Stage
    bag: Bag
    atoms: FloatArray
    """Scores that were counted and not kept."""
    atom_places: Integers
    """Their buckets."""
    squares: Sequence[int]
    """For bin means: the exact sums of squares of all records, by group."""
    _ordered: list[FloatArray] = field(default_factory=list, init=False)

    def sketches(self, counts: Integers, levels: Sequence[int]) -> list[Resolved]:
        """Return the sketch of each group."""
        self._order_by_group()
        first_row = 0
        found: list[Resolved] = []
        for group, (count, wanted) in enumerate(zip(counts.tolist(), levels, strict=True)):
            targets = self.last.targets[group]
            if targets is None:
                found.append(Resolved(count))
                continue
            gaps = slice(first_row, first_row + targets.size + 1)
            first_row = gaps.stop
            if isinstance(targets, RankTargets):
                found.append(self._counted(group, targets, count, wanted, gaps))
            else:
                found.append(self._weighted(group, targets, wanted, gaps))
        return found

    def _counted(
        self, group: int, targets: RankTargets, count: int, levels: int, gaps: slice
    ) -> Resolved:
        own = self._own_atoms(group)
        runs = CountedRuns.of(self._ordered[group], self.atoms[own], self.bag.equal[own])
        if self.kind == "quantile":
            values = counted_values(runs, targets, count=count, levels=levels, kind=self.kind)
            return Resolved(count, values)
        moments = self._value_sums[gaps]
        means = counted_means(runs, targets, count=count, levels=levels, gap_moments=moments)
        return Resolved.of_means(count, means, self.squares[group])

    def _weighted(self, group: int, targets: MassTargets, levels: int, gaps: slice) -> Resolved:
        own = self._own_atoms(group)
        kept = [taken(batch, batch.codes == group) for batch in self.bag.kept]
        runs = WeightedRuns.of(
            _joined([batch.scores for batch in kept]),
            _joined([batch.weights for batch in kept if batch.weights is not None]),
            self.atoms[own],
            [self._weight_sums[self.run.sum_rows + position] for position in own.tolist()],
            self.bag.equal[own],
        )
        masses = self._weight_sums[gaps]
        if self.kind == "quantile":
            return Resolved(
                *weighted_values(runs, targets, levels=levels, kind=self.kind, gap_masses=masses)
            )
        moments = self._product_sums[gaps]
        means = weighted_means(
            runs, targets, levels=levels, gap_masses=masses, gap_moments=moments
        )
        total = means.total / (1 << LOWEST_EXPONENT)
        return Resolved.of_means(total, means, self.squares[group])

    def _order_by_group(self) -> None:
        """Sort the kept records of each group, without weights."""
        if self.run.records.weighted:
            return
        scores = _joined([batch.scores for batch in self.bag.kept])
        codes = _joined([batch.codes for batch in self.bag.kept])
        self.bag.kept.clear()

        def ordered(group: int) -> FloatArray:
            own: FloatArray = scores[codes == group]
            self.run.kernel.sort(own)
            return own

        groups = range(len(self.last.targets))
        if scores.size < _MANY:
            self._ordered.extend(map(ordered, groups))
            return
        with ThreadPoolExecutor(self.run.threads) as pool:
            self._ordered.extend(pool.map(ordered, groups))

    def _own_atoms(self, group: int) -> Integers:
        """Positions of the candidates of one group that were met, in order of score."""
        low, high = self.last.buckets.starts[group : group + 2]
        inside = (self.atom_places >= low) & (self.atom_places < high) & (self.bag.equal > 0)
        own = np.flatnonzero(inside)
        return own[np.argsort(self.atoms[own])]

    @cached_property
    def _value_sums(self) -> list[int]:
        return _totals(self.bag.values)

    @cached_property
    def _weight_sums(self) -> list[int]:
        return _totals(self.bag.weights)

    @cached_property
    def _product_sums(self) -> list[int]:
        return _totals(self.bag.products)


def _totals(sums: ExactSums | None) -> list[int]:
    return [] if sums is None else sums.totals()


def _joined(parts: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate(parts) if parts else np.zeros(0)
