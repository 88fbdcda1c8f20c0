r"""Cells of a score range, and exact sums, as expressions of Spark's SQL.

A cell is a whole number that does not decrease with the score. The range is cut into 4,096 cells of
equal width; a cell is cut into 64 where more is to be known, up to eight times. Each digit is
:math:`\lfloor t s \rfloor`, held between 0 and its base less one, of what the digits before leave,
:math:`t = x - a - \sum_i d_i w_i`. Floating-point subtraction of a constant, multiplication by a
positive one and the floor are all non-decreasing, so the order is right whatever is rounded.

Sums are those of pieces of scores, see :mod:`~fedparity.sources.pieces`. The products that make up a square
are cut into a lower and an upper half, so that their sums fit a BIGINT.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fedparity.sources.pieces import PIECE_BITS, Pieces
from fedparity.sources.spark.literals import double

__all__ = [
    "MORE_BITS",
    "MOST_DEPTH",
    "Range",
    "halves_of_squares",
    "has_more_bits",
    "most_records",
    "pieces_of",
    "squared",
]

FIRST_BITS, MORE_BITS = 12, 6
"""How many bits the first digit of a cell has, and each further one."""
MOST_DEPTH = 9
"""So that all digits fit a BIGINT."""
_HALF = 27
"""Bits of the lower half of a product of pieces."""
_SIGNED_BITS = 63
"""Of a BIGINT."""
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


def pieces_of(pieces: Pieces, score: str) -> list[str]:
    """Return the pieces of a score."""
    return [
        f"CAST({score} * {double(pieces.scale(place))} % {double(1 << PIECE_BITS)} AS BIGINT)"
        for place in range(pieces.number)
    ]


def has_more_bits(pieces: Pieces, score: str) -> str:
    """Return the condition that a score has more bits than the pieces hold."""
    if not pieces.number:
        return "FALSE"
    return f"{score} * {double(pieces.scale(pieces.number - 1))} % {double(1)} <> 0"


def halves_of_squares(pieces: Pieces, names: Sequence[str]) -> list[str]:
    """Return the lower and upper halves of the products that make up a square."""
    return [
        half
        for product in pieces.products(names)
        for half in (f"{product} & {(1 << _HALF) - 1}L", f"SHIFTRIGHT({product}, {_HALF})")
    ]


def squared(pieces: Pieces, halves: Sequence[int]) -> int:
    """Return the sum of squares, in 2^-2148, given the sums of those halves."""
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return pieces.squared([low + (high << _HALF) for low, high in pairs])


def most_records(pieces: Pieces) -> int:
    """Return how many records can be added up: the sums of halves stay below 2^63."""
    largest = max(1, pieces.number) << 2 * PIECE_BITS - _HALF
    return (1 << _SIGNED_BITS) // max(largest, 1 << _HALF)
