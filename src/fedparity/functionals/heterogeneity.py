"""Heterogeneity: the Cramér counterpart of the disparity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

import numpy.typing as npt

from fedparity.functionals.curves import cdf_table, check_order, checked, heterogeneities
from fedparity.functionals.group_laws import laws_and_weights
from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.laws.weights import Weights

__all__ = ["heterogeneity"]


@overload
def heterogeneity(laws: Mapping[Group, Law], weights: Weights, /, *, order: int = 2) -> float: ...
@overload
def heterogeneity(
    scores: npt.ArrayLike,
    /,
    *,
    sensitive_features: object,
    sample_weight: object = None,
    order: int = 2,
) -> float: ...
@overload
def heterogeneity(
    y_true: object,
    y_pred: npt.ArrayLike,
    /,
    *,
    sensitive_features: object,
    sample_weight: object = None,
    order: int = 2,
) -> float: ...
def heterogeneity(
    first: object,
    second: object = None,
    /,
    *,
    sensitive_features: object = None,
    sample_weight: object = None,
    order: int = 2,
) -> float:
    r"""Return :math:`H_p`, how far the group laws are from their mixture.

    .. math:: H_p = \sum_s \alpha_s C_p(\nu_s, \nu^\times)^p

    with :math:`\nu^\times` the pooled law (paper, `def:Hp`). Zero means that every group has
    the same score law. It is an integral over scores and is never divided by their range; the
    paper's tables print it divided by the range. For two groups and ``order=2`` it is
    :math:`\alpha_0 \alpha_1 C_2^2`.

    It is called in the same three ways as :func:`fedparity.disparity`.

    Examples
    --------
    >>> heterogeneity([0.0, 1.0, 2.0, 5.0], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    check_order(order)
    laws, weights = laws_and_weights(first, second, sensitive_features, sample_weight)
    table = cdf_table(list(laws.values()))
    return checked(heterogeneities, table, weights.aligned(laws), order, "the heterogeneity")
