r"""What other samples from the same population would have shown, drawn from the sketches alone.

A redraw repeats the whole audit. Records are shared anew over the cells (multinomial). In each cell
the levels at which its bins begin and end are drawn as those of ordered records are: running sums of
gamma spacings. A **continuous** law of the cell turns them into records, never the staircase of its
values; what lies between two ends is averaged, **sketched with the same k**, rounded as the silo rounds,
and read by the same estimator. So the sampling noise and the sketch's own error are both in a redraw,
and neither has a floor that more records would not remove.

Under the null hypothesis every group has the pooled law. The law of a cell is then carried along by
the map that takes its group's mixture to the pooled one, :math:`Q_{pool} \circ F_s`, and sketched with
the cell's own k: a small group's coarser sketch is part of the noise, not of the disparity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from fedparity.federated.clumps import torn_shapes
from fedparity.federated.federation import Federation
from fedparity.federated.reconstruction import (
    BinCuts,
    BinShapes,
    CellLayout,
    mean_shapes,
    quantile_shapes,
)
from fedparity.functionals.curves import counterfactuals
from fedparity.laws.law import FloatArray, IntArray
from fedparity.uncertainty.score_nodes import ScoreNodes, blocks

__all__ = [
    "GammaVariables",
    "Mixtures",
    "Resampler",
    "Resolution",
    "keep_freed_memory",
    "resampler",
]


class GammaVariables:
    r"""Gamma variables of given shapes, by the cube of a normal one (Wilson and Hilferty).

    :math:`a (1 - \frac{1}{9a} + \frac{z}{3\sqrt a})^3` has the mean, the variance and the skewness
    of Gamma(a) to within a few per cent even for a = 1, at a tenth of the cost. Gamma(0) is 0.
    """

    def __init__(self, shapes: FloatArray) -> None:
        positive = np.maximum(shapes, 1e-9)
        root = np.cbrt(shapes)
        self.location = root * (1 - 1 / (9 * positive))
        self.scale = root / (3 * np.sqrt(positive))

    def draw(self, random: np.random.Generator) -> FloatArray:
        """Return one variable of each shape."""
        return self.of(self.normal(random))

    def normal(self, random: np.random.Generator) -> FloatArray:
        """Return one standard normal variable for each shape."""
        normal: FloatArray = random.standard_normal(self.scale.size)
        return normal

    def of(self, draws: FloatArray) -> FloatArray:
        """Return the variable of each shape that these normal ones give; they are used up."""
        draws *= self.scale
        draws += self.location
        np.maximum(draws, 0.0, out=draws)
        cubes: FloatArray = draws * draws * draws
        return cubes


_LARGEST = 31 << 20
"""Bytes; glibc learns no size above 32 MB."""


@cache
def keep_freed_memory() -> None:
    """Let the C library reuse what large arrays free, once for this process.

    glibc takes an array above some size from the system and gives it back when it is freed, so
    that every page of the next one is faulted in again: a third of the page faults of an audit. The
    size is 128 kB until a larger block is freed; so one is freed here, untouched. Other C libraries
    take no notice.
    """
    np.empty(_LARGEST, dtype=np.uint8)


_NUMBERS_AT_ONCE = 1_500_000
_TINY = 1e-300
_ROUNDED_LEVELS = 100
_FINER = 8
"""The population is cut finer than redraws: its atoms do not scatter, and would show as steps."""
_OUTER = 16
"""Records of an outer bin that are drawn one by one, at most."""
_CLUMPS = 0.1
"""Scores lie in clumps where laws without holes lack this share of the mean squares.

Of Beta laws they lack at most a hundredth, of lognormal ones a fifteenth; of two clumps more than half.
"""
_MATTERS = 0.002
"""Share of the variance: bins of single records lack much of the little that they hold."""
_NULL_BINS = 128
"""Bins of a cell's law under the null hypothesis, at least."""


