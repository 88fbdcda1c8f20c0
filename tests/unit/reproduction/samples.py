"""Small studies, tables and parts to test with."""

from __future__ import annotations

import numpy as np

from fedparity.experiments.datasets import Dataset, Provenance
from fedparity.experiments.montecarlo import ESTIMATORS, IntensityResult, Study, StudyResult
from fedparity.experiments.reproduction.measures import MEASURES

COLUMNS = 6


def dataset(names=("A", "B"), *, size=200, whole=False, seed=0):
    random = np.random.default_rng(seed)
    codes = np.arange(size) % 2
    scores = random.beta(3 + 3 * codes, 4)
    return Dataset(
        name="toy",
        title="Toy",
        scores=np.ceil(10 * scores) if whole else scores,
        codes=codes,
        group_names=names,
        provenance=Provenance(
            file="toy.csv",
            sha256="0" * 64,
            rows_read=size,
            rows_dropped=0,
            specification="made up",
            licence="none",
        ),
    )


def study(errors=None, *, silos=(2, 5), levels=(5, 10, 50), replicates=20, data=None):
    """A result whose relative errors are those given, by estimator and level, times noise."""
    settings = Study(
        dataset=data or dataset(), silos=silos, levels=levels, replicates=replicates, seed=1
    )
    sizes = np.array(errors if errors is not None else [[0.3, 0.1, 0.01]] * 3)
    shape = (len(settings.regimes), len(silos), replicates, len(ESTIMATORS), len(levels))
    noise = np.random.default_rng(0).uniform(0.5, 1, shape)
    return StudyResult(
        study=settings,
        estimates=0.5 * (1 + noise * sizes),
        truth=0.5,
        centralised=0.5 * (1 + sizes),
        pearson=np.full(shape[:3], 0.4),
        spearman=np.full(shape[:3], 0.4),
    )


def intensity(levels=(10, 20), *, regimes=("positive", "negative"), silos=(5, 20)):
    rhos = (0.0, 0.5, 0.9)
    shape = (len(rhos), len(regimes), len(silos), 6)
    random = np.random.default_rng(0)
    estimates = 0.5 * (1 + random.uniform(0.001, 0.1, (*shape, len(ESTIMATORS), len(levels))))
    return IntensityResult(
        dataset=dataset(),
        rhos=rhos,
        silos=silos,
        levels=levels,
        regimes=regimes,
        estimates=estimates,
        truth=0.5,
        pearson=random.random(shape),
        spearman=random.random(shape),
    )


def draws(value, *, spread=0.0, number=40, **measures):
    """Draws of every measure around one value, or around another where one is named."""
    random = np.random.default_rng(3)
    centers = np.array([measures.get(measure.name, value) for measure in MEASURES], dtype=float)
    made = np.broadcast_to(centers[None, :, None], (number, len(MEASURES), COLUMNS)).copy()
    made[:, :, 1:] += spread * random.standard_normal(made[:, :, 1:].shape)
    return made
