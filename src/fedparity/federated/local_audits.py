"""Local audits: what each silo would see alone, and the others without it; and all measures, each computed once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.federated.decomposition import (
    Attribution,
    Decomposition,
    TriangleTerms,
    attribute,
    decompose,
)
from fedparity.federated.estimate import (
    Estimate,
    Method,
    Pair,
    all_step_ends,
    cell_quantiles,
    estimate,
    grid_levels,
    grid_widths,
    mixture_table,
    observed_weights,
    pairs,
    read_cells,
)
from fedparity.federated.federation import Federation, takes_federation
from fedparity.federated.pool import Pool, unit_masses
from fedparity.functionals.curves import around_mean, disparities, pair_powers, spread
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import FloatArray, IntArray, QuantileTable
from fedparity.sketches.kinds import midpoints
from fedparity.text import OneLine

__all__ = ["LocalAudit", "Measures", "SiloInfluence", "influences", "local_audits"]


_SILOS_AT_ONCE = 1024


@dataclass(frozen=True, kw_only=True)
class LocalAudit(OneLine):
    """The same measures inside one silo; ``None`` where it has fewer than two groups."""

    silo: Silo
    counts: dict[Group, int | float]
    """Records of each group, zero where the silo lacks it."""
    disparity: float | None
    heterogeneity: float | None
    wasserstein: float | None
    r"""Largest :math:`W_p` between two of its groups."""
    mean_gap: float | None
    """Largest difference between the means of two of its groups: the first's minus the second's."""
    note: str
    """What is missing, or the empty string."""


@takes_federation
def local_audits(federation: Federation, method: Method | None = None) -> tuple[LocalAudit, ...]:
    """Return, for each silo, the measures restricted to its own cells.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 2, 1, 2], levels=2
    ... )
    >>> [audit.disparity for audit in local_audits(federation)]
    [1.0, 4.0]
    """
    method = method or Method()
    federation = read_cells(federation, method)
    disparity = np.zeros(len(federation.silos))
    distance = np.zeros(len(federation.silos))
    for read in _silo_tables(federation, method):
        disparity[read.silos] = disparities(read.table, read.shares, method.order)
        distance[read.silos] = _largest_distance(read, method.order)
    heterogeneity = _heterogeneity(federation, method.order)
    mean_gap = _largest_mean_gap(federation)
    counts = federation.count_table.tolist()
    return tuple(
        _audit(federation, i, counts[i], measures)
        for i, measures in enumerate(
            zip(
                disparity.tolist(),
                heterogeneity.tolist(),
                distance.tolist(),
                mean_gap.tolist(),
                strict=True,
            )
        )
    )


def _audit(
    federation: Federation,
    position: int,
    counts: list[Any],
    measures: tuple[float, float, float, float],
) -> LocalAudit:
    lacking = [group for group, count in zip(federation.groups, counts, strict=True) if not count]
    comparable = len(federation.groups) - len(lacking) > 1
    disparity, heterogeneity, distance, mean_gap = measures if comparable else (None,) * 4
    return LocalAudit(
        silo=federation.silos[position],
        counts=dict(zip(federation.groups, counts, strict=True)),
        disparity=disparity,
        heterogeneity=heterogeneity,
        wasserstein=distance,
        mean_gap=mean_gap,
        note="lacks " + ", ".join(map(str, lacking)) if lacking else "",
    )


class _SiloTables(NamedTuple):
    """Quantile functions of all groups in several silos, on the same intervals of levels."""

    silos: IntArray
    shares: FloatArray
    """Share of each group (columns) in each silo (rows), zero where it lacks the group."""
    table: QuantileTable
    """Silos by groups by intervals; zero where the silo lacks the group."""


def _silo_tables(federation: Federation, method: Method) -> Iterator[_SiloTables]:
    """Yield the tables of silos that can be read on the same levels."""
    everyone = np.arange(len(federation.silos))
    if method.estimator == "grid":
        levels = grid_levels(federation, method)
        grid = midpoints(levels, trim=method.trim)
        for start in range(0, everyone.size, _SILOS_AT_ONCE):
            chunk = everyone[start : start + _SILOS_AT_ONCE]
            yield _table(federation, chunk, grid, grid_widths(levels, method.trim))
        return
    for silos in _read_alike(federation, everyone):
        cells = np.flatnonzero(federation.silo_of == silos[0])
        ends = all_step_ends(federation, cells)
        clipped = np.clip(ends, method.trim, 1 - method.trim)
        widths = np.diff(clipped, prepend=method.trim)
        yield _table(federation, silos, ends, widths)


def _read_alike(federation: Federation, everyone: IntArray) -> Iterator[IntArray]:
    """Yield silos whose cells have steps of the same lengths; counts are seldom alike."""
    if federation.kind == "counts":
        yield from everyone[:, None]
        return
    sizes = federation.tabulate(federation.levels)
    patterns, kind = np.unique(sizes, axis=0, return_inverse=True)
    for pattern in range(len(patterns)):
        yield everyone[kind == pattern]


def _table(
    federation: Federation,
    silos: IntArray,
    levels: FloatArray,
    widths: FloatArray,
) -> _SiloTables:
    row = np.full(len(federation.silos), -1)
    row[silos] = np.arange(silos.size)
    cells = np.flatnonzero(row[federation.silo_of] >= 0)
    values = np.zeros((silos.size, len(federation.groups), levels.size))
    values[row[federation.silo_of[cells]], federation.group_of[cells]] = cell_quantiles(
        federation, cells, levels
    )
    counts = federation.count_table[silos]
    return _SiloTables(
        silos, counts / counts.sum(axis=1, keepdims=True), QuantileTable(widths, values)
    )


def _largest_distance(read: _SiloTables, order: int) -> FloatArray:
    """The largest distance between two groups that a silo has."""
    present = read.shares > 0
    first, second = np.triu_indices(present.shape[1], 1)
    both = present[:, first] & present[:, second]
    largest: FloatArray = np.max(pair_powers(read.table, order), axis=1, where=both, initial=0.0)
    return largest if order == 1 else np.sqrt(largest)


def _largest_mean_gap(federation: Federation) -> FloatArray:
    """The largest difference of two groups' means in each silo: the first's minus the second's."""
    sums = np.add.reduceat(federation.values * federation.parts, federation.offsets[:-1])
    means = np.full((len(federation.silos), len(federation.groups)), np.nan)
    means[federation.silo_of, federation.group_of] = sums / federation.units
    high = np.argmax(np.nan_to_num(means, nan=-np.inf), axis=1)
    low = np.argmin(np.nan_to_num(means, nan=np.inf), axis=1)
    silos = np.arange(len(federation.silos))
    gap: FloatArray = means[silos, high] - means[silos, low]
    return np.where(high <= low, gap, -gap)


