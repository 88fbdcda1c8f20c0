"""Group mixtures across silos, and their disparity and heterogeneity: Algorithm 1 and its exact variant."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.federated.federation import Federation, takes_federation
from fedparity.federated.pool import unit_masses
from fedparity.functionals.cramer import cramer
from fedparity.functionals.curves import (
    Order,
    center,
    check_order,
    distance_in_table,
    heterogeneities,
    spread,
)
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray, Law, QuantileTable, check_trim, common_refinement
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, check_levels
from fedparity.text import OneLine

__all__ = [
    "Estimate",
    "Estimator",
    "Method",
    "Pair",
    "all_step_ends",
    "cell_quantiles",
    "center_values",
    "centers",
    "estimate",
    "global_heterogeneity",
    "grid_levels",
    "grid_widths",
    "mixture_table",
    "mixtures",
    "observed_weights",
    "pairs",
    "read_cells",
    "step_ends",
]


Estimator: TypeAlias = Literal["grid", "exact"]
"""``grid``: Algorithm 1 to the letter; ``exact``: the same mixtures, integrated exactly."""


@dataclass(frozen=True, kw_only=True)
class Method:
    r"""How to measure: valid once built.

    Parameters
    ----------
    order : 1 or 2
        2: squared differences, 1: absolute ones; *p* in :math:`W_p`, :math:`G_p` and :math:`H_p`.
    estimator : "exact" or "grid"
        ``exact`` integrates between the mixtures by common refinement of their cumulative masses,
        cells of bin means being reconstructed first; ``grid`` inverts them at k midpoints (the
        paper's Algorithm 1).
    levels : int, optional
        The k of the grid; the largest number of levels among the cells if absent.
    trim : float in [0, 0.5)
        Leave out this share of levels at both ends of :math:`G_p` (`rem:trimmed`).
    """

    order: Order = 2
    estimator: Estimator = DEFAULT_ESTIMATOR
    levels: int | None = None
    trim: float = 0.0

    def __post_init__(self) -> None:
        check_order(self.order)
        check_trim(self.trim)
        if self.estimator not in get_args(Estimator):
            raise OptionError.unknown("estimator", self.estimator, get_args(Estimator))
        if self.levels is not None:
            check_levels(self.levels)


def observed_weights(federation: Federation) -> npt.NDArray[Any]:
    r"""Return the weight of each cell (column) in the law of each group (row).

    A cell counts by its records in the law of its own group and not in the others:
    :math:`\nu_s^\times = \sum_j \hat\pi_{j|s} \nu_{j,s}` (paper, `eq:nu-s-times`), up to the
    factor :math:`n_s`.
    """
    weights = np.zeros((len(federation.groups), federation.counts.size), federation.counts.dtype)
    weights[federation.group_of, np.arange(federation.counts.size)] = federation.counts
    return weights


def read_cells(federation: Federation, method: Method) -> Federation:
    """Return the cells as the estimator reads them: ``exact`` reconstructs those of bin means."""
    return federation.reconstructed if method.estimator == "exact" else federation


@takes_federation
def mixtures(federation: Federation, *, reconstruct: bool = True) -> dict[Group, Law]:
    r"""Return the mixture :math:`\nu_s^\times` of each group across silos.

    Each cell contributes its values with their parts of its mass, 1/k each but for counts, times
    the silo's share of the group.

    Cells of bin means are reconstructed first, see :mod:`fedparity.federated.reconstruction`; the
    law of the means themselves is mixed without ``reconstruct``.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 2, 1, 2], levels=1
    ... )
    >>> mixtures(federation, reconstruct=False)["b"].atoms
    array([2., 5.])
    """
    federation = federation.reconstructed if reconstruct else federation
    return dict(zip(federation.groups, _observed_laws(federation, 1), strict=True))


def _observed_laws(federation: Federation, levels: int) -> list[Law]:
    """The mixtures of the cells as they are, built once: an audit reads them a dozen times."""
    masses = unit_masses(observed_weights(federation), federation.units, levels)

    def build() -> list[Law]:
        return [federation.pool.law(row) for row in masses]

    return federation.once(("laws", masses.dtype.char, masses.tobytes()), build)


def mixture_table(
    federation: Federation,
    method: Method,
    weights: npt.NDArray[Any] | None = None,
    *,
    reconstruct: bool = True,
) -> QuantileTable:
    """Return the quantile functions of one mixture of cells per row of ``weights``.

    The mixtures of the groups if no weights are given. With the ``grid`` estimator they are read on the midpoint grid (Algorithm 1), with the
    ``exact`` one on the common refinement of their cumulative masses, cells of bin means being
    reconstructed first.
    """
    if reconstruct:
        federation = read_cells(federation, method)
    levels, trim = grid_levels(federation, method), method.trim
    if method.estimator == "exact" and weights is None:
        return federation.once(
            ("table", levels, trim), lambda: _observed_table(federation, levels, trim)
        )
    if weights is None:
        weights = observed_weights(federation)
    masses = unit_masses(weights, federation.units, levels)
    pool = federation.pool
    if method.estimator == "exact":
        return common_refinement([pool.law(row) for row in masses], trim=trim)
    values = np.stack([pool.quantiles(row, levels, trim) for row in masses])
    return QuantileTable(grid_widths(levels, trim), values)


def _observed_table(federation: Federation, levels: int, trim: float) -> QuantileTable:
    table = common_refinement(_observed_laws(federation, levels), trim=trim)
    table.values.flags.writeable = False  # several measures read it
    return table


def grid_levels(federation: Federation, method: Method) -> int:
    """Return the k of the grid: the method's, or the largest among the cells."""
    return federation.max_levels if method.levels is None else method.levels


def grid_widths(levels: int, trim: float) -> FloatArray:
    """Return the length of level that each point of the midpoint grid stands for."""
    return np.full(levels, (1 - 2 * trim) / levels)


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
