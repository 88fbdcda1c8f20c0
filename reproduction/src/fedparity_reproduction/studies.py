"""Monte Carlo studies: many allocations of one data set to silos, and estimates of each."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

import fedparity as fp
from fedparity_reproduction.datasets import Dataset
from fedparity_reproduction.estimators import ESTIMATORS, FloatArray, IntArray, Ranking, estimates
from fedparity_reproduction.runner import Runner

__all__ = [
    "REGIMES",
    "RHOS",
    "IntensityResult",
    "Study",
    "StudyResult",
    "run_intensity",
    "run_study",
]

REGIMES = ("random", "positive", "negative")
RHOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """Which allocations of a data set are drawn, and which sketches of them."""

    dataset: Dataset
    silos: Sequence[int]
    """Numbers d of silos."""
    levels: Sequence[int]
    """Numbers k that a silo sends for a group."""
    regimes: Sequence[str] = REGIMES
    rho: float = 0.8
    """How strongly the silo depends on the score."""
    replicates: int = 200
    """Allocations of each regime and d."""
    seed: int = 0

    def seed_of(self, silos: int, replicate: int) -> tuple[int, ...]:
        """Return the seed of one allocation, for :func:`fedparity.theory.allocate`.

        The regimes share it: then they share the baseline and the noise, as in the paper, and
        differ by the selection alone.
        """
        return (self.seed, zlib.crc32(self.dataset.name.encode()), silos, replicate)


@dataclass(frozen=True, eq=False, kw_only=True)
class StudyResult:
    r"""The estimates :math:`\widehat U_2(k)` of all allocations of a study."""

    study: Study
    estimates: FloatArray
    """By regime, number of silos, replicate, estimator and number of levels."""
    truth: float
    r"""The exact :math:`U_2` of the pooled data."""
    centralized: FloatArray
    r"""The :math:`U_2(k)` of the pooled data in one silo, by estimator and number of levels."""

    @property
    def relative_errors(self) -> FloatArray:
        r""":math:`|\widehat U_2(k) - U_2| / U_2`, in the shape of ``estimates``."""
        return np.abs(self.estimates - self.truth) / self.truth

    def mean_absolute_error(self) -> FloatArray:
        r"""Return :math:`E|\widehat U_2(k) - U_2|`, by regime, silos, estimator and levels."""
        errors: FloatArray = np.abs(self.estimates - self.truth).mean(axis=2)
        return errors

    def reliability(self, tolerance: float = 0.01) -> FloatArray:
        r"""Return :math:`p_{\mathrm{ok}}(k)`, how often the relative error is within tolerance.

        By regime, number of silos, estimator and number of levels.
        """
        shares: FloatArray = (self.relative_errors <= tolerance).mean(axis=2)
        return shares

    def k95(self, share: float = 0.95) -> IntArray:
        r"""Return the smallest k of the study with :math:`p_{\mathrm{ok}}(k) \ge` ``share``.

        By regime, number of silos and estimator; 0 where no k of the study suffices.
        """
        order = np.argsort(self.study.levels)
        reached = self.reliability()[..., order] >= share
        first = np.array(self.study.levels)[order][np.argmax(reached, axis=-1)]
        return np.where(reached.any(axis=-1), first, 0)

    def budget(self) -> IntArray:
        """Return how many numbers are sent in all, by number of silos and number of levels.

        Per silo and group, k values and one count: the paper's 2d(k + 1) for two groups.
        """
        groups = len(self.study.dataset.group_names)
        numbers: IntArray = np.array(self.study.levels) + 1
        return groups * np.array(self.study.silos)[:, None] * numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class IntensityResult:
    """Estimates and realized correlations over strengths of selection."""

    study: Study
    """With the last of the strengths."""
    rhos: tuple[float, ...]
    estimates: FloatArray
    """By rho, regime, number of silos, replicate, estimator and number of levels."""
    truth: float
    spearman: FloatArray
    """Spearman's correlation of score and silo, by rho, regime, number of silos and replicate."""


def run_study(study: Study, runner: Runner) -> StudyResult:
    """Return the estimates of all allocations of a study; the number of workers changes no bit.

    Every regime and number of silos is cached in a file, so that an interrupted run resumes.

    Examples
    --------
    >>> from fedparity_reproduction.datasets import load_dataset
    >>> from fedparity_reproduction.runner import Settings
    >>> data = load_dataset("synthetic")
    >>> study = Study(dataset=data, silos=(2, 5), levels=(5, 50), replicates=3)
    >>> result = run_study(study, Runner(settings=Settings()))
    >>> errors = result.mean_absolute_error()
    >>> bool((errors[..., 1] < errors[..., 0]).all())
    True
    """
    ranking = Ranking.from_dataset(study.dataset)
    found, _ = _allocations(study, ranking, runner)
    alone = np.zeros(len(study.dataset), dtype=np.int64)
    return StudyResult(
        study=study,
        estimates=found,
        truth=_truth(study.dataset),
        centralized=estimates(ranking, alone, 1, study.levels),
    )


def run_intensity(study: Study, runner: Runner, rhos: Sequence[float] = RHOS) -> IntensityResult:
    """Return estimates for each strength of selection, with the correlation that it produces.

    Allocations of different strengths share their seeds: only the strength changes.
    """
    ranking = Ranking.from_dataset(study.dataset)
    made = [
        _allocations(replace(study, rho=rho), ranking, runner, correlated=True) for rho in rhos
    ]
    return IntensityResult(
        study=study,
        rhos=tuple(rhos),
        estimates=np.stack([found for found, _ in made]),
        truth=_truth(study.dataset),
        spearman=np.stack([spearman for _, spearman in made]),
    )


def _truth(dataset: Dataset) -> float:
    return fp.disparity(dataset.scores, sensitive_features=dataset.codes)


def _allocations(
    study: Study, ranking: Ranking, runner: Runner, *, correlated: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return estimates and correlations of all allocations, by regime and number of silos."""
    data = study.dataset

    def one(regime: str, silos: int, replicate: int) -> tuple[FloatArray, float]:
        made = fp.theory.allocate(
            data.scores,
            silos=silos,
            regime=regime,  # type: ignore[arg-type]
            rho=study.rho,
            groups=data.codes,
            seed=study.seed_of(silos, replicate),
        )
        found = estimates(ranking, made.silos, silos, study.levels)
        return found, (made.spearman if correlated else None) or 0.0

    def chunk(regime: str, silos: int) -> dict[str, FloatArray]:
        label = f"{data.title}: {regime} allocation to {silos} silos"
        made = runner.map(partial(one, regime, silos), study.replicates, label)
        return {
            "estimates": np.stack([found for found, _ in made]),
            "spearman": np.array([spearman for _, spearman in made]),
        }

    chunks = []
    for regime in study.regimes:
        for silos in study.silos:
            decides = {
                "data": data.digest,
                "name": data.name,  # the seeds depend on it
                "regime": regime,
                "silos": silos,
                "levels": list(study.levels),
                "rho": study.rho,
                "replicates": study.replicates,
                "seed": study.seed,
                "correlated": correlated,
            }
            name = f"{data.name}-{regime}-{silos:03}"
            chunks.append(runner.cached(name, decides, partial(chunk, regime, silos)))
    shape = (len(study.regimes), len(study.silos), study.replicates)
    found = np.stack([each["estimates"] for each in chunks])
    return (
        found.reshape(*shape, len(ESTIMATORS), len(study.levels)),
        np.stack([each["spearman"] for each in chunks]).reshape(shape),
    )
