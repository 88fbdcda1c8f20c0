"""The three estimates of one allocation for every number of levels.

Records are sorted once, so that a stable sort by cell gives sorted cells, and every sketch reads from
them. Masses are whole numbers of 1/(k n_s). The public functions of ``fedparity`` give the same numbers
(the tests compare them), but check and build an object for every cell: a full study has two million.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from fedparity_reproduction.datasets import Dataset

__all__ = ["ESTIMATORS", "FloatArray", "IntArray", "Ranking", "estimates"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Read = TypeVar("Read")

ESTIMATORS = ("paper grid", "quantiles, exact", "bin means, exact")
"""Algorithm 1; the same sketches, integrated exactly; bin means, integrated exactly."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking:
    """The records of a data set in order of score: what all its allocations have in common."""

    order: IntArray
    """The records in order of score, equal ones in order of the table."""
    values: FloatArray
    """The distinct scores, in increasing order."""
    ranks: npt.NDArray[np.int32]
    """Position in ``values`` of each record, in order of score."""
    codes: IntArray
    """Group of each record, in order of score."""
    totals: IntArray
    """Number of records of each group."""
    shares: FloatArray

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> Ranking:
        """Return the ranking of a data set."""
        order = np.argsort(dataset.scores, kind="stable")
        values, ranks = np.unique(dataset.scores, return_inverse=True)
        totals = np.bincount(dataset.codes, minlength=len(dataset.group_names))
        return cls(
            order=order,
            values=values,
            ranks=ranks[order].astype(np.int32),
            codes=dataset.codes[order],
            totals=totals,
            shares=totals / totals.sum(),
        )

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.totals.size


def estimates(
    ranking: Ranking, silos: IntArray, number: int, all_levels: Sequence[int]
) -> FloatArray:
    """Return the estimates of U₂ of an allocation, by estimator and number of levels.

    Parameters
    ----------
    silos : array of int
        The silo of each record, in the order of the table.
    number : int
        Number of silos.
    all_levels : sequence of int
        Numbers k that a silo sends for a group.
    """
    cells = _Cells.from_silos(ranking, silos[ranking.order], number)
    found = np.empty((len(ESTIMATORS), len(all_levels)))
    for column, levels in enumerate(all_levels):
        masses = np.repeat(cells.counts, levels).astype(np.float64)
        places = _quantile_places(cells, levels)
        steps = [_rank_steps(ranking, places[own], masses[own]) for own in cells.own(levels)]
        means = _bin_means(cells, levels)
        bins = [_value_steps(means[own], masses[own]) for own in cells.own(levels)]
        found[0, column] = _grid(steps, ranking, levels)
        found[1, column] = _between_groups(steps, ranking, _squared_integral)
        found[2, column] = _between_groups(bins, ranking, _squared_integral)
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
    def from_silos(cls, ranking: Ranking, silos: IntArray, number: int) -> _Cells:
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
    """Return the sum in the order of the records, which does not depend on how many there are."""
    return float(np.cumsum(terms)[-1])
