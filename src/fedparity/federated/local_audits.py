"""Local audits: what each silo would see alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedparity.federated.estimate import all_step_ends, cell_quantiles
from fedparity.federated.federation import Federation, takes_federation
from fedparity.federated.mixtures import Method, grid_levels, grid_widths, read_cells
from fedparity.functionals.curves import around_mean, disparities, pair_powers
from fedparity.laws.arrays import FloatArray, IntArray
from fedparity.laws.labels import Group, Silo
from fedparity.laws.refinement import QuantileTable
from fedparity.sketches.grids import midpoints
from fedparity.text import OneLine

__all__ = ["LocalAudit", "local_audits"]

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
