r"""What other samples from the same population would have shown, drawn from the sketches alone.

A redraw shares the records anew over the cells (multinomial), and in each cell the level of the
record of rank r among n is Beta(r, n + 1 - r); all k of them together are the running sums of
gamma spacings. The cell's quantile function turns levels into values: joined linearly between those
sent, a step next to repeated ones. Bin means move like the value at the middle of their redrawn bin.

Mixtures are not sorted again. Every value has a coordinate, its rank in the pooled law, and
redrawn values are counted in narrow bins of that coordinate, group by group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.diagnostics.gamma_variables import GammaVariables
from fedparity.federated.centers import step_ends
from fedparity.federated.federation import Federation
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.levels import midpoints

__all__ = ["BINS", "NullReader", "Redraw", "Resampler", "cdfs_of"]

BINS = 2048
"""Bins of the pooled rank."""
_BETWEEN = 16
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Redraw:
    """One redrawn federation: what its cells hold, and where."""

    counts: FloatArray
    """Records of each cell."""
    values: FloatArray
    """Redrawn values of all cells, one after the other."""
    bins: IntArray
    """Bin of each value on the pooled coordinate."""


class Resampler:
    """Everything about a federation that redraws share."""

    def __init__(
        self, federation: Federation, levels: int, trim: float = 0.0, *, between: int = _BETWEEN
    ) -> None:
        self.federation, self.between = federation, between
        self.grid = midpoints(levels, trim=trim)
        self.sizes, self.starts = federation.levels, federation.offsets[:-1]
        self.first = np.repeat(self.starts, self.sizes)
        self.size_of = np.repeat(self.sizes, self.sizes).astype(np.float64)
        self.total = round(float(federation.counts.sum()))
        self.probabilities = federation.counts / federation.counts.sum()
        coordinate, self.scores = _coordinates(federation)
        self.score_widths = np.diff(self.scores)
        self.knots = _with_slopes(federation, federation.values, coordinate)
        self.jumps = _jumps(federation)
        self.spacings = GammaVariables(_spacings(federation))
        self.groups_shift = np.repeat(federation.group_of * BINS, self.sizes)
        self.read_at = self._positions_on_grid()

    def undisturbed(self) -> Redraw:
        """Return the federation itself, read in the same way as its redraws."""
        counts = self.federation.counts.astype(np.float64)
        return Redraw(counts, self.federation.values, _bins(self.knots[:, 2]))

    def population_masses(self) -> FloatArray:
        """Return the mass in each bin of the laws that redraws are drawn from.

        Redraws are sketched again, these are not: their quantile functions are read at many
        levels between those of the sketch, so that noise does not count the sketch twice.
        """
        groups = len(self.federation.groups)
        masses = np.zeros(groups * BINS)
        weights = np.repeat(self.federation.counts / self.sizes / self.between, self.sizes)
        step_of = np.arange(self.first.size) - self.first
        for part in (np.arange(self.between) + 0.5) / self.between - 0.5:
            _, coordinates = self._read(np.clip(step_of + part, 0.0, self.size_of - 1.0))
            bins = _bins(coordinates) + self.groups_shift
            masses += np.bincount(bins, weights, groups * BINS)
        return masses.reshape(groups, BINS)

    def draw(self, seed: np.random.SeedSequence) -> Redraw:
        """Return one redraw; equal seeds give equal redraws."""
        random = np.random.Generator(np.random.SFC64(seed))
        counts = random.multinomial(self.total, self.probabilities).astype(np.float64)
        return self._redraw(counts, self.spacings.normal(random))

    def mirrored_pair(self, seed: np.random.SeedSequence) -> tuple[Redraw, Redraw]:
        """Return a redraw and its mirror image, whose noise has the opposite sign.

        Counts and normal variables are reflected at their means. What is linear in the noise
        cancels in the mean of the two; what the sketch does to every redraw remains.
        """
        random = np.random.Generator(np.random.SFC64(seed))
        counts = random.multinomial(self.total, self.probabilities).astype(np.float64)
        mirrored = np.maximum(2 * self.total * self.probabilities - counts, 0.0)
        normal = self.spacings.normal(random)
        return self._redraw(counts, normal.copy()), self._redraw(mirrored, -normal)

    def _redraw(self, counts: FloatArray, normal: FloatArray) -> Redraw:
        position = self._levels(self.spacings.of(normal))
        position *= self.size_of
        position -= 0.5
        np.clip(position, 0.0, self.size_of - 1.0, out=position)
        values, coordinates = self._read(position)
        return Redraw(counts, values, _bins(coordinates))

    def _read(self, position: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return value and coordinate at a position among the values of each cell."""
        before = position.astype(np.int64)
        part = position - before
        before += self.first
        jumps = self.jumps[before]
        part[jumps] = np.round(part[jumps])
        value, value_step, rank, rank_step = np.take(self.knots, before, axis=0).T
        return value + part * value_step, rank + part * rank_step

    def cell_quantiles(self, redraw: Redraw) -> FloatArray:
        """Return the quantiles of each cell (rows) on the grid (columns)."""
        return redraw.values[self.read_at]

    def own_masses(self, redraw: Redraw, weights_of_cells: FloatArray) -> FloatArray:
        """Return the mass in each bin (columns) of mixtures of each group's own cells (rows)."""
        groups = len(self.federation.groups)
        weights = np.repeat(weights_of_cells / self.sizes, self.sizes)
        masses = np.bincount(redraw.bins + self.groups_shift, weights, groups * BINS)
        return masses.astype(np.float64, copy=False).reshape(groups, BINS)

    def masses(self, redraw: Redraw, weights: FloatArray) -> FloatArray:
        """Return the mass in each bin of mixtures with these ``weights`` of the cells."""
        rows = [np.repeat(row / self.sizes, self.sizes) for row in weights]
        return np.stack([np.bincount(redraw.bins, row, BINS) for row in rows])

    def coordinates(self, masses: FloatArray) -> FloatArray:
        """Return where laws, given by their mass in each bin (rows), reach the grid (columns)."""
        return np.stack([_reached(np.cumsum(mass), self.grid) for mass in masses])

    def scores_at(self, coordinates: FloatArray) -> FloatArray:
        """Return the scores that lie at these coordinates, joined linearly between bins."""
        at = np.minimum(coordinates.astype(np.int64), BINS - 1)
        return self.scores[at] + (coordinates - at) * self.score_widths[at]

    def quantiles(self, masses: FloatArray) -> FloatArray:
        """Return the quantiles on the grid of laws given by their mass in each bin."""
        return self.scores_at(self.coordinates(masses))

    def _levels(self, spacings: FloatArray) -> FloatArray:
        """Levels of the redrawn values: running sums of spacings, as shares of their total."""
        running = np.cumsum(spacings)
        ends = self.starts + np.arange(1, self.sizes.size + 1) + self.sizes - 1
        running -= np.repeat(np.append(0.0, running[ends[:-1]]), self.sizes + 1)
        inside = np.ones(running.size, dtype=bool)
        inside[ends] = False
        total = np.repeat(np.maximum(running[ends], 1e-300), self.sizes)
        level: FloatArray = running[inside] / total
        if self.federation.kind == "quantile":
            return level
        left = np.concatenate(([0.0], level[:-1]))
        left[self.starts] = 0.0
        middle: FloatArray = (left + level) / 2  # of each redrawn bin
        return middle

    def _positions_on_grid(self) -> IntArray:
        """Which value of each cell (rows) is its quantile at each level of the grid."""
        at = np.empty((self.sizes.size, self.grid.size), dtype=np.int64)
        for size in np.unique(self.sizes):
            same = self.sizes == size
            steps = np.searchsorted(step_ends(int(size)), self.grid - 1e-12, side="left")
            at[same] = self.starts[same, None] + steps
        return at


