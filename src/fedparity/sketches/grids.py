"""The midpoint grid of levels, and ranks on it computed in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError, ScoreError
from fedparity.laws.arrays import FloatArray

__all__ = [
    "ScoreGrid",
    "check_levels",
    "midpoints",
    "ranks",
]


def check_levels(levels: object) -> int:
    """Return ``levels`` as an int, or raise unless it is a whole number of at least one."""
    if isinstance(levels, bool) or not isinstance(levels, int | np.integer) or levels < 1:
        raise OptionError(
            f"levels must be a whole number of at least 1, not {levels!r}.",
            fix="pass levels=100, or any k >= 1.",
        )
    return int(levels)


def midpoints(levels: int, *, trim: float = 0.0) -> FloatArray:
    r"""Return the grid :math:`u_\ell = (\ell - \frac{1}{2})/k` (paper, `eq:u-grid`).

    With ``trim`` the grid covers :math:`[\varepsilon, 1-\varepsilon]` (`rem:trimmed`):
    :math:`u_\ell = \varepsilon + (\ell - \frac{1}{2})(1 - 2\varepsilon)/k`.

    Examples
    --------
    >>> midpoints(2)
    array([0.25, 0.75])
    """
    odd = 2 * np.arange(1, check_levels(levels) + 1, dtype=np.int64) - 1
    return trim + (1 - 2 * trim) * (odd / (2 * levels))


def ranks(count: int, levels: int) -> npt.NDArray[Any]:
    r"""Return :math:`\lceil n u_\ell \rceil`, the rank of each level among ``count`` records.

    In whole numbers: :math:`\lceil n (2\ell - 1) / (2k) \rceil`. In floats n·u = 55 can become
    55.00000000000001 and the rank one too high.

    Examples
    --------
    >>> ranks(100, 10)
    array([ 5, 15, 25, 35, 45, 55, 65, 75, 85, 95])
    """
    odd = 2 * np.arange(1, check_levels(levels) + 1, dtype=np.int64) - 1
    if count > np.iinfo(np.int64).max // (2 * levels):  # beyond int64: whole numbers of any size
        return np.array([-(-count * step // (2 * levels)) for step in odd.tolist()], dtype=object)
    return -(-count * odd // (2 * levels))


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
            raise ScoreError(
                f"scores must be points of the plan's grid, but {off} of {total} are not.",
                fix="round the scores to the plan's score_step as 64-bit floats, or agree on a plan with "
                "another score_step, or without one.",
            )
