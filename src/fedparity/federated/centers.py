"""Within-group transport centres: each group's barycentre across silos."""

from __future__ import annotations

import numpy as np

from fedparity.federated.federation import Federation
from fedparity.functionals.barycenter import center
from fedparity.functionals.order import check_order
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.laws.law import Law

__all__ = ["all_step_ends", "cell_quantiles", "center_values", "centers", "step_ends"]

_COLUMNS = 1024
_ROUNDING = 1e-12
"""Levels computed with a trim miss the end of a step by rounding; none is this near otherwise."""


def centers(federation: Federation, *, order: int = 2) -> dict[Group, Law]:
    r"""Return the transport centre :math:`\nu_s^*` of each group across silos.

    For ``order=2`` its quantile function is the mean :math:`\sum_j \pi_{j|s} Q_{j,s}(u)`, for
    ``order=1`` the lower weighted median (paper, `eq:nu-s-star`). It is not the mixture:
    quantiles do not commute with mixing.
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
    """Return the quantiles of each group's centre (rows) at ``levels`` (columns)."""
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
