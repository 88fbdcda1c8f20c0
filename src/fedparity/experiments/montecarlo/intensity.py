"""Error against how strongly silos select by score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedparity.experiments.allocations import Cut, Regime
from fedparity.experiments.datasets.dataset import Dataset
from fedparity.experiments.montecarlo.result import StudyResult, relative
from fedparity.experiments.montecarlo.running import Progress, run_study
from fedparity.experiments.montecarlo.study import ESTIMATORS, Study
from fedparity.laws.arrays import FloatArray
from fedparity.protocol.files import Path

__all__ = ["RHOS", "IntensityResult", "run_intensity"]

RHOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class IntensityResult:
    """Estimates and realised correlations over strengths of selection."""

    dataset: Dataset
    rhos: tuple[float, ...]
    silos: tuple[int, ...]
    levels: tuple[int, ...]
    regimes: tuple[Regime, ...]
    estimates: FloatArray
    """By rho, regime, number of silos, replicate, estimator and number of levels."""
    truth: float
    r"""The exact :math:`U_2` of the pooled data."""
    pearson: FloatArray
    """Correlation of score and silo, by rho, regime, number of silos and replicate."""
    spearman: FloatArray
    """The same of their ranks: the paper's measure of intensity, in absolute value."""

    @property
    def estimators(self) -> tuple[str, ...]:
        """The names of the estimators, in their order."""
        return ESTIMATORS

    @property
    def relative_errors(self) -> FloatArray:
        r""":math:`|\widehat U_2(k) - U_2| / U_2`, in the shape of ``estimates``."""
        return relative(self.estimates, self.truth)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.estimates.shape))
        return f"IntensityResult({self.dataset.name!r}, {shape} estimates)"


def run_intensity(
    dataset: Dataset,
    rhos: Sequence[float] = RHOS,
    silos: Sequence[int] = (5, 20),
    *,
    levels: Sequence[int] = (10, 20),
    regimes: Sequence[Regime] = ("positive", "negative"),
    cut: Cut = "paper",
    replicates: int = 50,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> IntensityResult:
    """Return estimates for each strength of selection, with the correlation that came about.

    Allocations of different strengths share their seeds: only the strength changes.

    Examples
    --------
    >>> from fedparity.experiments.datasets import load_dataset
    >>> found = run_intensity(load_dataset("synthetic"), (0.0, 0.9), (5,), replicates=2)
    >>> found.spearman.shape, found.estimates.shape
    ((2, 2, 1, 2), (2, 2, 1, 2, 3, 2))
    """
    results: list[StudyResult] = []
    for position, rho in enumerate(rhos):
        study = Study(
            dataset=dataset,
            silos=silos,
            levels=levels,
            regimes=regimes,
            rho=rho,
            cut=cut,
            replicates=replicates,
            seed=seed,
        )
        told = None if progress is None else _part_of(progress, position, len(rhos))
        results.append(run_study(study, workers=workers, progress=told, folder=folder))
    return IntensityResult(
        dataset=dataset,
        rhos=tuple(map(float, rhos)),
        silos=tuple(silos),
        levels=tuple(levels),
        regimes=tuple(regimes),
        estimates=np.stack([each.estimates for each in results]),
        truth=results[0].truth,
        pearson=np.stack([each.pearson for each in results]),
        spearman=np.stack([each.spearman for each in results]),
    )


def _part_of(progress: Progress, position: int, parts: int) -> Progress:
    """A callback that tells one of several equal parts as part of the whole."""

    def told(done: int, total: int, label: str) -> None:
        progress(position * total + done, parts * total, label)

    return told
