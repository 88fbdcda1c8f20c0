r"""Floats as whole numbers that databases add up without rounding.

A float64 below :math:`2^E` in size is cut into pieces of 26 bits: piece i is
:math:`(x 2^{26(i+1) - E}) \bmod 2^{26}` without its fraction. Powers of two and the remainder are
exact, so the sums of the pieces, whole numbers, are those of the scores. The square of a score is the
sum of the products of two of its pieces, each times a power of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fedparity.sketches.exact_sums import LOWEST_EXPONENT

__all__ = ["PIECE_BITS", "Pieces"]

PIECE_BITS = 26
_FEW_PIECES = 4
_MOST_BITS = 1000
"""So that neither a score times a power of two nor that power is beyond the floats."""


@dataclass(frozen=True)
class Pieces:
    """How scores are cut."""

    exponent: int
    """All scores are below 2 to this power, in size."""
    number: int
    """Pieces of 26 bits each; none if no sum is wanted."""

    @classmethod
    def of(cls, score_range: tuple[float, float]) -> Pieces:
        """Return the few pieces that nearly all scores in a range need."""
        return cls(math.frexp(max(map(abs, score_range)))[1], _FEW_PIECES)

    def more(self) -> Pieces | None:
        """Return as many pieces as there can be; None if these are."""
        most = min(_MOST_BITS, _MOST_BITS + self.exponent) // PIECE_BITS
        return Pieces(self.exponent, most) if self.number < most else None

    @property
    def lowest(self) -> float:
        """The lowest size of a score, other than 0, that has a piece that is not 0."""
        return 1 / self.scale(self.number - 1)

    def scale(self, place: int) -> float:
        """Return what a score is multiplied by to be cut after the piece at this place."""
        return math.ldexp(1.0, PIECE_BITS * (place + 1) - self.exponent)

    def total(self, sums: Sequence[int]) -> int:
        """Return the sum of scores, in 2^-1074, given the sums of their pieces."""
        lowest = LOWEST_EXPONENT + self.exponent - PIECE_BITS
        return sum(
            _shifted(piece, lowest - PIECE_BITS * place) for place, piece in enumerate(sums)
        )

    def products(self, names: Sequence[str]) -> list[str]:
        """Return, for each power of two in a square, the products of named pieces that it has."""
        diagonals = []
        for power in range(2 * len(names) - 1):
            pairs = [(i, power - i) for i in range(len(names)) if i <= power - i < len(names)]
            terms = [f"{1 + (i < j)} * {names[i]} * {names[j]}" for i, j in pairs]
            diagonals.append(f"({' + '.join(terms)})")
        return diagonals

    def squared(self, sums: Sequence[int]) -> int:
        """Return the sum of squares, in 2^-2148, given the sums of those products."""
        lowest = 2 * (LOWEST_EXPONENT + self.exponent - PIECE_BITS)
        return sum(
            _shifted(product, lowest - PIECE_BITS * power) for power, product in enumerate(sums)
        )


def _shifted(whole: int, bits: int) -> int:
    return whole << bits if bits >= 0 else whole >> -bits
