"""A law reduced to k numbers: its quantiles, or its means between quantiles."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from fedparity.errors import OptionError
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law
from fedparity.laws.refinement import common_refinement
from fedparity.sketches.levels import check_levels, midpoints, ranks

__all__ = ["Kind", "bin_means", "check_kind", "quantile_values", "reduce_law"]

Kind: TypeAlias = Literal["quantile", "mean"]
"""What the k numbers are: ``quantile`` values Q(u_l), or the ``mean`` of Q over each bin."""


def check_kind(kind: str) -> None:
    """Raise unless ``kind`` is one of :data:`Kind`."""
    if kind not in get_args(Kind):
        raise OptionError.unknown("kind", kind, get_args(Kind))


def reduce_law(law: Law, levels: int, kind: str) -> FloatArray:
    """Return the ``levels`` numbers that a sketch of this ``kind`` holds for ``law``."""
    check_kind(kind)
    return quantile_values(law, levels) if kind == "quantile" else bin_means(law, levels)


def quantile_values(law: Law, levels: int) -> FloatArray:
    r"""Return :math:`q_\ell = Q(u_\ell)` on the midpoint grid (paper, `sec:quantile:sketch`).

    For a law of n equally weighted scores it is the order statistic of rank
    :math:`\lceil n u_\ell \rceil`, compared in whole numbers.

    Examples
    --------
    >>> quantile_values(Law.from_scores([1.0, 2.0, 3.0, 4.0]), 2)
    array([1., 3.])
    """
    if law.weights.dtype.kind != "i":
        values: FloatArray = law.quantile(midpoints(levels))
        return values
    running = np.cumsum(law.weights)
    wanted = ranks(int(running[-1]), check_levels(levels))
    return law.atoms[np.searchsorted(running, wanted.astype(np.int64), side="left")]


def bin_means(law: Law, levels: int) -> FloatArray:
    r"""Return the mean of :math:`Q` over each bin :math:`[(\ell-1)/k, \ell/k)`.

    .. math:: \bar q_\ell = k \int_{(\ell-1)/k}^{\ell/k} Q(u) \, du

    (paper, `prop:barUk2_short`). Bins cut through an atom take their part of its mass. Their
    mean is the law's mean, and no value need be the score of a person.

    Examples
    --------
    >>> bin_means(Law.from_scores([1.0, 2.0, 6.0]), 2)
    array([1.33333333, 4.66666667])
    """
    bins = Law.from_sorted(np.arange(check_levels(levels), dtype=np.float64))
    widths, (values, bin_of) = common_refinement([law, bins])
    bin_of = bin_of.astype(np.int64)
    lowest = _lowest_in_bins(law, levels)  # equal values then have exactly their own mean
    gains = np.bincount(bin_of, weights=(values - lowest[bin_of]) * widths, minlength=levels)
    lengths = np.bincount(bin_of, weights=widths, minlength=levels)
    return np.maximum.accumulate(lowest + gains / lengths)


def _lowest_in_bins(law: Law, levels: int) -> FloatArray:
    """The value of Q just after the left edge of each bin."""
    edges = np.arange(levels) / levels
    return law.atoms[np.searchsorted(law.cumulative, edges, side="right")]
