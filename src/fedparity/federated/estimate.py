"""Global disparity and heterogeneity of a federation: Algorithm 1 and its exact variant."""

from __future__ import annotations

from dataclasses import dataclass

from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import grid_levels, mixture_table, observed_weights, read_cells
from fedparity.federated.pool import unit_masses
from fedparity.functionals.disparity import spread
from fedparity.functionals.dispersion import around_mean
from fedparity.functionals.order import weighted_sum

__all__ = ["Estimate", "estimate", "global_heterogeneity"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    r"""The global measures of a federation, and how they were obtained.

    ``disparity`` is :math:`\hat G_{k,p}`: zero means that all groups have the same mixture
    across silos. ``heterogeneity`` is :math:`\hat H^\times_{k,p}`, its Cramér counterpart.
    """

    disparity: float
    heterogeneity: float
    method: Method
    levels: int


def estimate(federation: Federation, method: Method | None = None) -> Estimate:
    r"""Return :math:`\hat G_{k,p}` and :math:`\hat H^\times_{k,p}` of a federation.

    With ``Method(estimator="grid")``, the default, this is the paper's Algorithm 1: mix the
    step cdfs of the silos in each group, invert the mixtures at the k midpoints, and measure
    how far they are from their barycentre. ``"exact"`` integrates between the same mixtures.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 2, 1, 2], levels=2
    ... )
    >>> estimate(federation).disparity
    2.5
    """
    method = method or Method()
    table = mixture_table(federation, observed_weights(federation), method)
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
    shares = federation.shares[:, None]
    value = 0.0
    for widths, cdfs in federation.pool.cdfs(masses):
        value += weighted_sum(around_mean(cdfs, shares, order), widths)
    return value
