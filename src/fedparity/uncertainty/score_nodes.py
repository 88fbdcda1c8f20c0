"""Laws as masses at a few hundred scores: how many redraws are mixed and read at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.law import FloatArray, IntArray, QuantileTable
from fedparity.sketches.kinds import midpoints

if TYPE_CHECKING:
    from fedparity.uncertainty.resampling import Mixtures, Resolution

__all__ = ["DividedAtoms", "PlacedAtoms", "ReadCurves", "ScoreNodes", "blocks", "level_edges"]

_IN_CACHE = 256_000
"""Numbers of one array, if all arrays of a computation shall stay in the cache."""

_TINY = 1e-300
_BUCKETS, _MOST_IN_BUCKET = 4096, 8
_LARGEST = 1e300
_HALVES = 6
"""How often the outermost level is cut into halves."""


def level_edges(number: int) -> FloatArray:
    """Return the edges of so many levels from 0 to 1, the outermost cut into halves several times."""
    outer = 0.5 ** np.arange(_HALVES, 0, -1) / number
    even = np.arange(number + 1) / number
    return np.concatenate(([0.0], outer, even[1:-1], 1 - outer[::-1], [1.0]))


def blocks(rows: int, numbers: int) -> Iterator[slice]:
    """Return parts of the given number of rows, each of this many ``numbers``, that fit into the cache.

    A step over arrays of many megabytes takes two to three times as long as over parts of them.
    """
    size = max(1, _IN_CACHE // numbers)
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


class _Places:
    """Where numbers lie among a few ordered ones, as ``np.searchsorted`` says it, in a fifth of the time.

    The range is cut into equal buckets. All numbers of the buckets before are smaller, so that
    only those of the own bucket are left to compare with, one or two of them.
    """

    def __init__(self, ordered: FloatArray) -> None:
        self.ordered = ordered
        self.scale = min(_BUCKETS / float(ordered[-1] - ordered[0]), _LARGEST)
        own = self._bucket(ordered)
        self.before = np.searchsorted(own, np.arange(_BUCKETS))
        self.most = int(np.bincount(own).max())
        self.following = np.append(ordered, np.inf)

    def up_to(self, values: FloatArray) -> IntArray:
        """Return how many of the ordered numbers are at most each of the values."""
        if self.most > _MOST_IN_BUCKET:
            found = np.searchsorted(self.ordered, values.ravel(), side="right")
            return found.reshape(values.shape)
        count: IntArray = self.before.take(self._bucket(values))
        for _ in range(self.most):
            count += self.following.take(count) <= values
        return count

    def _bucket(self, values: FloatArray) -> npt.NDArray[np.int32]:
        position = values - self.ordered[0]
        position *= self.scale
        np.clip(position, 0, _BUCKETS - 1, out=position)
        bucket: npt.NDArray[np.int32] = position.astype(np.int32)  # far faster than to 64 bits
        return bucket


class ReadCurves(NamedTuple):
    """Quantile functions of several sets of laws, and the levels at which they were read."""

    levels: FloatArray
    """Sets by intervals; one row if all sets are read at the same levels."""
    table: QuantileTable
    """Sets by laws by intervals."""
    cdfs: FloatArray
    """The distribution functions at the nodes: sets by laws by nodes."""


@dataclass(frozen=True, eq=False)
class ScoreNodes:
    """Scores that hold the mass of laws.

    With ``steps`` the nodes are all scores there are, and laws are read exactly. Otherwise the
    mass of an atom is divided between the two nodes around it, so that it moves smoothly with the
    atom, and laws are read as continuous ones.
    """

    scores: FloatArray
    steps: bool
    levels: int

    @classmethod
    def from_values(
        cls, values: FloatArray, mass: FloatArray, resolution: Resolution
    ) -> ScoreNodes:
        """Return nodes for laws like this one: half at equal masses, half at equal distances."""
        order = np.argsort(values, kind="stable")
        running = np.cumsum(mass[order])
        half = resolution.nodes // 2
        wanted = (np.arange(half) + 0.5) / half * running[-1]
        at = np.minimum(np.searchsorted(running, wanted), values.size - 1)
        low, high = values[order[0]], values[order[-1]]
        if high <= low:
            reach = max(abs(low), 1.0) * 1e-6
            low, high = low - reach, high + reach
        even = np.linspace(low, high, half)
        return cls(np.unique(np.concatenate((values[order[at]], even))), False, resolution.levels)

    @classmethod
    def at(cls, scores: FloatArray) -> ScoreNodes:
        """Return nodes at all scores there are."""
        return cls(scores, True, 0)

    def place(self, values: FloatArray) -> PlacedAtoms:
        """Return where atoms (sets by atoms) lie between the nodes."""
        scores = self.scores
        before = self._places.up_to(values)
        before -= 1
        np.clip(before, 0, scores.size - 2, out=before)
        left = scores.take(before)
        part = values - left
        part /= scores[1:].take(before) - left
        return PlacedAtoms(before, np.clip(part, 0.0, 1.0, out=part), scores.size)

    @cached_property
    def _places(self) -> _Places:
        return _Places(self.scores)

    def cdfs(self, masses: FloatArray) -> FloatArray:
        """Return distribution functions (last axis): from a node on if ``steps``, else at it."""
        running = np.cumsum(masses, axis=-1)
        total = np.maximum(running[..., -1:], _TINY)
        if not self.steps:
            running -= masses / 2
        running /= total
        return running

    def spread_widths(self) -> FloatArray:
        """Return the length of scores for which each node's distribution functions stand."""
        gaps = np.diff(self.scores)
        if self.steps:
            return np.append(gaps, 0.0)
        return (np.append(gaps, 0.0) + np.concatenate(([0.0], gaps))) / 2

    def read(
        self, masses: FloatArray, *, levels: int | None = None, finer: int = 1, trim: float = 0.0
    ) -> ReadCurves:
        """Return the quantile functions of laws (sets by laws by nodes).

        Laws on nodes that are not all scores there are, are read at ``levels`` levels of equal
        width; if absent, at ``finer`` times the nodes' own number, the outermost of which are cut into
        halves several times: the few largest scores of a heavy tail may hold most of a squared distance.
        """
        cdfs = self.cdfs(masses)
        if self.steps:
            ends = np.sort(cdfs.reshape(len(cdfs), -1), axis=1)
            ends = np.clip(ends, trim, 1 - trim)
            widths = np.diff(ends, axis=1, prepend=trim)
            middle = ends - widths / 2
            return ReadCurves(middle, QuantileTable(widths, self.quantiles(cdfs, middle)), cdfs)
        if levels:
            grid = midpoints(levels, trim=trim)[None]
            widths = np.full((1, levels), (1 - 2 * trim) / levels)
        else:
            edges = trim + (1 - 2 * trim) * level_edges(finer * self.levels)
            widths = np.diff(edges)[None]
            grid = (edges[:-1] + edges[1:])[None] / 2
        return ReadCurves(grid, QuantileTable(widths, self.quantiles(cdfs, grid)), cdfs)

    def table(self, cdfs: FloatArray, *, trim: float = 0.0) -> QuantileTable:
        """Return the quantile functions of cdfs that were moved: they are made distribution functions again."""
        cdfs = np.maximum.accumulate(np.clip(cdfs, 0.0, 1.0), axis=-1)
        cdfs[..., -1] = 1.0
        return self.read(np.diff(cdfs, axis=-1, prepend=0.0), trim=trim).table

    def quantiles(self, cdfs: FloatArray, levels: FloatArray) -> FloatArray:
        """Return quantiles (sets by laws by levels), given cdfs and the levels of each set."""
        sets, laws, _ = cdfs.shape
        values = np.empty((sets, laws, levels.shape[1]))
        for rows in blocks(sets, values[0].size):
            own = levels if len(levels) == 1 else levels[rows]
            values[rows] = self._quantiles(cdfs[rows], own, rows.start)
        return values

    def _quantiles(self, cdfs: FloatArray, levels: FloatArray, start: int) -> FloatArray:
        """The quantiles of some of the sets, of which ``start`` come before."""
        sets, laws, nodes = cdfs.shape
        # One search for all laws: each lies two above the one before. The farther a law lies from zero the
        # coarser is its search, so that laws keep their place among all: it decides where they are flat.
        rows = np.arange(sets * laws).reshape(sets, laws, 1)
        above = 2 * (rows + start * laws)
        stacked = (cdfs + above).ravel()
        wanted = levels[:, None, :] + above
        at = np.searchsorted(stacked, wanted.ravel(), side="left").reshape(wanted.shape)
        first = rows * nodes
        if self.steps:
            at -= first
            exact: FloatArray = self.scores[np.clip(at, 0, nodes - 1, out=at)]
            return exact
        np.clip(at, first + 1, first + nodes - 1, out=at)
        right, left = stacked[at], stacked[at - 1]
        right -= left
        part = np.divide(wanted - left, right, out=np.ones_like(right), where=right > 0)
        at -= first
        low = self.scores[at - 1]
        value: FloatArray = self.scores[at] - low
        value *= np.clip(part, 0.0, 1.0, out=part)
        value += low
        return value

    def carried(self, scores: FloatArray, groups: IntArray, population: Mixtures) -> FloatArray:
        """Return scores of ``groups`` moved to where the pooled law has their group's rank."""
        own = self.cdfs(population.own[0])
        pooled = self.cdfs((population.shares[0][:, None] * _laws(population.own[0])).sum(axis=0))
        moved = np.empty(scores.shape)
        for group in range(len(own)):
            member = groups == group
            rank = np.interp(scores[member], self.scores, own[group])
            moved[member] = self.quantiles(pooled[None, None], rank[None])[0, 0]
        return moved