class Resolution(NamedTuple):
    """How finely redraws are read; the whole is read finer than each silo."""

    nodes: int = 320
    """Scores at which distribution functions are known."""
    levels: int = 200
    """Levels at which quantile functions are read."""
    atoms: int = 128
    """Atoms into which the law of a cell is cut, at least."""


class Mixtures(NamedTuple):
    """Laws of the groups in several redraws, as masses at the nodes: redraws by groups by nodes."""

    shares: FloatArray
    """Share of each group: redraws by groups."""
    own: FloatArray
    no_selection: FloatArray | None
    """Every group spread over the silos as all records are; None if it was not requested."""
    local_parity: FloatArray | None
    """Every group with its silo's pooled law; None if it was not requested."""

    @classmethod
    def joined(cls, parts: Iterable[Mixtures]) -> Mixtures:
        """Return redraws that were put together in parts, one after the other."""
        shares, own, no_selection, local_parity = zip(*parts, strict=True)
        return cls(
            np.concatenate(shares),
            np.concatenate(own),
            None if no_selection[0] is None else np.concatenate(no_selection),
            None if local_parity[0] is None else np.concatenate(local_parity),
        )


class Resampler(Protocol):
    """Draws the mixtures of other samples from the same population."""

    nodes: ScoreNodes
    population: Mixtures
    """What redraws are drawn from: one set of mixtures, neither sampled nor sketched."""

    def redraws(
        self, number: int, random: np.random.Generator, *, details: bool
    ) -> Iterator[Mixtures]:
        """Yield the given number of redraws, several at a time."""
        ...

    def null_redraws(self, number: int, random: np.random.Generator) -> Iterator[Mixtures]:
        """Yield the given number of redraws of groups that all have the pooled law."""
        ...


def resampler(
    federation: Federation, *, exact: bool, details: bool, resolution: Resolution
) -> Resampler:
    """Return what redraws a federation; ``exact`` if the estimator reads reconstructed cells."""
    if federation.kind == "counts":
        return _CountsResampler(federation.reconstructed, details=details)
    return _SketchResampler(federation, exact=exact, details=details, resolution=resolution)


