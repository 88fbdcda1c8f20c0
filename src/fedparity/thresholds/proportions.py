r"""Limits of a proportion, and of the difference and the ratio of two, from finite samples.

A share of n records drawn at random is that of the population up to chance. The limits of one
proportion are those of the *mid-p* test: the lower limit is the p at which a sample of n would
hold more than x records, or half of the time exactly x, with a given probability,

.. math:: P_p(X > x) + \tfrac12 P_p(X = x) = \text{tail}.

Taking the event of equality by half keeps the limits of small counts from being far too wide,
as those of Clopper and Pearson are, and from being too narrow, as Wilson's can be near 0 and 1: an error on
one side is at most twice as frequent as stated for any p and n, and as frequent as stated on average. Where weights make the sample
worth :math:`n = W^2/\sum w^2` records, n and x need not be whole.

The limits of a difference and of a ratio are recovered from those of the two rates (*MOVER*): a
difference is as far off as both rates together, which errors of independent samples are in
quadrature. Benchmarks measure how often all of them hold (``benchmarks/rate_coverage.py``).

References
----------
.. [1] Berry, Armitage (1995), Mid-P confidence intervals: a brief review. The Statistician 44.
.. [2] Newcombe (1998), Interval estimation for the difference between independent proportions:
   comparison of eleven methods. Statistics in Medicine 17.
.. [3] Donner, Zou (2012), Closed-form confidence intervals for functions of the normal mean and
   standard deviation. Statistical Methods in Medical Research 21.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.law import FloatArray

__all__ = [
    "RateLimits",
    "difference_lower",
    "noisy_limits",
    "proportion_limits",
    "rate_limits",
    "ratio_lower",
    "tails",
]

# Their last digits depend on the processor, since they are eigenvalues.
_NODES, _NODE_WEIGHTS = (each.round(14) for each in np.polynomial.legendre.leggauss(48))
_NEGLIGIBLE = 37.0
"""exp(-37) is less than the rounding of a double."""
_MOST_STEPS = 100
_CLOSE = 1e-12
_A_RECORD = 1e-9
"""Less than this of a record is rounding, not a record."""

_log_gamma = np.vectorize(math.lgamma, otypes=[np.float64])


def proportion_limits(
    lowest: npt.ArrayLike, highest: npt.ArrayLike, sizes: npt.ArrayLike, tail: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the mid-p limits of proportions whose samples had rates in known brackets.

    The lower limit is that of a sample at the lower end, the upper one that of a sample at the
    upper end. Both rise with the rate, so that they lie outside those of any rate between.

    Parameters
    ----------
    lowest, highest : arrays of numbers in [0, 1]
        The ends of the brackets; the rates themselves where they are known.
    sizes : array of positive numbers
        What the samples amount to in records, which need not be whole.
    tail : array of numbers in (0, 0.5)
        How often each limit may miss the proportion: 0.025 for both limits of 95 %.

    Examples
    --------
    >>> rates = np.array([0.0, 8 / 128])
    >>> lower, upper = proportion_limits(rates, rates, 128, 0.025)
    >>> lower.round(4), upper.round(4)
    (array([0.    , 0.0294]), array([0.0231, 0.1152]))
    """
    low, high, trials, error = np.broadcast_arrays(
        *(np.asarray(each, np.float64) for each in (lowest, highest, sizes, tail))
    )
    both = _lower_limits(np.stack([low, 1 - high]), np.stack([trials] * 2), np.stack([error] * 2))
    return np.minimum(both[0], low), np.maximum(1 - both[1], high)


def noisy_limits(
    first: float,
    second: float,
    noise: tuple[float, float],
    tail: float,
    *,
    sampled: bool = True,
) -> Bounds:
    r"""Return the shares p that explain two noisy numbers of records, A with p and B without.

    :math:`(1 - p) A - p B` has mean 0 and the variance of its noise, and of n = A + B records drawn at
    random, so that the limits are the roots of a quadratic equation (Fieller; Wilson's without noise),

    .. math:: (A - p n)^2 = z^2 [n p (1 - p) + (1 - p)^2 v_A + p^2 v_B] .

    Parameters
    ----------
    first, second : float
        A and B; noise may have made them negative.
    noise : pair of numbers
        The variances of their noise, which is independent.
    tail : float in (0, 0.5)
        How often each limit may miss.
    sampled : bool, default True
        Whether p is that of the population; if not, that of the records themselves.

    Examples
    --------
    >>> [round(end, 3) for end in noisy_limits(40.0, 60.0, (0.0, 0.0), 0.025)]
    [0.309, 0.498]
    >>> [round(end, 3) for end in noisy_limits(40.0, 60.0, (20.0, 20.0), 0.025, sampled=False)]
    [0.335, 0.462]
    """
    n = first + second
    square = NormalDist().inv_cdf(1 - tail) ** 2
    chance = n if sampled else 0.0
    a = n**2 + square * (chance - sum(noise))
    b = -2 * first * n - square * (chance - 2 * noise[0])
    c = first**2 - square * noise[0]
    root = b**2 - 4 * a * c
    if n <= 0 or a <= 0 or root < 0:
        return Bounds(0.0, 1.0)
    lower, upper = ((-b + sign * math.sqrt(root)) / (2 * a) for sign in (-1, 1))
    lower = min(max(lower, 0.0), 1.0)
    return Bounds(lower, min(max(upper, lower), 1.0))


