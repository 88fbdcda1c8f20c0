"""Barycenter of laws on the line for the Wasserstein distance."""

from __future__ import annotations

from collections.abc import Mapping

from fedparity.functionals.curves import center, check_order
from fedparity.laws.labels import Group
from fedparity.laws.law import Law, common_refinement
from fedparity.laws.weights import Weights

__all__ = ["barycenter"]


def barycenter(laws: Mapping[Group, Law], weights: Weights, *, order: int = 2) -> Law:
    r"""Return the law nearest to all ``laws`` on average, in :math:`W_p^p`.

    On the line the minimizer is explicit, level by level (paper, `eq:wass-barycenter-quantile`
    and `eq:bar-quantile-pointwise`): for ``order=2`` its quantile function is the mean

    .. math:: Q_{\nu^*}(u) = \sum_s \alpha_s Q_s(u),

    for ``order=1`` a weighted median of the :math:`Q_s(u)`, here the lower one. It averages
    *horizontally*; :func:`fedparity.theory.mixture` averages vertically.

    Raises
    ------
    GroupMismatchError
        If a group has a law but no weight, or a weight but no law.

    Examples
    --------
    >>> laws = {"a": Law.from_scores([0.0, 1.0]), "b": Law.from_scores([2.0, 5.0])}
    >>> barycenter(laws, Weights({"a": 0.5, "b": 0.5})).atoms
    array([1., 3.])
    """
    check_order(order)
    shares = weights.aligned(laws)
    widths, values = common_refinement(list(laws.values()))
    return Law(atoms=center(values, shares, order), masses=widths)
