"""A certificate: the interval that the raw data's disparity cannot leave, given the sketches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fedparity.diagnostics.convex_order import bounds_from_bin_means
from fedparity.diagnostics.envelopes import group_envelopes
from fedparity.diagnostics.extremes import largest_dispersion, smallest_dispersion
from fedparity.diagnostics.knowledge import (
    checked_range,
    checked_unseen,
)
from fedparity.federated.federation import Federation
from fedparity.functionals.order import check_order
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.laws.refinement import common_refinement

__all__ = ["Certificate", "certify"]

_BLOCK = 1 << 14
_ROUNDING = 1e-11
"""Bounds are moved outwards by this, relative to them and to the range, against rounding."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """An interval that the disparity of the raw data cannot leave, whatever the data are."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """How much the sketches leave open."""
        return self.upper - self.lower

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


def certify(
    federation: Federation,
    *,
    score_range: tuple[float, float],
    order: int = 2,
    trim: float = 0.0,
    unseen: Mapping[Group, float] | None = None,
) -> Certificate:
    r"""Return an interval that :math:`G_p` of the raw data cannot leave.

    Nothing is assumed but the sketches, the public score range and monotonicity. A sketch
    leaves each silo's quantile function between two step functions, hence each group's
    mixture between two laws; at every level the dispersion of the groups is at least the
    smallest and at most the largest that these allow. Exact bin means (``kind="mean"``) allow much
    more, see :mod:`fedparity.diagnostics.convex_order`; the better bound is kept on each side. Cells
    with a rank error, or with values that were rounded, have wider envelopes.

    Parameters
    ----------
    score_range : pair of numbers
        Public bounds of the scores, never read from the data.
    trim : float in [0, 0.5)
        For the trimmed disparity (`rem:trimmed`).
    unseen : mapping of group to number, optional
        At most so many further records of each group exist of which nothing is known: cells
        that were withheld, silos that sent nothing. ``math.inf`` where there is no limit.

    Raises
    ------
    OptionError
        If the range is not one, a value lies outside it, or ``unseen`` names another group.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 0.1, 0.5, 1.0], groups=list("aabb"), silos=[1, 2, 1, 2], levels=1
    ... )
    >>> certificate = certify(federation, score_range=(0.0, 1.0))
    >>> round(certificate.lower, 9), round(certificate.upper, 9)
    (0.1325, 0.1325)
    """
    check_order(order)
    low, high = checked_range(federation, score_range)
    extra = checked_unseen(federation, unseen)
    widest = (high - low) ** order / (2 if order == 1 else 4)
    if not np.isfinite(extra).all():
        return Certificate(lower=0.0, upper=widest)
    lower, upper = _from_envelopes(federation, (low, high), extra, order, trim)
    exact_means = federation.kind == "mean" and not federation.rank_errors.any()
    if exact_means and not extra.any() and not trim:
        least, most = bounds_from_bin_means(federation, (low, high), order)
        lower, upper = max(lower, least), min(upper, most)
    slack = _ROUNDING * widest
    return Certificate(
        lower=max(0.0, lower * (1 - _ROUNDING) - slack),
        upper=min(widest, upper * (1 + _ROUNDING) + slack),
    )


def _from_envelopes(
    federation: Federation,
    score_range: tuple[float, float],
    unseen: FloatArray,
    order: int,
    trim: float,
) -> tuple[float, float]:
    """Integrate the pointwise extremes between the envelopes of all groups.

    With unseen records the shares are not known either: the weights of the groups lie between
    the records seen and all of them.
    """
    envelopes = group_envelopes(federation, score_range, unseen)
    laws = [law for envelope in envelopes for law in envelope]
    widths, values = common_refinement(laws, trim=trim)
    seen = federation.count_table.sum(axis=0)
    most = seen + unseen
    lower = upper = 0.0
    for start in range(0, widths.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        low, high = values[0::2, part], values[1::2, part]
        least = smallest_dispersion(low, high, seen / seen.sum(), order)
        largest = largest_dispersion(low, high, most / most.sum(), order)
        lower += float(np.sum(least * widths[part]))
        upper += float(np.sum(largest * widths[part]))
    growth = float(most.sum() / seen.sum())
    return lower / growth, upper * growth
