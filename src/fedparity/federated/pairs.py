"""Pairwise distances between the group mixtures."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.federated.mixtures import mixture_table, mixtures, observed_weights
from fedparity.functionals.cramer import cramer
from fedparity.functionals.wasserstein import distance_in_table
from fedparity.laws.labels import Group
from fedparity.laws.refinement import QuantileTable

__all__ = ["Pair", "pairs"]


@dataclass(frozen=True, kw_only=True)
class Pair:
    r"""Distances between the mixtures of two groups: :math:`W_p`, :math:`C_p` and means."""

    groups: tuple[Group, Group]
    wasserstein: float
    cramer: float
    mean_gap: float
    """Mean of the first group minus mean of the second."""


def pairs(federation: Federation, method: Method | None = None) -> tuple[Pair, ...]:
    """Return the distances between every two groups, in their order."""
    method = method or Method()
    laws = list(mixtures(federation, reconstruct=method.estimator == "exact").values())
    widths, values = mixture_table(federation, observed_weights(federation), method)
    return tuple(
        Pair(
            groups=(federation.groups[i], federation.groups[j]),
            wasserstein=distance_in_table(QuantileTable(widths, values[[i, j]]), method.order),
            cramer=cramer(laws[i], laws[j], order=method.order),
            mean_gap=laws[i].mean - laws[j].mean,
        )
        for i, j in combinations(range(len(laws)), 2)
    )
