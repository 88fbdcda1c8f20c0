"""From kept records to the numbers of a sketch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.laws.law import FloatArray, IntArray, sort_scores
from fedparity.sketches.accumulators import Bag, taken
from fedparity.sketches.exact_sums import LOWEST_EXPONENT, ExactSums, exact_integer
from fedparity.sketches.kinds import Kind, MassTargets, RankTargets
from fedparity.sketches.passes import Run
from fedparity.sketches.stages import Stage

__all__ = [
    "BinMeans",
    "CountedRuns",
    "Cut",
    "Resolved",
    "Resolver",
    "Runs",
    "Values",
    "WeightedRuns",
    "counted_means",
    "counted_values",
    "inside_step_law",
    "means_between",
    "sorted_values",
    "weighted_means",
    "weighted_values",
]


class Cut(NamedTuple):
    """The position of a requested mass among the kept records."""

    run: int
    """Position of the run that it falls into."""
    before: int
    """The exact mass of all records before that run, kept or not."""


@dataclass(frozen=True, eq=False)
class CountedRuns:
    """Scores in increasing order, each with the number of records that have it.

    Masses are whole numbers of records.
    """

    scores: FloatArray
    counts: IntArray | None = None
    """One each if absent."""

    @classmethod
    def from_records(
        cls, ordered: FloatArray, atoms: FloatArray, atom_counts: IntArray
    ) -> CountedRuns:
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

    def _located(self, targets: RankTargets) -> tuple[IntArray, IntArray]:
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

    def moments(self, rows: IntArray, size: int) -> list[int]:
        """Return the sums of count times score by row, in 2^-1074; row -1 is left out."""
        several = np.zeros(rows.size, dtype=bool) if self.counts is None else self.counts != 1
        single = ~several & (rows >= 0)
        sums = ExactSums.zeros(size)
        sums.add(rows[single], self.scores[single])
        totals = sums.totals()
        several &= rows >= 0
        if self.counts is None or not several.any():
            return totals
        products = ExactSums.zeros(size, products=True)
        low = self.counts[several] & 0xFFFFFFFF
        for part in (low, self.counts[several] - low):  # each is exact as a float
            if part.any():
                floats = part.astype(np.float64)
                products.add_products(rows[several], self.scores[several], floats)
        added = (product >> LOWEST_EXPONENT for product in products.totals())
        return [total + more for total, more in zip(totals, added, strict=True)]


@dataclass(frozen=True, eq=False)
class WeightedRuns:
    """Scores in increasing order with their weights, and the number of records that have them.

    Masses are whole numbers of 2^-1074.
    """

    scores: FloatArray
    weights: FloatArray
    """Rounded where a run is an atom, whose exact weight is in ``exact``."""
    counts: IntArray
    exact: dict[int, int]
    """The exact weight of the runs that are atoms."""

    @classmethod
    def from_records(
        cls,
        scores: FloatArray,
        weights: FloatArray,
        atoms: FloatArray,
        atom_weights: Sequence[int],
        atom_counts: IntArray,
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

        Floats give the approximate position; whole numbers decide.

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

    def _sums(self, rows: IntArray, size: int) -> list[int]:
        sums = ExactSums.zeros(size)
        plain = self.weights.copy()
        plain[list(self.exact)] = 0.0
        sums.add(rows, plain)
        totals = sums.totals()
        for index, mass in self.exact.items():
            totals[rows[index]] += mass
        return totals

    def moments(self, rows: IntArray, size: int) -> list[int]:
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


@dataclass(frozen=True, eq=False)
class BinMeans:
    """The exact means of k bins of equal mass."""

    moments: Sequence[int]
    """k times the sum of mass times score of each bin; over the mass and 2^1074, its mean."""
    total: int
    """The mass N of all records."""

    @property
    def values(self) -> FloatArray:
        """The means, correctly rounded."""
        unit = self.total << LOWEST_EXPONENT
        return np.array([moment / unit for moment in self.moments]) + 0.0  # no negative zeros

    def inside(self, squares: int) -> float:
        r"""Return the variance inside the bins, correctly rounded.

        .. math:: \frac{1}{N} \sum_i w_i x_i^2 - \frac{1}{k} \sum_\ell m_\ell^2

        Parameters
        ----------
        squares : int
            The sum of mass times squared score, in 2^-2148 times the unit of masses.

        Returns
        -------
        float
            Infinite if no float is so large, of which scores below 1e154 in size are far.
        """
        levels = len(self.moments)
        between = sum(moment * moment for moment in self.moments)
        unit = levels * self.total**2 << 2 * LOWEST_EXPONENT
        return _quotient(levels * self.total * squares - between, unit)


def inside_step_law(means: FloatArray, *, total: int, first: int, second: int) -> float:
    r"""Return the variance that approximate means leave out, correctly rounded; 0 if none is left.

    It is taken around their own mean :math:`\bar m`, so that it does not change when all scores move:

    .. math:: \frac{1}{N} \sum_i w_i (x_i - \bar m)^2 - \frac{1}{k} \sum_\ell (m_\ell - \bar m)^2

    For exact bin means it is what :meth:`BinMeans.inside` returns.

    Parameters
    ----------
    total : int
        The mass N.
    first, second : int
        The sums of mass times score, in 2^-1074 times the unit of masses, and of mass times
        squared score, in 2^-2148 times that unit.
    """
    levels = means.size
    wholes = [exact_integer(mean) for mean in means.tolist()]
    center, between = sum(wholes), sum(whole * whole for whole in wholes)
    # All of it times k² N: x̄ and m̄ are first / N and center / k.
    whole = levels * (levels * second - 2 * center * first - between * total)
    whole += 2 * center * center * total
    return _quotient(max(0, whole), levels**2 * total << 2 * LOWEST_EXPONENT)


def _quotient(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf


def means_between(
    runs: Runs, cuts: Sequence[Cut], gap_moments: Sequence[int], total: int
) -> BinMeans:
    r"""Return the mean of :math:`Q` over each of k bins.

    In units of 1/k, the run with mass :math:`m` and mass :math:`b` before it covers
    :math:`[kb, k(b+m)]`, and bin :math:`\ell` covers :math:`[N(\ell-1), N\ell]`. Runs that no
    edge cuts lie in one bin with all their mass; those that an edge cuts are shared out.

    Parameters
    ----------
    cuts : k - 1 of them
        The run that each edge falls into.
    gap_moments : k whole numbers
        Sums of mass times score of the records in each bin that were not kept.
    total : int
        The mass N of all records.
    """
    levels = len(cuts) + 1
    cut_indices = np.array([cut.run for cut in cuts], dtype=np.int64)
    rows = np.searchsorted(cut_indices, np.arange(runs.scores.size), side="left")
    rows[cut_indices] = -1
    moments = [
        levels * (kept + gap)
        for kept, gap in zip(runs.moments(rows, levels), gap_moments, strict=True)
    ]
    for index, edges in groupby(enumerate(cuts, start=1), key=lambda edge: edge[1].run):
        _share_out(runs, index, list(edges), moments, total)
    return BinMeans(moments, total)


def _share_out(
    runs: Runs, index: int, edges: Sequence[tuple[int, Cut]], moments: list[int], total: int
) -> None:
    """Add the parts of one run to the bins between the edges that cut it."""
    levels, score = len(moments), exact_integer(runs.scores[index])
    start = levels * edges[0][1].before
    end = start + levels * runs.mass(index)
    stops = [*(total * edge for edge, _ in edges), end]
    for bin_, stop in enumerate(stops, start=edges[0][0] - 1):
        moments[bin_] += (stop - start) * score
        start = stop


def sorted_values(
    scores: FloatArray, weights: FloatArray | None, *, levels: int, kind: Kind
) -> tuple[int | float, FloatArray]:
    """Return the total and the numbers of a group, by sorting: fastest for few records.

    Scores are finite, and weights, where given, are positive.
    """
    none, no_counts = np.zeros(0), np.zeros(0, dtype=np.int64)
    if weights is None:
        count = scores.size
        runs = CountedRuns(sort_scores(scores))
        targets = RankTargets.from_count(count, levels, kind)
        return count, counted_values(runs, targets, count=count, levels=levels, kind=kind)
    weighted = WeightedRuns.from_records(scores, weights, none, [], no_counts)
    wanted = MassTargets.from_mass(scores.size, float(weights.sum()), levels, kind)
    return weighted_values(weighted, wanted, levels=levels, kind=kind)


def counted_values(
    runs: CountedRuns,
    targets: RankTargets,
    *,
    count: int,
    levels: int,
    kind: Kind,
) -> FloatArray:
    """Return the numbers of a group whose records count once each."""
    if kind == "quantile":
        return runs.quantiles(targets) + 0.0  # no negative zeros
    return counted_means(runs, targets, count=count, levels=levels).values


def counted_means(
    runs: CountedRuns,
    targets: RankTargets,
    *,
    count: int,
    levels: int,
    gap_moments: Sequence[int] | None = None,
) -> BinMeans:
    """Return the bin means of a group whose records count once each.

    ``gap_moments`` are the exact sums of the scores that were not kept, one for each bin.
    """
    cuts = runs.cuts(targets, count, levels)
    return means_between(runs, cuts, gap_moments or [0] * levels, count)


def weighted_values(
    runs: WeightedRuns,
    targets: MassTargets,
    *,
    levels: int,
    kind: Kind,
    gap_masses: Sequence[int] | None = None,
) -> tuple[float, FloatArray]:
    """Return the total weight and the numbers of a group with weights.

    ``gap_masses`` are the exact sums of weights of the records that were not kept.
    """
    if kind == "mean":
        means = weighted_means(runs, targets, levels=levels, gap_masses=gap_masses)
        return means.total / (1 << LOWEST_EXPONENT), means.values
    gap_masses = gap_masses or [0] * (targets.size + 1)
    total = runs.total() + sum(gap_masses)
    reached = [((2 * level - 1) * total, 2 * levels) for level in range(1, levels + 1)]
    cuts = runs.cuts(targets, reached, gap_masses)
    return total / (1 << LOWEST_EXPONENT), runs.scores[[cut.run for cut in cuts]] + 0.0


def weighted_means(
    runs: WeightedRuns,
    targets: MassTargets,
    *,
    levels: int,
    gap_masses: Sequence[int] | None = None,
    gap_moments: Sequence[int] | None = None,
) -> BinMeans:
    """Return the bin means of a group with weights.

    ``gap_masses`` and ``gap_moments`` are the exact sums of weights, and of weight times score,
    of the records that were not kept.
    """
    gap_masses = gap_masses or [0] * (targets.size + 1)
    total = runs.total() + sum(gap_masses)
    passed = [(edge * total + 1, levels) for edge in range(1, levels)]
    cuts = runs.cuts(targets, passed, gap_masses)
    return means_between(runs, cuts, gap_moments or [0] * levels, total)


Values: TypeAlias = npt.NDArray[Any]
"""The numbers of a sketch: floats, or whole numbers where records are counted."""

_MANY = 1 << 14
"""Number of kept records above which sorting on several threads is faster."""


class Resolved(NamedTuple):
    """The sketch of one group."""

    total: int | float
    """Its count, or its total weight."""
    values: Values | None = None
    inside: float | None = None
    """For bin means: the variance inside the bins."""

    @classmethod
    def from_means(cls, total: float, means: BinMeans, squares: int) -> Resolved:
        """Return bin means, and what they leave inside."""
        return cls(total, means.values, means.inside(squares))


@dataclass(frozen=True, eq=False)
class Resolver:
    """The last step: the kept records are sorted, and the numbers of the sketch are computed from them."""

    run: Run
    kind: Kind
    last: Stage
    bag: Bag
    atoms: FloatArray
    """Scores that were counted and not kept."""
    atom_places: IntArray
    """Their buckets."""
    squares: Sequence[int]
    """For bin means: the exact sums of squares of all records, by group."""
    _ordered: list[FloatArray] = field(default_factory=list, init=False)

    def sketches(self, counts: IntArray, levels: Sequence[int]) -> list[Resolved]:
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
        runs = CountedRuns.from_records(self._ordered[group], self.atoms[own], self.bag.equal[own])
        if self.kind == "quantile":
            values = counted_values(runs, targets, count=count, levels=levels, kind=self.kind)
            return Resolved(count, values)
        moments = self._value_sums[gaps]
        means = counted_means(runs, targets, count=count, levels=levels, gap_moments=moments)
        return Resolved.from_means(count, means, self.squares[group])

    def _weighted(self, group: int, targets: MassTargets, levels: int, gaps: slice) -> Resolved:
        own = self._own_atoms(group)
        kept = [taken(batch, batch.codes == group) for batch in self.bag.kept]
        runs = WeightedRuns.from_records(
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
        return Resolved.from_means(total, means, self.squares[group])

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

    def _own_atoms(self, group: int) -> IntArray:
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
