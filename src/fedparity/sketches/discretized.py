"""What k numbers per group say of the disparity: three discretized functionals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from fedparity.errors import GroupError, ScoreError
from fedparity.functionals.disparity import spread
from fedparity.functionals.order import check_order
from fedparity.laws.arrays import FloatArray, as_scores, check_magnitude
from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.laws.refinement import QuantileTable
from fedparity.laws.weights import Weights
from fedparity.sketches.cell import bin_means

__all__ = ["bin_averaged_disparity", "linear_disparity", "riemann_disparity", "step_law"]


def step_law(values: npt.ArrayLike) -> Law:
    r"""Return the law with mass 1/k at each of the k values of a sketch (`eq:nu-bar-k`).

    Examples
    --------
    >>> step_law([1.0, 1.0, 4.0]).masses
    array([0.66666667, 0.33333333])
    """
    return Law.from_scores(values)


def riemann_disparity(
    values: Mapping[Group, npt.ArrayLike], weights: Weights, *, order: int = 2
) -> float:
    r"""Return :math:`\overline U_{k,p}` from k values per group (`eq:U-bar-kp-riemann`).

    .. math:: \overline U_{k,p} = \sum_s \alpha_s \frac{1}{k} \sum_{\ell=1}^k |q_{s,\ell} - q^*_\ell|^p

    With midpoint quantiles it may lie on either side of :math:`U_p`; with bin means it never
    exceeds :math:`U_2` (see :func:`bin_averaged_disparity`).

    Examples
    --------
    >>> riemann_disparity({"a": [0.0, 1.0], "b": [2.0, 5.0]}, Weights({"a": 1, "b": 1}))
    2.5
    """
    check_order(order)
    table = _table(values)
    widths = np.full(table.shape[1], 1 / table.shape[1])
    return spread(QuantileTable(widths, table), weights.aligned(values), order)


def linear_disparity(values: Mapping[Group, npt.ArrayLike], weights: Weights) -> float:
    r"""Return :math:`U_{2,k}^{\mathrm{lin}}`, the exact integral of linear interpolations.

    The quantile functions are joined linearly between midpoints and kept constant on the outer
    half bins; the squared differences are then quadratic and integrate exactly
    (`eq:U2-lin-exact`). For one law per group its error is :math:`O(k^{-2})`. Applied to
    mixtures that were inverted stepwise it gains nothing: their error dominates.

    Examples
    --------
    >>> values = {"a": [0.0, 1.0], "b": [2.0, 5.0]}
    >>> round(linear_disparity(values, Weights({"a": 1, "b": 1})), 6)
    2.416667
    """
    shares = weights.aligned(values)
    table = _table(values)
    gaps = table - np.average(table, axis=0, weights=shares)
    left, right = gaps[:, :-1], gaps[:, 1:]
    ends = (gaps[:, 0] ** 2 + gaps[:, -1] ** 2) / 2
    inside = (left**2 + left * right + right**2).sum(axis=1) / 3
    return float(np.sum(shares * (ends + inside)) / gaps.shape[1])


def bin_averaged_disparity(laws: Mapping[Group, Law], weights: Weights, levels: int) -> float:
    r"""Return :math:`\bar U_{k,2}`, a lower bound of :math:`U_2` (`prop:barUk2_short`).

    The quantile functions are replaced by their means over k bins. The bound holds for any
    number of groups, and grows when bins are cut into smaller ones.

    Examples
    --------
    >>> laws = {"a": Law.from_scores([0.0, 1.0]), "b": Law.from_scores([2.0, 5.0])}
    >>> bin_averaged_disparity(laws, Weights({"a": 1, "b": 1}), 1)
    2.25
    """
    return riemann_disparity({g: bin_means(law, levels) for g, law in laws.items()}, weights)


def _table(values: Mapping[Group, npt.ArrayLike]) -> FloatArray:
    """One row of checked values per group, all of the same length."""
    if not values:
        raise GroupError.too_few([])
    rows = [as_scores(row, f"values of group {group!r}") for group, row in values.items()]
    for group, row in zip(values, rows, strict=True):
        if row.size != rows[0].size:
            raise ScoreError.lengths_differ(
                f"values of group {group!r}", row.size, "those of the first group", rows[0].size
            )
    table = np.stack(rows)
    check_magnitude(table, "values")
    return table
