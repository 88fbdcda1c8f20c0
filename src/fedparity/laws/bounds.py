"""A lower and an upper end on the line: of intervals, of certificates, of ranges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fedparity.text import OneLine

__all__ = ["Bounds", "Bracket"]


@dataclass(frozen=True, eq=False)
class Bounds(OneLine):
    """A lower and an upper end, which may be infinite.

    Examples
    --------
    >>> bounds = Bounds(0.25, 0.75)
    >>> lower, upper = bounds
    >>> lower, upper, bounds.width, 0.5 in bounds, bounds == (0.25, 0.75)
    (0.25, 0.75, 0.5, True, True)
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """The upper end minus the lower one."""
        return self.upper - self.lower

    def hull(self, other: Bounds) -> Bounds:
        """Return the smallest bounds that contain both."""
        return Bounds(min(self.lower, other.lower), max(self.upper, other.upper))

    def __contains__(self, number: float) -> bool:
        return self.lower <= number <= self.upper

    def __iter__(self) -> Iterator[float]:
        yield self.lower
        yield self.upper

    def __len__(self) -> int:
        return 2

    def __getitem__(self, position: int) -> float:
        return (self.lower, self.upper)[position]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Bounds | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, kw_only=True)
class Bracket(Bounds):
    """An estimate from sketches, and bounds that the raw data's number cannot leave."""

    value: float
