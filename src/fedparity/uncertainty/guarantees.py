r"""Guarantees as numbers: how far empirical cdfs, quantiles and shares may be from the true ones.

Each function is one inequality of the paper with its constant. Records are independent given
their silo and group; :math:`\delta` is one minus the confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fedparity.errors import GroupError
from fedparity.laws.labels import Group
from fedparity.laws.law import check_trim
from fedparity.sketches.kinds import check_levels
from fedparity.text import OneLine
from fedparity.uncertainty.checks import (
    check_confidence,
    check_positive,
    check_score_range,
    check_whole,
)

__all__ = [
    "PooledBound",
    "ShareErrors",
    "dkw_band",
    "pooled_bound",
    "quantile_error",
    "share_errors",
]


def dkw_band(count: int, *, confidence: float = 0.95, cells: int = 1) -> float:
    r"""Return how far the empirical cdf of a cell may be from the true one, everywhere at once.

    The inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (paper,
    `lem:dkw:massart`) and a union bound over the cells,

    .. math:: \sqrt{\frac{1}{2n} \log \frac{2 c}{\delta}} .

    Precondition: the ``count`` scores of a cell are independent draws of its law, which may be
    any law, ties included. Postcondition: :math:`\|\hat F - F\|_\infty` is at most the result
    in each of the ``cells``, with probability at least ``confidence``.

    Parameters
    ----------
    count : int
        Number n of records of a cell, the smallest if there are several cells.
    confidence : float in (0, 1)
        One minus :math:`\delta`.
    cells : int
        Number c of cells in which the band has to hold at once.

    Raises
    ------
    OptionError
        If an argument is out of its range.

    Examples
    --------
    >>> round(dkw_band(1000), 4), round(dkw_band(1000, cells=10), 4)
    (0.0429, 0.0547)
    """
    events = 2 * check_whole(cells, "cells")
    return _radius(check_whole(count, "count"), events, 1 - check_confidence(confidence))


def quantile_error(
    count: int,
    *,
    density: float,
    levels: int,
    cells: int = 1,
    confidence: float = 0.95,
    sharp: bool = True,
) -> float:
    r"""Return how far the communicated quantiles may be from the true ones.

    .. math::

        \max_{j,s,\ell} |\hat Q_{j,s}(u_\ell) - Q_{j,s}(u_\ell)| \le \frac{\Delta}{m}, \qquad
        \Delta = \sqrt{\frac{1}{2n} \log \frac{2 (k+1) d |S|}{\delta}}

    (paper, `prop:hp-quantiles`). The factor :math:`k + 1` is not needed, as the paper remarks:
    a band around a cdf holds at all levels at once. ``sharp`` leaves it out.

    Precondition: one of

    - the density of every cell is at least ``density`` between its quantiles of levels
      :math:`\varepsilon` and :math:`1 - \varepsilon`. The bound then holds for the levels
      :math:`u_\ell \in [\varepsilon + \Delta, 1 - \varepsilon - \Delta]`;
    - the support of every cell is an interval on which its density is at least ``density``.
      The bound then holds for all levels.

    The paper states it up to the ends of :math:`[\varepsilon, 1 - \varepsilon]`, and for one
    level beyond them. That is false: nearer than :math:`\Delta` to an end,
    :math:`u \pm \Delta` leaves the region in which the density is bounded below, and the
    quantile may jump over a gap. Postcondition: the bound holds at all those levels of all
    cells, with probability at least ``confidence``.

    Proof: on the event of :func:`dkw_band`, :math:`Q(u - \Delta) \le \hat Q(u) \le
    Q(u + \Delta)` (`lem:quantile-bracket`), and Q is 1/m-Lipschitz between these levels.
    Where a level leaves (0, 1), the end of the support takes the place of its quantile:
    no score is beyond it, and it is at most :math:`\Delta/m` away.

    Parameters
    ----------
    count : int
        Number of records of the smallest cell, :math:`n_{\min}`.
    density : float
        The lower bound m of the densities.
    levels : int
        The number k of quantiles sent; it matters only if not ``sharp``.
    cells : int
        Number :math:`d |S|` of cells.
    confidence : float in (0, 1)
        One minus :math:`\delta`.
    sharp : bool
        Whether to leave out the factor :math:`k + 1` of the paper.

    Raises
    ------
    OptionError
        If an argument is out of its range.

    Examples
    --------
    >>> round(quantile_error(1000, density=1.0, levels=100, cells=10), 4)
    0.0547
    >>> round(quantile_error(1000, density=1.0, levels=100, cells=10, sharp=False), 4)
    0.0728
    """
    lowest = check_positive(density, "density")
    factor = check_levels(levels) + 1
    events = check_whole(cells, "cells") * (1 if sharp else factor)
    return dkw_band(count, confidence=confidence, cells=events) / lowest


@dataclass(frozen=True, kw_only=True)
class ShareErrors(OneLine):
    r"""How far the shares of groups and silos may be from the true ones."""

    alpha: float
    r"""Bound of :math:`\max_s |\hat\alpha_s - \alpha_s|`."""
    pi: float
    r"""Bound of :math:`\max_{j,s} |\hat\pi_{j|s} - \pi_{j|s}|`; zero with one silo."""
    alpha_l1: float
    r"""Bound of :math:`\|\hat\alpha - \alpha\|_1`, the :math:`\eta_\alpha` of the paper."""
    pi_l1: float
    r"""Bound of :math:`\max_s \|\hat\pi_{\cdot|s} - \pi_{\cdot|s}\|_1`, its :math:`\eta_\pi`."""


def share_errors(
    counts_by_group: Mapping[Group, int], *, silos: int, confidence: float = 0.95
) -> ShareErrors:
    r"""Return how far the shares of groups and silos may be from those of the population.

    With Hoeffding's inequality for each share and a union bound (paper,
    `lem:weights-concentration`),

    .. math::

        |\hat\alpha_s - \alpha_s| \le \sqrt{\frac{1}{2n} \log \frac{2|S|}{\delta/2}}, \qquad
        |\hat\pi_{j|s} - \pi_{j|s}| \le
        \sqrt{\frac{1}{2 \min_s n_s} \log \frac{2 d |S|}{\delta/2}} .

    The lemma has :math:`\delta` where these have :math:`\delta/2`. It claims both displays at
    once with probability :math:`1 - \delta`, but its proof spends :math:`\delta` on each and
    gives :math:`1 - 2\delta`; here each gets one half. Errors of shares add up to zero, so
    that an odd number of them cannot all be extreme: their absolute sum is at most
    :math:`2 \lfloor |S|/2 \rfloor` or :math:`2 \lfloor d/2 \rfloor` times the largest, where
    the paper has :math:`|S|` and d times. It never exceeds 2. With one silo, its share is one
    and :math:`\delta` is not split.

    Precondition: records are independent draws of (silo, group); silos and groups are known
    beforehand. Postcondition: all four bounds hold at once with probability at least
    ``confidence``.

    Parameters
    ----------
    counts_by_group : mapping of group to int
        Number of records :math:`n_s` of each group.
    silos : int
        Number d of silos in the audit, whether or not they have records of every group.
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
    >>> errors = share_errors({"a": 5000, "b": 5000}, silos=5)
    >>> round(errors.alpha, 4), round(errors.pi, 4)
    (0.0159, 0.0259)
    >>> round(errors.alpha_l1, 4), round(errors.pi_l1, 4)
    (0.0319, 0.1034)
    """
    if len(counts_by_group) < 2:
        raise GroupError.too_few(counts_by_group)
    groups, silos = len(counts_by_group), check_whole(silos, "silos")
    counts = [check_whole(count, "a group's count") for count in counts_by_group.values()]
    delta = (1 - check_confidence(confidence)) / (1 if silos == 1 else 2)
    alpha = _radius(sum(counts), 2 * groups, delta)
    pi = 0.0 if silos == 1 else _radius(min(counts), 2 * silos * groups, delta)
    return ShareErrors(
        alpha=alpha, pi=pi, alpha_l1=_absolute_sum(alpha, groups), pi_l1=_absolute_sum(pi, silos)
    )


def _radius(count: int, events: int, delta: float) -> float:
    r"""The t at which ``events`` times :math:`e^{-2nt^2}` is :math:`\delta`."""
    return math.sqrt(math.log(events / delta) / (2 * count))


def _absolute_sum(largest: float, parts: int) -> float:
    """The most that ``parts`` errors of shares can add up to, each at most ``largest``."""
    return min(2.0, 2 * (parts // 2) * largest)


@dataclass(frozen=True, kw_only=True)
class PooledBound(OneLine):
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
    :func:`~fedparity.uncertainty.guarantees.dkw_band` applies; each sketch is within 1/(2k) of
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
