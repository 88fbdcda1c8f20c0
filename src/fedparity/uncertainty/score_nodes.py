"""Laws as masses at a few hundred scores: how many redraws are mixed and read at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fedparity.laws.arrays import FloatArray, IntArray
from fedparity.laws.refinement import QuantileTable
from fedparity.sketches.grids import midpoints

if TYPE_CHECKING:
    from fedparity.uncertainty.resampling import Mixtures, Resolution

__all__ = ["PlacedAtoms", "ReadCurves", "ScoreNodes"]

_TINY = 1e-300
_HALVES = 6
"""How often the outermost level is cut into halves."""


class ReadCurves(NamedTuple):
    """Quantile functions of several sets of laws, and the levels at which they were read."""

    levels: FloatArray
    """Sets by intervals; one row if all sets are read at the same levels."""
    table: QuantileTable
    """Sets by laws by intervals."""


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
        before = np.searchsorted(scores, values.ravel(), side="right").reshape(values.shape) - 1
        np.clip(before, 0, scores.size - 2, out=before)
        left = scores[before]
        part = (values - left) / (scores[before + 1] - left)
        return PlacedAtoms(before, np.clip(part, 0.0, 1.0, out=part), scores.size)

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
            return ReadCurves(middle, QuantileTable(widths, self.quantiles(cdfs, middle)))
        if levels:
            grid = midpoints(levels, trim=trim)[None]
            widths = np.full((1, levels), (1 - 2 * trim) / levels)
        else:
            number = finer * self.levels
            outer = 0.5 ** np.arange(_HALVES, 0, -1) / number
            even = np.arange(number + 1) / number
            edges = np.concatenate(([0.0], outer, even[1:-1], 1 - outer[::-1], [1.0]))
            edges = trim + (1 - 2 * trim) * edges
            widths = np.diff(edges)[None]
            grid = (edges[:-1] + edges[1:])[None] / 2
        return ReadCurves(grid, QuantileTable(widths, self.quantiles(cdfs, grid)))

    def quantiles(self, cdfs: FloatArray, levels: FloatArray) -> FloatArray:
        """Return quantiles (sets by laws by levels), given cdfs and the levels of each set."""
        sets, laws, nodes = cdfs.shape
        rows = np.arange(sets * laws).reshape(sets, laws, 1)
        # One search for all laws: each lies two above the one before.
        stacked = (cdfs + 2 * rows).ravel()
        wanted = np.broadcast_to(levels[:, None, :], (sets, laws, levels.shape[1])) + 2 * rows
        at = np.searchsorted(stacked, wanted.ravel(), side="left").reshape(wanted.shape)
        at -= rows * nodes
        if self.steps:
            exact: FloatArray = self.scores[np.clip(at, 0, nodes - 1)]
            return exact
        np.clip(at, 1, nodes - 1, out=at)
        flat = at + rows * nodes
        right, left = stacked[flat], stacked[flat - 1]
        rise = right - left
        part = np.divide(wanted - left, rise, out=np.ones_like(rise), where=rise > 0)
        low = self.scores[at - 1]
        value: FloatArray = low + np.clip(part, 0.0, 1.0) * (self.scores[at] - low)
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
        sets = len(self.before)
        rows = np.arange(sets)[:, None] * number + laws
        at = (rows * self.nodes + self.before).ravel()
        beyond = (weights * self.part).ravel()
        size = sets * number * self.nodes
        total: FloatArray = np.bincount(at, weights.ravel() - beyond, size).astype(
            np.float64, copy=False
        )
        total[1:] += np.bincount(at, beyond, size)[:-1]
        return total.reshape(sets, number, self.nodes)


def _laws(masses: FloatArray) -> FloatArray:
    laws: FloatArray = masses / np.maximum(masses.sum(axis=-1, keepdims=True), _TINY)
    return laws
