r"""Real numbers as whole numbers that can be summed modulo 2^64.

A number x is sent as the whole number nearest to :math:`2^{24} x`. Every number that is summed is at
most the number of records it stands for, and all silos together have at most :math:`2^{38}`: sums
stay within :math:`2^{62}`, so that none wraps around. A sum over d silos is off by at most
:math:`d \, 2^{-25}`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray

__all__ = ["FRACTION_BITS", "MOST_RECORDS", "from_fixed", "most_records_of_one", "to_fixed"]

FRACTION_BITS = 24
MOST_RECORDS = 2**38
"""Records of all silos together; 275 billion."""


def to_fixed(numbers: FloatArray) -> npt.NDArray[np.int64]:
    """Return the nearest whole numbers of units of :math:`2^{-24}`.

    Examples
    --------
    >>> from_fixed(to_fixed(np.array([0.5, -3.25])))
    array([ 0.5 , -3.25])
    """
    return np.rint(np.ldexp(numbers, FRACTION_BITS)).astype(np.int64)


def from_fixed(units: npt.NDArray[np.int64]) -> FloatArray:
    """Return the numbers that a sum of :func:`to_fixed` stands for."""
    numbers: FloatArray = np.ldexp(units.astype(np.float64), -FRACTION_BITS)
    return numbers


def most_records_of_one(silos: int) -> int:
    """Return how many records one of so many silos may have."""
    return MOST_RECORDS // silos
