"""COMPAS, Adult and Law: everything that the paper shows of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from fedparity.experiments.datasets import Dataset
from fedparity.experiments.montecarlo import IntensityResult, StudyResult
from fedparity.experiments.reproduction.bench import Bench
from fedparity.experiments.reproduction.captions import FIGURES
from fedparity.experiments.reproduction.figures.boxes import draw_boxes
from fedparity.experiments.reproduction.figures.by_silos import (
    draw_budget,
    draw_error,
    draw_reliability,
)
from fedparity.experiments.reproduction.figures.centralised import draw_centralised
from fedparity.experiments.reproduction.figures.heat_map import draw_heat_map
from fedparity.experiments.reproduction.figures.intensity import draw_intensity
from fedparity.experiments.reproduction.figures.laws import draw_laws
from fedparity.experiments.reproduction.measures import MEASURES
from fedparity.experiments.reproduction.meters import Meter
from fedparity.experiments.reproduction.parts import Part, Plot
from fedparity.experiments.reproduction.populations import Population
from fedparity.experiments.reproduction.specifications import SPECIFICATIONS, Specification
from fedparity.experiments.reproduction.tables import Table, World, build_table
from fedparity.experiments.reproduction.terms import TermsTable, draw_terms
from fedparity.experiments.reproduction.text_numbers import TextNumber, compare_numbers
from fedparity.laws.arrays import FloatArray

__all__ = ["build_part"]

_RACE = "race and sex are among the covariates of the printed scores, although the text omits them"


def build_part(name: str, bench: Bench) -> Part:
    """Return the tables, terms, study and figures of a data set."""
    wanted = SPECIFICATIONS[name]
    others = (wanted.whole, wanted.as_written)
    datasets = (bench.load(name), *(bench.load(other) for other in others if other))
    meter = Meter(bench.progress, f"{name} tables")
    builder = _Builder(name, wanted, bench, datasets, meter)
    study, intensity = bench.study(datasets[0]), bench.intensity(datasets[0])
    return Part(
        name=name,
        title=wanted.title,
        datasets=datasets,
        tables=(*builder.tables(), *builder.tables_as_written()),
        terms=builder.terms(),
        numbers=builder.numbers(),
        study=study,
        plots=builder.plots(study, intensity),
    )


@dataclass(frozen=True, eq=False)
class _Builder:
    """What the pieces of a part have in common."""

    name: str
    wanted: Specification
    bench: Bench
    datasets: tuple[Dataset, ...]
    meter: Meter

    @cached_property
    def population(self) -> Population:
        return Population(self.datasets[0], jittered=self.wanted.jittered)

    @cached_property
    def world(self) -> World:
        return self.bench.world(self.population, self.meter)

    def tables(self) -> list[Table]:
        """The paper's tables; where a row differs, weaker and stronger selection are tried."""
        strengths = [
            self.bench.world(self.population, self.meter, rho=rho, why=self._strength(rho, word))
            for rho, word in ((0.75, "weaker"), (0.85, "stronger"))
        ]
        return [
            build_table(
                name=name,
                title=title,
                dataset=self.name,
                groups=self.population.groups,
                world=self.world,
                others=strengths,
                labels=labels,
                seed=self.bench.settings.seed,
            )
            for name, (title, labels) in self.wanted.tables.items()
        ]

    def _strength(self, rho: float, word: str) -> str:
        return (
            f"the printed draw looks like one of {word} selection, ρ = {rho:g} instead of "
            f"{self.bench.settings.rho:g}"
        )

    def tables_as_written(self) -> list[Table]:
        """The same tables for scores that follow the text, where the printed ones do not."""
        if self.wanted.as_written is None:
            return []
        written = Population(self.datasets[-1])
        world = self.bench.world(written, self.meter)
        return [
            build_table(
                name=f"{self.wanted.as_written}-regimes",
                title=f"{title}, scores as the text describes them",
                dataset=self.name,
                groups=written.groups,
                world=world,
                others=[World((_RACE,), self.world.draws)],
                labels=labels,
                seed=self.bench.settings.seed,
                as_printed=False,
            )
            for title, labels in self.wanted.tables.values()
        ]

    def terms(self) -> TermsTable:
        """The ANOVA terms and the attribution."""

        def compute() -> dict[str, FloatArray]:
            drawing = self.bench.drawing()
            self.meter.expect(drawing.replicates)
            drawn = draw_terms(
                self.population, drawing, title=self.wanted.title, told=self.meter.step
            )
            return dict(drawn.draws)

        decides = {"rho": self.bench.settings.rho, "terms": True}
        kept = self.bench.keep(f"terms-{self.name}", self.population, decides, compute)
        return TermsTable(self.wanted.title, kept)

    def numbers(self) -> tuple[TextNumber, ...]:
        """The numbers of the running text."""
        draws = self.world.draws("random")
        whole = {measure.name: draws[:, i, 0] for i, measure in enumerate(MEASURES)}
        share = float(self.population.dataset.codes.mean())
        seeds = ((self.bench.settings.seed, r) for r in range(self.bench.settings.draws))
        drawn = [self.population.drawn(seed) for seed in seeds]
        return compare_numbers(
            self.name,
            {
                **whole,
                "C2": np.sqrt(whole["H2"] / (share * (1 - share))),
                "C2_range": np.sqrt(whole["H2_range"] / (share * (1 - share))),
                "mean_first": np.array([d.scores[~d.second].mean() for d in drawn]),
                "mean_second": np.array([d.scores[d.second].mean() for d in drawn]),
            },
        )

    def plots(self, study: StudyResult, intensity: IntensityResult) -> tuple[Plot, ...]:
        """The figures, to be drawn later."""
        low, high = self.wanted.span
        draws = {"laws": partial(draw_laws, self.datasets[0], span=(low, high))}
        if self.wanted.whole:
            whole = partial(draw_laws, self.datasets[1], span=(low, high + 0.5), whole=True)
            draws["original-laws"] = whole
        draws |= {
            "error": partial(draw_error, study),
            "boxes": partial(draw_boxes, study),
            "reliability": partial(draw_reliability, study),
            "k95": partial(draw_heat_map, study),
            "intensity": partial(draw_intensity, intensity),
            "centralised": partial(draw_centralised, study),
            "budget": partial(draw_budget, study),
        }
        return tuple(
            Plot(f"{self.name}-{kind}", *FIGURES[kind], self.wanted.labels.get(kind, ""), draw)
            for kind, draw in draws.items()
        )
