r"""Records of merged counts, spread over the scores at which they may be.

Where small counts are merged with their neighbors, a message tells how many records lie between two
scores, not where. Cells merge at different places, so together they tell more: the law of all records
that makes the counts of all cells most likely, found by repeating

.. math:: f(x) \propto \sum_i m_i \, \frac{f(x) \, 1\{x \in [l_i, h_i]\}}{f([l_i, h_i])},

the estimate of Turnbull (1976) for counts of intervals. Of most runs it is known that no more than w of
their n records lie below their highest score: with the share p of the law of the run there, it
is the mean of a binomial number B of n and p, given :math:`B \le w`.

A group differs from all records by an exponential tilt, :math:`f_s(x) \propto f(x) e^{b_s x}`, with one
number of each group that its own counts make most likely, less a penalty: what the counts of a group do
not tell is taken to be no disparity. (A free law of each group was tried: with few records it puts them
at few scores, other ones in every group, and doubles the disparity.)

References
----------
Turnbull, B. W. (1976). The empirical distribution function with arbitrarily grouped, censored and
truncated data. Journal of the Royal Statistical Society B 38, 290-295.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedparity.laws.law import FloatArray, IntArray

__all__ = ["SpreadCounts", "spread_counts"]

_ROUNDS = 15
_STEPS = 10
"""Rounds in which the law follows what lies below the ends of runs, before that is computed again."""
_TILTS = 15
_PENALTY = 20.0
"""Records that the absence of a tilt counts as, about."""
_LARGE = 512
"""From here on the largest number below the end of a run is so large that the mean is cut at it."""
_LEAST = 1e-12
"""Share of the records that every score has at least: no run is without any."""
_SAME = 1e-9
"""Ends of runs nearer than this share of the range are one score."""


class SpreadCounts(NamedTuple):
    """Records at scores, cell after cell."""

    values: FloatArray
    masses: FloatArray
    levels: IntArray
    """Scores of each cell."""


def spread_counts(
    low: FloatArray, high: FloatArray, records: FloatArray, cells: IntArray, groups: IntArray
) -> SpreadCounts:
    """Return where the ``records`` between ``low`` and ``high`` most likely are.

    Parameters
    ----------
    low, high, records : arrays of numbers
        The scores between which so many records are; both are the same where it is known.
    cells : array of int
        The cell of each count, in increasing order.
    groups : array of int
        The group of each cell.

    Examples
    --------
    >>> low, high = np.array([1.0, 1.0, 2.0]), np.array([2.0, 1.0, 2.0])
    >>> cells, groups = np.array([0, 1, 1]), np.array([0, 0])
    >>> found = spread_counts(low, high, np.array([40.0, 30.0, 10.0]), cells, groups)
    >>> found.values, found.masses.round(6)
    (array([1., 2., 1., 2.]), array([30., 10., 30., 10.]))
    """
    points = _distinct(np.concatenate((low, high)))
    near = _SAME * (points[-1] - points[0])
    runs = _Runs.of(
        np.searchsorted(points, low - near),
        np.searchsorted(points, high + near, side="right"),
        records,
        cells,
        groups[cells],
    )
    laws = _tilted(runs, points, _likeliest(runs, points.size))
    # One row per count and point in its run, then summed by cell and point.
    placed = runs.placed(laws)
    width = runs.stop - runs.first
    count_of = np.repeat(np.arange(width.size), width)
    at = np.arange(count_of.size) - np.repeat(np.cumsum(width) - width, width)
    at += runs.first[count_of]
    share = laws[runs.groups[count_of], at] / runs.masses(laws)[count_of]
    places, place_of = np.unique(cells[count_of] * points.size + at, return_inverse=True)
    return SpreadCounts(
        points[places % points.size],
        np.bincount(place_of, placed[count_of] * share).astype(np.float64, copy=False),
        np.bincount(places // points.size),
    )


class _Runs(NamedTuple):
    """Counts, and the points between which their records are, from the first to before the last."""

    first: IntArray
    stop: IntArray
    records: FloatArray
    groups: IntArray
    limited: IntArray
    """The counts that say how many records at most are not at the end of their run."""
    ends: IntArray
    """And the count at the end of the run of each of these."""
    example: IntArray
    """One of these of each kind: in one run, of one group, with as many records."""
    kind: IntArray
    """The kind of each of these."""

    @classmethod
    def of(
        cls,
        first: IntArray,
        stop: IntArray,
        records: FloatArray,
        cells: IntArray,
        groups: IntArray,
    ) -> _Runs:
        """Return the counts of cells; a limit stands beside the count at the end of its run.

        All limits are the same number, one less than a count may be.
        """
        wide = stop - first > 1
        size = int(stop.max())
        single = np.flatnonzero(~wide)
        limited = np.flatnonzero(wide & (records == records[wide].min(initial=np.inf)))
        keys = cells[single] * size + first[single]  # increasing: values of a cell are
        single, keys = single[np.argsort(keys, kind="stable")], np.sort(keys, kind="stable")
        first, stop = first.copy(), stop.copy()
        found, ends = [], []
        for own, cut in ((stop - 1, "stop"), (first, "first")):
            wanted = cells[limited] * size + own[limited]
            places = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
            here = keys[places] == wanted if keys.size else np.zeros(limited.size, dtype=bool)
            if cut == "stop":
                stop[limited[here]] -= 1
            else:
                first[limited[here]] += 1
            found.append(limited[here])
            ends.append(single[places[here]])
            limited = limited[~here]
        limits, tops = np.concatenate(found), np.concatenate(ends)
        kinds = np.stack([each[limits] for each in (groups, first, stop)] + [first[tops]])
        _, example, kind = np.unique(
            np.concatenate((kinds, records[tops][None])),
            axis=1,
            return_index=True,
            return_inverse=True,
        )
        return cls(first, stop, records, groups, limits, tops, example, kind.ravel())

    def masses(self, laws: FloatArray) -> FloatArray:
        """Return what the law of its group holds of each count's points."""
        running = np.concatenate((np.zeros((len(laws), 1)), np.cumsum(laws, axis=1)), axis=1)
        masses: FloatArray = running[self.groups, self.stop] - running[self.groups, self.first]
        return masses

    def placed(self, laws: FloatArray) -> FloatArray:
        """Return how many records of each count lie between its points, most likely.

        Of a limit as many as the law says; the others are at the end of the run.
        """
        if not self.limited.size:
            return self.records
        few, tops = self.limited[self.example], self.ends[self.example]
        limits, masses = self.records[few], self.masses(laws)
        share = masses[few] / (masses[few] + masses[tops])
        expected = _truncated_means(limits + self.records[tops], share, limits)[self.kind]
        placed = self.records.astype(np.float64)
        placed[self.limited] = expected
        placed += np.bincount(self.ends, limits[self.kind] - expected, placed.size)
        return placed

    def expected(self, laws: FloatArray, placed: FloatArray) -> FloatArray:
        """Return how many records each group has at each point, as ``placed`` and its law say."""
        size = laws.shape[1] + 1
        density = placed / self.masses(laws)
        ends = np.bincount(self.groups * size + self.first, density, len(laws) * size)
        ends -= np.bincount(self.groups * size + self.stop, density, len(laws) * size)
        inside = np.cumsum(ends.reshape(len(laws), size), axis=1)[:, :-1]
        expected: FloatArray = laws * np.maximum(inside, 0.0)
        return expected


