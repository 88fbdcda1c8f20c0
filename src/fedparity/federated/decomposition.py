"""The ANOVA-style terms of the global disparity, and their counterpart for order 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedparity.federated.estimate import center_values, centers
from fedparity.federated.federation import Federation, takes_federation
from fedparity.federated.mixtures import (
    Method,
    grid_levels,
    mixture_table,
    mixtures,
    observed_weights,
    read_cells,
)
from fedparity.functionals.curves import terms
from fedparity.laws.arrays import FloatArray
from fedparity.laws.refinement import QuantileTable, common_refinement
from fedparity.sketches.grids import midpoints
from fedparity.text import OneLine

__all__ = ["Decomposition", "TriangleTerms", "decompose"]


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
        table = mixture_table(federation, observed_weights(federation), method)
        grid = midpoints(levels, trim=method.trim)
        return table, center_values(federation, grid, method.order)
    cells = read_cells(federation, method)
    laws = [*mixtures(cells).values(), *centers(cells, order=method.order).values()]
    widths, values = common_refinement(laws, trim=method.trim)
    mixed, central = np.split(values, 2)
    return QuantileTable(widths, mixed), central
