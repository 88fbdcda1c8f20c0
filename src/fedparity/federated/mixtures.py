"""Group mixtures across silos: the laws that pooling the data would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.federated.federation import Federation, takes_federation
from fedparity.federated.pool import unit_masses
from fedparity.functionals.curves import Order, check_order
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.laws.law import Law, QuantileTable, check_trim, common_refinement
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, check_levels

__all__ = [
    "Estimator",
    "Method",
    "grid_levels",
    "grid_widths",
    "mixture_table",
    "mixtures",
    "observed_weights",
    "read_cells",
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
