"""The synthetic example: two Beta laws, silos with and without selection."""

from __future__ import annotations

from functools import partial

import numpy as np

from fedparity.experiments.datasets import load_dataset
from fedparity.experiments.reproduction.bench import Bench
from fedparity.experiments.reproduction.captions import FIGURES
from fedparity.experiments.reproduction.figures.synthetic import draw_coarse, draw_convergence
from fedparity.experiments.reproduction.parts import Part, Plot
from fedparity.experiments.reproduction.text_numbers import compare_numbers
from fedparity.functionals.disparity import disparity

__all__ = ["build_synthetic"]

LEVELS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100)


def build_synthetic(bench: Bench) -> Part:
    """Return the numbers and figures of the synthetic example (`sec:exp:synthetic`)."""
    main = bench.load("synthetic")
    coarse = bench.intensity(main, silos=(5,), levels=(1, 2), regimes=("positive",))
    study = bench.study(main, silos=(5,), levels=LEVELS, regimes=("random", "positive"))
    draws = {
        "coarse": partial(draw_coarse, coarse),
        "convergence": partial(draw_convergence, study),
    }
    labels = {"coarse": "fig:synthetic-beta-1", "convergence": "fig:synthetic-beta-u2-k"}
    return Part(
        name="synthetic",
        title="Synthetic",
        datasets=(main,),
        numbers=compare_numbers("synthetic", {"U2": _drawn_disparities(bench)}),
        plots=tuple(
            Plot(f"synthetic-{kind}", *FIGURES[kind], labels[kind], draw)
            for kind, draw in draws.items()
        ),
    )


def _drawn_disparities(bench: Bench) -> np.ndarray:
    """U₂ of samples drawn anew: the paper's is one of them."""
    seeds = range(bench.settings.seed, bench.settings.seed + min(bench.settings.draws, 50))
    samples = (load_dataset("synthetic", seed=seed) for seed in seeds)
    return np.array([disparity(s.scores, sensitive_features=s.codes) for s in samples])