class NullReader:
    """Reads redrawn noise as if all groups had one law: the pooled one.

    The noise of a group's cdf, redrawn minus own, is added to the pooled cdf. Noise of cdfs does
    not depend on how rough a small cell's quantile function is, noise of quantiles would.
    """

    def __init__(self, resampler: Resampler, population: FloatArray) -> None:
        self.resampler = resampler
        self.own = cdfs_of(population)
        self.pooled = cdfs_of(population.sum(axis=0, keepdims=True))[0]
        self.center = resampler.scores_at(_reached(self.pooled, resampler.grid))

    def noise(self, cdfs: FloatArray) -> FloatArray:
        """Return the noise of each group's quantiles (rows), given its redrawn cdf."""
        moved = np.maximum.accumulate(self.pooled + (cdfs - self.own), axis=1)
        reached = np.stack([_reached(row, self.resampler.grid) for row in moved])
        return self.resampler.scores_at(reached) - self.center


def cdfs_of(masses: FloatArray) -> FloatArray:
    """Return the cdfs of laws given by their mass in each bin (rows)."""
    running = np.cumsum(masses, axis=1)
    cdfs: FloatArray = running / np.maximum(running[:, -1:], 1e-300)
    return cdfs


def _spacings(federation: Federation) -> FloatArray:
    """Shapes of the gamma spacings of all cells: one per value, and what lies behind the last.

    Quantiles are records of rank ceil(n u); between two of them lie their difference of records.
    Bins of a mean sketch hold n/k records each.
    """
    counts = np.repeat(federation.counts, federation.levels + 1)
    sizes = np.repeat(federation.levels, federation.levels + 1)
    starts = federation.offsets[:-1] + np.arange(federation.levels.size)
    position = np.arange(sizes.size) - np.repeat(starts, federation.levels + 1) + 1
    if federation.kind == "mean":
        return np.where(position <= sizes, counts / sizes, 0.0)
    rank = np.ceil(counts * (2 * position - 1) / (2 * sizes) - 1e-9)
    rank = np.where(position <= sizes, rank, counts + 1)
    before = np.concatenate(([0.0], rank[:-1]))
    before[starts] = 0.0
    spacings: FloatArray = np.maximum(rank - before, 0.0)
    return spacings


