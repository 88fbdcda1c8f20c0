"""Small data sets, studies and draws to test with."""

import numpy as np

from fedparity_reproduction.datasets import Dataset
from fedparity_reproduction.estimators import ESTIMATORS
from fedparity_reproduction.runner import Runner, Settings
from fedparity_reproduction.studies import IntensityResult, Study, StudyResult
from fedparity_reproduction.tables import COLUMNS, MEASURES


def dataset(size=400, *, decimals=12, groups=2, seed=0, name="made", names=tuple("abcdef")):
    """Scores of Beta laws, higher from group to group, rounded to give ties."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, groups, size)
    codes[:groups] = range(groups)
    return Dataset(
        name=name,
        title=name.title(),
        scores=np.round(random.beta(3 + codes, 4), decimals),
        codes=codes,
        group_names=tuple(names[:groups]),
        specification="made up",
    )


def whole_scores(size=200):
    """Scores that are whole numbers from 1 to 10."""
    made = dataset(size)
    return Dataset(**{**vars(made), "scores": np.ceil(10 * made.scores)})


def runner(**options):
    """A runner of few draws that caches nothing."""
    sizes = {name: options.pop(name) for name in ("draws", "seed") if name in options}
    return Runner(settings=Settings(**sizes), **options)


def study(errors=None, *, silos=(2, 5), levels=(5, 10, 50), replicates=20, **options):
    """A result whose relative errors are those given, by estimator and level, times noise."""
    settings = Study(
        **{"dataset": dataset(), "seed": 1} | options,
        silos=silos,
        levels=levels,
        replicates=replicates,
    )
    sizes = np.array(errors if errors is not None else [[0.3, 0.1, 0.01]] * 3)
    shape = (len(settings.regimes), len(silos), replicates, len(ESTIMATORS), len(levels))
    noise = np.random.default_rng(0).uniform(0.5, 1, shape)
    return StudyResult(
        study=settings,
        estimates=0.5 * (1 + noise * sizes),
        truth=0.5,
        centralized=0.5 * (1 + sizes),
    )


def intensity(levels=(10, 20), *, regimes=("positive", "negative"), silos=(5, 20)):
    """Estimates of three strengths, off by up to a tenth."""
    rhos = (0.0, 0.5, 0.9)
    shape = (len(rhos), len(regimes), len(silos), 6)
    random = np.random.default_rng(0)
    errors = random.uniform(0.001, 0.1, (*shape, len(ESTIMATORS), len(levels)))
    return IntensityResult(
        study=Study(dataset=dataset(), silos=silos, levels=levels, regimes=regimes, replicates=6),
        rhos=rhos,
        estimates=0.5 * (1 + errors),
        truth=0.5,
        spearman=random.random(shape),
    )


def draws(value, *, number=40):
    """Draws of every measure, all equal."""
    return np.full((number, len(MEASURES), len(COLUMNS)), float(value))
