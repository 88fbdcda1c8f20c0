"""The paper's experiments: what it shows of each data set, and the same computed anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from matplotlib.figure import Figure

import fedparity as fp
from fedparity_reproduction.datasets import Dataset, load_dataset
from fedparity_reproduction.estimators import FloatArray
from fedparity_reproduction.law_figures import draw_laws
from fedparity_reproduction.runner import Runner
from fedparity_reproduction.studies import Study, StudyResult, run_intensity, run_study
from fedparity_reproduction.study_figures import (
    draw_boxes,
    draw_budget,
    draw_centralized,
    draw_coarse,
    draw_convergence,
    draw_error,
    draw_heat_map,
    draw_intensity,
    draw_reliability,
)
from fedparity_reproduction.tables import (
    MEASURES,
    Population,
    Table,
    TextNumber,
    World,
    build_table,
    compare_numbers,
)
from fedparity_reproduction.terms import TermsTable, draw_terms

__all__ = ["EXPERIMENTS", "FIGURES", "Part", "Plot", "build_part"]

EXPERIMENTS = ("synthetic", "compas", "adult", "law")
"""In the paper's order."""


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure to be drawn, perhaps in another process."""

    name: str
    """Of its files, without the ending."""
    title: str
    caption: str
    label: str
    """The figure's label in the paper's source, or the empty string."""
    draw: Callable[[], Figure]


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One of the experiments, carried out."""

    name: str
    title: str
    datasets: tuple[Dataset, ...]
    """The main one first."""
    tables: tuple[Table, ...] = ()
    terms: TermsTable | None = None
    numbers: tuple[TextNumber, ...] = ()
    study: StudyResult | None = None
    plots: tuple[Plot, ...] = ()

    @property
    def verdicts(self) -> Counter[str]:
        """How many of the paper's rows and numbers match, and how many differ."""
        rows = [row.verdict for t in self.tables if t.as_printed for row in t.printed_rows]
        return Counter(each.word for each in (*rows, *(n.verdict for n in self.numbers)))


# -- what the paper shows ------------------------------------------------------------------------

_ALL = ("random", "negative", "positive")
_APPENDIX = {
    "error": "mae-k",
    "boxes": "box-k",
    "reliability": "pok-k",
    "k95": "k95-heatmap",
    "intensity": "error-vs-corr",
    "centralized": "central-vs-fed",
    "budget": "budget",
}
_RACE = "race and sex are among the covariates of the printed scores, although the text omits them"
_SYNTHETIC_LEVELS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100)


@dataclass(frozen=True)
class _Specification:
    """What belongs to one data set of the paper."""

    title: str
    span: tuple[float, float]
    """The scores that figures show."""
    tables: dict[str, tuple[str, str, tuple[str, ...]]]
    """By name: a title, the label in the paper's source, and its regimes."""
    whole: str | None = None
    """The data set of the scores before the jitter."""
    as_written: str | None = None
    """The data set that follows the paper's words, where its numbers do not."""
    labels: dict[str, str] = field(default_factory=dict)
    """The figures' labels in the paper's source."""


_SPECIFICATIONS = {
    "compas": _Specification(
        title="COMPAS",
        span=(0.0, 10.0),
        tables={
            "compas-table-1": ("COMPAS, Table 1", "tab:compas_random", ("positive",)),
            "compas-regimes": ("COMPAS, three regimes", "tab:compas:compare:three", _ALL),
        },
        whole="compas-deciles",
        labels={
            **{kind: f"fig:compas-{ending}" for kind, ending in _APPENDIX.items()},
            "laws": "fig:compas-plot",
            "original-laws": "fig:original-compas-plot",
        },
    ),
    "adult": _Specification(
        title="Adult",
        span=(0.0, 1.0),
        tables={"adult-regimes": ("Adult, three regimes", "tab:adult:compare:three", _ALL)},
        as_written="adult-without-race",
        labels={kind: f"fig:adult:{ending}" for kind, ending in _APPENDIX.items()},
    ),
    "law": _Specification(
        title="Law",
        span=(0.0, 1.0),
        tables={"law-regimes": ("Law, three regimes", "tab:law:compare:three", _ALL)},
        labels={
            kind: f"fig:law:{_APPENDIX[kind]}"  # the paper has no more
            for kind in ("error", "boxes", "reliability", "k95")
        },
    ),
}

_ROWS = (
    "Rows: the paper's estimator (midpoint quantiles, mixtures inverted on a grid), the same "
    "message integrated exactly, and bin means integrated exactly."
)

