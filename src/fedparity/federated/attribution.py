"""Selection and within-silo shares of the global disparity, by two counterfactuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.federated.federation import Federation, takes_federation
from fedparity.federated.mixtures import Method, mixture_table, observed_weights
from fedparity.functionals.curves import counterfactuals, shapley
from fedparity.functionals.disparity import spread
from fedparity.laws.labels import Group, Silo
from fedparity.text import OneLine

__all__ = ["Attribution", "attribute", "counterfactual_weights"]

_TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class Attribution(OneLine):
    r"""How much of the disparity comes from *who is where*, how much from *inside the silos*.

    ``selection`` and ``within`` add up to the disparity; either may be negative when the two
    mechanisms oppose each other.
    """

    selection: float
    """Part due to groups being spread differently over the silos."""
    within: float
    """Part due to groups having different laws inside the silos."""
    disparity: float
    r"""What is explained: :math:`G(\pi, \nu)`."""
    without_selection: float
    r""":math:`G(\beta, \nu)`: every group spread over the silos as the whole population is."""
    with_local_parity: float
    r""":math:`G(\pi, \nu_j)`: every group has its silo's pooled law."""
    stand_ins: tuple[tuple[Silo, Group], ...]
    """Silos that lack a group: their pooled law stands in for it in the first counterfactual."""


@takes_federation
def attribute(federation: Federation, method: Method | None = None) -> Attribution:
    r"""Split the global disparity into a selection and a within-silo part.

    Two counterfactuals are computed from the same cells: *no selection* replaces
    :math:`\pi_{j|s}` by :math:`\beta_j`, and *local parity* replaces :math:`\nu_{j,s}` by the
    silo's pooled law :math:`\nu_j`. With both, nothing is left: :math:`G(\beta, \nu_j) = 0`.
    The Shapley values of the two changes,

    .. math::

        \mathrm{selection} &= \frac{1}{2} [G(\pi,\nu) - G(\beta,\nu) + G(\pi,\nu_j)] \\
        \mathrm{within} &= \frac{1}{2} [G(\pi,\nu) - G(\pi,\nu_j) + G(\beta,\nu)]

    add up to :math:`G(\pi, \nu)` for any number of groups. A silo that lacks group s has no
    :math:`\nu_{j,s}`; its pooled law stands in for it, and ``stand_ins`` says so.

    Examples
    --------
    >>> one_silo = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 1, 1, 1], levels=2
    ... )
    >>> attribute(one_silo).selection, attribute(one_silo).within
    (0.0, 2.5)
    """
    method = method or Method()

    def measured(weights: npt.NDArray[Any]) -> float:
        return spread(mixture_table(federation, weights, method), federation.shares, method.order)

    observed = measured(observed_weights(federation))
    without_selection, local_parity = map(measured, counterfactual_weights(federation))
    selection, within = shapley(observed, without_selection, local_parity)
    silo, group = np.nonzero(federation.count_table == 0)
    return Attribution(
        selection=selection,
        within=within,
        disparity=observed,
        without_selection=without_selection,
        with_local_parity=local_parity,
        stand_ins=tuple(
            (federation.silos[i], federation.groups[j]) for i, j in zip(silo, group, strict=True)
        ),
    )


def counterfactual_weights(
    federation: Federation,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    r"""Return the weight of each cell in the law of each group: no selection, and local parity.

    Without selection the cell (j, s) counts by all records of silo j in the law of group s. Where
    it does not exist, the cells of the silo count by their own records: its pooled law. With local
    parity every group has its silo's pooled law :math:`\nu_j`.
    """
    counts, table = federation.counts, federation.count_table
    changed = counterfactuals(table)
    no_selection = np.zeros((len(federation.groups), counts.size), counts.dtype)
    no_selection[federation.group_of, np.arange(counts.size)] = table.sum(axis=1)[
        federation.silo_of
    ]
    np.copyto(no_selection, counts, where=changed.lacking.T[:, federation.silo_of])
    selection = (table / np.maximum(table.sum(axis=0), _TINY)).T
    in_silo = changed.share[federation.silo_of, federation.group_of]
    return no_selection, selection[:, federation.silo_of] * in_silo
