"""A group's records that were kept, in order of score, and the masses before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.exact_sums import LOWEST_EXPONENT, ExactSums, exact_integer
from fedparity.sketches.selection.bucket_maps import Integers
from fedparity.sketches.selection.targets import MassTargets, RankTargets

__all__ = ["CountedRuns", "Cut", "Runs", "WeightedRuns"]


class Cut(NamedTuple):
    """Where a wanted mass falls among the kept records."""

    run: int
    """Position of the run that it falls into."""
    before: int
    """The exact mass of all records, kept or not, that come before that run."""


@dataclass(frozen=True, eq=False)
class CountedRuns:
    """Scores in increasing order, each with the number of records that have it.

    Masses are whole numbers of records.
    """

    scores: FloatArray
    counts: Integers | None = None
    """One each if absent."""

    @classmethod
    def of(cls, ordered: FloatArray, atoms: FloatArray, atom_counts: Integers) -> CountedRuns:
        """Return the runs of single records, in order, and of atoms that were counted only."""
        if not atoms.size:
            return cls(ordered)
        where = np.searchsorted(ordered, atoms)
        ones = np.ones(ordered.size, dtype=np.int64)
        return cls(np.insert(ordered, where, atoms), np.insert(ones, where, atom_counts))

    def mass(self, index: int) -> int:
        """Return the mass of one run."""
        return 1 if self.counts is None else int(self.counts[index])

    def quantiles(self, targets: RankTargets) -> FloatArray:
        """Return the score at each of the ranks."""
        return self.scores[self._located(targets)[0]]

    def _located(self, targets: RankTargets) -> tuple[Integers, Integers]:
        """The run of each rank, and how many records of the run come before it."""
        if self.counts is None:
            return targets.ranks - 1, np.zeros_like(targets.ranks)
        running = np.cumsum(self.counts)
        runs = np.searchsorted(running, targets.ranks, side="left")
        return runs, targets.ranks - 1 - (running[runs] - self.counts[runs])

    def cuts(self, targets: RankTargets, total: int, levels: int) -> list[Cut]:
        """Return the runs that the edges of bins cut, with the records before them."""
        runs, inside = self._located(targets)
        return [
            Cut(run, total * edge // levels - offset)
            for edge, (run, offset) in enumerate(
                zip(runs.tolist(), inside.tolist(), strict=True), start=1
            )
        ]

    def moments(self, rows: Integers, size: int) -> list[int]:
        """Return the sums of count times score by row, in 2^-1074; row -1 is left out."""
        several = np.zeros(rows.size, dtype=bool) if self.counts is None else self.counts != 1
        single = ~several & (rows >= 0)
        sums = ExactSums.zeros(size)
        sums.add(rows[single], self.scores[single])
        totals = sums.totals()
        for index in np.flatnonzero(several & (rows >= 0)).tolist():
            totals[rows[index]] += self.mass(index) * exact_integer(self.scores[index])
        return totals


@dataclass(frozen=True, eq=False)
class WeightedRuns:
    """Scores in increasing order with their weights, and the number of records that have them.

    Masses are whole numbers of 2^-1074.
    """

    scores: FloatArray
    weights: FloatArray
    """Rounded where a run is an atom, whose exact weight is in ``exact``."""
    counts: Integers
    exact: dict[int, int]
    """The exact weight of the runs that are atoms."""

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        weights: FloatArray,
        atoms: FloatArray,
        atom_weights: Sequence[int],
        atom_counts: Integers,
    ) -> WeightedRuns:
        """Return the runs of single records, and of atoms whose weights were summed."""
        order = np.argsort(scores, kind="stable")
        where = np.searchsorted(scores[order], atoms)
        rounded = [weight / (1 << LOWEST_EXPONENT) for weight in atom_weights]
        positions = where + np.arange(atoms.size)
        return cls(
            np.insert(scores[order], where, atoms),
            np.insert(weights[order], where, rounded),
            np.insert(np.ones(scores.size, dtype=np.int64), where, atom_counts),
            dict(zip(positions.tolist(), atom_weights, strict=True)),
        )

    def mass(self, index: int) -> int:
        """Return the mass of one run."""
        found = self.exact.get(index)
        return exact_integer(self.weights[index]) if found is None else found

    def total(self) -> int:
        """Return the mass of all runs."""
        return self._sums(np.zeros(self.scores.size, dtype=np.int64), 1)[0]

    def cuts(
        self, targets: MassTargets, wanted: Sequence[tuple[int, int]], gaps: Sequence[int]
    ) -> list[Cut]:
        """Return the first run up to which the running mass reaches, or passes, each target.

        Floats tell where to look; whole numbers decide.

        Parameters
        ----------
        wanted : pairs of whole numbers (a, b)
            The target is passed when b times the running mass is at least a.
        gaps : whole numbers
            The exact mass of each gap.
        """
        if not wanted:
            return []
        firsts, lasts = targets.between(self.counts, self.weights)
        gaps_before = np.searchsorted(targets.upto, np.cumsum(self.counts), side="left")
        before_gap = np.cumsum([0, *gaps], dtype=object)[1:][gaps_before]
        rows = np.searchsorted(firsts, np.arange(self.scores.size), side="right")
        kept_before = np.cumsum(self._sums(rows, firsts.size + 1), dtype=object)
        cuts = []
        for first, last, kept, (numerator, factor) in zip(
            firsts.tolist(), lasts.tolist(), kept_before[:-1].tolist(), wanted, strict=True
        ):
            run, before = first, kept
            while run < last:
                mass = before_gap[run] + before + self.mass(run)
                if factor * mass >= numerator:
                    break
                before += self.mass(run)
                run += 1
            cuts.append(Cut(run, before_gap[run] + before))
        return cuts

    def _sums(self, rows: Integers, size: int) -> list[int]:
        sums = ExactSums.zeros(size)
        plain = self.weights.copy()
        plain[list(self.exact)] = 0.0
        sums.add(rows, plain)
        totals = sums.totals()
        for index, mass in self.exact.items():
            totals[rows[index]] += mass
        return totals

    def moments(self, rows: Integers, size: int) -> list[int]:
        """Return the sums of weight times score by row, in 2^-2148; row -1 is left out."""
        plain = rows >= 0
        plain[list(self.exact)] = False
        sums = ExactSums.zeros(size, products=True)
        sums.add_products(rows[plain], self.scores[plain], self.weights[plain])
        totals = sums.totals()
        for index, mass in self.exact.items():
            if rows[index] >= 0:
                totals[rows[index]] += mass * exact_integer(self.scores[index])
        return totals


Runs = CountedRuns | WeightedRuns
