r"""Records of merged counts, spread over the scores at which they may be.

Where small counts are merged with their neighbours, a message tells how many records lie between two
scores, not where. Cells merge at different places, so together they tell more: the law of all records
that makes the counts of all cells most likely, found by repeating

.. math:: f(x) \propto \sum_i m_i \, \frac{f(x) \, 1\{x \in [l_i, h_i]\}}{f([l_i, h_i])},

the estimate of Turnbull (1976) for counts of intervals. Inside a run the records of every cell are spread
as those of all cells are: what the counts of a group do not tell is taken to be no disparity. (The
same estimate from the cells of one group alone was tried: with few records it puts them at few scores,
other ones in every group, and doubles the disparity.)

References
----------
Turnbull, B. W. (1976). The empirical distribution function with arbitrarily grouped, censored and
truncated data. Journal of the Royal Statistical Society B 38, 290-295.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray

__all__ = ["SpreadCounts", "spread_counts"]

_ROUNDS = 200
_LEAST = 1e-12
"""Share of the records that every score has at least: no run is without any."""
_SAME = 1e-9
"""Ends of runs nearer than this share of the range are one score."""
IntArray = npt.NDArray[np.int64]


class SpreadCounts(NamedTuple):
    """Records at scores, cell after cell."""

    values: FloatArray
    masses: FloatArray
    levels: IntArray
    """Scores of each cell."""


def spread_counts(
    low: FloatArray, high: FloatArray, records: FloatArray, cells: IntArray
) -> SpreadCounts:
    """Return where the ``records`` between ``low`` and ``high`` most likely are.

    Parameters
    ----------
    low, high, records : arrays of numbers
        The scores between which so many records are; both are the same where it is known.
    cells : array of int
        The cell of each count, in increasing order.

    Examples
    --------
    >>> low, high = np.array([1.0, 1.0, 2.0]), np.array([2.0, 1.0, 2.0])
    >>> found = spread_counts(low, high, np.array([40.0, 30.0, 10.0]), np.array([0, 1, 1]))
    >>> found.values, found.masses.round(6)
    (array([1., 2., 1., 2.]), array([30., 10., 30., 10.]))
    """
    points = _distinct(np.concatenate((low, high)))
    near = _SAME * (points[-1] - points[0])
    first = np.searchsorted(points, low - near)
    stop = np.searchsorted(points, high + near, side="right")
    law = _likeliest(first, stop, records, points.size)
    # One row per record of a count and a point in its run, then summed by cell and point.
    width = stop - first
    count_of = np.repeat(np.arange(width.size), width)
    at = np.arange(count_of.size) - np.repeat(np.cumsum(width) - width, width) + first[count_of]
    running = np.concatenate(([0.0], np.cumsum(law)))
    share = law[at] / (running[stop] - running[first])[count_of]
    places, place_of = np.unique(cells[count_of] * points.size + at, return_inverse=True)
    return SpreadCounts(
        points[places % points.size],
        np.bincount(place_of, records[count_of] * share).astype(np.float64, copy=False),
        np.bincount(places // points.size),
    )


def _likeliest(first: IntArray, stop: IntArray, records: FloatArray, points: int) -> FloatArray:
    """The law at the points that makes the counts most likely."""
    law = np.full(points, 1 / points)
    for _ in range(_ROUNDS):
        running = np.concatenate(([0.0], np.cumsum(law)))
        density = records / (running[stop] - running[first])
        ends = np.bincount(first, density, points + 1) - np.bincount(stop, density, points + 1)
        law = law * np.maximum(np.cumsum(ends)[:-1], 0.0)
        law = np.maximum(law / law.sum(), _LEAST)
    return law


def _distinct(scores: FloatArray) -> FloatArray:
    """The scores in increasing order, those that differ by rounding only once."""
    ordered = np.unique(scores)
    apart = np.diff(ordered, prepend=-np.inf) > _SAME * (ordered[-1] - ordered[0])
    distinct: FloatArray = ordered[apart]
    return distinct
