"""Sums of floats without rounding: the same whole number whatever the order of the terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray

__all__ = ["PRODUCT_LIMBS", "VALUE_LIMBS", "ExactSums", "exact_integer", "exact_total"]

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
"""Each term adds less than 2^33 to a limb, so that so many fit 63 bits before a carry."""

Integers = npt.NDArray[np.int64]


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

    limbs: Integers
    terms: int = 0
    """How many terms were added since the last carry."""

    @classmethod
    def zeros(cls, rows: int, *, products: bool = False) -> ExactSums:
        """Return ``rows`` sums of nothing."""
        width = PRODUCT_LIMBS if products else VALUE_LIMBS
        return cls(np.zeros((rows, width), dtype=np.int64))

    def add(self, rows: Integers, values: FloatArray) -> None:
        """Add each value to the sum of its row."""
        self.reserve(values.size)
        for part in _blocks(values.size):
            self._add_shifted(rows[part], *_parts(values[part]))

    def add_products(self, rows: Integers, first: FloatArray, second: FloatArray) -> None:
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

    def _add_shifted(self, rows: Integers, wholes: Integers, places: Integers) -> None:
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
        """Make room for so many more terms: carry before a limb could overflow."""
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


def _parts(values: FloatArray) -> tuple[Integers, Integers]:
    """Signed mantissas, and the powers of two above 2^-1074 that multiply them."""
    bits = values.view(np.int64)
    exponents = bits >> 52 & 0x7FF
    mantissas = bits & 0xFFFFFFFFFFFFF
    mantissas |= (exponents > 0).astype(np.int64) << 52
    return np.where(bits < 0, -mantissas, mantissas), np.maximum(exponents, 1) - 1
