"""Demographic disparity: the Fréchet variance of the group laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

import numpy.typing as npt

from fedparity.functionals.curves import check_order, spread
from fedparity.functionals.group_laws import laws_and_weights
from fedparity.laws.labels import Group
from fedparity.laws.law import Law, common_refinement
from fedparity.laws.weights import Weights

__all__ = ["disparity"]


@overload
def disparity(
    laws: Mapping[Group, Law], weights: Weights, /, *, order: int = 2, trim: float = 0.0
) -> float: ...
@overload
def disparity(
    scores: npt.ArrayLike,
    /,
    *,
    sensitive_features: object,
    sample_weight: object = None,
    order: int = 2,
    trim: float = 0.0,
) -> float: ...
@overload
def disparity(
    y_true: object,
    y_pred: npt.ArrayLike,
    /,
    *,
    sensitive_features: object,
    sample_weight: object = None,
    order: int = 2,
    trim: float = 0.0,
) -> float: ...
def disparity(
    first: object,
    second: object = None,
    /,
    *,
    sensitive_features: object = None,
    sample_weight: object = None,
    order: int = 2,
    trim: float = 0.0,
) -> float:
    r"""Return :math:`U_p`, how far the group laws are from one common law.

    .. math:: U_p = \sum_s \alpha_s W_p(\nu_s, \nu^*)^p

    with :math:`\nu^*` their Wasserstein barycenter (paper, `def:Up`). Zero means demographic
    parity: every group has the same score law. For two groups and ``order=2`` it is
    :math:`\alpha_0 \alpha_1 W_2^2`. The unit is that of the scores to the power p.

    It can be called in three ways:

    - ``disparity(laws, weights)`` with one :class:`Law` and one share per group;
    - ``disparity(scores, sensitive_features=groups)`` with one label per score;
    - ``disparity(y_true, y_pred, sensitive_features=groups)``, Fairlearn's signature:
      ``y_pred`` are the scores and ``y_true`` is ignored.

    Parameters
    ----------
    sensitive_features : array, Series, frame or mapping of columns
        One label per score. Several columns give intersections: a label is then a tuple.
    sample_weight : array, optional
        A non-negative weight per score.
    order : 1 or 2
    trim : float in [0, 0.5)
        Leave out this share of levels at both ends (`rem:trimmed`).

    Raises
    ------
    ScoreError, MassError, GroupError
        If the scores, weights or labels cannot be used; each says what to do.

    Examples
    --------
    >>> disparity([0.0, 1.0, 2.0, 5.0], sensitive_features=["a", "a", "b", "b"])
    2.5
    >>> laws = {"a": Law.from_scores([0.0, 1.0]), "b": Law.from_scores([2.0, 5.0])}
    >>> disparity(laws, Weights({"a": 0.5, "b": 0.5}))
    2.5
    """
    check_order(order)
    laws, weights = laws_and_weights(first, second, sensitive_features, sample_weight)
    return spread(common_refinement(list(laws.values()), trim=trim), weights.aligned(laws), order)
