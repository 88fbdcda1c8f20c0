r"""A certificate from exact counts in bins: what the raw data's disparity cannot leave.

Proof. A record of a bin lies between its two edges, or at one of its points. So the quantile function of
a group lies between that of the law with every record at the lowest score of its bin, and that with every
record at the highest; where a bin is one point, these are the same. At
every level the dispersion of the groups is then at least the smallest, and at most the largest, that
these two allow. Records of which nothing is known lie at the bottom of the range in the first law, and
at its top in the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fedparity.diagnostics.certificate import Certificate
from fedparity.diagnostics.extremes import largest_dispersion, smallest_dispersion
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law
from fedparity.laws.refinement import common_refinement
from fedparity.privacy.histograms import Grid

__all__ = ["certify_grid"]

_ROUNDING = 1e-11
"""Bounds are moved outwards by this, relative to them and to the range, against rounding."""


def certify_grid(
    counts: npt.NDArray[np.int64],
    grid: Grid,
    *,
    order: int = 2,
    trim: float = 0.0,
    unseen: Sequence[float] | None = None,
) -> Certificate:
    """Return an interval that the disparity of the raw data cannot leave, given exact counts.

    Parameters
    ----------
    counts : array, groups by bins
    unseen : sequence of numbers, optional
        At most so many further records of each group; ``math.inf`` where there is no limit.

    Examples
    --------
    >>> grid = Grid.of((0.0, 1.0), bins=4)
    >>> found = certify_grid(np.array([[8, 0, 0, 0], [0, 0, 0, 8]]), grid)
    >>> round(found.lower, 6), round(found.upper, 6)
    (0.0625, 0.25)
    """
    extra = np.zeros(len(counts)) if unseen is None else np.asarray(unseen, dtype=np.float64)
    widest = (grid.high - grid.low) ** order / (2 if order == 1 else 4)
    if not np.isfinite(extra).all():
        return Certificate(lower=0.0, upper=widest)
    lower, upper = _integrated(_laws(counts, grid, extra), counts.sum(axis=1), extra, order, trim)
    slack = _ROUNDING * widest
    return Certificate(
        lower=max(0.0, lower * (1 - _ROUNDING) - slack),
        upper=min(widest, upper * (1 + _ROUNDING) + slack),
    )


def _laws(counts: npt.NDArray[np.int64], grid: Grid, unseen: FloatArray) -> list[Law]:
    """For each group the lowest law that its counts allow, then the highest."""
    laws = []
    for row, more in zip(counts, unseen.tolist(), strict=True):
        masses = np.append(row, int(more)) if float(more).is_integer() else np.append(row, more)
        laws.append(Law(np.append(grid.lowest, grid.low), masses))
        laws.append(Law(np.append(grid.highest, grid.high), masses))
    return laws


def _integrated(
    laws: list[Law],
    seen: npt.NDArray[np.int64],
    unseen: FloatArray,
    order: int,
    trim: float,
) -> tuple[float, float]:
    """Integrate the extremes; with unseen records the shares lie between two sets of weights."""
    widths, values = common_refinement(laws, trim=trim)
    most = seen + unseen
    low, high = values[0::2], values[1::2]
    least = smallest_dispersion(low, high, seen / seen.sum(), order)
    largest = largest_dispersion(low, high, most / most.sum(), order)
    growth = float(most.sum() / seen.sum())
    return float(np.sum(least * widths)) / growth, float(np.sum(largest * widths)) * growth
