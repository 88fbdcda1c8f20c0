r"""Discrete Laplace noise on counts, by OpenDP.

**Proof.** Precondition: neighboring tables differ in one record, and so in one count by one
(:mod:`fedparity.privacy.histograms`): their vectors of counts have L1 distance 1. OpenDP's Laplace
measurement on vectors of 64-bit integers, with the L1 metric, draws each of its numbers from
:math:`P(z) \propto e^{-|z|/s}` with exact integer arithmetic, and its privacy map says
:math:`d \mapsto d/s`, rounded upwards. Postcondition: the scale s is the smallest with
``map(1) <= epsilon``, which is checked again on every release. All groups are one vector, so
epsilon covers the whole release, not one group.
"""

from __future__ import annotations

import math
import secrets
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import MissingExtraError, PrivacyError
from fedparity.laws.law import FloatArray
from fedparity.privacy.histograms import Counts

__all__ = [
    "FEWEST_BINS",
    "MOST_BINS",
    "SECURE_BINS",
    "UNPLANNED_BINS",
    "LaplaceMechanism",
    "NoiseLaw",
    "RandomBytes",
    "bins_of_points",
    "laplace_mechanism",
    "monotone_masses",
    "noisy_counts",
    "planned_bins",
    "polya_differences",
]

# How many bins a noisy histogram should have, from numbers that are public.
#
# More bins follow the scores more closely, and each of them is noisier. The rule was fitted once and
# then frozen; :doc:`/decisions/0020-differential-privacy` says how it did on data that it had not seen.

FEWEST_BINS, MOST_BINS = 16, 256
UNPLANNED_BINS = 32
"""Where nobody says how many records there will be."""
SECURE_BINS = 256
"""Where no noise is added: only the length of the message grows."""


def planned_bins(records: int, epsilon: float, doses: float) -> int:
    r"""Return the power of two nearest to :math:`\frac12\sqrt{n \varepsilon / \sqrt d}`, from 16 to 256.

    Parameters
    ----------
    records : int
        The public planning size n: records of the smallest group in all silos together.
    epsilon : float
    doses : float
        The d of the rule: how many doses of noise the sum over all silos holds, their number if
        each adds a full one.

    Examples
    --------
    >>> planned_bins(2_500, 1.0, 5), planned_bins(10_000, 1.0, 5), planned_bins(10**9, 1.0, 5)
    (16, 32, 256)
    """
    wanted = 0.5 * math.sqrt(records * epsilon / math.sqrt(doses))
    return 1 << round(math.log2(min(max(wanted, FEWEST_BINS), MOST_BINS)))


def bins_of_points(points: int, bins: int) -> int:
    """Return how many bins there should be for scores that can take this number of ``points``.

    One for each point, as long as these are at most twice the ``bins`` of a continuous score: a point
    more costs little noise, and a bin that is a point hides nothing. Runs of two or three points
    would hide much where scores are bunched at some of them. Beyond that, the bins hold runs.

    Examples
    --------
    >>> bins_of_points(10, 16), bins_of_points(21, 16), bins_of_points(101, 16)
    (10, 21, 16)
    """
    return points if points <= min(2 * bins, MOST_BINS) else bins


MECHANISM = "discrete Laplace"
SMALLEST_EPSILON = 1e-4
"""Below, noise of tens of thousands of records hides everything; OpenDP slows down, too."""


@dataclass(frozen=True, eq=False)
class LaplaceMechanism:
    """A measurement of OpenDP, and what it promises."""

    epsilon: float
    scale: float
    library: str
    measurement: Any

    @property
    def loss(self) -> float:
        """The privacy loss of one release for one record, as OpenDP accounts for it."""
        return float(self.measurement.map(1))

    def release(self, counts: Counts) -> Counts:
        """Return the counts with fresh noise, from the randomness of the operating system.

        Raises
        ------
        PrivacyError
            If OpenDP accounts for more than epsilon: nothing is released then.
        """
        if not self.loss <= self.epsilon:
            raise PrivacyError(
                f"OpenDP accounts for a privacy loss of {self.loss:g}, more than the plan's epsilon "
                f"{self.epsilon:g}; nothing was released.",
                fix="install the version of opendp that this version was tested with.",
            )
        noisy = self.measurement(counts.ravel().tolist())
        return np.array(noisy, dtype=np.int64).reshape(counts.shape)


