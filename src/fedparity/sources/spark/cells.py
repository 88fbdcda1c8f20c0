r"""Cells of a score range, and exact sums, as expressions of Spark's SQL.

A cell is a whole number that does not decrease with the score. The range is cut into 4,096 cells of
equal width; a cell is cut into 64 where more is to be known, up to eight times. Each digit is
:math:`\lfloor t s \rfloor`, held between 0 and its base less one, of what the digits before leave,
:math:`t = x - a - \sum_i d_i w_i`. Floating-point subtraction of a constant, multiplication by a
positive one and the floor are all non-decreasing, so the order is right whatever is rounded.

A float64 below :math:`2^E` is cut into pieces of 26 bits: piece i is
:math:`(x 2^{26(i+1) - E}) \bmod 2^{26}` without its fraction. Powers of two and the remainder are
exact, so the sums of the pieces, whole numbers, are those of the scores. The square of a score is the sum
of the products of two of its pieces; those of one power of two are added up, and cut into a lower and
an upper half before they are summed over records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fedparity.sketches.exact_sums import LOWEST_EXPONENT
from fedparity.sources.spark.literals import double

__all__ = ["MORE_BITS", "MOST_DEPTH", "Pieces", "Range"]

FIRST_BITS, MORE_BITS = 12, 6
"""How many bits the first digit of a cell has, and each further one."""
MOST_DEPTH = 9
"""So that all digits fit a BIGINT."""
_BITS = 26
_FEW_PIECES = 4
_HALF = 27
"""Bits of the lower half of a product of pieces."""
_SIGNED_BITS = 63
"""Of a BIGINT."""
_MOST_BITS = 1000
"""So that neither a score times a power of two nor that power is beyond the floats."""
_EXTREME = 1e200


@dataclass(frozen=True)
class Range:
    """A score range whose width is neither nothing nor beyond all measure."""

    low: float
    high: float

    @property
    def ordinary(self) -> bool:
        """Whether floats hold the widths of its cells, and their inverses."""
        largest = max(abs(self.low), abs(self.high))
        return largest < _EXTREME and self.high - self.low > 1 / _EXTREME

    def cell(self, rows: str, columns: str, score: str, depth: int) -> str:
        """Return the rows, with their ``cell`` of so many digits; scores lie in the range."""
        sql = (
            f"SELECT {columns}, {score} - {double(self.low)} AS rest, "  # noqa: S608 -- ours
            f"CAST(0 AS BIGINT) AS cell FROM {rows}"
        )
        bits = 0
        for own in [FIRST_BITS, *[MORE_BITS] * (depth - 1)]:
            bits += own
            width = math.ldexp(self.high - self.low, -bits)
            scale = math.ldexp(1 / (self.high - self.low), bits)
            digit = f"LEAST(GREATEST(FLOOR(rest * {double(scale)}), 0), {(1 << own) - 1})"
            sql = (
                f"SELECT {columns}, rest - digit * {double(width)} AS rest, "  # noqa: S608
                f"SHIFTLEFT(cell, {own}) + digit AS cell FROM (SELECT *, {digit} AS digit FROM ({sql}))"
            )
        return f"({sql})"


@dataclass(frozen=True)
class Pieces:
    """How scores are cut into whole numbers that can be added up."""

    exponent: int
    """All scores are below 2 to this power, in size."""
    number: int
    """Pieces of 26 bits each; none if no sum is wanted."""

    @classmethod
    def of(cls, scores: Range) -> Pieces:
        """Return the few pieces that nearly all scores need."""
        largest = max(abs(scores.low), abs(scores.high))
        return cls(math.frexp(largest)[1], _FEW_PIECES)

    def more(self) -> Pieces | None:
        """Return as many pieces as there can be; None if these are."""
        most = min(_MOST_BITS, _MOST_BITS + self.exponent) // _BITS
        return Pieces(self.exponent, most) if self.number < most else None

    def expressions(self, score: str) -> list[str]:
        """Return the pieces of a score."""
        return [
            f"CAST({score} * {double(self._scale(place))} % {double(1 << _BITS)} AS BIGINT)"
            for place in range(self.number)
        ]

    def left(self, score: str) -> str:
        """Return the condition that a score has more bits than the pieces hold."""
        if not self.number:
            return "FALSE"
        return f"{score} * {double(self._scale(self.number - 1))} % {double(1)} <> 0"

    def total(self, sums: Sequence[int]) -> int:
        """Return the sum of scores, in 2^-1074, given the sums of their pieces."""
        lowest = LOWEST_EXPONENT + self.exponent
        return sum(
            _shifted(piece, lowest - _BITS * (place + 1)) for place, piece in enumerate(sums)
        )

    @property
    def most_records(self) -> int:
        """So many records can be added up: the sums of halves stay below 2^63."""
        largest = max(1, self.number) << 2 * _BITS - _HALF
        return (1 << _SIGNED_BITS) // max(largest, 1 << _HALF)

    def squares(self, names: Sequence[str]) -> list[str]:
        """Return the halves of the square of a score, given the names of its pieces."""
        halves = []
        for power in range(2 * len(names) - 1):
            pairs = [(i, power - i) for i in range(len(names)) if i <= power - i < len(names)]
            terms = [f"{1 + (i < j)}L * {names[i]} * {names[j]}" for i, j in pairs]
            whole = f"({' + '.join(terms)})"
            halves += [f"{whole} & {(1 << _HALF) - 1}L", f"SHIFTRIGHT({whole}, {_HALF})"]
        return halves

    def squared(self, sums: Sequence[int]) -> int:
        """Return the sum of squares, in 2^-2148, given the sums of their halves."""
        lowest = 2 * (LOWEST_EXPONENT + self.exponent - _BITS)
        return sum(
            _shifted(half, lowest - _BITS * (place // 2) + _HALF * (place % 2))
            for place, half in enumerate(sums)
        )

    def _scale(self, place: int) -> float:
        return math.ldexp(1.0, _BITS * (place + 1) - self.exponent)


def _shifted(whole: int, bits: int) -> int:
    return whole << bits if bits >= 0 else whole >> -bits
