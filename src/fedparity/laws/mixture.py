"""Mixture of laws: the average of their cdfs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.laws.weights import Weights

__all__ = ["mixture"]


def mixture(laws: Mapping[Group, Law], weights: Weights) -> Law:
    r"""Return the law whose cdf is the weighted mean of the cdfs of ``laws``.

    It is the barycenter for the Cramér distance (paper, `eq:cramer-barycenter`),

    .. math:: F_{\nu^\times}(x) = \sum_s \alpha_s F_s(x).

    It averages *vertically*; :func:`fedparity.theory.barycenter` averages horizontally.

    Raises
    ------
    GroupMismatchError
        If a group has a law but no weight, or a weight but no law.

    Examples
    --------
    >>> laws = {"a": Law.from_scores([0.0, 1.0]), "b": Law.from_scores([1.0])}
    >>> mixture(laws, Weights({"a": 0.5, "b": 0.5})).masses
    array([0.25, 0.75])
    """
    shares = weights.aligned(laws)
    return Law(
        atoms=np.concatenate([law.atoms for law in laws.values()]),
        masses=np.concatenate(
            [share * law.masses for share, law in zip(shares, laws.values(), strict=True)]
        ),
    )
