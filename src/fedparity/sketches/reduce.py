"""A law reduced to k numbers: its quantiles, or its means between quantiles."""

from __future__ import annotations

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law
from fedparity.sketches.kinds import Kind, check_kind
from fedparity.sketches.levels import check_levels
from fedparity.sketches.selection.readings import counted_values, weighted_values
from fedparity.sketches.selection.runs import CountedRuns, WeightedRuns
from fedparity.sketches.selection.targets import MassTargets, RankTargets

__all__ = ["bin_means", "quantile_values", "reduce_law"]


def reduce_law(law: Law, levels: int, kind: str) -> FloatArray:
    """Return the ``levels`` numbers that a sketch of this ``kind`` holds for ``law``."""
    check_kind(kind)
    return quantile_values(law, levels) if kind == "quantile" else bin_means(law, levels)


def quantile_values(law: Law, levels: int) -> FloatArray:
    r"""Return :math:`q_\ell = Q(u_\ell)` on the midpoint grid (paper, `sec:quantile:sketch`).

    For a law of n equally weighted scores it is the order statistic of rank
    :math:`\lceil n u_\ell \rceil`. Masses are compared in whole numbers, without rounding.

    Examples
    --------
    >>> quantile_values(Law.from_scores([1.0, 2.0, 3.0, 4.0]), 2)
    array([1., 3.])
    """
    return _values(law, check_levels(levels), "quantile")


def bin_means(law: Law, levels: int) -> FloatArray:
    r"""Return the mean of :math:`Q` over each bin :math:`[(\ell-1)/k, \ell/k)`.

    .. math:: \bar q_\ell = k \int_{(\ell-1)/k}^{\ell/k} Q(u) \, du

    (paper, `prop:barUk2_short`). Bins cut through an atom take their part of its mass. Their
    mean is the law's mean, and no value need be the score of a person. Each is the float nearest
    to the exact mean: they never decrease, and equal scores have exactly their own mean.

    Examples
    --------
    >>> bin_means(Law.from_scores([1.0, 2.0, 6.0]), 2)
    array([1.33333333, 4.66666667])
    """
    return _values(law, check_levels(levels), "mean")


def _values(law: Law, levels: int, kind: Kind) -> FloatArray:
    if law.weights.dtype.kind == "i":
        count = int(law.weights.sum())
        return counted_values(
            CountedRuns(law.atoms, law.weights),
            RankTargets.of(count, levels, kind),
            count=count,
            levels=levels,
            kind=kind,
        )
    total, size = float(law.weights.sum()), law.atoms.size
    runs = WeightedRuns(law.atoms, law.weights, np.ones(size, dtype=np.int64), {})
    targets = MassTargets.of(size, total, levels, kind)
    return weighted_values(runs, targets, levels=levels, kind=kind)[1]