@cache
def laplace_mechanism(epsilon: float) -> LaplaceMechanism:
    """Return the mechanism with the least noise whose loss is at most ``epsilon``.

    Raises
    ------
    MissingExtraError
        If OpenDP is not installed.
    PrivacyError
        If epsilon is too small.
    """
    if epsilon < SMALLEST_EPSILON:
        raise PrivacyError.epsilon_too_small(epsilon, SMALLEST_EPSILON)
    try:
        import opendp.prelude as dp  # noqa: PLC0415 -- optional, and heavy
    except ImportError:
        raise MissingExtraError.for_use("opendp", "differential privacy", "dp") from None
    from importlib.metadata import version  # noqa: PLC0415

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = dp.binary_search_param(
        lambda s: space >> dp.m.then_laplace(s), d_in=1, d_out=float(epsilon), T=float
    )
    measurement = space >> dp.m.then_laplace(scale)
    return LaplaceMechanism(epsilon, float(scale), f"opendp {version('opendp')}", measurement)


def noisy_counts(counts: Counts, epsilon: float) -> Counts:
    r"""Return counts with discrete Laplace noise: :math:`\varepsilon`-differentially private.

    Precondition: ``counts`` are of disjoint groups on a public grid, every group that could be
    there included. Postcondition: adding or removing one record changes the probability of any
    outcome by at most the factor :math:`e^\varepsilon`.

    Raises
    ------
    MissingExtraError
        If OpenDP is not installed.

    Examples
    --------
    >>> noisy_counts(np.array([[40, 0], [3, 7]]), 1.0).shape
    (2, 2)
    """
    return laplace_mechanism(float(epsilon)).release(np.asarray(counts, dtype=np.int64))


# The law of the noise in a sum of noisy counts: what an auditor knows of it.
#
# A full dose is discrete Laplace, :math:`P(z) \propto p^{|z|}` with :math:`p = e^{-\varepsilon}`: the
# difference of two geometric variables. The sum of r of them is the difference of two negative
# binomial ones of shape r; with a split dose r need not be a whole number.


@dataclass(frozen=True)
class NoiseLaw:
    r"""The noise of one count that holds ``doses`` doses at ``epsilon``.

    Only for statements about noise: what protects records comes from
    :mod:`fedparity.privacy.noise` and :mod:`fedparity.privacy.noise`.

    Examples
    --------
    >>> round(NoiseLaw(1.0).deviation, 3), round(NoiseLaw(1.0, doses=4).deviation, 3)
    (1.357, 2.714)
    """

    epsilon: float
    doses: float = 1.0

    @property
    def variance(self) -> float:
        r"""The variance, :math:`2 r p / (1 - p)^2`."""
        p = math.exp(-self.epsilon)
        return 2 * self.doses * p / math.expm1(-self.epsilon) ** 2

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    def draw(self, random: np.random.Generator, shape: tuple[int, ...]) -> Counts:
        """Return simulated noise; equal generators give equal noise."""
        success = -math.expm1(-self.epsilon)
        plus = random.negative_binomial(self.doses, success, shape)
        return plus - random.negative_binomial(self.doses, success, shape)


# Shares of discrete Laplace noise: a little from each silo, one dose from some of them together.
#
# **Proof.** Let X and Y be independent negative binomial variables (Pólya) of shape 1/h and parameter
# :math:`p = e^{-\varepsilon}`: :math:`P(x) = \binom{x - 1 + 1/h}{x} (1 - p)^{1/h} p^x`. Generating
# functions multiply, so the sum of h independent copies of X is geometric, and that of h copies of
# X - Y is discrete Laplace with parameter p: one full dose. If at least h silos add their share
# honestly, the sum holds such a dose, plus independent noise, which is post-processing; so it is
# :math:`\varepsilon`-differentially private for the record of any of them. Precondition: h silos
# whose noise is in the sum are honest. With fewer, epsilon does not hold.
#
# Variables are drawn by inverting their distribution function, tabulated in fixed point to 256 bits,
# at 256 random bits of the operating system. The law drawn from differs from the true one by less
# than :math:`2^{-200}` in total variation, which is the whole of delta.

