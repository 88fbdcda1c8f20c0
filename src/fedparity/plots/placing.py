"""Where the names of increasing curves can stand beside them, without touching a curve.

Increasing curves leave two corners free, above on the left and below on the right. A name stands
in one of them, where there is room for it, and a thin line leads from it to its curve: across where
the curves are steep, up or down where they are flat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Point", "Spot", "free_spots"]

FloatArray = npt.NDArray[np.float64]
Curve = tuple[FloatArray, FloatArray]
Point = tuple[float, float]
_STEPS = np.arange(0.1, 0.92, 0.04)
_PAD = 0.012
_LINE = 0.07
"""The height of a name, as a share of the height of the axes."""


@dataclass(frozen=True)
class Spot:
    """Where a name stands; all numbers are shares of the width or the height of the axes."""

    at: Point
    """The corner of the name that is next to the curves."""
    curve: Point
    """The point of its curve that it names."""
    before: bool
    """Whether the name ends at ``at``, on the left of the curves, or begins there."""
    width: float
    level: bool
    """Whether the line to the curve runs across, so that the name is centered on it."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, right, lower and upper end of the name."""
        x, y = self.at
        left = x - self.width if self.before else x
        low = y - _LINE / 2 if self.level else y if self.before else y - _LINE
        return left, left + self.width, low, low + _LINE

    def meets(self, other: Spot) -> bool:
        """Whether two names overlap."""
        left, right, low, high = self.box
        others = other.box
        return left < others[1] and others[0] < right and low < others[3] and others[2] < high


def free_spots(
    curves: Sequence[Curve], widths: Sequence[float], *, steep: bool
) -> tuple[Spot, ...] | None:
    """Return a spot for the name of each curve, or None if they do not all fit.

    Parameters
    ----------
    curves : sequence of (x, y)
        Non-decreasing both, as shares of the width and the height of the axes.
    widths : sequence of float
        How wide each name is, as a share of the width of the axes.
    steep : bool
        Whether names stand left and right of the curves, or else above and below them.

    Examples
    --------
    >>> line = np.linspace(0, 1, 11)
    >>> spots = free_spots([(line / 2, line), (line, line)], [0.1, 0.1], steep=True)
    >>> [spot.before for spot in spots]
    [True, False]
    """
    candidates = _beside if steep else _above
    spots: list[Spot] = []
    for own, width in enumerate(widths):
        free = (
            (cost, spot)
            for cost, spot in candidates(curves, own, width)
            if _inside(spot) and not any(spot.meets(other) for other in spots)
        )
        best = min(free, key=lambda entry: entry[0], default=None)
        if best is None:
            return None
        spots.append(best[1])
    return tuple(spots)


def _inside(spot: Spot) -> bool:
    left, right, low, high = spot.box
    return left >= 0 and right <= 1 and low >= 0 and high <= 1


def _beside(curves: Sequence[Curve], own: int, width: float) -> Iterator[tuple[float, Spot]]:
    """Spots left and right of all curves, with what they cost: rather near, and at middle heights."""
    half = _LINE / 2
    here = np.interp(_STEPS, curves[own][1], curves[own][0])
    # a name is a line high: its lower edge is nearest to curves on its right, its upper to those on its left
    left = np.min([np.interp(_STEPS - half, y, x) for x, y in curves], axis=0) - _PAD
    right = np.max([np.interp(_STEPS + half, y, x) for x, y in curves], axis=0) + _PAD
    for i, y in enumerate(_STEPS.tolist()):
        for before, edge in ((True, left), (False, right)):
            spot = Spot((float(edge[i]), y), (float(here[i]), y), before, width, level=True)
            yield abs(float(here[i] - edge[i])) + 0.15 * abs(y - 0.5), spot


def _above(curves: Sequence[Curve], own: int, width: float) -> Iterator[tuple[float, Spot]]:
    """Spots above and below all curves."""
    here = np.interp(_STEPS, *curves[own])
    above = np.max([np.interp(_STEPS, x, y) for x, y in curves], axis=0) + 2 * _PAD
    below = np.min([np.interp(_STEPS, x, y) for x, y in curves], axis=0) - 2 * _PAD
    for i, x in enumerate(_STEPS.tolist()):
        for before, edge in ((True, above), (False, below)):
            spot = Spot((x, float(edge[i])), (x, float(here[i])), before, width, level=False)
            yield abs(float(here[i] - edge[i])) + 0.15 * abs(x - 0.5), spot