class _SketchResampler:
    """Redraws of cells of quantiles or bin means."""

    def __init__(
        self, federation: Federation, *, exact: bool, details: bool, resolution: Resolution
    ) -> None:
        self.federation, self.exact = federation, exact and federation.kind == "mean"
        self.layout = CellLayout.of(federation.levels)
        self.error = float(federation.value_errors.max())
        self.per_bin = federation.effective / federation.levels
        cells = np.repeat(np.arange(federation.levels.size), federation.levels)
        level = (np.arange(cells.size) - self.layout.starts[cells] + 0.5) / federation.levels[
            cells
        ]
        self.move_of = federation.group_of[cells] * _ROUNDED_LEVELS + (
            level * _ROUNDED_LEVELS
        ).astype(np.int64)
        self.cells = cells
        self.spacings = GammaVariables(self._spacing_shapes())
        self.laws = self._own_laws()
        finer = _FINER if federation.counts.size * resolution.atoms < _NUMBERS_AT_ONCE else 1
        law_atoms = BinCuts.of(self.laws.layout, finer * resolution.atoms)
        values = law_atoms.values(self.laws.shapes)
        mass = law_atoms.mass * federation.counts[law_atoms.cell_of]
        self.nodes = ScoreNodes.from_values(values, mass, resolution)
        self.weigher = _Weigher(federation, details=details)
        counts = federation.counts.astype(np.float64)[None]
        self.population = self.weigher.mixtures(self.nodes, values[None], counts, law_atoms)
        self.atoms = BinCuts.of(self.layout, resolution.atoms if self.exact else 1)
        self.null = self._null_laws()

    def redraws(
        self, number: int, random: np.random.Generator, *, details: bool
    ) -> Iterator[Mixtures]:
        """Yield the given number of redraws, several at a time."""
        return self._drawn(self.laws, number, random, details=details)

    def null_redraws(self, number: int, random: np.random.Generator) -> Iterator[Mixtures]:
        """Yield the given number of redraws of groups that all have the pooled law."""
        return self._drawn(self.null, number, random, details=False)

    def _drawn(
        self, laws: _Laws, number: int, random: np.random.Generator, *, details: bool
    ) -> Iterator[Mixtures]:
        federation = self.federation
        held = len(federation.silos) * self.nodes.scores.size if details else 0
        chunk = max(1, _NUMBERS_AT_ONCE // max(self.atoms.cell_of.size, held))
        scale = federation.counts / federation.effective
        total = round(float(federation.effective.sum()))
        probabilities = federation.effective / federation.effective.sum()
        weigher = self.weigher if details else self.weigher.plain
        for start in range(0, number, chunk):
            size = min(chunk, number - start)
            counts = random.multinomial(total, probabilities, size) * scale
            values, squares = self._sketched(laws, size, random)
            yield Mixtures.joined(
                weigher.mixtures(
                    self.nodes,
                    self._atoms(values[rows], squares[rows]) if self.exact else values[rows],
                    counts[rows],
                    self.atoms,
                )
                for rows in blocks(size, self.atoms.cell_of.size)
            )

    def _atoms(self, means: FloatArray, squares: FloatArray) -> FloatArray:
        """The atoms of the laws that an auditor reconstructs from what silos sent."""
        shapes = mean_shapes(
            means,
            self.layout,
            mean_squares=squares,
            mean_square_errors=self.federation.mean_square_errors,
            value_error=self.error,
            bounds=self.federation.score_range,
        )
        return self.atoms.values(shapes)

    def _sketched(
        self, laws: _Laws, size: int, random: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """What silos would send: redraws by values, and redraws by the mean squares of cells."""
        normal = random.standard_normal((size, self.spacings.scale.size))
        levels = self._levels(self.spacings.of(normal))
        bins, part = laws.places(levels, self.boundary_cells)
        shapes = laws.shapes.at(bins)
        if self.federation.kind == "quantile":
            return self._rounded(
                shapes.quantile(part), random, alike=laws is self.null
            ), self.federation.mean_squares
        ends, integral = shapes.quantile_and_integral(part)
        integral += laws.running.take(bins)
        inside = np.ones(levels.shape[1], dtype=bool)
        inside[self.boundary_starts] = False
        (after,) = np.nonzero(inside)
        width = np.diff(levels, axis=1).take(after - 1, axis=1)
        width *= laws.bins_of(self.boundary_cells[after])
        means = np.diff(integral, axis=1).take(after - 1, axis=1)
        means /= np.maximum(width, _TINY, out=width)
        # The records between two ends are a sample too; their mean scatters around the law's.
        low, high = ends.take(after - 1, axis=1), ends.take(after, axis=1)
        records = np.maximum(np.repeat(self.per_bin, self.layout.levels), 1.0)
        variance = (high - low) ** 2 / 12
        moved = random.standard_normal(means.shape) * np.sqrt(variance / records)
        variance *= 1 - 1 / records
        for outer in (self.layout.starts, self.layout.ends):
            between = levels[:, after[outer] - 1], levels[:, after[outer]]
            own = laws.drawn(*between, records[outer], random)
            expected = laws.variances(*between, means[:, outer])
            moved[:, outer] = (own.means - means[:, outer]) * own.scale
            variance[:, outer] = expected * (1 - 1 / records[outer]) + own.scale * (
                own.variances - expected * (1 - 1 / own.records)
            )
        means = np.clip(means + moved, low, high)
        variance = np.maximum(variance, 0.0)
        within = np.add.reduceat(variance, self.layout.starts, axis=1) / self.layout.levels
        within[:, np.isnan(self.federation.mean_squares)] = np.nan
        step = 2 * self.federation.mean_square_errors
        np.divide(within, step, out=within, where=step > 0)
        np.rint(within, out=within, where=step > 0)
        np.multiply(within, step, out=within, where=step > 0)
        return self._rounded(means, random, alike=laws is self.null), within

    def _rounded(
        self, values: FloatArray, random: np.random.Generator, *, alike: bool
    ) -> FloatArray:
        """The values as far off as rounding may have moved those of the silos, in order again.

        Rounding them would move nothing: the laws lie on the grid already. Rounding moves like laws alike. So
        cells of one group are moved alike at equal levels; under the null hypothesis, where all groups
        have one law, values of all cells are rounded ``alike``, on a grid that is moved at every point.
        """
        if not self.error:
            return values
        if alike:
            position = values / (2 * self.error)
            nearest = np.rint(position)
            nearest = (nearest - nearest.min()).astype(np.int32).astype(np.int64)
            start = random.random((len(values), nearest.max() + 1)) - 0.5
            own = np.take_along_axis(start, nearest, axis=1)
            moved: FloatArray = (np.rint(position + own) - own) * (2 * self.error)
        else:
            groups = len(self.federation.groups)
            moves = self.error * (2 * random.random((len(values), groups * _ROUNDED_LEVELS)) - 1)
            moved = moves.take(self.move_of, axis=1)
            moved += values
        # So far apart that the values of a cell end before those of the next, also of a heavy tail.
        apart = self.cells * (float(np.ptp(moved)) + self.error)
        moved += apart
        np.maximum.accumulate(moved, axis=1, out=moved)
        moved -= apart
        return moved

    def _spacing_shapes(self) -> FloatArray:
        """Shapes of the gamma spacings of all cells, and where the levels of each cell start.

        Bins of means begin and end half a record before and after their records. Quantiles are
        records of rank ceil(n u); what lies behind the last belongs to no level.
        """
        sizes, starts = self.layout
        cells = np.arange(sizes.size)
        if self.federation.kind == "mean":
            self.boundary_starts = starts + cells
            self.boundary_cells = np.repeat(cells, sizes + 1)
            shapes = np.repeat(self.per_bin, sizes + 2)
            self.spacing_starts = starts + 2 * cells
            shapes[self.spacing_starts] = shapes[self.spacing_starts + sizes + 1] = 0.5
            return shapes
        self.boundary_starts, self.boundary_cells = starts, np.repeat(cells, sizes)
        self.spacing_starts = starts + cells
        counts = np.repeat(self.federation.effective, sizes + 1)
        of = np.repeat(sizes, sizes + 1)
        position = np.arange(of.size) - np.repeat(self.spacing_starts, sizes + 1) + 1
        rank = np.ceil(counts * (2 * position - 1) / (2 * of) - 1e-9)
        rank = np.where(position <= of, rank, counts + 1)
        before = np.concatenate(([0.0], rank[:-1]))
        before[self.spacing_starts] = 0.0
        spacings: FloatArray = np.maximum(rank - before, 0.0)
        return spacings

    def _levels(self, spacings: FloatArray) -> FloatArray:
        """Running sums of spacings as shares of their cell's total, without the last of each."""
        running = np.cumsum(spacings, axis=1)
        last = np.append(self.spacing_starts[1:], running.shape[1]) - 1
        before = np.concatenate((np.zeros((len(running), 1)), running[:, last[:-1]]), axis=1)
        kept = np.delete(np.arange(running.shape[1]), last)
        total = np.maximum(running[:, last] - before, _TINY)
        cells = self.boundary_cells
        level: FloatArray = running.take(kept, axis=1)
        level -= before.take(cells, axis=1)
        level /= total.take(cells, axis=1)
        return level

    def _own_laws(self) -> _Laws:
        federation = self.federation
        if federation.kind == "quantile":
            shapes = quantile_shapes(
                federation.values,
                self.layout,
                value_error=self.error,
                bounds=federation.score_range,
            )
            return _Laws.of(shapes, self.layout)
        # Of mean squares that rounding leaves open the largest: too much noise is the safe side.
        squares = federation.mean_squares + federation.mean_square_errors
        shapes = mean_shapes(
            federation.values,
            self.layout,
            mean_squares=squares,
            value_error=self.error,
            bounds=federation.score_range,
        )
        missing = np.nan_to_num(squares) - shapes.mean_squares(self.layout)
        certain = missing - 2 * federation.mean_square_errors
        if self._has_clumps(np.where(np.isnan(squares), 0.0, certain)):
            return _Laws.of(*torn_shapes(shapes, self.layout, np.maximum(missing, 0.0)))
        return _Laws.of(shapes, self.layout)

    def _has_clumps(self, missing: FloatArray) -> bool:
        """Whether the laws of cells hold clearly less variance inside bins than their messages say."""
        federation = self.federation
        share = federation.counts / federation.counts.sum()
        inside = float(np.sum(share * np.nan_to_num(federation.mean_squares)))
        weights = (share / federation.levels)[self.cells]
        mean = np.sum(weights * federation.values)
        between = float(np.sum(weights * (federation.values - mean) ** 2))
        lacking = float(np.sum(share * np.maximum(missing, 0.0)))
        return lacking > max(_CLUMPS * inside, _MATTERS * (inside + between))

    def _null_laws(self) -> _Laws:
        """The laws of the cells if every group had the pooled law."""
        federation = self.federation
        sizes = self.layout.levels * -(-_NULL_BINS // self.layout.levels)
        layout = CellLayout.of(sizes)
        cells = np.repeat(np.arange(sizes.size), sizes)
        place = np.arange(cells.size) - np.repeat(layout.starts, sizes)
        groups = federation.group_of[cells]
        ends = []
        for part in (0.0, 0.5, 1.0):
            bins, within = self.laws.places(((place + part) / sizes[cells])[None], cells)
            scores = self.laws.shapes.at(bins).quantile(within)[0]
            ends.append(self.nodes.carried(scores, groups, self.population))
        return _Laws.of(BinShapes.halved(*ends), layout)


@dataclass(frozen=True, eq=False)
class _Laws:
    """Continuous laws of all cells, from which records are drawn."""

    shapes: BinShapes
    layout: CellLayout
    running: FloatArray
    """The integral of the quantile function up to the left of each bin, times the cell's bins."""
    running_squares: FloatArray
    """The same of its squared distance from the origin."""
    origin: float

    @classmethod
    def of(cls, shapes: BinShapes, layout: CellLayout) -> _Laws:
        """Return the laws of these shapes."""
        origin = float(np.median(shapes.middle))
        means, squares = shapes.means(), shapes.around(origin).square_integral()
        before = [np.cumsum(column) - column for column in (means, squares)]
        running, running_squares = (
            column - np.repeat(column[layout.starts], layout.levels) for column in before
        )
        return cls(shapes, layout, running, running_squares, origin)

    def variances(self, low: FloatArray, high: FloatArray, means: FloatArray) -> FloatArray:
        """Return the variance of each cell between two levels, around its mean there: sets by cells."""
        cells = np.arange(low.shape[1])
        upper, lower = (
            self.running_squares[bins]
            + self.shapes.at(bins).around(self.origin).square_integral(part)
            for bins, part in (self.places(high, cells), self.places(low, cells))
        )
        square = (upper - lower) / np.maximum((high - low) * self.layout.levels, _TINY)
        variance: FloatArray = np.maximum(square - (means - self.origin) ** 2, 0.0)
        return variance

    def places(self, levels: FloatArray, cells: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the bin, and the part of it, at which each level of each cell lies."""
        size = self.layout.levels[cells]
        position = levels * size
        bins = np.minimum(position.astype(np.int32), size - 1)  # far faster than to 64 bits
        position -= bins
        bins += self.layout.starts[cells]
        return bins, position

    def drawn(
        self, low: FloatArray, high: FloatArray, records: FloatArray, random: np.random.Generator
    ) -> _DrawnRecords:
        """Return the given number of records of each cell between two levels, drawn one by one.

        Sets by cells. The outer bins of a heavy tail are neither even nor normal: one record may
        hold most of their variance.
        """
        number = np.clip(np.rint(records), 1, _OUTER)
        own = np.arange(_OUTER) < number[:, None]
        levels = low[..., None] + (high - low)[..., None] * random.random((*low.shape, _OUTER))
        cells = np.repeat(np.arange(records.size), _OUTER)
        places = self.places(levels.reshape(len(low), -1), cells)
        scores = self.shapes.at(places[0]).quantile(places[1]).reshape(levels.shape)
        mean = np.sum(scores, axis=-1, where=own) / number
        variance = np.sum((scores - mean[..., None]) ** 2, axis=-1, where=own) / number
        return _DrawnRecords(mean, variance, number, np.sqrt(np.minimum(number / records, 1.0)))

    def bins_of(self, cells: IntArray) -> IntArray:
        """Return the number of bins of these cells."""
        return self.layout.levels[cells]


class _DrawnRecords(NamedTuple):
    """Records drawn between two levels of each cell."""

    means: FloatArray
    variances: FloatArray
    records: FloatArray
    """How many were drawn in each cell, at most ``_OUTER``."""
    scale: FloatArray
    """How much less the mean of all records scatters than that of those drawn."""


class _Weigher:
    """Puts the atoms of cells together to mixtures."""

    def __init__(self, federation: Federation, *, details: bool) -> None:
        self.federation, self.details = federation, details

    @property
    def plain(self) -> _Weigher:
        """The same without the counterfactuals."""
        return _Weigher(self.federation, details=False)

    def mixtures(
        self, nodes: ScoreNodes, values: FloatArray, counts: FloatArray, atoms: BinCuts
    ) -> Mixtures:
        """Return the mixtures of cells with these ``counts``, given their atoms' ``values``."""
        federation = self.federation
        number = len(federation.groups)
        totals = np.zeros((len(counts), number))
        for group in range(number):
            totals[:, group] = counts[:, federation.group_of == group].sum(axis=1)
        placed = nodes.place(values)
        cells, mass = atoms.cell_of, atoms.mass
        groups = federation.group_of[cells]
        counted = placed.divided(counts.take(cells, axis=1) * mass)
        own = counted.masses(groups, number)
        shares = totals / totals.sum(axis=1, keepdims=True)
        if not self.details:
            return Mixtures(shares, own, None, None)
        silos = federation.silo_of[cells]
        of_silo = _tabulated(federation, counts).sum(axis=2)
        spread = placed.masses(of_silo.take(silos, axis=1) * mass, groups, number)
        pooled = counted.masses(silos, len(federation.silos))
        return Mixtures(shares, own, *_counterfactuals(federation, counts, spread, pooled))


def _counterfactuals(
    federation: Federation, counts: FloatArray, spread: FloatArray, pooled: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""The mixtures without selection, and those with local parity, in every redraw.

    ``spread`` holds the groups' own cells, each counted by all records of its silo, and ``pooled``
    the records of each silo. A silo that lacks a group counts with its pooled records.
    """
    # Not BLAS: with many silos the last bits of its products depend on the number of threads.
    table = _tabulated(federation, counts)
    lacking, _, share = (np.moveaxis(change, 1, 2) for change in counterfactuals(table))
    if lacking.any():
        spread = spread + np.einsum("rgs,rsk->rgk", lacking.astype(np.float64), pooled)
    return spread, np.einsum("rgs,rsk->rgk", share, pooled)


def _tabulated(federation: Federation, counts: FloatArray) -> FloatArray:
    """Counts of cells by redraw, silo and group; zero where a silo lacks the group."""
    table = np.zeros((len(counts), len(federation.silos), len(federation.groups)))
    table[:, federation.silo_of, federation.group_of] = counts
    return table


class _CountsResampler:
    """Redraws of cells that were counted at the points of a grid."""

    def __init__(self, federation: Federation, *, details: bool) -> None:
        self.federation = federation
        self.cell_of = np.repeat(np.arange(federation.levels.size), federation.levels)
        self.nodes = ScoreNodes.at(np.unique(federation.values))
        self.node_of = np.searchsorted(self.nodes.scores, federation.values)
        share = federation.parts / federation.units[self.cell_of]
        self.scale = (federation.counts / federation.effective)[self.cell_of]
        self.expected = federation.effective[self.cell_of] * share
        self.details = details
        self.population = self._mixtures((self.expected * self.scale)[None], details=details)

    def redraws(
        self, number: int, random: np.random.Generator, *, details: bool
    ) -> Iterator[Mixtures]:
        """Yield the given number of redraws, several at a time."""
        return self._drawn(self.expected, number, random, details=details)

    def null_redraws(self, number: int, random: np.random.Generator) -> Iterator[Mixtures]:
        """Yield the given number of redraws of groups that all have the pooled law.

        A cell's share of its group's records at a score stays as it is; the group has as many there
        as all groups together. Where it has none, its cells share them by their records.
        """
        groups = self.federation.group_of[self.cell_of]
        own = self.population.own[0]
        own = own / own.sum(axis=1, keepdims=True)
        pooled = (self.population.shares[0][:, None] * own).sum(axis=0)
        at = own[groups, self.node_of]
        expected = self.expected * pooled[self.node_of] / at
        return self._drawn(expected, number, random, details=False, missing=(own == 0) * pooled)

    def _drawn(
        self,
        expected: FloatArray,
        number: int,
        random: np.random.Generator,
        *,
        details: bool,
        missing: FloatArray | None = None,
    ) -> Iterator[Mixtures]:
        """Redraws around these ``expected`` counts, and those of whole groups that are ``missing``."""
        total = round(float(self.expected.sum()))
        effective = np.bincount(
            self.federation.group_of, self.federation.effective, len(self.federation.groups)
        )
        extra = np.zeros(0) if missing is None else (missing * effective[:, None]).ravel()
        probabilities = np.concatenate((expected, extra))
        probabilities = probabilities / probabilities.sum()
        chunk = max(1, _NUMBERS_AT_ONCE // probabilities.size)
        for start in range(0, number, chunk):
            size = min(chunk, number - start)
            drawn = random.multinomial(total, probabilities, size)
            counts = drawn[:, : expected.size] * self.scale
            found = self._mixtures(counts, details=details)
            if extra.size:
                more = drawn[:, expected.size :].reshape(size, *missing.shape)  # type: ignore[union-attr]
                own = found.own + more
                totals = own.sum(axis=2)
                found = Mixtures(totals / totals.sum(axis=1, keepdims=True), own, None, None)
            yield found

    def _mixtures(self, counts: FloatArray, *, details: bool) -> Mixtures:
        federation = self.federation
        number, nodes = len(federation.groups), self.nodes.scores.size
        rows = np.arange(len(counts))[:, None]
        groups = federation.group_of[self.cell_of]

        def summed(weights: FloatArray, laws: IntArray, number: int) -> FloatArray:
            at = (rows * number + laws) * nodes + self.node_of
            total: FloatArray = np.bincount(
                at.ravel(), weights.ravel(), len(counts) * number * nodes
            ).astype(np.float64, copy=False)
            return total.reshape(len(counts), number, nodes)

        own = summed(counts, groups, number)
        totals = own.sum(axis=2)
        shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), _TINY)
        if not (details and self.details):
            return Mixtures(shares, own, None, None)
        of_cell = np.add.reduceat(counts, federation.offsets[:-1], axis=1)
        growth = counterfactuals(_tabulated(federation, of_cell)).growth
        larger = growth[:, federation.silo_of, federation.group_of]
        spread = summed(counts * larger[:, self.cell_of], groups, number)
        pooled = summed(counts, federation.silo_of[self.cell_of], len(federation.silos))
        return Mixtures(shares, own, *_counterfactuals(federation, of_cell, spread, pooled))
