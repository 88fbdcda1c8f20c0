"""Global disparity and heterogeneity of a federation: Algorithm 1 and its exact variant."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fedparity.federated.federation import Federation, takes_federation
from fedparity.federated.mixtures import (
    Method,
    grid_levels,
    mixture_table,
    mixtures,
    observed_weights,
    read_cells,
)
from fedparity.federated.pool import unit_masses
from fedparity.functionals.cramer import cramer
from fedparity.functionals.curves import center, check_order, heterogeneities
from fedparity.functionals.disparity import spread
from fedparity.functionals.wasserstein import distance_in_table
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.text import OneLine

__all__ = [
    "Estimate",
    "Pair",
    "all_step_ends",
    "cell_quantiles",
    "center_values",
    "centers",
    "estimate",
    "global_heterogeneity",
    "pairs",
    "step_ends",
]

_COLUMNS = 1024
_ROUNDING = 1e-12
"""Levels computed with a trim miss the end of a step by rounding; none is this near otherwise."""


@dataclass(frozen=True, kw_only=True)
class Estimate(OneLine):
    r"""The global measures of a federation, and how they were obtained.

    ``disparity`` is :math:`\hat G_{k,p}`: zero means that all groups have the same mixture
    across silos. ``heterogeneity`` is :math:`\hat H^\times_{k,p}`, its Cramér counterpart.
    """

    disparity: float
    heterogeneity: float
    method: Method
    levels: int


@takes_federation
def estimate(federation: Federation, method: Method | None = None) -> Estimate:
    r"""Return :math:`\hat G_{k,p}` and :math:`\hat H^\times_{k,p}` of a federation.

    With ``Method(estimator="grid")``, the default, this is the paper's Algorithm 1: mix the
    step cdfs of the silos in each group, invert the mixtures at the k midpoints, and measure
    how far they are from their barycenter. ``"exact"`` integrates between the same mixtures.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 2, 1, 2], levels=2
    ... )
    >>> estimate(federation).disparity
    2.5
    """
    method = method or Method()
    table = mixture_table(federation, method)
    return Estimate(
        disparity=spread(table, federation.shares, method.order),
        heterogeneity=global_heterogeneity(read_cells(federation, method), method.order),
        method=method,
        levels=grid_levels(federation, method),
    )


def global_heterogeneity(federation: Federation, order: int) -> float:
    r"""Return :math:`\hat H^\times_{k,p}`, over all breakpoints of all cells.

    Block by block, as differences of cdfs: a running sum of squares would lose half the digits.
    """
    masses = unit_masses(observed_weights(federation), federation.units, 1)

    def summed() -> float:
        value = 0.0
        for table in federation.pool.cdfs(masses):
            value += float(heterogeneities(table, federation.shares, order))
        return value

    return federation.once(("heterogeneity", order), summed)


@dataclass(frozen=True, kw_only=True)
class Pair(OneLine):
    r"""Distances between the mixtures of two groups: :math:`W_p`, :math:`C_p` and means."""

    groups: tuple[Group, Group]
    wasserstein: float
    cramer: float
    mean_gap: float
    """Mean of the first group minus mean of the second."""


@takes_federation
def pairs(federation: Federation, method: Method | None = None) -> tuple[Pair, ...]:
    """Return the distances between every two groups, in their order.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.1, 0.3, 0.5, 0.7], groups=list("aabb"), silos=[1, 1, 1, 1], levels=2
    ... )
    >>> [pair] = pairs(federation)
    >>> round(pair.wasserstein, 6)
    0.4
    """
    method = method or Method()
    laws = list(mixtures(federation, reconstruct=method.estimator == "exact").values())
    table = mixture_table(federation, method)
    return tuple(
        Pair(
            groups=(federation.groups[i], federation.groups[j]),
            wasserstein=distance_in_table(table, method.order, (i, j)),
            cramer=cramer(laws[i], laws[j], order=method.order),
            mean_gap=laws[i].mean - laws[j].mean,
        )
        for i, j in combinations(range(len(laws)), 2)
    )


@takes_federation
def centers(federation: Federation, *, order: int = 2) -> dict[Group, Law]:
    r"""Return the transport center :math:`\nu_s^*` of each group across silos.

    For ``order=2`` its quantile function is the mean :math:`\sum_j \pi_{j|s} Q_{j,s}(u)`, for
    ``order=1`` the lower weighted median (paper, `eq:nu-s-star`). It is not the mixture:
    quantiles do not commute with mixing.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 0.4, 1.0, 0.2, 0.6, 1.0],
    ...     groups=list("aabaab"), silos=[1, 1, 1, 2, 2, 2], levels=2, kind="quantile",
    ... )
    >>> centers(federation)["a"].atoms
    array([0.1, 0.5])
    """
    check_order(order)
    ends = all_step_ends(federation, np.arange(federation.levels.size))
    values = center_values(federation, ends, order)
    widths = np.diff(ends, prepend=0.0)
    return {
        group: Law(atoms=row, masses=widths)
        for group, row in zip(federation.groups, values, strict=True)
    }


def center_values(federation: Federation, levels: FloatArray, order: int) -> FloatArray:
    """Return the quantiles of each group's center (rows) at ``levels`` (columns)."""
    values = np.empty((len(federation.groups), levels.size))
    for group in range(len(federation.groups)):
        cells = np.flatnonzero(federation.group_of == group)
        counts = federation.counts[cells]
        shares = counts / counts.sum()
        for start in range(0, levels.size, _COLUMNS):
            part = slice(start, start + _COLUMNS)
            rows = cell_quantiles(federation, cells, levels[part])
            values[group, part] = center(rows, shares, order)
    return values


def cell_quantiles(
    federation: Federation, cells: np.ndarray[tuple[int], np.dtype[np.int64]], levels: FloatArray
) -> FloatArray:
    """Return the step quantile functions of ``cells`` (rows) read at ``levels`` (columns)."""
    values = np.empty((cells.size, levels.size))
    starts = federation.offsets[cells]
    sizes = federation.levels[cells]
    if federation.kind == "counts":
        for row, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            ends = federation.step_ends[start : start + size]
            steps = np.searchsorted(ends, levels - _ROUNDING, side="left")
            values[row] = federation.values[start + np.minimum(steps, size - 1)]
        return values
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        steps = np.searchsorted(step_ends(int(size)), levels - _ROUNDING, side="left")
        values[same] = federation.values[starts[same, None] + steps]
    return values


def all_step_ends(
    federation: Federation, cells: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> FloatArray:
    """Return every level at which a step of one of ``cells`` ends, in increasing order."""
    if federation.kind == "counts":
        owned = np.isin(np.arange(federation.levels.size), cells)
        return np.unique(federation.step_ends[np.repeat(owned, federation.levels)])
    sizes = np.unique(federation.levels[cells])
    return np.unique(np.concatenate([step_ends(int(size)) for size in sizes]))


def step_ends(levels: int) -> FloatArray:
    r"""Return :math:`\ell/k`, where each step of a k-value quantile function ends."""
    return np.arange(1, levels + 1) / levels
