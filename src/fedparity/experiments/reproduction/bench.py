"""Where a reproduction keeps its numbers, how large it is, and who is told of its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fedparity.experiments.allocations import Regime
from fedparity.experiments.datasets import Dataset, load_dataset
from fedparity.experiments.datasets.finding import find_file
from fedparity.experiments.datasets.upstream import UPSTREAM
from fedparity.experiments.montecarlo import (
    IntensityResult,
    Study,
    StudyResult,
    run_intensity,
    run_study,
)
from fedparity.experiments.reproduction.draws import Drawing, draw_measures
from fedparity.experiments.reproduction.keeping import Arrays, keep
from fedparity.experiments.reproduction.meters import Meter, Progress
from fedparity.experiments.reproduction.populations import Population
from fedparity.experiments.reproduction.settings import Settings
from fedparity.experiments.reproduction.tables import World
from fedparity.version import __version__

__all__ = ["Bench", "check_data"]


def check_data(name: str, data: Path | None) -> None:
    """Raise a TableError if the file of an experiment is missing; the synthetic one has none."""
    if name in UPSTREAM:
        find_file(UPSTREAM[name], data)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bench:
    """Does the counting for every part, and keeps what was counted."""

    settings: Settings
    folder: Path
    """For numbers kept between runs."""
    data: Path | None = None
    workers: int = 1
    progress: Progress | None = None

    def load(self, name: str) -> Dataset:
        """Return a data set."""
        return load_dataset(name, data=self.data, seed=self.settings.seed)

    def study(self, dataset: Dataset, **changes: Any) -> StudyResult:  # noqa: ANN401
        """Return the Monte Carlo of a data set; ``changes`` are other settings of the study."""
        chosen = {
            "silos": self.settings.silos,
            "levels": self.settings.levels,
            "replicates": self.settings.replicates,
            "rho": self.settings.rho,
            "seed": self.settings.seed,
            **changes,
        }
        return run_study(
            Study(dataset=dataset, **chosen),
            workers=self.workers,
            progress=self._telling(f"{dataset.name} allocations"),
            folder=self.folder,
        )

    def intensity(self, dataset: Dataset, **changes: Any) -> IntensityResult:  # noqa: ANN401
        """Return the estimates of a data set over strengths of selection."""
        return run_intensity(
            dataset,
            **{"replicates": self.settings.strengths, "seed": self.settings.seed, **changes},
            workers=self.workers,
            progress=self._telling(f"{dataset.name} strengths"),
            folder=self.folder,
        )

    def world(
        self, population: Population, meter: Meter, *, rho: float | None = None, why: str = ""
    ) -> World:
        """Return the draws of a table under one assumption; they are made when asked for."""
        drawing = self.drawing(rho)

        @cache
        def draws(regime: Regime) -> Any:  # noqa: ANN401 -- an array
            def compute() -> Arrays:
                meter.expect(drawing.replicates)
                made = draw_measures(population, regime, drawing, told=meter.step)
                return {"draws": made}

            name = f"tables-{population.dataset.name}-{regime}-rho{drawing.rho:g}"
            return self.keep(name, population, {"regime": regime, "rho": drawing.rho}, compute)[
                "draws"
            ]

        return World((why,) if why else (), draws)

    def drawing(self, rho: float | None = None) -> Drawing:
        """Return how the allocations of tables are drawn."""
        return Drawing(
            replicates=self.settings.draws,
            seed=self.settings.seed,
            rho=self.settings.rho if rho is None else rho,
            workers=self.workers,
        )

    def keep(
        self,
        name: str,
        population: Population,
        decides: dict[str, Any],
        compute: Callable[[], Arrays],
    ) -> Arrays:
        """Return numbers that were kept, or compute and keep them."""
        whole = {
            **decides,
            "data": population.dataset.digest,
            "draws": self.settings.draws,
            "seed": self.settings.seed,
            "version": __version__,
        }
        return keep(self.folder / f"{name}.npz", whole, compute)

    def _telling(self, label: str) -> Progress | None:
        """A progress that is told under our label, whatever the study calls its steps."""
        if self.progress is None:
            return None
        tell = self.progress
        return lambda done, total, _: tell(done, total, label)
