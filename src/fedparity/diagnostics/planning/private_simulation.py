"""Audits of noisy histograms, simulated many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from fedparity.diagnostics.noise.reading import HistogramReader
from fedparity.diagnostics.planning.score_laws import ScoreLaw
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law
from fedparity.privacy.bin_rule import bins_of_points, planned_bins
from fedparity.privacy.histograms import Counts, Grid
from fedparity.privacy.noise_law import NoiseLaw
from fedparity.privacy.projection import monotone_masses
from fedparity.sketches.levels import midpoints

__all__ = ["PrivateAudit", "Simulated"]

_FINE = 4096
"""Bins of the raw data: fine enough to stand for them."""
_LEVELS = 1 << 16
_NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Simulated:
    """What simulated audits showed."""

    bins: int
    raw: FloatArray
    """The disparity of each audit's raw data."""
    errors: FloatArray
    """The estimate of each audit minus that."""
    binning: float
    """How much estimates change with half as many bins, on average."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PrivateAudit:
    """Records of each group from its law, dealt to silos at random."""

    laws: Sequence[ScoreLaw]
    score_range: tuple[float, float]
    records: int
    silos: int

    @cached_property
    def points(self) -> FloatArray | None:
        """The scores there can be; None if there are densities."""
        atoms = [law.atoms for law in self.laws if isinstance(law, Law)]
        return np.unique(np.concatenate(atoms)) if len(atoms) == len(self.laws) else None

    def planned_bins(self, epsilon: float, doses: float) -> int:
        """Return the bins that a plan would have by its rule."""
        bins = planned_bins(self.records, epsilon, doses)
        return bins if self.points is None else bins_of_points(self.points.size, bins)

    def simulate(
        self, *, bins: int, noise: NoiseLaw, summed: bool, replicates: int, seed: int
    ) -> Simulated:
        """Return simulated audits; ``summed`` noise is added to sums over silos, not in each."""
        random = np.random.default_rng(seed)
        grid, fine = self._grids(bins)
        equal = np.arange(0, fine.bins, fine.bins // grid.bins)
        starts = equal if grid.points is None else grid.starts[:-1]
        chances = [self._chances(law, fine) for law in self.laws]
        cells = 1 if summed else self.silos
        chunk = max(1, _NUMBERS_AT_ONCE // (len(self.laws) * (fine.bins + cells * 512)))
        raw, noisy, coarse = [], [], []
        for start in range(0, replicates, chunk):
            size = min(chunk, replicates - start)
            drawn = np.stack([random.multinomial(self.records, p, size) for p in chances], axis=1)
            raw.append(_disparities(drawn[:, None].astype(np.float64), fine))
            counts = np.add.reduceat(drawn, starts, axis=-1)
            dealt = counts[:, None] if summed else self._dealt(counts, random)
            found = dealt + noise.draw(random, dealt.shape)
            noisy.append(_disparities(monotone_masses(found), grid))
            halved = monotone_masses(grid.coarsened(found))
            coarse.append(_disparities(halved, grid.coarser()))
        exact, estimates = np.concatenate(raw), np.concatenate(noisy)
        binning = float(np.abs(estimates - np.concatenate(coarse)).mean())
        return Simulated(
            bins=grid.bins,
            raw=exact,
            errors=estimates - exact,
            binning=0.0 if grid.pointwise else binning,
        )

    def _grids(self, bins: int) -> tuple[Grid, Grid]:
        """The bins of the audit, and finer ones that cut them and stand for the raw data."""
        if self.points is not None:
            return Grid.of_points(self.points, bins=bins), Grid.of_points(self.points)
        whole = partial(Grid.of, self.score_range)
        return whole(bins=bins), whole(bins=bins * max(1, _FINE // bins))

    def _chances(self, law: ScoreLaw, fine: Grid) -> FloatArray:
        values = law.quantile(midpoints(_LEVELS))
        shares: FloatArray = np.bincount(fine.positions(values), minlength=fine.bins) / _LEVELS
        return shares

    def _dealt(self, counts: Counts, random: np.random.Generator) -> Counts:
        """The same records, each in one of the silos at random: sets by silos by groups by bins."""
        shares = np.full(self.silos, 1 / self.silos)
        dealt = random.multinomial(counts, shares)
        return np.moveaxis(dealt, -1, 1)


def _disparities(masses: FloatArray, grid: Grid) -> FloatArray:
    """The disparity of the mixtures over silos, for each set of histograms."""
    return HistogramReader(grid, order=2).disparity(masses.sum(axis=1))
