"""A public grid of scores, and which of its points a score is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedparity.errors import ScoreError
from fedparity.laws.arrays import FloatArray

__all__ = ["ScoreGrid"]

_NEAR = 1e-9
"""A score is a point of the grid if it is no farther from it than this share of a step."""


@dataclass(frozen=True, eq=False)
class ScoreGrid:
    """The scores there can be, in increasing order.

    Decimal numbers that were added up, or read from text, may miss a point by the rounding of
    floats: a score counts as the point that it is nearest to, up to a billionth of a step.

    Examples
    --------
    >>> grid = ScoreGrid(np.array([0.1, 0.2, 0.3]))
    >>> grid.places(np.array([0.1 + 0.2, 0.1, 0.25]))
    array([5, 1, 4])
    """

    points: FloatArray

    @cached_property
    def bounds(self) -> FloatArray:
        """Scores between which those lie that are a point: at odd places, from 1."""
        step = float(np.diff(self.points).min()) if self.points.size > 1 else 0.0
        bounds = np.empty(2 * self.points.size)
        bounds[::2] = self.points - _NEAR * step
        bounds[1::2] = np.nextafter(self.points + _NEAR * step, np.inf)
        return bounds

    def places(self, scores: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the place of each score: 2i + 1 for point i, and even if it is no point."""
        return np.searchsorted(self.bounds, scores, side="right")

    def require(self, off: int, total: int) -> None:
        """Raise if some of the scores are no point.

        Raises
        ------
        ScoreError
            With their number, and not with a score.
        """
        if off:
            raise ScoreError.off_grid(off, total)
