"""Where a disparity comes from: terms of an analysis of variance, and shares of selection by two counterfactuals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.federated.estimate import (
    Method,
    center_values,
    centers,
    grid_levels,
    mixture_table,
    mixtures,
    read_cells,
)
from fedparity.federated.federation import Federation, takes_federation
from fedparity.functionals.curves import counterfactuals, shapley, spread, terms
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import FloatArray, QuantileTable, common_refinement
from fedparity.sketches.kinds import midpoints
from fedparity.text import OneLine

__all__ = [
    "Attribution",
    "Decomposition",
    "TriangleTerms",
    "attribute",
    "counterfactual_weights",
    "decompose",
]


@dataclass(frozen=True, kw_only=True)
class Decomposition(OneLine):
    r"""The terms of :math:`G_2 = V_{mix} + V_{bar} + R` (paper, `thm:anova`).

    They cannot see which silo is which across groups: relabeling the silos of one group
    leaves all three unchanged. So they do not tell selection from disparity inside silos;
    :func:`fedparity.theory.attribute` does.
    """

    v_mix: float
    """Mixture discrepancy: how far each group's mixture is from its transport center."""
    v_bar: float
    """Disparity of the transport centers, around the barycenter of the mixtures."""
    remainder: float
    """Interaction R of the two; it may be negative."""

    @property
    def disparity(self) -> float:
        """The sum of the three terms, :math:`G_2`."""
        return self.v_mix + self.v_bar + self.remainder

    @property
    def remainder_bound(self) -> float:
        r"""Cauchy-Schwarz: :math:`|R| \le 2 \sqrt{V_{mix} V_{bar}}`."""
        return 2 * math.sqrt(self.v_mix) * math.sqrt(self.v_bar)

    @property
    def lower(self) -> float:
        r"""Lower bound :math:`(\sqrt{V_{mix}} - \sqrt{V_{bar}})^2` (``prop:anova-bounds``)."""
        return (math.sqrt(self.v_mix) - math.sqrt(self.v_bar)) ** 2

    @property
    def upper(self) -> float:
        r"""Upper bound :math:`(\sqrt{V_{mix}} + \sqrt{V_{bar}})^2` (``prop:anova-bounds``)."""
        return (math.sqrt(self.v_mix) + math.sqrt(self.v_bar)) ** 2


@dataclass(frozen=True, kw_only=True)
class TriangleTerms(OneLine):
    r"""The diagnostics for order 1: :math:`|V_{bar} - V_{mix}| \le G_1 \le V_{bar} + V_{mix}`.

    There is no identity in :math:`W_1`, only the triangle inequality (paper, `rem:p1`).
    """

    v_mix: float
    v_bar: float

    @property
    def lower(self) -> float:
        """What :math:`G_1` cannot be below."""
        return abs(self.v_bar - self.v_mix)

    @property
    def upper(self) -> float:
        """What :math:`G_1` cannot be above."""
        return self.v_bar + self.v_mix


@takes_federation
def decompose(
    federation: Federation, method: Method | None = None
) -> Decomposition | TriangleTerms:
    r"""Return the terms of the global disparity: mixture discrepancy, centers, interaction.

    .. math::

        V_{mix} = \sum_s \alpha_s W_2(\nu_s^\times, \nu_s^*)^2, \quad
        V_{bar} = \sum_s \alpha_s W_2(\nu_s^*, \nu^{\times *})^2

    (paper, `eq:anova-terms`); a :class:`Decomposition` for ``order=2``, and
    :class:`TriangleTerms` for ``order=1``.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 2, 1, 2], levels=2
    ... )
    >>> terms = decompose(federation)
    >>> terms.v_mix, terms.v_bar, terms.remainder, terms.disparity
    (1.25, 3.25, -2.0, 2.5)
    """
    method = method or Method()
    found = terms(*_aligned(federation, method), federation.shares, method.order)
    v_mix, v_bar = float(found.v_mix), float(found.v_bar)
    if found.remainder is None:
        return TriangleTerms(v_mix=v_mix, v_bar=v_bar)
    return Decomposition(v_mix=v_mix, v_bar=v_bar, remainder=float(found.remainder))


def _aligned(federation: Federation, method: Method) -> tuple[QuantileTable, FloatArray]:
    """The quantiles of mixtures, and those of centers on the same intervals: one row per group."""
    if method.estimator == "grid":
        levels = grid_levels(federation, method)
        table = mixture_table(federation, method)
        grid = midpoints(levels, trim=method.trim)
        return table, center_values(federation, grid, method.order)
    cells = read_cells(federation, method)
    laws = [*mixtures(cells).values(), *centers(cells, order=method.order).values()]
    widths, values = common_refinement(laws, trim=method.trim)
    mixed, central = np.split(values, 2)
    return QuantileTable(widths, mixed), central


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

    def measured(weights: npt.NDArray[Any] | None) -> float:
        return spread(mixture_table(federation, method, weights), federation.shares, method.order)

    observed = measured(None)
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
