r"""How far the estimated disparity may be from the true one, order 2, every constant stated.

Three bounds of :math:`|\hat G_{k,2} - G_2|`, from the most general to the tightest:
:func:`master_bound` propagates given errors of knots and shares, :func:`likely_master_bound`
takes these errors from the numbers of records, and :func:`fedparity.theory.pooled_bound` needs neither knots nor
the shares of silos. They apply to the truth behind the sample, so that densities have to be
assumed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fedparity.errors import OptionError
from fedparity.laws.labels import Group, Silo
from fedparity.sketches.kinds import check_levels
from fedparity.text import OneLine
from fedparity.uncertainty.checks import (
    check_confidence,
    check_positive,
    check_score_range,
    check_whole,
)
from fedparity.uncertainty.guarantees import quantile_error, share_errors

__all__ = [
    "MasterBound",
    "likely_master_bound",
    "master_bound",
]


@dataclass(frozen=True, kw_only=True)
class MasterBound(OneLine):
    r"""Errors of knots and shares, and what they do to :math:`\hat G_{k,2}`, step by step.

    The four terms add up to ``total``; :func:`master_bound` proves it.
    """

    knot_error: float
    r"""The largest error :math:`\eta_Q` of a communicated quantile, over all levels."""
    pi_error: float
    r""":math:`\eta_\pi = \max_s \|\hat\pi_{\cdot|s} - \pi_{\cdot|s}\|_1`."""
    alpha_error: float
    r""":math:`\eta_\alpha = \|\hat\alpha - \alpha\|_1`."""
    levels: int
    """The k of the sketches and of the grid."""
    lowest_density: float
    """The lower bound m of the densities of the group mixtures."""
    highest_density: float
    """The upper bound M of the densities of the cells."""
    width: float
    """The length D of the range of scores."""

    @property
    def cdf_error(self) -> float:
        r"""Error :math:`M\eta_Q + 1/(2k) + \eta_\pi/2` of the cdf of a mixture (steps 1, 2)."""
        return self.highest_density * self.knot_error + 0.5 / self.levels + self.pi_error / 2

    @property
    def knot_term(self) -> float:
        r"""Effect of the knots, :math:`(DM/m)\,\eta_Q`."""
        return self.width * self.highest_density / self.lowest_density * self.knot_error

    @property
    def pi_term(self) -> float:
        r"""Effect of the shares of the silos, :math:`(D/2m)\,\eta_\pi`."""
        return self.width / (2 * self.lowest_density) * self.pi_error

    @property
    def alpha_term(self) -> float:
        r"""Effect of the shares of the groups, :math:`(D^2/2)\,\eta_\alpha`."""
        return self.width**2 / 2 * self.alpha_error

    @property
    def grid_term(self) -> float:
        r"""Effect of k levels, :math:`(5D/8)\,\omega(1/k)` with :math:`\omega(h) = h/m`.

        Four fifths come from reconstructing cdfs and one fifth from the Riemann sum.
        """
        return 5 * self.width / (8 * self.lowest_density * self.levels)

    @property
    def total(self) -> float:
        r"""Bound of :math:`|\hat G_{k,2} - G_2|`: the sum of the four terms."""
        return self.knot_term + self.pi_term + self.alpha_term + self.grid_term

    @property
    def total_as_in_proof(self) -> float:
        r"""The same bound with the constants of the paper's proof, which are larger.

        .. math::

            \frac{16B}{m} \Bigl(2M\eta_Q + \frac{2}{k} + \eta_\pi\Bigr) + 16B^2 \eta_\alpha
            + \frac{2D}{mk}, \qquad B = \frac{D}{2}
        """
        in_cdf = 2 * self.highest_density * self.knot_error + 2 / self.levels + self.pi_error
        grid = 2 * self.width / (self.lowest_density * self.levels)
        return (
            8 * self.width * in_cdf / self.lowest_density
            + 4 * self.width**2 * self.alpha_error
            + grid
        )

    @property
    def largest_possible(self) -> float:
        """The largest error that scores in the range allow at all; a larger total says nothing."""
        return self.width**2 / 4


def master_bound(
    knot_error: float,
    *,
    pi_error: float,
    alpha_error: float,
    levels: int,
    lowest_density: float,
    highest_density: float,
    score_range: tuple[float, float],
) -> MasterBound:
    r"""Return a bound of :math:`|\hat G_{k,2} - G_2|` from errors of knots and shares.

    .. math::

        |\hat G_{k,2} - G_2| \le \frac{DM}{m}\,\eta_Q + \frac{D}{2m}\,\eta_\pi
        + \frac{D^2}{2}\,\eta_\alpha + \frac{5D}{8mk}

    (paper, `thm:master-bound`, which leaves the constant open). Nothing in it is random.

    Preconditions: scores lie in ``score_range`` :math:`= [a, b]`, :math:`D = b - a`; the density
    of every cell is at most M; the support of every group mixture is an interval on which its
    density is at least m; every knot sent lies in the support of its group's mixture, as
    empirical quantiles do. No level is trimmed: :math:`\eta_Q` is over **all** knots. With the
    paper's, over trimmed knots only, no constant will do, since Algorithm 1 reads the others
    too. Postcondition: ``total`` bounds the error of Algorithm 1 (``grid``) with as many levels
    as the sketches, and that of the ``exact`` estimator, which has no Riemann sum.

    Proof, with the steps of the paper:

    1. Knots that move by :math:`\eta_Q` give :math:`F_k(x - \eta_Q) \le \hat F_k(x) \le
       F_k(x + \eta_Q)`, and :math:`\|F_k - F\|_\infty \le 1/(2k)` (`lem:stepcdf`, best
       constant): cells are off by :math:`M\eta_Q + 1/(2k)`.
    2. Mixing keeps that and adds :math:`|\sum_j (\hat\pi_j - \pi_j) F_j| \le \eta_\pi/2`, since
       the differences add up to zero and :math:`0 \le F_j \le 1`.
    3. Inversion divides by m, at all levels: beyond the ends of (0, 1) the ends of the support
       take over.
    4. Along a segment between two arrays q, the derivative of :math:`\Phi_\alpha` is twice the
       mean of :math:`(q_s - q^*)\,\dot q_s`, and the mean absolute deviation of numbers in
       [a, b] is at most D/2: the quantile error counts D times. Along a segment between two
       weights it is :math:`\sum_s \dot\alpha_s ((q_s - q^*)^2 - D^2/2)`: :math:`\eta_\alpha`
       counts :math:`D^2/2` times. (`lem:Phi-lip-app` has 16B and :math:`16B^2`, where scores
       centered in the range have :math:`B = D/2`.)
    5. The integrand :math:`g = \sum_s \alpha_s (Q_s - Q^*)^2` has :math:`g' = 2 \sum_s \alpha_s
       (Q_s - Q^*) Q_s'` with :math:`0 \le Q_s' \le 1/m`, so that :math:`|g'| \le D/(2m)`, and
       the midpoint rule errs by a quarter of that over k (`lem:midpoint-riemann`, best
       constant).

    Parameters
    ----------
    knot_error, pi_error, alpha_error : float
        :math:`\eta_Q`, :math:`\eta_\pi` and :math:`\eta_\alpha`, as in :class:`MasterBound`.
    levels : int
        The number k of knots of a cell.
    lowest_density, highest_density : float
        The m of the mixtures and the M of the cells.
    score_range : pair of numbers
        The public range [a, b] of the scores.

    Raises
    ------
    OptionError
        If an argument is out of its range.

    Examples
    --------
    >>> bound = master_bound(
    ...     0.01, pi_error=0.02, alpha_error=0.02, levels=100,
    ...     lowest_density=1.0, highest_density=1.0, score_range=(0, 1),
    ... )
    >>> round(bound.total, 5), round(bound.total_as_in_proof, 2), bound.largest_possible
    (0.03625, 0.58, 0.25)
    """
    lowest = check_positive(lowest_density, "lowest_density")
    highest = check_positive(highest_density, "highest_density")
    if lowest > highest:
        raise OptionError(
            f"lowest_density must not exceed highest_density, but {lowest:g} > {highest:g}.",
            fix="pass the smallest density of a mixture and the largest of a cell.",
        )
    low, high = check_score_range(score_range)
    return MasterBound(
        knot_error=_checked_error(knot_error, "knot_error"),
        pi_error=_checked_error(pi_error, "pi_error"),
        alpha_error=_checked_error(alpha_error, "alpha_error"),
        levels=check_levels(levels),
        lowest_density=lowest,
        highest_density=highest,
        width=high - low,
    )


def likely_master_bound(
    counts: Mapping[tuple[Silo, Group], int],
    *,
    levels: int,
    lowest_cell_density: float,
    lowest_density: float,
    highest_density: float,
    score_range: tuple[float, float],
    confidence: float = 0.95,
) -> MasterBound:
    r"""Return the master bound whose errors hold with high probability (paper, `cor:hp-G`).

    The knots err by :func:`~fedparity.uncertainty.guarantees.quantile_error` and the shares by
    :func:`~fedparity.uncertainty.guarantees.share_errors`; knots, silos and groups get a third
    of :math:`\delta` each, so that all hold at once.

    Preconditions: those of :func:`master_bound`; records are independent draws of (silo, group,
    score); the support of every cell is an interval on which its density is at least
    ``lowest_cell_density``. Postcondition: :math:`|\hat G_{k,2} - G_2|` is at most ``total``
    with probability at least ``confidence``.

    Parameters
    ----------
    counts : mapping of (silo, group) to int
        Number of records :math:`n_{j,s}` of each cell; leave out the cells that have none.
    levels, lowest_density, highest_density, score_range
        As in :func:`master_bound`.
    lowest_cell_density : float
        Lower bound of the density of every cell on its support.
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
    >>> counts = {(silo, group): 100_000 for silo in range(5) for group in "ab"}
    >>> bound = likely_master_bound(
    ...     counts, levels=100, lowest_cell_density=1.0, lowest_density=1.0,
    ...     highest_density=1.0, score_range=(0, 1),
    ... )
    >>> round(bound.total, 4), round(bound.alpha_error, 4)
    (0.0192, 0.0033)
    """
    by_group: dict[Group, int] = {}
    for (_, group), count in counts.items():
        by_group[group] = by_group.get(group, 0) + check_whole(count, "a cell's count")
    delta = 1 - check_confidence(confidence)
    silos = len({silo for silo, _ in counts})
    shares = share_errors(by_group, silos=max(silos, 1), confidence=1 - 2 * delta / 3)
    return master_bound(
        quantile_error(
            min(counts.values()),
            density=lowest_cell_density,
            levels=levels,
            cells=len(counts),
            confidence=1 - delta / 3,
        ),
        pi_error=shares.pi_l1,
        alpha_error=shares.alpha_l1,
        levels=levels,
        lowest_density=lowest_density,
        highest_density=highest_density,
        score_range=score_range,
    )


def _checked_error(value: float, name: str) -> float:
    if not 0 <= value < math.inf:
        raise OptionError(
            f"{name} must be a finite number of at least 0, not {value!r}.",
            fix="pass the largest error, without its sign; 0 where there is none.",
        )
    return float(value)