def _heterogeneity(federation: Federation, order: int) -> FloatArray:
    """The Cramér spread inside every silo, in one pass over atoms sorted by silo and value."""
    pool = federation.pool
    table = federation.count_table
    codes = federation.silo_of[pool.cells]
    if len(federation.silos) <= np.iinfo(np.uint16).max:
        codes = codes.astype(np.uint16)  # 16 bits are sorted by radix, in linear time
    by_silo = np.argsort(codes, kind="stable")
    atoms, groups = pool.atoms[by_silo], federation.group_of[pool.cells[by_silo]]
    lengths = np.bincount(codes, minlength=len(federation.silos))
    starts = np.cumsum(lengths) - lengths
    widths = np.diff(atoms, append=atoms[-1])
    widths[starts[1:] - 1] = 0.0  # from the last atom of a silo to the first of the next
    parts = np.ones(1, np.int64) if pool.parts is None else pool.parts[by_silo]
    sizes = np.maximum(federation.tabulate(federation.units), 1)
    cdfs = np.empty((len(federation.groups), atoms.size))
    for group in range(len(federation.groups)):
        own = (groups == group) * parts
        passed = np.cumsum(own)
        passed -= np.repeat(passed[starts] - own[starts], lengths)
        np.divide(passed, np.repeat(sizes[:, group], lengths), out=cdfs[group])
    shares = np.repeat((table / table.sum(axis=1, keepdims=True)).T, lengths, axis=1)
    return np.add.reduceat(around_mean(cdfs, shares, order) * widths, starts)


_RECOMPUTED = 20_000_000
"""Up to this many atoms in all, the exact estimator is run again without each silo."""
_FINE_LEVELS, _COARSEST_LEVELS = 2_000, 500
"""Beyond it, the change is measured on a grid this fine, or less so for thousands of silos."""
_VALUES_READ = 5_000_000
_SILOS_LEFT_OUT_AT_ONCE = 1024


@dataclass(frozen=True, kw_only=True)
class SiloInfluence(OneLine):
    """What the disparity becomes when one silo is left out."""

    silo: Silo
    disparity_without: float | None
    """The disparity of the others; ``None`` if they hold fewer than two groups."""
    change: float | None
    """The disparity of all minus that of the others: positive if the silo adds to it."""


