"""Decomposition and attribution from sums alone: the same numbers as from all silos' histograms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedparity.auditing.secure.summed import Summed
from fedparity.diagnostics.attribution import Attribution
from fedparity.diagnostics.decomposition import Decomposition
from fedparity.diagnostics.noise.reading import HistogramReader
from fedparity.functionals.barycenter import center
from fedparity.laws.arrays import FloatArray
from fedparity.privacy.histograms import Grid
from fedparity.protocol.secure.layout import CENTER_LEVELS

__all__ = ["GroupLaws"]


@dataclass(frozen=True, eq=False)
class GroupLaws:
    """The laws of the groups in all silos together."""

    masses: FloatArray
    """Groups by bins, at least 0."""
    grid: Grid
    order: int
    trim: float

    @property
    def shares(self) -> FloatArray:
        """The share of each group."""
        totals = self.masses.sum(axis=1)
        shares: FloatArray = totals / totals.sum()
        return shares

    def decomposition(self, summed: Summed) -> Decomposition | None:
        """Return V_mix, V_bar and R; None where the centers were not summed.

        The quantiles of a center are the sum of :math:`n_{j,s} q_{j,s}` over that of
        :math:`n_{j,s}`; no other sum is needed. R is what is left of the disparity.
        """
        if summed.centers is None:
            return None
        reader = self._reader
        mixed, weights = reader.quantiles(self.masses), self.shares[:, None] * reader.width
        whole = center(mixed, self.shares, 2)
        v_mix = float(np.sum(weights * (mixed - summed.centers) ** 2))
        v_bar = float(np.sum(weights * (summed.centers - whole) ** 2))
        return Decomposition(
            v_mix=v_mix, v_bar=v_bar, remainder=self._disparity(self.masses) - v_mix - v_bar
        )

    def attribution(self, summed: Summed) -> Attribution | None:
        """Return the selection and within-silo parts; None where their sums are not there."""
        if summed.unselected is None or summed.parity is None:
            return None
        observed = self._disparity(self.masses)
        without_selection = self._disparity(summed.unselected)
        local_parity = self._disparity(summed.parity)
        return Attribution(
            selection=(observed - without_selection + local_parity) / 2,
            within=(observed - local_parity + without_selection) / 2,
            disparity=observed,
            without_selection=without_selection,
            with_local_parity=local_parity,
            stand_ins=(),
        )

    def _disparity(self, masses: FloatArray) -> float:
        return float(self._reader.disparity(masses[None], self.shares[None])[0])

    @property
    def _reader(self) -> HistogramReader:
        """Reads at the levels at which the centers were summed."""
        return HistogramReader(self.grid, order=self.order, trim=self.trim, levels=CENTER_LEVELS)