def difference_lower(
    first: npt.ArrayLike, least: npt.ArrayLike, second: npt.ArrayLike, most: npt.ArrayLike
) -> FloatArray:
    """Return the lower limit of first - second, given the first's ``least`` and second's ``most``.

    The upper limit is minus the lower one of second - first.
    """
    one, low, other, high = (np.asarray(each, float) for each in (first, least, second, most))
    lower: FloatArray = one - other - np.hypot(one - low, high - other)
    return lower


def ratio_lower(
    first: npt.ArrayLike, least: npt.ArrayLike, second: npt.ArrayLike, most: npt.ArrayLike
) -> FloatArray:
    r"""Return the lower limit of first / second, given the first's ``least`` and second's ``most``.

    It is the r at which the limit of first - r · second is zero,
    :math:`p_1 - r p_2 = \sqrt{(p_1 - l_1)^2 + r^2 (u_2 - p_2)^2}`. The upper limit is the
    inverse of the lower one of second / first, and infinite where that is zero. Of a ratio to
    nothing at all, zero is the limit.
    """
    one, low, other, high = (np.asarray(each, float) for each in (first, least, second, most))
    product, gained = one * other, low * (2 * one - low)
    root = np.sqrt(np.maximum(product**2 - gained * high * (2 * other - high), 0.0))
    nothing = np.zeros(np.broadcast(gained, root).shape)
    known = (gained > 0) & (product + root > 0)
    lower: FloatArray = np.divide(gained, product + root, out=nothing, where=known)
    return lower


def _lower_limits(shares: FloatArray, trials: FloatArray, tail: FloatArray) -> FloatArray:
    """The lower limits, by Newton's method; zero where no record was selected.

    In the log odds of p the logarithm of the tail probability increases and bends down from a
    straight line: whatever is beyond the root is stepped back from, and below it steps are too
    short rather than too long.
    """
    found = np.zeros(shares.shape)
    some = shares * trials > _A_RECORD
    if not some.any():
        return found
    n, target = trials[some], np.log(tail[some])
    x = shares[some] * n
    constant = _log_gamma(n + 1) - _log_gamma(x + 1) - _log_gamma(n - x + 1)
    logit = _first_guess(shares[some], n, tail[some])
    for _ in range(_MOST_STEPS):
        log_p, log_q = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
        beyond = 0.5 + _odds_of_more(x, n, logit)
        excess = constant + x * log_p + (n - x) * log_q + np.log(beyond) - target
        slope = (x * np.exp(log_q) + (n - x) * np.exp(log_p)) / (2 * beyond)
        step = excess / slope
        logit = logit - step
        if (np.abs(step) <= _CLOSE * np.maximum(1.0, np.abs(logit))).all():
            break
    found[some] = np.exp(-np.logaddexp(0.0, -logit))
    return found


def _first_guess(shares: FloatArray, trials: FloatArray, tail: FloatArray) -> FloatArray:
    """The log odds of Wilson's limits."""
    levels, places = np.unique(tail, return_inverse=True)
    z = np.array([NormalDist().inv_cdf(1 - level) for level in levels])[places]
    room = z**2 / trials
    spread = np.sqrt(shares * (1 - shares) * room + room**2 / 4)
    start = shares**2 / (shares + room / 2 + spread)  # without cancellation
    guess: FloatArray = np.log(start / (1 + room - start))
    return guess


