r"""Sums of squares of floats without rounding, at the speed of vectors.

Scores within a factor :math:`2^{28}` of the largest are cut into a few digits of 20 bits. Products of two
digits, and sums of so many of them, are whole numbers that a float64 holds: whoever adds them up, in
whatever order, finds the same. Smaller scores are taken afterwards, compared with the largest of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.exact_sums import LOWEST_EXPONENT

__all__ = ["exact_squares"]

_BITS = 20
"""Of a digit: products of two, added up over a row, stay below 2^53."""
_ROW = 1 << 13
"""Terms that are added up in floats; fewer than those from which BLAS would start threads."""
_SPAN = 28
"""Numbers that differ by at most this power of two have four digits of 20 bits at most."""
_ORDINARY = 1000
_SPLITTER = 2.0**27 + 1
_PRECISION = 53


def exact_squares(scores: FloatArray, weights: FloatArray | None = None) -> int:
    """Return the sum of the squares, as a whole number of 2^-2148; with weights, of 2^-3222.

    Examples
    --------
    >>> exact_squares(np.array([3.0, 1e-160])) == (9 << 2148) + round(1e-160 * 2**1074) ** 2
    True
    """
    total = 0
    for start in range(0, scores.size, _ROW):
        row = slice(start, start + _ROW)
        if weights is None:
            total += _plain(scores[row])
        else:
            total += _weighted(scores[row], weights[row])
    return total


def _plain(scores: FloatArray) -> int:
    total = 0
    for rows, power in _of_similar_size(scores):
        digits = _digits(scores[rows], power)
        total += _shifted(*_dot(digits, digits), 2 * (LOWEST_EXPONENT + power))
    return total


def _weighted(scores: FloatArray, weights: FloatArray) -> int:
    """The sum of weight times square; the products of weight and score are split without error."""
    total = 0
    for rows, power in _of_similar_size(scores):
        own, own_weights = _scaled(scores[rows], power), weights[rows]
        for among, weight_power in _of_similar_size(own_weights):
            high, low = _two_product(own[among], _scaled(own_weights[among], weight_power))
            digits = _digits(own[among])
            places = 3 * LOWEST_EXPONENT + 2 * power + weight_power
            total += _shifted(*_dot(_digits(high), digits), places)
            total += _shifted(*_dot(_digits(low, -_PRECISION), digits), places - _PRECISION)
    return total


def _of_similar_size(
    values: FloatArray,
) -> Iterator[tuple[npt.NDArray[np.int64] | slice, int]]:
    """Rows whose values are similar, or zero, and a power of two that none of them exceeds."""
    rows: npt.NDArray[np.int64] | slice = slice(None)
    sizes = np.abs(values)
    while sizes.size and (largest := float(sizes.max())):
        power = math.frexp(largest)[1]
        least = math.ldexp(1.0, power - _SPAN)
        if float(sizes.min()) >= least:
            yield rows, power
            return
        similar = (sizes >= least) | (sizes == 0)
        among = np.arange(sizes.size) if isinstance(rows, slice) else rows
        yield among[similar], power
        rows, sizes = among[~similar], sizes[~similar]


def _scaled(values: FloatArray, power: int) -> FloatArray:
    """The values divided by a power of two, without error."""
    if abs(power) < _ORDINARY:
        return values * 2.0**-power
    scaled: FloatArray = np.ldexp(values, -power)
    return scaled


def _two_product(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Dekker's product: its float, and what that leaves out; both are exact for numbers near 1."""
    (a_high, a_low), (b_high, b_low) = _split(first), _split(second)
    high = first * second
    low = a_high * b_high
    low -= high
    low += a_high * b_low
    low += a_low * b_high
    low += a_low * b_low
    return high, low


def _split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Veltkamp's halves of 26 bits."""
    high = values * _SPLITTER
    high -= high - values
    return high, values - high


def _digits(values: FloatArray, power: int = 0) -> list[FloatArray]:
    """Whole numbers: the values, over 2^power, are the sum of digit i over 2^(20 i), i from 1."""
    digits: list[FloatArray] = []
    rest = _scaled(values, power - _BITS)
    while True:
        digits.append(np.rint(rest))
        rest -= digits[-1]
        if not rest.any():
            return digits
        rest *= 2.0**_BITS


def _dot(first: Sequence[FloatArray], second: Sequence[FloatArray]) -> tuple[int, int]:
    """The sum of products of numbers given by their digits, and how many bits it has after its point."""
    point = len(first) + len(second)
    whole = 0
    for (i, a), (j, b) in product(enumerate(first, 1), enumerate(second, 1)):
        if first is not second or i <= j:  # the square of a sum has every mixed term twice
            twice = first is second and i < j
            whole += int(np.dot(a, b)) << _BITS * (point - i - j) + twice
    return whole, _BITS * point


def _shifted(whole: int, point: int, places: int) -> int:
    """A whole number with so many bits after its point, in units of 2^-places."""
    bits = places - point
    return whole << bits if bits >= 0 else whole >> -bits
