"""Noisy histograms: every measure of an audit read off many sets of them at once, and redrawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.federated.federation import Federation
from fedparity.functionals.curves import (
    around_mean,
    center,
    counterfactuals,
    disparities,
    integral,
    pair_powers,
    shapley,
    terms,
)
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import FloatArray, IntArray, QuantileTable
from fedparity.laws.progress import Progress
from fedparity.privacy.histograms import Grid, grid_quantiles, running_shares
from fedparity.privacy.noise import NoiseLaw, monotone_masses
from fedparity.sketches.cell import Cell
from fedparity.sketches.kinds import midpoints
from fedparity.uncertainty.bootstrap import Draws, joined

__all__ = [
    "LEVELS",
    "HistogramReader",
    "NoisyHistograms",
    "Reading",
    "allow_for_direction",
    "redrawn_measures",
]

LEVELS = 1000
"""Quantiles that are read off each histogram: they cost no message."""
_VALUES_AT_ONCE = 2_000_000
_TINY = 1e-300
_ROUNDING = 1e-12
_LEVELS = 200
_ONCE = ((0.0, 1.0),)
_SIMPSON = ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6))
_MIDDLES = tuple(((i + 0.5) / 16, 1 / 16) for i in range(16))


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyHistograms:
    """Noisy counts by silo, group and bin, and the law of their noise."""

    silos: tuple[Silo, ...]
    groups: tuple[Group, ...]
    counts: IntArray
    """Silos by groups by bins; 0 where a cell was withheld."""
    grid: Grid
    noise: NoiseLaw
    """Of each count that was released."""

    @cached_property
    def masses(self) -> FloatArray:
        """The counts made masses of at least 0."""
        return monotone_masses(self.counts)

    @cached_property
    def released(self) -> npt.NDArray[np.bool_]:
        """Which cells (silos by groups) have a law."""
        there: npt.NDArray[np.bool_] = self.counts.sum(axis=-1) > 0
        return there

    def coarser(self) -> NoisyHistograms:
        """Return the same with half as many bins, from the same release."""
        counts = self.grid.coarsened(self.counts).astype(np.int64)
        return replace(self, counts=counts, grid=self.grid.coarser())

    def federation(
        self, *, rank_errors: FloatArray | None = None, value_error: float = 0.0
    ) -> Federation:
        """Return the cells as an auditor's measures read them.

        Where bins are points, a cell has its masses at them; otherwise the quantiles of its law.
        ``rank_errors`` (silos by groups) say how far the noise may have moved a rank, and
        ``value_error`` how far a record may be from where its bin is taken to be.
        """
        cells = {}
        for j, s in zip(*np.nonzero(self.released), strict=True):
            error = 0.0 if rank_errors is None else min(float(rank_errors[j, s]), 1 - 1e-9)
            cells[self.silos[j], self.groups[s]] = Cell(
                count=int(self.counts[j, s].sum()),
                rank_error=error,
                value_error=value_error,
                **self._law(self.masses[j, s]),
            )
        return Federation.from_cells(
            cells, groups=self.groups, score_range=(self.grid.low, self.grid.high)
        )

    def _law(self, masses: FloatArray) -> dict[str, Any]:
        """What a cell says of the law of these masses."""
        if self.grid.pointwise:
            positive = masses > 0
            return {
                "kind": "counts",
                "values": self.grid.lowest[positive],
                "masses": masses[positive],
            }
        return {"values": grid_quantiles(masses[None], self.grid, midpoints(LEVELS))[0]}


@dataclass(frozen=True, eq=False)
class Reading:
    """Masses of histograms in bins (last axis); the first axis counts sets of them."""

    cells: FloatArray
    """Sets by silos by groups."""
    counts: FloatArray
    """The mass of each cell: sets by silos by groups."""
    mixed: FloatArray
    """Of the groups' mixtures: sets by groups."""
    shares: FloatArray
    """Of the groups: sets by groups."""
    without_selection: FloatArray
    """Of the groups if each were spread over the silos as all records are."""
    local_parity: FloatArray
    """Of the groups if each had the law of all records in its silo."""


