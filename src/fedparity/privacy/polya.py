r"""Shares of discrete Laplace noise: a little from each silo, one dose from some of them together.

**Proof.** Let X and Y be independent negative binomial variables (Pólya) of shape 1/h and parameter
:math:`p = e^{-\varepsilon}`: :math:`P(x) = \binom{x - 1 + 1/h}{x} (1 - p)^{1/h} p^x`. Generating
functions multiply, so the sum of h independent copies of X is geometric, and that of h copies of
X - Y is discrete Laplace with parameter p: one full dose. If at least h silos add their share
honestly, the sum holds such a dose, plus independent noise, which is post-processing; so it is
:math:`\varepsilon`-differentially private for the record of any of them. Precondition: h silos
whose noise is in the sum are honest. With fewer, epsilon does not hold.

Variables are drawn by inverting their distribution function, tabulated in fixed point to 256 bits,
at 256 random bits of the operating system. The law drawn from differs from the true one by less
than :math:`2^{-200}` in total variation, which is the whole of delta.
"""

from __future__ import annotations

import secrets
from bisect import bisect_left
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from functools import lru_cache

import numpy as np

from fedparity.errors import PrivacyError
from fedparity.privacy.histograms import Counts

__all__ = ["RandomBytes", "polya_differences"]

RandomBytes = Callable[[int], bytes]
"""Gives so many random bytes."""

SMALLEST_EPSILON = 1e-3
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
    if epsilon < SMALLEST_EPSILON:
        raise PrivacyError.epsilon_too_small(epsilon, SMALLEST_EPSILON)
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
