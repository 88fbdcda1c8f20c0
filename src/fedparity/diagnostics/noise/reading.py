"""Every measure of an audit, read off many sets of histograms at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedparity.diagnostics.bootstrap import shapley
from fedparity.functionals.dispersion import around_center, around_mean, lower_weighted_median
from fedparity.functionals.order import power
from fedparity.laws.arrays import FloatArray
from fedparity.privacy.histograms import Grid, grid_quantiles
from fedparity.sketches.levels import midpoints

__all__ = ["HistogramReader", "Reading"]

_LEVELS = 200
_TINY = 1e-300
_MIDDLES = tuple(((i + 0.5) / 16, 1 / 16) for i in range(16))


@dataclass(frozen=True, eq=False)
class Reading:
    """Curves of histograms: the first axis counts sets of them."""

    counts: FloatArray
    """Sets by silos by groups."""
    shares: FloatArray
    """Sets by groups."""
    mixed: FloatArray
    """Quantiles of the groups' mixtures: sets by groups by levels."""
    cells: FloatArray
    """Quantiles of the cells: sets by silos by groups by levels."""
    cdfs: FloatArray
    """Distribution functions of the mixtures: sets by groups by edges of bins."""
    without_selection: FloatArray
    local_parity: FloatArray


class HistogramReader:
    """Reads laws that are uniform inside bins: quantiles on a grid of levels, cdfs at edges."""

    def __init__(
        self, grid: Grid, *, order: int, trim: float = 0.0, levels: int = _LEVELS
    ) -> None:
        self.grid, self.order = grid, order
        self.levels = midpoints(levels, trim=trim)
        self.width = (1 - 2 * trim) / levels
        self.bin_widths = np.diff(grid.bounds)

    def quantiles(self, masses: FloatArray) -> FloatArray:
        """Return the quantiles (last axis) of laws given by their masses in bins (last axis)."""
        rows = masses.reshape(-1, self.grid.bins)
        values = grid_quantiles(rows, self.grid, self.levels)
        return values.reshape(*masses.shape[:-1], self.levels.size)

    def read(self, masses: FloatArray) -> Reading:
        """Return the curves of sets of histograms: sets by silos by groups by bins."""
        counts = masses.sum(axis=-1)
        in_silo = counts.sum(axis=-1, keepdims=True)
        pooled = masses.sum(axis=2, keepdims=True)
        scale = (in_silo / np.maximum(counts, _TINY))[..., None]
        no_selection = np.where(counts[..., None] > 0, masses * scale, pooled)
        parity = pooled * (counts / np.maximum(in_silo, _TINY))[..., None]
        totals, mixture = counts.sum(axis=1), masses.sum(axis=1)
        return Reading(
            counts=counts,
            shares=totals / np.maximum(totals.sum(axis=1, keepdims=True), _TINY),
            mixed=self.quantiles(mixture),
            cells=self.quantiles(masses),
            cdfs=cdfs_of(mixture),
            without_selection=self.quantiles(no_selection.sum(axis=1)),
            local_parity=self.quantiles(parity.sum(axis=1)),
        )

    def disparity(self, values: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the disparity of quantile functions (groups by levels in the last two axes)."""
        spread = around_center(values, shares[..., None], self.order)
        total: FloatArray = spread.sum(axis=-1) * self.width
        return total

    def heterogeneity(self, cdfs: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the Cramér spread of cdfs that are linear between edges.

        By Simpson's rule, exact for squares; for order 1, whose integrand may have a corner inside a
        bin, at the middles of equal parts of it.
        """
        left, right = cdfs[..., :-1], cdfs[..., 1:]
        nodes = ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6)) if self.order == 2 else _MIDDLES
        spread = sum(
            weight * around_mean(left + at * (right - left), shares[..., None], self.order)
            for at, weight in nodes
        )
        total: FloatArray = np.sum(spread * self.bin_widths, axis=-1)
        return total

    def parts(self, reading: Reading) -> dict[str, FloatArray]:
        """Return the parts of the attribution and the terms of the decomposition, by name."""
        shares = reading.shares
        selection, within = shapley(
            self.disparity(reading.mixed, shares),
            self.disparity(reading.without_selection, shares),
            self.disparity(reading.local_parity, shares),
        )
        central = self._centers(reading.cells.swapaxes(1, 2), reading.counts.swapaxes(1, 2))
        whole = self._centers(reading.mixed, shares)[..., None, :]
        mixing, centering = reading.mixed - central, central - whole
        weights = shares[..., None] * self.width
        terms = {
            "v_mix": power(mixing, self.order),
            "v_bar": power(centering, self.order),
            "remainder": 2 * mixing * centering,
        }
        named = {name: np.sum(weights * term, axis=(-2, -1)) for name, term in terms.items()}
        return {"selection": selection, "within": within, **named}

    def local(self, cells: FloatArray, counts: FloatArray) -> FloatArray:
        """Return the disparity inside each silo: sets by silos."""
        shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), _TINY)
        return self.disparity(cells, shares)

    def _centers(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """The centre of curves along the last axis but one."""
        shares = weights / np.maximum(weights.sum(axis=-1, keepdims=True), _TINY)
        if self.order == 1:
            return lower_weighted_median(values, shares[..., None])
        mean: FloatArray = np.sum(values * shares[..., None], axis=-2)
        return mean


def cdfs_of(masses: FloatArray) -> FloatArray:
    """Return the distribution functions at all edges (last axis) of masses in bins."""
    running = np.cumsum(masses, axis=-1)
    running = running / np.maximum(running[..., -1:], _TINY)
    return np.concatenate((np.zeros_like(running[..., :1]), running), axis=-1)