@takes_federation
def influences(federation: Federation, method: Method | None = None) -> tuple[SiloInfluence, ...]:
    r"""Return what :math:`G_p` becomes without each silo.

    With the ``grid`` estimator the answer is that of Algorithm 1 run again without the silo,
    for all silos at once. With the ``exact`` one it is computed again without each silo while
    that is quick; in large federations the change is measured on a fine grid and added to the
    exact value.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 2, 1, 2], levels=2
    ... )
    >>> [influence.disparity_without for influence in influences(federation)]
    [4.0, 1.0]
    """
    method = method or Method()
    federation = read_cells(federation, method)
    table = mixture_table(federation, method)
    whole = spread(table, federation.shares, method.order)
    if method.estimator == "grid":
        without = _on_grid(federation, method)
    elif federation.kind == "counts" or (
        len(federation.silos) * federation.values.size <= _RECOMPUTED
    ):
        without = np.array(
            [_again(federation, silo, method) for silo in range(len(federation.silos))]
        )
    else:
        without = _by_fine_grid(federation, method, whole)
    return tuple(
        SiloInfluence(
            silo=silo,
            disparity_without=None if np.isnan(value) else value,
            change=None if np.isnan(value) else whole - value,
        )
        for silo, value in zip(federation.silos, without.tolist(), strict=True)
    )


def _again(federation: Federation, silo: int, method: Method) -> float:
    """The disparity of the other silos: their cells have no weight in any mixture."""
    counts = np.where(federation.silo_of == silo, 0, federation.counts)
    totals = np.bincount(federation.group_of, counts, len(federation.groups))
    if np.count_nonzero(totals) < 2:
        return np.nan
    weights = observed_weights(federation)[totals > 0] * (counts > 0)
    shares = totals[totals > 0] / totals.sum()
    return spread(mixture_table(federation, method, weights), shares, method.order)


