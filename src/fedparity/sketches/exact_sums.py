"""Sums of floats without rounding: the same whole number whatever the order of the terms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from fedparity.laws.law import FloatArray, IntArray

__all__ = [
    "PRODUCT_LIMBS",
    "VALUE_LIMBS",
    "ExactSums",
    "exact_integer",
    "exact_moments",
    "exact_total",
]

VALUE_LIMBS = 67
"""Limbs of 32 bits that hold any sum of float64: 2,098 bits, and room for carries."""
PRODUCT_LIMBS = 134
"""The same for products of two of them."""
LOWEST_EXPONENT = 1074
"""A float64 is a whole number of 2^-1074; a product of two, of 2^-2148."""

_BLOCK = 1 << 12
_LIMB = 32
_MASK = (1 << _LIMB) - 1
_MOST_TERMS = 1 << 29
"""Each term adds less than 2^33 to a limb, so that this many fit 63 bits before a carry."""


@dataclass(eq=False)
class ExactSums:
    r"""Several running sums, each kept as an integer in 32-bit limbs.

    A finite float64 is :math:`\pm m 2^{e-1074}` with whole :math:`m < 2^{53}`. Shifted by
    :math:`e \bmod 32` it fills three limbs, which are added to those of the sum. Nothing is
    rounded, so that threads and blocks may come in any order.

    Parameters
    ----------
    limbs : array of int64, one row per sum
        Limb i counts :math:`2^{32 i - 1074}` (:math:`2^{32 i - 2148}` for products); entries may
        be negative or exceed 32 bits, until they are read.

    Examples
    --------
    >>> sums = ExactSums.zeros(1)
    >>> sums.add(np.zeros(3, dtype=np.int64), np.array([1e16, 1.0, -1e16]))
    >>> sums.totals()[0] == exact_integer(1.0)
    True
    """

    limbs: IntArray
    terms: int = 0
    """How many terms were added since the last carry."""

    @classmethod
    def zeros(cls, rows: int, *, products: bool = False) -> ExactSums:
        """Return ``rows`` sums of nothing."""
        width = PRODUCT_LIMBS if products else VALUE_LIMBS
        return cls(np.zeros((rows, width), dtype=np.int64))

    def add(self, rows: IntArray, values: FloatArray) -> None:
        """Add each value to the sum of its row."""
        self.reserve(values.size)
        for part in _blocks(values.size):
            self._add_shifted(rows[part], *_parts(values[part]))

    def add_products(self, rows: IntArray, first: FloatArray, second: FloatArray) -> None:
        """Add each product, without rounding, to the sum of its row.

        The mantissas are cut into 26 and 27 bits, whose products fit an int64.
        """
        self.reserve(3 * first.size)
        for part in _blocks(first.size):
            (a, a_places), (b, b_places) = _parts(first[part]), _parts(second[part])
            places = a_places + b_places
            a_low, b_low = a & 0x7FFFFFF, b & 0x7FFFFFF
            a_high, b_high = a >> 27, b >> 27
            self._add_shifted(rows[part], a_low * b_low, places)
            self._add_shifted(rows[part], a_high * b_low + a_low * b_high, places + 27)
            self._add_shifted(rows[part], a_high * b_high, places + 54)

    def _add_shifted(self, rows: IntArray, wholes: IntArray, places: IntArray) -> None:
        """Add ``wholes * 2**places`` to the limbs, for whole numbers below 2^56."""
        signs = np.sign(wholes)
        size, shift = np.abs(wholes).astype(np.uint64), (places & 31).astype(np.uint64)
        flat, width = self.limbs.reshape(-1), self.limbs.shape[1]
        where = rows * width + (places >> 5)
        low = size << shift & np.uint64(_MASK)
        rest = size >> (np.uint64(_LIMB) - shift)
        for step, part in enumerate((low, rest & np.uint64(_MASK), rest >> np.uint64(_LIMB))):
            np.add.at(flat, where + step, signs * part.astype(np.int64))

    def reserve(self, terms: int) -> None:
        """Make room for this many more terms: carry before a limb could overflow."""
        if self.terms + terms > _MOST_TERMS:
            self._carry()
        self.terms += terms

    def _carry(self) -> None:
        for limb in range(self.limbs.shape[1] - 1):
            self.limbs[:, limb + 1] += self.limbs[:, limb] >> _LIMB
            self.limbs[:, limb] &= _MASK
        self.terms = 1

    def merge(self, other: ExactSums) -> None:
        """Add the sums of ``other``, row by row."""
        other._carry()
        self.reserve(1)
        self.limbs += other.limbs

    def totals(self) -> list[int]:
        """Return each sum as a whole number of 2^-1074, or of 2^-2148 for products."""
        used = np.flatnonzero(self.limbs.any(axis=0))
        totals = [0] * self.limbs.shape[0]
        for limb in used.tolist():
            column: Sequence[int] = self.limbs[:, limb].tolist()
            shift = _LIMB * limb
            totals = [sum_ + (part << shift) for sum_, part in zip(totals, column, strict=True)]
        return totals


def exact_integer(value: float) -> int:
    """Return a finite float as a whole number of 2^-1074."""
    numerator, denominator = float(value).as_integer_ratio()
    return (numerator << LOWEST_EXPONENT) // denominator


def exact_total(values: FloatArray) -> int:
    """Return the sum of the values as a whole number of 2^-1074."""
    sums = ExactSums.zeros(1)
    sums.add(np.zeros(values.size, dtype=np.int64), values)
    return sums.totals()[0]


def _blocks(size: int) -> Iterator[slice]:
    """Blocks whose temporaries stay in the cache, and are not given back to the system."""
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


def _parts(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Signed mantissas, and the powers of two above 2^-1074 that multiply them."""
    bits = values.view(np.int64)
    exponents = bits >> 52 & 0x7FF
    mantissas = bits & 0xFFFFFFFFFFFFF
    mantissas |= (exponents > 0).astype(np.int64) << 52
    return np.where(bits < 0, -mantissas, mantissas), np.maximum(exponents, 1) - 1


# Sums of floats and of their squares without rounding, at the speed of vectors.
#
# Scores within a factor :math:`2^{28}` of the largest are cut into a few digits of 20 bits. Products of two
# digits, and sums of a block of them, are whole numbers that a float64 holds, so that every order of
# adding them gives the same sum. Smaller scores are taken afterwards, compared with the largest of them.

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
    """A whole number with this many bits after its point, in units of 2^-places."""
    bits = places - point
    return whole << bits if bits >= 0 else whole >> -bits
