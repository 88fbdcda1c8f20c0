"""What noise costs: errors, coverage and projections, on data where the truth is known.

``python benchmarks/privacy.py --data FOLDER`` prints three tables in Markdown, also written to
``docs/explanation/privacy-*-table.md`` with ``--write``: the error of the disparity and how often its
ranges hold, by epsilon; the error of four ways to make a law of noisy counts; and what a plain
sketch prints of the records behind it. Without ``--data`` the COMPAS rows are left out. A shorter
run is part of the tests.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import isotonic_regression

import fedparity as fp
from fedparity.laws.law import FloatArray
from fedparity.privacy.histograms import Counts, Grid
from fedparity.privacy.noise import (
    NoiseLaw,
    bins_of_points,
    monotone_masses,
    noisy_counts,
    planned_bins,
)
from fedparity.uncertainty.noisy_assessment import NoisyDisparityAssessment, assess_noisy
from fedparity.uncertainty.noisy_histograms import HistogramReader, NoisyHistograms

FOLDER = Path(__file__).parents[1] / "docs" / "explanation"
METHOD = fp.Method(levels=1000, estimator="exact")
EPSILONS = (0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class Population:
    """A table with silos, whose disparity is known."""

    name: str
    scores: FloatArray
    groups: Counts
    silos: Counts
    score_range: tuple[float, float]
    points: FloatArray | None = None
    """The scores there can be, where a plan would state their step."""
    epsilons: tuple[float, ...] = EPSILONS

    @property
    def exact(self) -> float:
        """The disparity of the raw data."""
        return float(fp.disparity(self.scores, sensitive_features=self.groups))

    def counts(self, grid: Grid) -> Counts:
        """Exact counts by silo, group and bin."""
        held = np.zeros((self.silos.max() + 1, 2, grid.bins), np.int64)
        np.add.at(held, (self.silos, self.groups, grid.positions(self.scores)), 1)
        return held

    def grid(self, epsilon: float) -> Grid:
        """The grid that a plan with the right planning size would have."""
        size, silos = int(np.bincount(self.groups).min()), float(self.silos.max() + 1)
        bins = planned_bins(size, epsilon, silos)
        if self.points is None:
            return Grid.of(self.score_range, bins=bins)
        return Grid.of_points(self.points, bins=bins_of_points(self.points.size, bins))


def beta_pair(
    name: str, first: tuple[float, float], second: tuple[float, float], size: int, seed: int = 0
) -> Population:
    """Two groups of Beta scores, dealt to five silos at random."""
    random = np.random.default_rng(seed)
    scores = np.concatenate([random.beta(*first, size), random.beta(*second, size)])
    silos = random.integers(0, 5, scores.size)
    return Population(name, scores, np.repeat([0, 1], size), silos, (0.0, 1.0))


def deciles(name: str, first: float, second: float, size: int, seed: int = 0) -> Population:
    """Two groups of whole scores from 1 to 10, dealt to five silos at random."""
    random = np.random.default_rng(seed)
    scores = 1.0 + np.concatenate([random.binomial(9, share, size) for share in (first, second)])
    silos = random.integers(0, 5, scores.size)
    points = np.arange(1.0, 11.0)
    groups = np.repeat([0, 1], size)
    return Population(name, scores, groups, silos, (1.0, 10.0), points, (*EPSILONS, 5.0))


def compas(folder: Path) -> Iterator[Population]:
    """The two largest groups of the COMPAS file: deciles, and jittered; silos by age and by score."""
    with (folder / "compas-scores-two-years.csv").open(newline="") as file:
        rows = [
            (float(row["decile_score"]), row["race"] == "Caucasian", float(row["age"]))
            for row in csv.DictReader(file)
            if row["race"] in ("African-American", "Caucasian")
        ]
    whole, caucasian, ages = map(np.array, zip(*rows, strict=True))
    random = np.random.default_rng(0)
    scores, groups = whole - random.random(whole.size), caucasian.astype(np.int64)
    by_age = np.searchsorted(np.quantile(ages, [0.2, 0.4, 0.6, 0.8]), ages)
    yield Population(
        "COMPAS deciles, silos by age",
        whole,
        groups,
        by_age,
        (1.0, 10.0),
        np.arange(1.0, 11.0),
        (*EPSILONS, 5.0),
    )
    yield Population("COMPAS, silos by age", scores, groups, by_age, (0.0, 10.0))
    order = np.argsort(np.argsort(scores + random.normal(0, 2, scores.size)))
    by_score = order * 5 // scores.size
    yield Population("COMPAS, silos by score", scores, groups, by_score, (0.0, 10.0))
    dealt = random.integers(0, 20, scores.size)
    yield Population("COMPAS, 20 silos", scores, groups, dealt, (0.0, 10.0))


def populations(folder: Path | None) -> Iterator[Population]:
    """All tables of the benchmark."""
    if folder is not None:
        yield from compas(folder)
    yield beta_pair("Beta(3, 4), Beta(6, 4)", (3, 4), (6, 4), 10_000)
    yield beta_pair("the same, 2,000 each", (3, 4), (6, 4), 2_000)
    yield beta_pair("two peaks", (0.4, 0.6), (0.6, 0.4), 10_000)
    yield beta_pair("bunched at zero", (0.5, 15), (0.5, 8), 10_000)
    yield beta_pair("hardly apart", (3, 4), (3.2, 4), 10_000)
    yield deciles("whole scores from 1 to 10", 0.35, 0.45, 2_000)


def released(held: Counts, grid: Grid, epsilon: float) -> NoisyHistograms:
    """The histograms of one run: each silo draws its own noise, by OpenDP."""
    noisy = np.stack([noisy_counts(counts, epsilon) for counts in held])
    return NoisyHistograms(
        silos=tuple(range(len(noisy))),
        groups=(0, 1),
        counts=noisy,
        grid=grid,
        noise=NoiseLaw(epsilon),
    )


def accuracy_row(population: Population, epsilon: float, runs: int) -> str:
    """Error and coverage of one population at one epsilon."""
    grid, exact = population.grid(epsilon), population.exact
    held = population.counts(grid)
    errors, raw, noise_only, widths = [], [], [], []
    for run in range(runs):
        histograms = released(held, grid, epsilon)
        found = assess_noisy(
            histograms,
            histograms.federation(),
            METHOD,
            score_range=population.score_range,
            redraws=200,
            seed=run,
        ).disparity
        if not isinstance(found, NoisyDisparityAssessment):
            raise TypeError
        low, high = found.certificate.lower, found.certificate.upper
        errors.append(abs(found.value / exact - 1))
        raw.append(low <= exact <= high)
        noise_only.append(low + found.binning <= exact <= high - found.binning)
        widths.append((high - low) / 2 / exact)
    return (
        f"| {population.name} | {epsilon:g} | {grid.bins} | {np.mean(errors):.1%} | "
        f"{np.quantile(errors, 0.95):.1%} | ±{np.mean(widths):.1%} | {np.mean(raw):.0%} | "
        f"{np.mean(noise_only):.0%} |"
    )


def clipped(noisy: Counts) -> FloatArray:
    """Negative counts put to zero."""
    return np.maximum(noisy, 0.0)


def simplex(noisy: Counts) -> FloatArray:
    """The nearest masses of the same total in squared distance."""
    masses = np.zeros(noisy.shape)
    for at in np.ndindex(noisy.shape[:-1]):
        falling = np.sort(noisy[at])[::-1].astype(float)
        excess = (np.cumsum(falling) - max(noisy[at].sum(), 1)) / np.arange(1, falling.size + 1)
        masses[at] = np.maximum(noisy[at] - excess[np.flatnonzero(falling > excess)[-1]], 0)
    return masses


def isotonic(noisy: Counts) -> FloatArray:
    """Running sums made monotone by least squares."""
    masses = np.zeros(noisy.shape)
    for at in np.ndindex(noisy.shape[:-1]):
        total = max(float(noisy[at].sum()), 0.0)
        inner = isotonic_regression(np.cumsum(noisy[at])[:-1].astype(float)).x
        masses[at] = np.diff(np.concatenate(([0.0], np.clip(inner, 0.0, total), [total])))
    return masses


PROJECTIONS: dict[str, Callable[[Counts], FloatArray]] = {
    "clip at zero": clipped,
    "nearest counts": simplex,
    "isotonic sums": isotonic,
    "monotone sums (ours)": monotone_masses,
}


def projection_row(population: Population, epsilon: float, runs: int) -> str:
    """Mean error, and mean signed error, of each way to make laws."""
    grid, exact = population.grid(epsilon), population.exact
    held, reader = population.counts(grid), HistogramReader(grid, order=2, levels=1000)
    errors: dict[str, list[float]] = {name: [] for name in PROJECTIONS}
    for _ in range(runs):
        noisy = released(held, grid, epsilon).counts
        for name, project in PROJECTIONS.items():
            found = float(reader.disparity(project(noisy).sum(axis=0)[None])[0])
            errors[name].append(found / exact - 1)
    cells = " | ".join(
        f"{np.mean(np.abs(each)):.1%} ({np.mean(each):+.1%})" for each in errors.values()
    )
    return f"| {population.name} | {epsilon:g} | {cells} |"


def located(scores: FloatArray, levels: int) -> float:
    """Where somebody puts the first score who sees a second sketch, with the top score in its place.

    Quantiles below the record stay, those above rise: it lies at or before the first that rose.
    """
    before = fp.Cell.from_scores(scores, levels=levels).values
    after = fp.Cell.from_scores(np.append(scores[1:], 1.0), levels=levels).values
    rose = np.flatnonzero(after > before)
    first = int(rose[0]) if rose.size else levels
    ends = np.concatenate(([0.0], before, [1.0]))[first : first + 2]
    return float(ends.mean())


def accuracy(folder: Path | None, runs: int) -> Iterator[str]:
    """Errors and coverage by epsilon."""
    yield f"{runs} runs per row, OpenDP's noise, 200 redraws, 95 %; five silos unless stated."
    yield ""
    yield (
        "| data | ε | bins | mean error | 95 % of errors | range for the raw data | it covers | "
        "without the term for bins |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for population in populations(folder):
        for epsilon in population.epsilons:
            yield accuracy_row(population, epsilon, runs)
    null = beta_pair("", (3, 4), (3, 4), 10_000)
    grid = null.grid(1.0)
    held = null.counts(grid)
    found = [
        fp.theory.estimate(released(held, grid, 1.0).federation(), METHOD).disparity
        for _ in range(runs)
    ]
    yield ""
    yield (
        f"No disparity, 10,000 per group, ε = 1: mean $G_2$ {np.mean(found):.1e} of the squared "
        f"range (the raw sample itself: {null.exact:.1e})."
    )


def projections(folder: Path | None, runs: int) -> Iterator[str]:
    """Errors of four ways to make laws, at epsilon 1."""
    yield f"Mean error of $G_2$, and its mean with sign, ε = 1, {2 * runs} runs."
    yield ""
    yield f"| data | ε | {' | '.join(PROJECTIONS)} |"
    yield "|---|---|" + "---|" * len(PROJECTIONS)
    for population in populations(folder):
        yield projection_row(population, 1.0, 2 * runs)


def disclosure(_: Path | None, runs: int) -> Iterator[str]:
    """What a plain sketch of 403 records prints of them, and what a second one gives away."""
    yield "| k | records whose score is printed | a changed record is located within (median) |"
    yield "|---|---|---|"
    random = np.random.default_rng(1)
    for levels in (20, 50, 100):
        printed, gaps = [], []
        for _run in range(10 * runs):
            scores = random.beta(2, 5, 403)
            sent = fp.Cell.from_scores(scores, levels=levels).values
            printed.append(np.isin(scores, sent).mean())
            gaps.append(abs(located(scores, levels) - scores[0]))
        yield f"| {levels} | {np.mean(printed):.0%} | {np.median(gaps):.1%} of the range |"


TABLES: dict[str, Callable[[Path | None, int], Iterator[str]]] = {
    "privacy-accuracy-table.md": accuracy,
    "privacy-projection-table.md": projections,
    "privacy-disclosure-table.md": disclosure,
}


def main() -> None:
    """Print the tables, and write them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of compas-scores-two-years.csv")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--write", action="store_true", help="write the tables of the docs")
    options = parser.parse_args()
    for name, table in TABLES.items():
        lines = []
        for line in table(options.data, options.runs):
            print(line, flush=True)
            lines.append(line)
        print()
        if options.write:
            (FOLDER / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