def _by_fine_grid(federation: Federation, method: Method, whole: float) -> FloatArray:
    levels = min(_FINE_LEVELS, max(_COARSEST_LEVELS, _VALUES_READ // len(federation.silos)))
    fine = replace(method, estimator="grid", levels=max(levels, grid_levels(federation, method)))
    table = mixture_table(federation, fine)
    change = spread(table, federation.shares, method.order) - _on_grid(federation, fine)
    return np.maximum(whole - change, 0.0)


def _on_grid(federation: Federation, method: Method) -> FloatArray:
    """The grid disparity without each silo, NaN where fewer than two groups remain."""
    levels = grid_levels(federation, method)
    masses = unit_masses(observed_weights(federation), federation.units, levels)
    readers = [
        _LeaveOneOut(federation, group, masses[group], levels, method.trim)
        for group in range(len(federation.groups))
    ]
    left = federation.count_table.sum(axis=0) - federation.count_table
    left = np.maximum(left, 0)
    remain = np.count_nonzero(left > 0, axis=1)
    shares = left / np.maximum(left.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    widths = grid_widths(levels, method.trim)
    without = np.empty(len(federation.silos))
    for start in range(0, without.size, _SILOS_LEFT_OUT_AT_ONCE):
        part = slice(start, start + _SILOS_LEFT_OUT_AT_ONCE)
        silos = np.arange(without.size)[part]
        values = np.stack([reader.quantiles(silos) for reader in readers], axis=1)
        without[part] = disparities(QuantileTable(widths, values), shares[part], method.order)
    without[remain < 2] = np.nan
    return without


class _LeaveOneOut:
    r"""Quantiles of one group's mixture without each silo in turn, for all silos at once.

    Without silo j the level u is reached at the first atom r with
    :math:`cum(r) - own_j(r) \ge u (T - T_j)`, where :math:`own_j` is the running mass of the
    silo itself. From any value of :math:`own_j` that is not too large, the position at which
    :math:`cum` reaches :math:`u (T - T_j) + own_j`, and the silo's own mass up to there, can
    only grow, and they stop growing at the answer: before it some mass of j is not counted
    yet, at it all is. The start is the silo's mass up to where u is reached without the
    largest silo, below which no answer lies; few silos have an atom between the two.
    """

    def __init__(
        self,
        federation: Federation,
        group: int,
        masses: npt.NDArray[Any],
        levels: int,
        trim: float,
    ) -> None:
        members = np.flatnonzero(federation.group_of == group)  # consecutive cells
        first, last = int(members[0]), int(members[-1])
        pool: Pool = federation.pool
        own_atoms = np.flatnonzero((pool.cells >= first) & (pool.cells <= last))
        self.member_of = np.full(len(federation.silos), -1)
        self.member_of[federation.silo_of[members]] = np.arange(members.size)
        self.atoms = pool.atoms[own_atoms]
        self.members = pool.cells[own_atoms].astype(np.int64) - first
        self.atom_mass = masses[members]
        self.sizes = federation.levels[members]
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.running = np.cumsum(self.atom_mass[self.members])
        self.levels, self.trim = levels, trim
        # Key of an atom: its cell, then its rank in the group. Counting the atoms of a cell up
        # to a rank is then one binary search, for any number of cells at once.
        rank = np.empty(own_atoms.size, dtype=np.int64)
        rank[pool.order[own_atoms] - federation.offsets[first]] = np.arange(own_atoms.size)
        self.keys = np.repeat(np.arange(members.size), self.sizes) * own_atoms.size + rank
        self.keys.sort(kind="stable")  # out of order only where a cell repeats a value
        largest = (self.atom_mass * self.sizes).max()
        least_left = np.maximum(self.running[-1:] - largest, 0)
        self.certainly_passed = self._certainly_passed(self._targets(least_left)[:, 0])

    def quantiles(self, silos: IntArray) -> FloatArray:
        """Return the quantiles without each of ``silos`` (rows) on the grid (columns)."""
        member = self.member_of[silos]
        present = member >= 0
        own_mass = np.where(present, self.atom_mass[member], 0)
        rest = np.maximum(self.running[-1] - own_mass * self.sizes[member], 0)
        targets = self._targets(rest)  # levels by silos: neighbors are reached close together
        passed = np.where(present, self.certainly_passed[:, member], 0)
        positions = self._reach(targets + own_mass * passed)
        following = self.starts[member] + passed
        more = present & (passed < self.sizes[member])
        upcoming = self.keys[np.minimum(following, self.keys.size - 1)]
        level, silo = np.nonzero(more & (upcoming <= member * self.atoms.size + positions))
        while level.size:
            here = positions[level, silo]
            now = self._passed(member[silo], here)
            there = self._reach(targets[level, silo] + own_mass[silo] * now)
            positions[level, silo] = there
            moved = there > here
            level, silo = level[moved], silo[moved]
        return self.atoms[np.minimum(positions, self.atoms.size - 1)].T

    def _targets(self, rest: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The mass at which each level (rows) is reached in what each silo (columns) leaves."""
        if self.running.dtype.kind == "i" and not self.trim:
            odd = 2 * np.arange(1, self.levels + 1, dtype=np.int64) - 1
            return -(-rest * odd[:, None] // (2 * self.levels))
        rounding = self.atoms.size * float(np.finfo(np.float64).eps)
        grid = midpoints(self.levels, trim=self.trim)[:, None]
        targets: FloatArray = grid * rest - rounding * float(self.running[-1])
        return targets

    def _reach(self, mass: npt.NDArray[Any]) -> IntArray:
        return np.searchsorted(self.running, mass, side="left")

    def _certainly_passed(self, targets: npt.NDArray[Any]) -> IntArray:
        """How many atoms each cell (columns) has up to the lowest answer at each level (rows)."""
        lowest = self._reach(targets)
        reached_by = np.searchsorted(lowest, np.arange(self.atoms.size), side="left")
        cells = self.sizes.size
        counted = np.bincount(reached_by * cells + self.members, minlength=self.levels * cells)
        return np.cumsum(counted[: self.levels * cells].reshape(self.levels, cells), axis=0)

    def _passed(self, member: IntArray, position: IntArray) -> IntArray:
        """How many atoms of a cell lie at or before ``position`` in the group."""
        found = np.searchsorted(self.keys, member * self.atoms.size + position, side="right")
        return found - self.starts[member]


@dataclass(frozen=True, eq=False)
class Measures:
    """What an audit and its assessment read of the same federation."""

    federation: Federation
    method: Method

    @cached_property
    def estimate(self) -> Estimate:
        """The global disparity and heterogeneity."""
        return estimate(self.federation, self.method)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The distances between every two groups."""
        return pairs(self.federation, self.method)

    @cached_property
    def terms(self) -> Decomposition | TriangleTerms:
        """The terms of the decomposition."""
        return decompose(self.federation, self.method)

    @cached_property
    def attribution(self) -> Attribution:
        """The selection and within-silo parts."""
        return attribute(self.federation, self.method)

    @cached_property
    def influences(self) -> tuple[SiloInfluence, ...]:
        """What the disparity becomes without each silo."""
        return influences(self.federation, self.method)

    @cached_property
    def local(self) -> tuple[LocalAudit, ...]:
        """What each silo would see alone."""
        return local_audits(self.federation, self.method)