RandomBytes = Callable[[int], bytes]
"""Return this many random bytes."""

SMALLEST_SPLIT_EPSILON = 1e-3
"""The table of the distribution function has about 150 / epsilon entries."""
_BYTES = 32
_DIGITS = 110
_LEFT = 1 << 26
"""Of 2^256: the table ends where less than 2^-230 is left."""
_ONE = Decimal(1 << 8 * _BYTES)
"""As an integer: a power of Decimals would be rounded to 28 digits here."""


def polya_differences(
    shape: tuple[int, ...],
    epsilon: float,
    honest: int,
    *,
    source: RandomBytes = secrets.token_bytes,
) -> Counts:
    """Return one silo's share of the noise, if that of ``honest`` silos is to be one dose.

    Parameters
    ----------
    source : callable
        For tests; the randomness of the operating system otherwise.

    Raises
    ------
    PrivacyError
        If epsilon is below 0.001.

    Examples
    --------
    >>> polya_differences((2, 16), 1.0, 3).shape
    (2, 16)
    """
    if epsilon < SMALLEST_SPLIT_EPSILON:
        raise PrivacyError.epsilon_too_small(epsilon, SMALLEST_SPLIT_EPSILON)
    table = _distribution(float(epsilon), honest)
    size = int(np.prod(shape))
    data = source(2 * size * _BYTES)
    drawn = [
        bisect_left(table, int.from_bytes(data[at : at + _BYTES], "big") + 1)
        for at in range(0, len(data), _BYTES)
    ]
    plus, minus = np.array(drawn, dtype=np.int64).reshape(2, size)
    return (plus - minus).reshape(shape)


@lru_cache(maxsize=4)
def _distribution(epsilon: float, honest: int) -> tuple[int, ...]:
    """The distribution function at 0, 1, 2, …, times 2^256, until almost nothing is left."""
    with localcontext(Context(prec=_DIGITS)):
        share = 1 / Decimal(honest)
        p = (-Decimal(epsilon)).exp()
        mass = ((1 - p).ln() * share).exp()
        reached, steps = mass, [int(mass * _ONE)]
        while (1 - reached) * _ONE > _LEFT:
            mass *= p * (len(steps) - 1 + share) / len(steps)
            reached += mass
            steps.append(int(reached * _ONE))
    return tuple(steps)


# Noisy counts made masses of a law: what comes next cannot read negative numbers.
#
# Post-processing of what was released: it costs no privacy.


def monotone_masses(noisy: npt.NDArray[np.generic]) -> FloatArray:
    r"""Return masses of at least 0, the running sums of which are nearest to those of ``noisy``.

    Among all non-decreasing functions from 0 to the (noisy) total N, this one is nearest to the
    running sums :math:`Y_i` in the largest difference: the mean of
    :math:`\max_{j \le i} Y_j` and :math:`\min_{j \ge i} Y_j`, cut to [0, N]. Clipping single counts
    at 0 instead adds mass wherever there is none, and so pulls groups together; see
    :doc:`/decisions/0020-differential-privacy` for the errors of both, and of others.

    Parameters
    ----------
    noisy : array (..., bins)
        A row whose sum is not positive has no law: all its masses are 0.

    Examples
    --------
    >>> monotone_masses(np.array([[5, -2, 3, 4]]))
    array([[4., 0., 2., 4.]])
    """
    running = np.cumsum(noisy, axis=-1, dtype=np.float64)
    total = np.maximum(running[..., -1:], 0.0)
    inner = running[..., :-1]
    highest = np.maximum.accumulate(inner, axis=-1)
    lowest = np.minimum.accumulate(inner[..., ::-1], axis=-1)[..., ::-1]
    middle = np.clip((highest + lowest) / 2, 0.0, total)
    ends = np.zeros_like(total)
    masses: FloatArray = np.diff(np.concatenate((ends, middle, total), axis=-1), axis=-1)
    return masses