def _with_slopes(federation: Federation, values: FloatArray, coordinate: FloatArray) -> FloatArray:
    """Value and step to the next one, coordinate and step to the next one, of each value."""
    columns = []
    for column in (values, coordinate):
        steps = np.append(np.diff(column), 0.0)
        steps[federation.offsets[1:] - 1] = 0.0
        columns += [column, steps]
    return np.stack(columns, axis=1)


def _jumps(federation: Federation) -> npt.NDArray[np.bool_]:
    """Whether the values after this one jump from atom to atom, with nothing in between.

    Values are joined linearly, but not next to a repeated one: tied scores are atoms, and the
    quantile function is a step there.
    """
    same = np.append(federation.values[1:] == federation.values[:-1], False)
    same[federation.offsets[1:] - 1] = False
    tied_before = np.concatenate(([False], same[:-1]))
    tied_after = np.append(same[1:], False)
    jumps: npt.NDArray[np.bool_] = ~same & (tied_before | tied_after)
    return jumps


def _reached(running: FloatArray, levels: FloatArray) -> FloatArray:
    """Where, in bins and parts of them, a running mass reaches each level."""
    targets = levels * running[-1]
    at = np.minimum(np.searchsorted(running, targets), running.size - 1)
    mass = running[at] - np.where(at > 0, running[at - 1], 0.0)
    missing = (running[at] - targets) / np.maximum(mass, 1e-300)
    reached: FloatArray = at + 1 - np.clip(missing, 0.0, 1.0)
    return reached


def _bins(coordinate: FloatArray) -> IntArray:
    return np.minimum((coordinate * BINS).astype(np.int64), BINS - 1)


def _coordinates(federation: Federation) -> tuple[FloatArray, FloatArray]:
    """The pooled mid-rank of every value, and the score at the edges of equal bins of it."""
    pool = federation.pool
    mass = (federation.counts / federation.levels)[pool.cells]
    distinct, inverse = np.unique(pool.atoms, return_inverse=True)
    at_value = np.bincount(inverse, mass)
    upto = np.cumsum(at_value)
    middle: FloatArray = (upto - at_value / 2) / upto[-1]
    coordinate = np.empty(pool.atoms.size)
    coordinate[pool.order] = middle[inverse]
    edges = np.arange(BINS + 1) / BINS
    return coordinate, np.interp(edges, middle, distinct)