class HistogramReader:
    """Reads laws that are given by their masses in the bins of a grid.

    Where bins are points, disparities are integrated exactly: between the levels at which one of
    the laws goes from one point to the next, all are constant. Otherwise they are read at the midpoints
    of equal parts of (0, 1). The terms of the decomposition, which need every cell, always are.
    """

    def __init__(
        self, grid: Grid, *, order: int, trim: float = 0.0, levels: int = _LEVELS
    ) -> None:
        self.grid, self.order, self.trim = grid, order, trim
        self.levels = midpoints(levels, trim=trim)
        self.width = (1 - 2 * trim) / levels

    def on(self, grid: Grid) -> HistogramReader:
        """Return the reader that measures the same on another grid."""
        return HistogramReader(grid, order=self.order, trim=self.trim, levels=self.levels.size)

    def read(self, masses: FloatArray) -> Reading:
        """Return sets of histograms, silos by groups by bins, as the measures need them."""
        counts = masses.sum(axis=-1)
        pooled = masses.sum(axis=2, keepdims=True)
        lacking, growth, share = (change[..., None] for change in counterfactuals(counts))
        return Reading(
            cells=masses,
            counts=counts,
            mixed=masses.sum(axis=1),
            shares=_shares(counts.sum(axis=1)),
            without_selection=np.where(lacking, pooled, masses * growth).sum(axis=1),
            local_parity=(pooled * share).sum(axis=1),
        )

    def quantiles(self, masses: FloatArray, levels: FloatArray | None = None) -> FloatArray:
        """Return the quantiles (last axis) of laws given by their masses in bins (last axis).

        ``levels`` are those of the reader if absent, or one row for each set of laws.
        """
        rows = masses.reshape(-1, self.grid.bins)
        if levels is None:
            levels = self.levels
        else:
            levels = np.repeat(levels, rows.shape[0] // levels.shape[0], axis=0)
        values = grid_quantiles(rows, self.grid, levels)
        return values.reshape(*masses.shape[:-1], levels.shape[-1])

    def disparity(self, masses: FloatArray, shares: FloatArray | None = None) -> FloatArray:
        """Return the disparity of each set of laws: sets by groups by bins.

        Groups have the shares of their masses if ``shares`` (sets by groups) are absent.
        """
        weights = _shares_of(masses) if shares is None else shares
        return disparities(self._curves(masses), weights, self.order)

    def _curves(self, masses: FloatArray) -> QuantileTable:
        """Quantiles of sets of laws, on levels between which each set is constant or read once."""
        if not self.grid.pointwise:
            return QuantileTable(np.full(1, self.width), self.quantiles(masses))
        levels, widths = self._refined(masses)
        return QuantileTable(widths, self.quantiles(masses, levels))

    def _refined(self, masses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Levels between which no law of a set leaves its point, and how far they reach."""
        ends = running_shares(masses).reshape(len(masses), -1)
        ends = np.sort(np.clip(ends, self.trim, 1 - self.trim), axis=-1)
        starts = np.concatenate((np.full_like(ends[:, :1], self.trim), ends[:, :-1]), axis=-1)
        return (starts + ends) / 2, ends - starts

    def heterogeneity(self, masses: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the Cramér spread of each set of laws.

        By Simpson's rule, exact for squares; for order 1, whose integrand may have a corner inside a
        bin, at the middles of equal parts of it. Between points cdfs are constant.
        """
        widths, left, right = self.grid.cdfs(masses)
        nodes = _MIDDLES if self.order == 1 else _SIMPSON
        spread: FloatArray = sum(  # type: ignore[assignment]
            weight * around_mean(left + at * (right - left), shares[..., None], self.order)
            for at, weight in (nodes if self.grid.points is None else _ONCE)
        )
        return integral(spread, widths)

    def lengths(
        self, masses: FloatArray, shares: FloatArray | None = None
    ) -> dict[str, FloatArray]:
        """Return the measures of sets of laws that cannot be negative, by name.

        ``pairs`` holds the p-th power of the distance of every two groups: sets by pairs.
        """
        weights = _shares_of(masses) if shares is None else shares
        curves = self._curves(masses)
        return {
            "disparity": disparities(curves, weights, self.order),
            "pairs": pair_powers(curves, self.order),
            "heterogeneity": self.heterogeneity(masses, weights),
        }

    def measures(self, reading: Reading) -> dict[str, FloatArray]:
        """Return every measure that has an interval, by name: sets, or sets by pairs or silos."""
        found = self.lengths(reading.mixed, reading.shares)
        without_selection, local_parity = (
            self.disparity(masses, reading.shares)
            for masses in (reading.without_selection, reading.local_parity)
        )
        found["selection"], found["within"] = shapley(
            found["disparity"], without_selection, local_parity
        )
        found["local"] = self.local(reading.cells)
        return found

    def terms(self, reading: Reading) -> dict[str, FloatArray]:
        """Return the terms of the decomposition, by name; for order 1 there is no remainder."""
        cells = self.quantiles(reading.cells).swapaxes(1, 2)
        centers = center(cells, reading.counts.swapaxes(1, 2), self.order)
        mixed = QuantileTable(np.full(1, self.width), self.quantiles(reading.mixed))
        found = terms(mixed, centers, reading.shares, self.order)
        return {name: term for name, term in found._asdict().items() if term is not None}

    def local(self, cells: FloatArray) -> FloatArray:
        """Return the disparity inside each silo: sets by silos."""
        sets, silos, *laws = cells.shape
        return self.disparity(cells.reshape(sets * silos, *laws)).reshape(sets, silos)


def _shares_of(masses: FloatArray) -> FloatArray:
    """The shares of the groups of sets of laws."""
    return _shares(masses.sum(axis=-1))


def _shares(totals: FloatArray) -> FloatArray:
    """Totals (last axis) as shares of their sum."""
    shares: FloatArray = totals / np.maximum(totals.sum(axis=-1, keepdims=True), _TINY)
    return shares


def redrawn_measures(
    histograms: NoisyHistograms,
    reader: HistogramReader,
    *,
    sampled: bool,
    redraws: int,
    seed: int,
    progress: Progress | None = None,
) -> dict[str, Draws]:
    """Return every measure in every redraw, by name, as :func:`~fedparity.uncertainty.bootstrap` does.

    The law of the noise is known exactly, so it is drawn again around the projected histograms. With
    ``sampled`` the records are drawn again first, from the same laws: the scatter is then that of an
    estimate of the population. A redraw is projected and measured as the histograms were. The null is
    drawn the same way: what a redraw adds to its histograms is added to histograms of the same sizes
    that all have one law, so that a redraw and its null share all that is random.

    Equal seeds give equal numbers. ``local`` has one column for each silo, ``pairs`` one for every
    two groups. Redraws of the noise alone have the terms of the decomposition too.
    """
    own = reader.read(histograms.masses[None])
    alike = _Alike(histograms, reader)
    rows, nulls = [], []
    done = 0
    for added in _additions(histograms, reader, sampled=sampled, redraws=redraws, seed=seed):
        found = reader.read(alike.projected(histograms.masses, added))
        terms = {} if sampled else reader.terms(found)
        rows.append({**reader.measures(found), **terms})
        nulls.append(alike.nulls(added))
        done += len(added)
        if progress is not None:
            progress(done, redraws)
    base = {**reader.measures(own), **({} if sampled else reader.terms(own))}
    redrawn, null = joined(rows), joined(nulls)
    quiet = np.zeros(redraws)
    named = {
        name: Draws(base[name][0], redrawn[name], null.get(name, quiet), null.get(name, quiet))
        for name in base
    }
    if reader.order == 1:
        return named
    return named | {name: allow_for_direction(named[name]) for name in null}


def _additions(
    histograms: NoisyHistograms,
    reader: HistogramReader,
    *,
    sampled: bool,
    redraws: int,
    seed: int,
) -> Iterator[FloatArray]:
    """Yield what redraws add to the masses, sets by silos by groups by bins, some at a time."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(sampled),)))
    truth = histograms.masses
    silos, groups, bins = truth.shape
    probabilities = (truth / truth.sum()).ravel()
    levels = groups * bins if reader.grid.pointwise else reader.levels.size
    chunk = max(1, _VALUES_AT_ONCE // (silos * groups * max(levels, reader.levels.size, bins)))
    for start in range(0, redraws, chunk):
        shape = (min(chunk, redraws - start), *truth.shape)
        sampling = np.zeros(1)
        if sampled:
            drawn = random.multinomial(round(float(truth.sum())), probabilities, shape[0])
            sampling = drawn.reshape(shape) - truth
        yield sampling + histograms.noise.draw(random, shape)


class _Alike:
    """Histograms of the same sizes without disparity: all of one law, or all of a silo."""

    def __init__(self, histograms: NoisyHistograms, reader: HistogramReader) -> None:
        self.reader, self.there = reader, histograms.released[..., None]
        masses = histograms.masses
        sizes = masses.sum(axis=-1, keepdims=True)
        self.everywhere = sizes * masses.sum(axis=(0, 1)) / max(float(masses.sum()), 1e-300)
        of_silo = masses.sum(axis=1, keepdims=True)
        in_silo = np.maximum(of_silo.sum(axis=-1, keepdims=True), 1e-300)
        self.in_silos = sizes * of_silo / in_silo

    def projected(self, masses: FloatArray, added: FloatArray) -> FloatArray:
        """Return the masses that a silo's noisy counts would be made, were these the true ones."""
        return monotone_masses((masses + added) * self.there)

    def nulls(self, added: FloatArray) -> dict[str, FloatArray]:
        """Return what is measured of each set where there is nothing to measure, by name."""
        mixed = self.projected(self.everywhere, added).sum(axis=1)
        local = self.reader.local(self.projected(self.in_silos, added))
        return {**self.reader.lengths(mixed), "local": local}


def allow_for_direction(draws: Draws) -> Draws:
    r"""Return the draws of a squared length with as much scatter as its direction may have.

    The interval of a length (:mod:`fedparity.uncertainty.intervals`) takes the curves to differ in the
    direction that was estimated: a redraw is :math:`g + 2 \sqrt g \, \langle u, \varepsilon \rangle +
    \|\varepsilon\|^2` with u that direction. Where noise is as large as what is measured, u is mostly
    noise itself. Worse, if the noise happens to cancel the difference, what is left lies where noise is
    smallest: the interval is then short just when it should be long, and its upper end is too low.

    How much noise lies in a direction is at most the largest eigenvalue :math:`\lambda_1` of its
    covariance, and :math:`\lambda_1 \le (\sum_i \lambda_i^2)^{1/2}`, which is nearly attained by
    cumulative counts. The variance of :math:`\|\varepsilon\|^2` is :math:`2 \sum_i \lambda_i^2`, so
    the null shows it. The share of the estimate that is not noise says how far the estimated direction
    is trusted.

    With v the variance per squared length that redraws show, and r the share of the estimate that
    the bias leaves, it becomes :math:`r v + (1 - r) \lambda_1`, but no less than v. The mean of the
    redraws stays, and so does the null.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> noise = random.normal(size=(5000, 2)) * [1.0, 0.1]
    >>> null = (noise**2).sum(axis=1)

    The two curves differ by (0, 1): noise mostly lies elsewhere, and the estimate is weak.

    >>> values = (noise**2 + [0, 1] * (1 + 2 * noise)).sum(axis=1)
    >>> draws = Draws(np.float64(1.0), values, null, null)
    >>> wider = allow_for_direction(draws)
    >>> bool(wider.values.std() > 1.3 * values.std()), np.isclose(wider.values.mean(), values.mean())
    (True, np.True_)
    """
    product = draws.values - draws.base - draws.null
    center = product.mean(axis=0)
    base = np.maximum(draws.base, _TINY)
    corrected = draws.base - (draws.values.mean(axis=0) - draws.base)
    believed = np.clip(corrected / base, 0.0, 1.0)
    shown = product.var(axis=0) / 4 / base
    most = np.sqrt(draws.null.var(axis=0) / 2)
    scatter = np.maximum(shown, believed * shown + (1 - believed) * most)
    scattered = shown > _ROUNDING * most  # where nothing is drawn, rounding is not blown up
    factor = np.sqrt(np.where(scattered, scatter / np.maximum(shown, _TINY), 1.0))
    return replace(draws, values=draws.values + (factor - 1) * (product - center))