FIGURES: Mapping[str, tuple[str, str]] = {
    "laws": (
        "Score laws and their barycenter",
        (
            "Left: densities by beta kernels, on a log scale if one peak would hide the rest. Middle: distribution functions. Right: quantile "
            "functions. Dotted: the Wasserstein barycenter, whose quantile function is the mean "
            "of the groups' weighted by their shares."
        ),
    ),
    "original-laws": (
        "Original deciles and their barycenter",
        (
            "As above for the scores without jitter: whole numbers from 1 to 10. The "
            "barycenter takes values in between."
        ),
    ),
    "error": (
        "Convergence in k",
        (
            "Mean absolute error of the federated estimate by numbers k per group and silo, for "
            f"each regime (columns) and number of silos d (lines). {_ROWS}"
        ),
    ),
    "boxes": (
        "Distribution of the estimate over allocations",
        (
            "Boxes hold half of the draws, whiskers 90 %, dots are the extremes; dashed: the "
            "centralized U₂ of all records, with a band of 1 % around it. Each row has its own "
            f"scale; the band tells how large it is. {_ROWS}"
        ),
    ),
    "reliability": (
        "Reliability profile",
        (
            "Share of draws whose relative error is at most 1 %, with the line of 95 %, by k, "
            f"regime (columns) and number of silos d (lines). {_ROWS}"
        ),
    ),
    "k95": (
        "Smallest sketch for a target reliability",
        (
            "k95, the smallest k of the study with at most 1 % relative error in at least 95 % "
            "of the draws, by regime and number of silos d. Darker cells need more numbers."
        ),
    ),
    "intensity": (
        "Error against selection intensity",
        (
            "Relative error against the realized dependence of score and silo (Spearman), at "
            "k = 10 (above) and k = 20 (below), for the three estimators (columns). Dots are "
            "single allocations; lines join the medians of each strength ρ from 0 to 0.95."
        ),
    ),
    "centralized": (
        "Centralized discretization and federated estimates",
        (
            "Dashed: U₂(k) of the pooled records, discretized in the same way. Lines and bands: "
            "mean and 90 % of the federated estimates. Thin line: U₂ of all records. Each row has "
            f"its own scale. {_ROWS}"
        ),
    ),
    "budget": (
        "Accuracy for what is sent",
        (
            "Mean relative error against the numbers sent in all: two groups, d silos, k values "
            f"and one count each. {_ROWS}"
        ),
    ),
    "coarse": (
        "Synthetic scores and coarse sketches",
        (
            "Left: densities of the two groups. Right: the estimate with k = 1 and k = 2 numbers "
            "per group and silo against the strength ρ of selection, five silos; bands hold 90 % "
            "of the draws, the thin line is U₂."
        ),
    ),
    "convergence": (
        "Sensitivity to k",
        (
            "Left: independent allocation. Right: selection. Above: the estimate, with bands of "
            "90 % of the draws, and the centralized discretization. Below: its mean relative "
            "error, with the slope of 1/k."
        ),
    ),
}
"""Title and caption of each kind of figure."""


# -- the same computed anew ----------------------------------------------------------------------


def build_part(name: str, runner: Runner) -> Part:
    """Return the tables, terms, study and figures of an experiment."""
    if name == "synthetic":
        return _synthetic_part(runner)
    wanted, settings = _SPECIFICATIONS[name], runner.settings
    names = [each for each in (name, wanted.whole, wanted.as_written) if each]
    datasets = tuple(load_dataset(each, data=runner.data, seed=settings.seed) for each in names)
    population = Population(datasets[0], jittered=wanted.whole is not None)
    world = World.from_population(population, runner)
    study = run_study(
        Study(
            dataset=datasets[0],
            silos=settings.silos,
            levels=settings.levels,
            replicates=settings.replicates,
            rho=settings.rho,
            seed=settings.seed,
        ),
        runner,
    )
    return Part(
        name=name,
        title=wanted.title,
        datasets=datasets,
        tables=_tables(
            name, wanted, population=population, written=datasets[-1], world=world, runner=runner
        ),
        terms=draw_terms(population, runner, wanted.title),
        numbers=compare_numbers(name, _whole(population, world, runner)),
        study=study,
        plots=_plots(name, wanted, datasets, study, runner),
    )