@dataclass(frozen=True, eq=False)
class PlacedAtoms:
    """Atoms (sets by atoms) between the nodes: the node before each, and how far beyond it."""

    before: IntArray
    part: FloatArray
    nodes: int

    def masses(self, weights: FloatArray, laws: IntArray, number: int) -> FloatArray:
        """Return the mass of laws at the nodes, where ``laws`` names the law of each atom."""
        return self.divided(weights).masses(laws, number)

    def divided(self, weights: FloatArray) -> DividedAtoms:
        """Return the weights of the atoms, divided between the nodes before and after each."""
        after = weights * self.part
        return DividedAtoms(self.before, weights - after, after, self.nodes)


class DividedAtoms(NamedTuple):
    """Weights of atoms (sets by atoms) at two nodes each."""

    before: IntArray
    at_before: FloatArray
    at_after: FloatArray
    nodes: int

    def masses(self, laws: IntArray, number: int) -> FloatArray:
        """Return the mass of laws at the nodes, where ``laws`` names the law of each atom."""
        sets = len(self.before)
        at = self.before + laws * self.nodes
        at += np.arange(sets)[:, None] * (number * self.nodes)
        size = sets * number * self.nodes
        total: FloatArray = np.bincount(at.ravel(), self.at_before.ravel(), size).astype(
            np.float64, copy=False
        )
        total[1:] += np.bincount(at.ravel(), self.at_after.ravel(), size)[:-1]
        return total.reshape(sets, number, self.nodes)


def _laws(masses: FloatArray) -> FloatArray:
    laws: FloatArray = masses / np.maximum(masses.sum(axis=-1, keepdims=True), _TINY)
    return laws
