"""Every measure of an audit, read off many sets of histograms at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedparity.diagnostics.bootstrap import shapley
from fedparity.functionals.dispersion import around_center, around_mean, lower_weighted_median
from fedparity.functionals.order import power
from fedparity.laws.arrays import FloatArray
from fedparity.privacy.histograms import Grid, grid_quantiles, running_shares
from fedparity.sketches.levels import midpoints

__all__ = ["HistogramReader", "Reading"]

_LEVELS = 200
_TINY = 1e-300
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
        weights = _shares(masses.sum(axis=-1)) if shares is None else shares
        levels = widths = None
        if self.grid.pointwise:
            levels, widths = self._refined(masses)
        values = self.quantiles(masses, levels)
        spread = around_center(values, weights[..., None], self.order)
        total: FloatArray = (
            spread.sum(axis=-1) * self.width
            if widths is None
            else np.sum(spread * widths, axis=-1)
        )
        return total

    def _refined(self, masses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Levels between which no law of a set leaves its point, and how far they reach."""
        ends = running_shares(masses).reshape(len(masses), -1)
        ends = np.sort(np.clip(ends, self.trim, 1 - self.trim), axis=-1)
        starts = np.concatenate((np.full_like(ends[:, :1], self.trim), ends[:, :-1]), axis=-1)
        return (starts + ends) / 2, ends - starts

    def heterogeneity(
        self, masses: FloatArray, shares: FloatArray, *, around: FloatArray | None = None
    ) -> FloatArray:
        """Return the Cramér spread of each set of laws, or of their differences to those ``around``.

        By Simpson's rule, exact for squares; for order 1, whose integrand may have a corner inside a
        bin, at the middles of equal parts of it.
        """
        widths, left, right = self.grid.cdfs(masses)
        constant = left is right
        if around is not None:
            _, first, last = self.grid.cdfs(around)
            left, right = left - first, right - last
        if constant:
            nodes: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
        elif self.order == 2:
            nodes = ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6))
        else:
            nodes = _MIDDLES
        spread = sum(
            weight * around_mean(left + at * (right - left), shares[..., None], self.order)
            for at, weight in nodes
        )
        total: FloatArray = np.sum(spread * widths, axis=-1)
        return total

    def parts(self, reading: Reading) -> dict[str, FloatArray]:
        """Return the parts of the attribution and the terms of the decomposition, by name."""
        shares = reading.shares
        selection, within = shapley(
            self.disparity(reading.mixed, shares),
            self.disparity(reading.without_selection, shares),
            self.disparity(reading.local_parity, shares),
        )
        cells, mixed = self.quantiles(reading.cells), self.quantiles(reading.mixed)
        central = self._centers(cells.swapaxes(1, 2), reading.counts.swapaxes(1, 2))
        whole = self._centers(mixed, shares)[..., None, :]
        mixing, centering = mixed - central, central - whole
        weights = shares[..., None] * self.width
        terms = {
            "v_mix": power(mixing, self.order),
            "v_bar": power(centering, self.order),
            "remainder": 2 * mixing * centering,
        }
        named = {name: np.sum(weights * term, axis=(-2, -1)) for name, term in terms.items()}
        return {"selection": selection, "within": within, **named}

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


def _shares(totals: FloatArray) -> FloatArray:
    """Totals (last axis) as shares of their sum."""
    shares: FloatArray = totals / np.maximum(totals.sum(axis=-1, keepdims=True), _TINY)
    return shares
