"""The noisy histograms of all silos: what an auditor holds in a mode that adds noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.federated.federation import Federation
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group, Silo
from fedparity.privacy.histograms import Grid, grid_quantiles
from fedparity.privacy.noise_law import NoiseLaw
from fedparity.privacy.projection import monotone_masses
from fedparity.sketches.cell import Cell
from fedparity.sketches.levels import midpoints

__all__ = ["LEVELS", "NoisyHistograms"]

LEVELS = 1000
"""Quantiles that are read off each histogram: they cost no message."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyHistograms:
    """Noisy counts by silo, group and bin, and the law of their noise."""

    silos: tuple[Silo, ...]
    groups: tuple[Group, ...]
    counts: npt.NDArray[np.int64]
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
            held = masses > 0
            return {
                "kind": "counts",
                "values": self.grid.lowest[held],
                "masses": masses[held],
            }
        return {"values": grid_quantiles(masses[None], self.grid, midpoints(LEVELS))[0]}