def _tables(
    name: str,
    wanted: _Specification,
    *,
    population: Population,
    written: Dataset,
    world: World,
    runner: Runner,
) -> tuple[Table, ...]:
    """Return the paper's tables, and again for scores as the text describes them.

    Where a row differs, weaker and stronger selection are tried.
    """
    strengths = [
        World.from_population(
            population,
            runner,
            rho=rho,
            reason=f"the printed draw looks like one of {word} selection, ρ = {rho:g} instead of "
            f"{runner.settings.rho:g}",
        )
        for rho, word in ((0.75, "weaker"), (0.85, "stronger"))
    ]
    found = []
    for table, (title, label, regimes) in wanted.tables.items():
        build = partial(
            build_table,
            dataset=name,
            groups=population.dataset.group_names,
            label=label,
            regimes=regimes,
            seed=runner.settings.seed,
        )
        found.append(build(name=table, title=title, world=world, others=strengths))
        if wanted.as_written is not None:
            again = build(
                name=f"{wanted.as_written}-regimes",
                title=f"{title}, scores as the text describes them",
                world=World.from_population(Population(written), runner),
                others=[World((_RACE,), world.draws)],
                as_printed=False,
            )
            found.append(again)
    return tuple(found)


def _whole(population: Population, world: World, runner: Runner) -> dict[str, FloatArray]:
    """Return our draws of the numbers of the running text, by measure."""
    draws = world.draws("random")
    whole = {measure.name: draws[:, i, 0] for i, measure in enumerate(MEASURES)}
    share = float(population.dataset.codes.mean())
    seeds = ((runner.settings.seed, r) for r in range(runner.settings.draws))
    drawn = [population.drawn(seed) for seed in seeds]
    return {
        **whole,
        "C2": np.sqrt(whole["H2"] / (share * (1 - share))),
        "C2_range": np.sqrt(whole["H2_range"] / (share * (1 - share))),
        "mean_first": np.array([d.scores[~d.second].mean() for d in drawn]),
        "mean_second": np.array([d.scores[d.second].mean() for d in drawn]),
    }


def _plots(
    name: str,
    wanted: _Specification,
    datasets: tuple[Dataset, ...],
    study: StudyResult,
    runner: Runner,
) -> tuple[Plot, ...]:
    """Return the figures, to be drawn later."""
    settings, (low, high) = runner.settings, wanted.span
    intensity = run_intensity(
        Study(
            dataset=datasets[0],
            silos=(5, 20),
            levels=(10, 20),
            regimes=("positive", "negative"),
            replicates=settings.strengths,
            seed=settings.seed,
        ),
        runner,
    )
    draws: dict[str, Callable[[], Figure]] = {
        "laws": partial(draw_laws, datasets[0], span=(low, high))
    }
    if wanted.whole:
        draws["original-laws"] = partial(
            draw_laws, datasets[1], span=(low, high + 0.5), whole=True
        )
    draws |= {
        "error": partial(draw_error, study),
        "boxes": partial(draw_boxes, study),
        "reliability": partial(draw_reliability, study),
    }
    if not settings.is_quick:
        draws["k95"] = partial(draw_heat_map, study)
    draws |= {
        "intensity": partial(draw_intensity, intensity),
        "centralized": partial(draw_centralized, study),
        "budget": partial(draw_budget, study),
    }
    return tuple(
        Plot(f"{name}-{kind}", *FIGURES[kind], wanted.labels.get(kind, ""), draw)
        for kind, draw in draws.items()
    )


def _synthetic_part(runner: Runner) -> Part:
    """Return the numbers and figures of the synthetic example (`sec:exp:synthetic`)."""
    settings = runner.settings
    data = load_dataset("synthetic", seed=settings.seed)
    coarse = run_intensity(
        Study(
            dataset=data,
            silos=(5,),
            levels=(1, 2),
            regimes=("positive",),
            replicates=settings.strengths,
            seed=settings.seed,
        ),
        runner,
    )
    study = run_study(
        Study(
            dataset=data,
            silos=(5,),
            levels=_SYNTHETIC_LEVELS,
            regimes=("random", "positive"),
            replicates=settings.replicates,
            rho=settings.rho,
            seed=settings.seed,
        ),
        runner,
    )
    # the paper's sample is one of those that could have been drawn
    seeds = range(settings.seed, settings.seed + min(settings.draws, 50))
    samples = (load_dataset("synthetic", seed=seed) for seed in seeds)
    drawn = np.array([fp.disparity(s.scores, sensitive_features=s.codes) for s in samples])
    draws: dict[str, tuple[str, Callable[[], Figure]]] = {
        "coarse": ("fig:synthetic-beta-1", partial(draw_coarse, coarse)),
        "convergence": ("fig:synthetic-beta-u2-k", partial(draw_convergence, study)),
    }
    return Part(
        name="synthetic",
        title="Synthetic",
        datasets=(data,),
        numbers=compare_numbers("synthetic", {"U2": drawn}),
        plots=tuple(
            Plot(f"synthetic-{kind}", *FIGURES[kind], label, draw)
            for kind, (label, draw) in draws.items()
        ),
    )
