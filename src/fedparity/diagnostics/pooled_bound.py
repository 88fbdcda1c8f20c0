r"""A bound of the estimated disparity from pooled cdfs: no knots, no shares of silos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fedparity.diagnostics.checks import (
    check_confidence,
    check_positive,
    check_score_range,
)
from fedparity.diagnostics.guarantees import dkw_band, share_errors
from fedparity.laws.labels import Group
from fedparity.laws.refinement import check_trim
from fedparity.sketches.levels import check_levels

__all__ = ["PooledBound", "pooled_bound"]


@dataclass(frozen=True, kw_only=True)
class PooledBound:
    r"""Errors of the pooled cdfs and of the shares of groups, and what they do to Ĝ."""

    band: float
    """How far the empirical cdf of each group, all silos together, may be from the true one."""
    alpha_error: float
    r""":math:`\eta_\alpha = \|\hat\alpha - \alpha\|_1`."""
    levels: int
    lowest_density: float
    width: float
    trim: float

    @property
    def cdf_error(self) -> float:
        r"""Error :math:`\Delta` of the cdf of a mixture: the band, and 1/(2k) for the sketch."""
        return self.band + 0.5 / self.levels

    @property
    def total(self) -> float:
        r"""Bound of :math:`|\hat G_{k,2} - G_2|`, both trimmed alike."""
        kept = 1 - 2 * self.trim
        in_levels = self.cdf_error + kept / (8 * self.levels)
        in_shares = self.width / 2 * self.alpha_error
        return kept * self.width * (in_levels / self.lowest_density + in_shares)

    @property
    def largest_possible(self) -> float:
        """The largest error that scores in the range allow at all; a larger total says nothing."""
        return (1 - 2 * self.trim) * self.width**2 / 4


def pooled_bound(
    counts_by_group: Mapping[Group, int],
    *,
    levels: int,
    lowest_density: float,
    score_range: tuple[float, float],
    trim: float = 0.0,
    confidence: float = 0.95,
) -> PooledBound:
    r"""Return a bound of :math:`|\hat G_{k,2} - G_2|` without knots and without shares of silos.

    .. math::

        |\hat G_{k,2} - G_2| \le \frac{D}{m} \Bigl(\sqrt{\tfrac{1}{2 \min_s n_s}
        \log \tfrac{2|S|}{\delta/2}} + \frac{1}{2k}\Bigr) + \frac{D^2}{2}\,\eta_\alpha
        + \frac{D}{8mk}

    It is `cor:hp-G` with the number of records of a *group* in place of the smallest cell, no
    matter how many silos there are and how the cells are distributed. Half of :math:`\delta` is
    for the scores and half for the shares of the groups.

    Preconditions: records are independent draws of (silo, group, score); scores lie in
    ``score_range``; cells send quantiles; the support of every group mixture is an interval on
    which its density is at least m. With ``trim`` :math:`= \varepsilon` the density has to be
    at least m only between the quantiles of levels :math:`\varepsilon - \Delta` and
    :math:`1 - \varepsilon + \Delta`, where :math:`\Delta < \varepsilon` is ``cdf_error``, and
    the bound is of the disparity on :math:`[\varepsilon, 1 - \varepsilon]` (`rem:trimmed`).
    Postcondition: ``total`` bounds the error of both estimators with probability at least
    ``confidence``.

    Proof: weighted by counts, the empirical cdfs of the silos add up to the empirical cdf of
    the whole group, a sample of :math:`n_s` records of its mixture, to which
    :func:`~fedparity.diagnostics.guarantees.dkw_band` applies; each sketch is within 1/(2k) of
    its own (`lem:stepcdf`), hence so is the mixture of sketches. Then steps 3 to 5 of
    :func:`master_bound`.

    Parameters
    ----------
    counts_by_group : mapping of group to int
        Number of records :math:`n_s` of each group.
    levels, lowest_density, score_range
        As in :func:`master_bound`.
    trim : float in [0, 0.5)
        The share of levels left out at both ends, as in :class:`fedparity.Method`.
    confidence : float in (0, 1)
        One minus :math:`\delta`.

    Raises
    ------
    GroupError
        If there are fewer than two groups.
    OptionError
        If another argument is out of its range.

    Examples
    --------
    >>> bound = pooled_bound(
    ...     {"a": 5000, "b": 5000}, levels=100, lowest_density=1.0, score_range=(0, 1)
    ... )
    >>> round(bound.cdf_error, 4), round(bound.total, 4)
    (0.0275, 0.0447)
    """
    half = (1 + check_confidence(confidence)) / 2
    shares = share_errors(counts_by_group, silos=1, confidence=half)
    check_trim(trim)
    low, high = check_score_range(score_range)
    return PooledBound(
        band=dkw_band(min(counts_by_group.values()), confidence=half, cells=len(counts_by_group)),
        alpha_error=shares.alpha_l1,
        levels=check_levels(levels),
        lowest_density=check_positive(lowest_density, "lowest_density"),
        width=high - low,
        trim=trim,
    )