def _odds_of_more(x: FloatArray, n: FloatArray, logit: FloatArray) -> FloatArray:
    r"""P(X > x) / P(X = x), as an integral over the log odds below ``logit``.

    .. math:: (n - x) \int_{-\infty}^{\lambda} \frac{e^\mu}{1 + e^\mu}
              \exp\{x (\mu - \lambda) - n [\log(1 + e^\mu) - \log(1 + e^\lambda)]\} \, d\mu

    The logarithm of the integrand is concave and its slope tends to x + 1 on the left, so it is
    negligible from a finite distance on, which is found by doubling.
    """

    def logarithm(below: FloatArray, x: FloatArray, n: FloatArray, top: FloatArray) -> FloatArray:
        at = top - below
        value: FloatArray = -(x + 1) * below + (n + 1) * (
            np.logaddexp(0, top) - np.logaddexp(0, at)
        )
        return value

    width = _NEGLIGIBLE / (x + 1)
    while (short := logarithm(width, x, n, logit) > -_NEGLIGIBLE).any():
        width = np.where(short, 2 * width, width)
    below = width[..., None] * (1 + _NODES) / 2
    heights = np.exp(logarithm(below, x[..., None], n[..., None], logit[..., None]))
    p = np.exp(-np.logaddexp(0.0, -logit))
    odds: FloatArray = (n - x) * p * width / 2 * np.sum(heights * _NODE_WEIGHTS, axis=-1)
    return odds


class RateLimits(NamedTuple):
    """Limits of the population's rates, and of every pair of them (row compared with column)."""

    least: FloatArray
    most: FloatArray
    differences: FloatArray
    """Lower limits; the upper ones are minus those of the pair turned around."""
    ratios: FloatArray
    """Lower limits; the upper ones are the inverse of those of the pair turned around."""

    def rate(self, group: int) -> Bounds:
        """Return the limits of one rate."""
        return Bounds(float(self.least[group]), float(self.most[group]))

    def difference(self, one: int, other: int) -> Bounds:
        """Return the limits of one rate minus another."""
        return Bounds(float(self.differences[one, other]), float(-self.differences[other, one]))

    def ratio(self, one: int, other: int) -> Bounds:
        """Return the limits of one rate divided by another; the upper one may be infinite."""
        inverse = float(self.ratios[other, one])
        return Bounds(float(self.ratios[one, other]), 1 / inverse if inverse else math.inf)


def tails(confidence: float, groups: int) -> tuple[float, float]:
    """Return how often a limit may miss: one by itself, and one among those of all pairs.

    Examples
    --------
    >>> [round(tail, 4) for groups in (2, 3, 6) for tail in tails(0.95, groups)]
    [0.025, 0.025, 0.025, 0.0167, 0.025, 0.0033]
    """
    error = 1 - confidence
    return error / 2, min(error / 2, error / math.comb(groups, 2))


def rate_limits(
    rates: Sequence[Bracket], sizes: FloatArray, tail: float, moved: FloatArray | None = None
) -> RateLimits:
    """Return the limits that miss with probability ``tail`` each, or more rarely.

    They are those of samples at the ends of the brackets: a lower limit rises with the rate of
    the sample, so the one at the lower end is below that of the raw data, whatever they are.

    Parameters
    ----------
    rates : sequence of Bracket
    sizes : array
        How many equally weighted records each group's sample amounts to.
    tail : float in (0, 0.5)
    moved : array of any number of rows by groups, optional
        The rates at thresholds at which the one that was estimated may lie as well. A number is
        then as far off as sampling at a known threshold and the move of the threshold, taken
        together in quadrature. They are not independent, but what records raise the threshold also
        raises the shares above a fixed one, which cancels in part.
    """
    value, low, high = (
        np.array([getattr(rate, name) for rate in rates]) for name in ("value", "lower", "upper")
    )
    least, most = proportion_limits(low, high, sizes, tail)
    differences = difference_lower(low[:, None], least[:, None], high, most)
    ratios = ratio_lower(low[:, None], least[:, None], high, most)
    if moved is None:
        return RateLimits(least, most, differences, ratios)
    return RateLimits(
        np.maximum(_lowered(low, least, value, moved), 0.0),
        np.minimum(-_lowered(-high, -most, -value, -moved), 1.0),
        _lowered(_gaps(low, high), differences, _gaps(value, value), _gaps(moved, moved)),
        np.maximum(
            _lowered(
                _quotients(low, high), ratios, _quotients(value, value), _quotients(moved, moved)
            ),
            0.0,
        ),
    )


def _lowered(
    end: FloatArray, limit: FloatArray, value: FloatArray, moved: FloatArray
) -> FloatArray:
    """A lower limit below ``end`` that counts the fall of the value as the threshold moves."""
    fall = np.maximum(value - moved.min(axis=0), 0.0)
    lowered: FloatArray = end - np.hypot(end - limit, fall)
    return lowered


def _gaps(rates: FloatArray, others: FloatArray) -> FloatArray:
    gaps: FloatArray = rates[..., :, None] - others[..., None, :]
    return gaps


def _quotients(rates: FloatArray, others: FloatArray) -> FloatArray:
    """Every quotient along the last axis; zero where the denominator is zero."""
    above, below = np.broadcast_arrays(rates[..., :, None], others[..., None, :])
    quotients: FloatArray = np.divide(above, below, out=np.zeros(above.shape), where=below > 0)
    return quotients
