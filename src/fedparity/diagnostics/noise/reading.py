"""Every measure of an audit, read off many sets of histograms at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fedparity.diagnostics.bootstrap import shapley
from fedparity.functionals.dispersion import around_center, around_mean, lower_weighted_median
from fedparity.functionals.order import power
from fedparity.laws.arrays import FloatArray
from fedparity.laws.refinement import QuantileTable
from fedparity.privacy.histograms import Grid, grid_quantiles, running_shares
from fedparity.sketches.levels import midpoints

__all__ = ["HistogramReader", "Reading"]

_LEVELS = 200
_TINY = 1e-300
_ONCE = ((0.0, 1.0),)
_SIMPSON = ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6))
_MIDDLES = tuple(((i + 0.5) / 16, 1 / 16) for i in range(16))


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
        in_silo = counts.sum(axis=-1, keepdims=True)
        pooled = masses.sum(axis=2, keepdims=True)
        scale = (in_silo / np.maximum(counts, _TINY))[..., None]
        no_selection = np.where(counts[..., None] > 0, masses * scale, pooled)
        parity = pooled * (counts / np.maximum(in_silo, _TINY))[..., None]
        return Reading(
            cells=masses,
            counts=counts,
            mixed=masses.sum(axis=1),
            shares=_shares(counts.sum(axis=1)),
            without_selection=no_selection.sum(axis=1),
            local_parity=parity.sum(axis=1),
        )

    def quantiles(self, masses: FloatArray, levels: FloatArray | None = None) -> FloatArray:
        """Return the quantiles (last axis) of laws given by their masses in bins (last axis).

        ``levels`` are those of the reader if absent, or one row for each set of laws.
        """
        rows = masses.reshape(-1, self.grid.bins)
        asked = self.levels
        if levels is not None:
            asked = np.repeat(levels, rows.shape[0] // levels.shape[0], axis=0)
        values = grid_quantiles(rows, self.grid, asked)
        return values.reshape(*masses.shape[:-1], asked.shape[-1])

    def disparity(self, masses: FloatArray, shares: FloatArray | None = None) -> FloatArray:
        """Return the disparity of each set of laws: sets by groups by bins.

        Groups have the shares of their masses if ``shares`` (sets by groups) are absent.
        """
        return self._spread(self._curves(masses), _shares_of(masses) if shares is None else shares)

    def _curves(self, masses: FloatArray) -> QuantileTable:
        """Quantiles of sets of laws, on levels between which each set is constant or read once."""
        if not self.grid.pointwise:
            return QuantileTable(np.full(1, self.width), self.quantiles(masses))
        levels, widths = self._refined(masses)
        return QuantileTable(widths, self.quantiles(masses, levels))

    def _spread(self, curves: QuantileTable, shares: FloatArray) -> FloatArray:
        spread = around_center(curves.values, shares[..., None], self.order)
        total: FloatArray = np.sum(spread * curves.widths, axis=-1)
        return total

    def _distances(self, curves: QuantileTable) -> FloatArray:
        """The p-th power of the distance of every two groups: sets by pairs."""
        values = curves.values
        columns = [
            np.sum(power(values[:, s] - values[:, t], self.order) * curves.widths, axis=-1)
            for s, t in combinations(range(values.shape[1]), 2)
        ]
        return np.stack(columns, axis=1)

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
        spread = sum(
            weight * around_mean(left + at * (right - left), shares[..., None], self.order)
            for at, weight in (nodes if self.grid.points is None else _ONCE)
        )
        total: FloatArray = np.sum(spread * widths, axis=-1)
        return total

    def lengths(
        self, masses: FloatArray, shares: FloatArray | None = None
    ) -> dict[str, FloatArray]:
        """Return the measures of sets of laws that cannot be negative, by name.

        ``pairs`` holds the p-th power of the distance of every two groups: sets by pairs.
        """
        weights = _shares_of(masses) if shares is None else shares
        curves = self._curves(masses)
        return {
            "disparity": self._spread(curves, weights),
            "pairs": self._distances(curves),
            "heterogeneity": self.heterogeneity(masses, weights),
        }

    def measures(self, reading: Reading) -> dict[str, FloatArray]:
        """Return every measure that has an interval, by name: sets, or sets by pairs or silos."""
        whole = self.lengths(reading.mixed, reading.shares)
        return {**whole, **self.parts(reading), "local": self.local(reading.cells)}

    def parts(self, reading: Reading) -> dict[str, FloatArray]:
        """Return the parts of the attribution, by name."""
        selection, within = shapley(
            *(
                self.disparity(masses, reading.shares)
                for masses in (reading.mixed, reading.without_selection, reading.local_parity)
            )
        )
        return {"selection": selection, "within": within}

    def terms(self, reading: Reading) -> dict[str, FloatArray]:
        """Return the terms of the decomposition, by name; for order 1 there is no remainder."""
        shares = reading.shares
        cells, mixed = self.quantiles(reading.cells), self.quantiles(reading.mixed)
        central = self._centers(cells.swapaxes(1, 2), reading.counts.swapaxes(1, 2))
        whole = self._centers(mixed, shares)[..., None, :]
        mixing, centering = mixed - central, central - whole
        weights = shares[..., None] * self.width
        terms = {"v_mix": power(mixing, self.order), "v_bar": power(centering, self.order)}
        if self.order == 2:
            terms["remainder"] = 2 * mixing * centering
        return {name: np.sum(weights * term, axis=(-2, -1)) for name, term in terms.items()}

    def local(self, cells: FloatArray) -> FloatArray:
        """Return the disparity inside each silo: sets by silos."""
        sets, silos, *laws = cells.shape
        return self.disparity(cells.reshape(sets * silos, *laws)).reshape(sets, silos)

    def _centers(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """The centre of curves along the last axis but one."""
        shares = _shares(weights)
        if self.order == 1:
            return lower_weighted_median(values, shares[..., None])
        mean: FloatArray = np.sum(values * shares[..., None], axis=-2)
        return mean


def _shares_of(masses: FloatArray) -> FloatArray:
    """The shares of the groups of sets of laws."""
    return _shares(masses.sum(axis=-1))


def _shares(totals: FloatArray) -> FloatArray:
    """Totals (last axis) as shares of their sum."""
    shares: FloatArray = totals / np.maximum(totals.sum(axis=-1, keepdims=True), _TINY)
    return shares
