"""The three estimates of one allocation for every number of levels, in NumPy.

Records come sorted, so that a counting sort by cell gives sorted cells; every sketch reads from
them. Masses are whole numbers of 1/(k n_s). The compiled kernel computes the same, in the same order:
sums run from left to right in both, so that their bits agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fedparity.experiments.montecarlo.ranking import Ranking
from fedparity.laws.arrays import FloatArray

__all__ = ["NumpyKernel"]

IntArray = npt.NDArray[np.int64]
Read = TypeVar("Read")


class NumpyKernel:
    """Estimates by NumPy alone."""

    name = "numpy"

    def __init__(self, ranking: Ranking, levels: Sequence[int]) -> None:
        self._ranking, self._levels = ranking, levels

    def estimates(self, silos: IntArray, number: int) -> FloatArray:
        """Return the estimates of an allocation, by estimator and number of levels.

        ``silos`` are those of the records in order of score, ``number`` how many silos there are.
        """
        ranking = self._ranking
        cells = _Cells.of(ranking, silos, number)
        found = np.empty((3, len(self._levels)))
        for column, levels in enumerate(self._levels):
            masses = np.repeat(cells.counts, levels).astype(np.float64)
            places = _quantile_places(cells, levels)
            steps = [_rank_steps(ranking, places[own], masses[own]) for own in cells.own(levels)]
            means = _bin_means(cells, levels)
            bins = [_value_steps(means[own], masses[own]) for own in cells.own(levels)]
            found[0, column] = _grid(steps, ranking, levels)
            found[1, column] = _exact(steps, ranking)
            found[2, column] = _exact(bins, ranking)
        return found


class _Cells(NamedTuple):
    """The records of each cell that has any, sorted, one cell after the other."""

    ranks: npt.NDArray[np.int32]
    scores: FloatArray
    running: FloatArray
    """Sum of the scores of a cell, up to each record."""
    counts: IntArray
    starts: IntArray
    groups: IntArray
    """Cells of each group."""

    @classmethod
    def of(cls, ranking: Ranking, silos: IntArray, number: int) -> _Cells:
        size = ranking.groups * number
        cells = ranking.codes * number + silos
        small = cells.astype(np.int16) if size < 1 << 15 else cells  # 16 bits: a counting sort
        order = np.argsort(small, kind="stable")
        all_counts = np.bincount(cells, minlength=size)
        counts = all_counts[all_counts > 0]
        starts = np.cumsum(counts) - counts
        ranks = ranking.ranks[order]
        scores = ranking.values[ranks]
        running = np.empty_like(scores)
        for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
            np.cumsum(scores[start : start + count], out=running[start : start + count])
        groups = np.count_nonzero(all_counts.reshape(ranking.groups, number), axis=1)
        return cls(ranks, scores, running, counts, starts, groups)

    def own(self, levels: int) -> list[slice]:
        """Where the values of each group lie among those of all cells."""
        ends = np.cumsum(self.groups) * levels
        return [
            slice(int(end - cells * levels), int(end))
            for end, cells in zip(ends, self.groups, strict=True)
        ]


class _Steps(NamedTuple):
    """The mixture of a group: distinct atoms, and the mass up to each, in whole numbers."""

    atoms: FloatArray
    running: FloatArray


def _quantile_places(cells: _Cells, levels: int) -> npt.NDArray[np.int32]:
    """Ranks among the distinct scores of the quantiles of all cells: order statistics."""
    odd = 2 * np.arange(1, levels + 1) - 1
    order_statistic = -(-cells.counts[:, None] * odd // (2 * levels)) - 1
    places: npt.NDArray[np.int32] = cells.ranks[cells.starts[:, None] + order_statistic].ravel()
    return places


def _bin_means(cells: _Cells, levels: int) -> FloatArray:
    """Means of all cells between (l - 1)/k and l/k: two records in part, the ones between in full."""
    counts, starts = cells.counts[:, None], cells.starts[:, None]
    edges = counts * np.arange(levels + 1)
    whole, part = edges // levels, edges % levels
    first, last = whole[:, :-1], np.minimum(whole[:, 1:], counts - 1)
    head = (levels - part[:, :-1]) * cells.scores[starts + first]
    tail = part[:, 1:] * cells.scores[starts + last]
    before = starts + whole[:, 1:] - 1
    between = cells.running[np.maximum(before, starts + first)] - cells.running[starts + first]
    means = (head + levels * between + tail) / counts
    inside = counts <= levels - part[:, :-1]  # the bin lies within one record
    return np.where(inside, cells.scores[starts + first], means).ravel()


def _rank_steps(ranking: Ranking, places: npt.NDArray[np.int32], masses: FloatArray) -> _Steps:
    """The mixture of atoms at ranks: masses are counted rank by rank, nothing is sorted."""
    by_rank = np.bincount(places, weights=masses, minlength=ranking.values.size)
    held = np.flatnonzero(by_rank)
    return _Steps(ranking.values[held], np.cumsum(by_rank[held]))


def _value_steps(atoms: FloatArray, masses: FloatArray) -> _Steps:
    """The mixture of atoms at any values: equal ones are one atom."""
    order = np.argsort(atoms)
    atoms, running = atoms[order], np.cumsum(masses[order])
    last = np.append(atoms[1:] != atoms[:-1], True)
    return _Steps(atoms[last], running[last])


def _grid(steps: Sequence[_Steps], ranking: Ranking, levels: int) -> float:
    """Algorithm 1: the mixtures inverted at k midpoints."""
    odd = 2.0 * np.arange(1, levels + 1) - 1
    values = [
        each.atoms[np.searchsorted(2 * each.running, odd * total)]
        for each, total in zip(steps, ranking.totals, strict=True)
    ]
    return _between_groups(values, ranking, _squared_sum) / levels


def _exact(steps: Sequence[_Steps], ranking: Ranking) -> float:
    """The same mixtures, integrated over all levels."""
    return _between_groups(steps, ranking, _squared_integral)


def _between_groups(
    laws: Sequence[Read], ranking: Ranking, squared_gap: Callable[[Read, Read], float]
) -> float:
    """The dispersion around the mean, from the squared differences of all pairs of groups."""
    total = 0.0
    for one, other in combinations(range(ranking.groups), 2):
        shares = ranking.shares[one] * ranking.shares[other]
        total += float(shares * squared_gap(laws[one], laws[other]))
    return total


def _squared_sum(one: FloatArray, other: FloatArray) -> float:
    gaps = other - one
    return _left_to_right(gaps * gaps)


def _squared_integral(one: _Steps, other: _Steps) -> float:
    """Between two consecutive levels of either mixture, both are constant."""
    edges = np.concatenate((one.running / one.running[-1], other.running / other.running[-1]))
    order = np.argsort(edges, kind="stable")  # a merge of two sorted runs: linear
    widths = np.diff(edges[order], prepend=0.0)
    is_one = order < one.atoms.size
    passed: IntArray = np.cumsum(is_one) - is_one
    first = one.atoms[np.minimum(passed, one.atoms.size - 1)]
    second = other.atoms[np.minimum(np.arange(edges.size) - passed, other.atoms.size - 1)]
    gaps = second - first
    return _left_to_right(widths * (gaps * gaps))


def _left_to_right(terms: FloatArray) -> float:
    """The sum in the order of a loop; NumPy's own sum pairs terms in an order of its own."""
    return float(np.cumsum(terms)[-1])
