r"""Discrete Laplace noise on counts, by OpenDP.

**Proof.** Precondition: neighbouring tables differ in one record, and so in one count by one
(:mod:`fedparity.privacy.histograms`): their vectors of counts have L1 distance 1. OpenDP's Laplace
measurement on vectors of 64-bit integers, with the L1 metric, draws each of its numbers from
:math:`P(z) \propto e^{-|z|/s}` with exact integer arithmetic, and its privacy map says
:math:`d \mapsto d/s`, rounded upwards. Postcondition: the scale s is the smallest with
``map(1) <= epsilon``, which is checked again on every release. All groups are one vector, so
epsilon covers the whole release, not one group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fedparity.errors import MissingExtraError, PrivacyError
from fedparity.privacy.histograms import Counts

__all__ = ["LaplaceMechanism", "laplace_mechanism", "noisy_counts"]

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
            raise PrivacyError.overspent(self.loss, self.epsilon)
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