def _truncated_means(sizes: FloatArray, shares: FloatArray, limits: FloatArray) -> FloatArray:
    """The means of binomial numbers, given that they are no larger than a limit."""
    means: FloatArray = np.minimum(sizes * shares, limits)
    most = int(limits[0])
    if most >= _LARGE:
        return means
    numbers = np.arange(most + 1)
    odds = np.log(shares) - np.log1p(-np.minimum(shares, 1 - _LEAST))
    steps = np.log(np.maximum(sizes[:, None] - numbers[:-1], _LEAST) / (numbers[:-1] + 1))
    logs = np.concatenate(
        (np.zeros((sizes.size, 1)), np.cumsum(steps + odds[:, None], axis=1)), axis=1
    )
    masses = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: FloatArray = np.sum(masses * numbers, axis=1) / masses.sum(axis=1)
    return found


def _likeliest(runs: _Runs, points: int) -> FloatArray:
    """The law at the points that makes the counts most likely, the same for each group (row)."""
    law = np.full(points, 1 / points)
    same = runs._replace(groups=np.zeros_like(runs.groups))
    for _ in range(_ROUNDS):
        placed = same.placed(law[None])
        for _ in range(_STEPS):
            law = same.expected(law[None], placed)[0]
            law = np.maximum(law / law.sum(), _LEAST)
    return np.tile(law, (int(runs.groups.max()) + 1, 1))


def _tilted(runs: _Runs, points: FloatArray, laws: FloatArray) -> FloatArray:
    """The law of each group (row): that of all records, tilted."""
    law = laws[0] / laws[0].sum()
    center = np.sum(law * points)  # not BLAS, whose last bits depend on the processor
    spread = np.sqrt(np.sum(law * (points - center) ** 2))
    if not spread:
        return laws
    scaled = (points - center) / spread
    tilts = np.zeros(len(laws))
    for _ in range(_TILTS):
        expected = runs.expected(laws, runs.placed(laws))
        records, means = expected.sum(axis=1), np.sum(laws * scaled, axis=1)
        slope = np.sum(expected * scaled, axis=1) - records * means - _PENALTY * tilts
        curvature = records * (np.sum(laws * scaled**2, axis=1) - means**2) + _PENALTY
        tilts += np.clip(slope / curvature, -1.0, 1.0)
        weights = law * np.exp(
            tilts[:, None] * scaled - np.max(tilts[:, None] * scaled, axis=1, keepdims=True)
        )
        laws = np.maximum(weights / weights.sum(axis=1, keepdims=True), _LEAST)
    return laws


def _distinct(scores: FloatArray) -> FloatArray:
    """The scores in increasing order, those that differ by rounding only once."""
    ordered = np.unique(scores)
    apart = np.diff(ordered, prepend=-np.inf) > _SAME * (ordered[-1] - ordered[0])
    distinct: FloatArray = ordered[apart]
    return distinct
