r"""Sums of floats and of their squares without rounding, at the speed of vectors.

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

__all__ = ["exact_moments"]

_BITS = 20
"""Of a digit: products of two, added up over a row, stay below 2^53."""
_ROW = 1 << 13
"""Terms that are added up in floats; fewer than those from which BLAS would start threads."""
_SPAN = 28
"""Numbers that differ by at most this power of two have four digits of 20 bits at most."""
_ORDINARY = 1000
_SPLITTER = 2.0**27 + 1
_PRECISION = 53


def exact_moments(scores: FloatArray, weights: FloatArray | None = None) -> tuple[int, int]:
    """Return the sum of the scores and that of their squares, as whole numbers.

    Of 2^-1074 and of 2^-2148; with weights, of weight times score and of weight times square, of
    2^-2148 and of 2^-3222.

    Examples
    --------
    >>> first, second = exact_moments(np.array([3.0, 2.0**-600]))
    >>> first == (3 << 1074) + (1 << 474), second == (9 << 2148) + (1 << 948)
    (True, True)
    """
    first = second = 0
    for start in range(0, scores.size, _ROW):
        row = slice(start, start + _ROW)
        own = None if weights is None else weights[row]
        sums = _plain(scores[row]) if own is None else _weighted(scores[row], own)
        first, second = first + sums[0], second + sums[1]
    return first, second


def _plain(scores: FloatArray) -> tuple[int, int]:
    first = second = 0
    for rows, power in _of_similar_size(scores):
        digits = _digits(scores[rows], power)
        first += _shifted(*_sum(digits), LOWEST_EXPONENT + power)
        second += _shifted(*_dot(digits, digits), 2 * (LOWEST_EXPONENT + power))
    return first, second


def _weighted(scores: FloatArray, weights: FloatArray) -> tuple[int, int]:
    """The same with weights; products of weight and score are split without error."""
    first = second = 0
    for rows, power in _of_similar_size(scores):
        own, own_weights = _scaled(scores[rows], power), weights[rows]
        for among, weight_power in _of_similar_size(own_weights):
            high, low = _two_product(own[among], _scaled(own_weights[among], weight_power))
            digits = _digits(own[among])
            places = 2 * LOWEST_EXPONENT + power + weight_power
            more_places = places + LOWEST_EXPONENT + power
            for part, lower in ((_digits(high), 0), (_digits(low, -_PRECISION), _PRECISION)):
                first += _shifted(*_sum(part), places - lower)
                second += _shifted(*_dot(part, digits), more_places - lower)
    return first, second


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


def _sum(digits: Sequence[FloatArray]) -> tuple[int, int]:
    """The sum of numbers given by their digits, and how many bits it has after its point."""
    whole = 0
    for digit in digits:
        whole = (whole << _BITS) + int(digit.sum())
    return whole, _BITS * len(digits)


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
