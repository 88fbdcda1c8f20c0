"""What noise will cost an audit, before anybody spends a budget: by simulation on stated shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np

from fedparity.documents.tabular import Columns, Tabular, columns_of
from fedparity.errors import OptionError
from fedparity.laws.law import FloatArray, Law
from fedparity.laws.progress import Progress, callback, shows_progress
from fedparity.planning.detection import strength_at
from fedparity.planning.scenario import (
    ScoreLaw,
    Shape,
    check_at_least,
    checked_shape,
    checked_shares,
    disparity_between,
)
from fedparity.privacy.histograms import Counts, Grid
from fedparity.privacy.noise import NoiseLaw, bins_of_points, monotone_masses, planned_bins
from fedparity.sketches.kinds import midpoints
from fedparity.text import OneLine
from fedparity.uncertainty.checks import check_confidence
from fedparity.uncertainty.noisy_histograms import HistogramReader

__all__ = [
    "NoiseMode",
    "PrivacyPlan",
    "PrivacyRow",
    "PrivateAudit",
    "Simulated",
    "plan_privacy",
]

_FINE = 4096
"""Bins that represent the raw data: fine enough for that."""
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
    """Records of each group from its law, assigned to silos at random."""

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
        """The bins of the audit, and finer ones that divide them and represent the raw data."""
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


NoiseMode: TypeAlias = Literal["dp", "secure+dp"]
_MULTIPLES = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
"""Of the planned epsilon: where the curve of errors is drawn."""


@dataclass(frozen=True, kw_only=True)
class PrivacyRow(OneLine):
    r"""What an audit at one epsilon can be expected to show, in the units of :math:`G_2`."""

    epsilon: float
    bins: int
    error: float
    """Mean distance of the estimate from the raw data's disparity: noise and bins."""
    large_error: float
    """What that distance exceeds with probability 1 − confidence only."""
    interval: float
    """Half the width of the interval for the raw data, on average: noise, and bins on top."""
    population: float
    """The same for the population: sampling too."""


@dataclass(frozen=True, kw_only=True)
class PrivacyPlan(OneLine, Tabular):
    """The price of noise in accuracy, for planned settings."""

    epsilon: float
    records: int
    """Of each group in all silos together."""
    silos: int
    groups: int
    mode: NoiseMode
    doses: float
    """Doses of noise in the sum over all silos."""
    disparity: float
    """Of the laws that were simulated."""
    shape: str
    meaning: str
    score_range: tuple[float, float]
    sampling: float
    """Half the width of the interval for the population if no noise were added."""
    confidence: float
    replicates: int
    seed: int
    by_epsilon: tuple[PrivacyRow, ...]

    @property
    def answer(self) -> PrivacyRow:
        """The row of the planned epsilon."""
        return next(row for row in self.by_epsilon if row.epsilon == self.epsilon)

    def table_columns(self) -> Columns:
        """Return the columns of a table of all settings that were simulated, in :meth:`to_frame`."""
        return columns_of(asdict(row) for row in self.by_epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON holds it."""
        return {**asdict(self), "answer": asdict(self.answer)}


@shows_progress
def plan_privacy(
    *,
    epsilon: float,
    records: int,
    silos: int = 5,
    groups: int = 2,
    bins: int | None = None,
    mode: NoiseMode = "dp",
    honest: int | None = None,
    disparity: float | None = None,
    shape: str | Shape = "beta",
    score_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    replicates: int = 400,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> PrivacyPlan:
    r"""Return the error that noise adds to :math:`G_2`, at this epsilon and others around it.

    Audits are simulated: records of every group from its law, assigned to the silos at random and
    counted in bins; then noise, the projection and the estimate of a real audit.

    Parameters
    ----------
    epsilon : float
    records : int
        Of each group in all silos together.
    bins : int, optional
        By the rule of plans if absent; at most as many as there are scores.
    mode : "dp" or "secure+dp"
        Noise in the histogram of each silo, or in the sum over them.
    honest : int, optional
        With ``secure+dp``, silos whose shares of noise make one dose; a full dose each if absent.
    disparity : float, optional
        The shape's own at strength 1 if absent.
    shape : str or Shape
        ``beta``, ``uniform``, ``normal`` or ``deciles``.

    Raises
    ------
    OptionError
        If an option is out of its range.

    Examples
    --------
    >>> found = plan_privacy(epsilon=1.0, records=5000, replicates=50)
    >>> found.answer.bins, found.answer.error < 0.05 * found.disparity
    (32, True)
    """
    _check_epsilon(epsilon)
    check_at_least(1, records, "records")
    check_at_least(1, silos, "silos")
    check_at_least(10, replicates, "replicates")
    check_confidence(confidence)
    chosen = checked_shape(shape, score_range)
    shares = checked_shares(groups, None)
    strength = 1.0 if disparity is None else strength_at(chosen, shares, disparity)
    laws = chosen.laws(groups, strength)
    doses = _doses(silos, mode, honest)
    rows: list[PrivacyRow] = []
    report = callback(progress)
    epsilons = [epsilon * multiple for multiple in _MULTIPLES]
    audit = PrivateAudit(
        laws=laws, score_range=(chosen.low, chosen.high), records=records, silos=silos
    )
    for number, each in enumerate(epsilons):
        found = audit.simulate(
            bins=bins or audit.planned_bins(each, doses),
            noise=NoiseLaw(each, 1.0 if mode == "dp" else doses),
            summed=mode != "dp",
            replicates=replicates,
            seed=seed,
        )
        rows.append(_row(each, found, confidence))
        if report is not None:
            report(number + 1, len(epsilons))
    return PrivacyPlan(
        epsilon=epsilon,
        records=records,
        silos=silos,
        groups=groups,
        mode=mode,
        doses=doses,
        disparity=disparity_between(laws, shares),
        shape=chosen.name,
        meaning=chosen.meaning,
        score_range=(chosen.low, chosen.high),
        sampling=_half_width(found.raw, confidence),
        confidence=confidence,
        replicates=replicates,
        seed=seed,
        by_epsilon=tuple(rows),
    )


def _row(epsilon: float, found: Simulated, confidence: float) -> PrivacyRow:
    sizes = np.abs(found.errors)
    return PrivacyRow(
        epsilon=epsilon,
        bins=found.bins,
        error=float(sizes.mean()),
        large_error=float(np.quantile(sizes, confidence)),
        interval=_half_width(found.errors, confidence) + found.binning,
        population=_half_width(found.raw + found.errors, confidence) + found.binning,
    )


def _half_width(values: FloatArray, confidence: float) -> float:
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(high - low) / 2


def _doses(silos: int, mode: str, honest: int | None) -> float:
    if honest is None:
        return float(silos)
    if mode != "secure+dp" or not 1 <= honest <= silos:
        raise OptionError(
            f"honest must be a number of the {silos} silos, with mode 'secure+dp'; not {honest!r}.",
            fix="leave honest out for a full dose of noise from each silo.",
        )
    return silos / honest


def _check_epsilon(epsilon: float) -> None:
    if not 1e-3 <= epsilon <= 1e3:
        raise OptionError(
            f"epsilon must lie between 0.001 and 1,000, not {epsilon!r}.",
            fix="pass epsilon=1.0, say; smaller protects more.",
        )
