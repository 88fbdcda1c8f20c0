"""How often intervals cover the truth, and how often noise alone looks like a disparity.

``python benchmarks/interval_coverage.py --federations 2000`` simulates federations whose population is known,
sketches them under the default disclosure rules, assesses each from its sketches alone, and prints a table
in Markdown; ``--write`` puts it into ``docs/explanation/coverage-table.md``. Tallies are kept in
``interval_coverage.json`` and added to until each row has so many federations, always the row with the fewest first;
so a long run may be interrupted at any time, and continued. The numbers of the first federations are kept too: where
they are no longer the same, the engine has changed, and the row starts anew. Four rows are part of the tests.
Cells of many records are not drawn record by record: the ends of their bins are drawn as order statistics are,
which gives the same sketches.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

import fedparity as fp
from fedparity.federated.estimate import pairs
from fedparity.laws.bounds import Bounds
from fedparity.privacy.count_merging import merge_counts
from fedparity.privacy.disclosure import (
    Disclosure,
    allowed_levels,
    round_mean_square,
    round_values,
)
from fedparity.privacy.histograms import Grid
from fedparity.privacy.noise import NoiseLaw, bins_of_points, planned_bins
from fedparity.sketches.kinds import Kind
from fedparity.uncertainty.assessment import Assessment, assess
from fedparity.uncertainty.noisy_assessment import assess_noisy
from fedparity.uncertainty.noisy_histograms import NoisyHistograms

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FINE = 20_000
LARGE = 20_000
"""Records from which a cell is drawn by order statistics."""
ROUNDED = 1e-12
"""Measures below this are sums that would be zero without the rounding of floats."""
FIRST = 3
"""Federations whose numbers are kept, to see whether the engine is still the same."""
TABLE = Path(__file__).parents[1] / "docs" / "explanation" / "coverage-table.md"
TALLIES = Path(__file__).with_suffix(".json")
DECILES = (
    (365, 346, 298, 337, 323, 318, 343, 301, 317, 227),
    (605, 321, 238, 243, 200, 160, 113, 96, 77, 50),
)
"""Decile scores 1 to 10 of two groups, in the shape of the COMPAS file."""


@cache
def quantiles(family: str, *shape: float) -> FloatArray:
    """The quantile function of a law on a fine grid of levels."""
    levels = (np.arange(FINE) + 0.5) / FINE
    if family == "beta":
        return np.asarray(stats.beta(*shape).ppf(levels))
    if family == "lognormal":
        return np.asarray(np.minimum(np.exp(shape[0] + 0.8 * stats.norm.ppf(levels)), 30.0))
    if family == "clumps":  # nobody between them, where the barycenter is
        first = 0.5 - shape[0]
        return np.where(levels < first, 0.0, 0.7) + 0.1 * levels
    if family == "zeros":
        positive = np.clip((levels - 0.5 + shape[0]) / (0.5 + shape[0]), 0.0, 1.0)
        return np.asarray(stats.beta(2, 4).ppf(positive))
    if family == "binary":
        return np.where(levels < 0.5 - shape[0], 0.0, 1.0)
    shares = np.asarray(DECILES[0], dtype=float) ** (1 - shape[0])
    shares *= np.asarray(DECILES[1], dtype=float) ** shape[0]
    running = np.cumsum(shares) / shares.sum()
    return np.searchsorted(running, levels).astype(np.float64) + 1.0


@dataclass(frozen=True, kw_only=True)
class World:
    """A population, and how it is sketched."""

    name: str
    records: float
    """Expected records of all cells together."""
    silos: int = 5
    levels: int = 100
    shares: tuple[float, ...] = (0.5, 0.5)
    family: str = "beta"
    gap: float = 0.6
    """How far the last group is from the first; 0 under the null hypothesis."""
    between: float = 0.0
    """How far silos are from each other."""
    selection: float = 0.0
    """How much more of the last group the later silos hold."""
    zipf: bool = False
    kind: Kind = "mean"
    estimator: str = "exact"
    order: int = 2
    rules: bool = True
    weights: tuple[float, ...] = ()
    minimum: int = 11
    range: float = 1.0
    """How long the public range of Beta scores is, which lie within 0 to 1."""
    epsilon: float | None = None
    """The loss of privacy of a silo that sends noisy histograms; None for sketches."""
    conservative: bool = False
    """Where the sketch leaves more open than sampling, intervals may cover more often.

    So it is where cells are huge; where small counts are merged; and where quantiles of ten scores are
    joined to a law: all that their staircase differs from it is added to the interval.
    """

    @cached_property
    def plan(self) -> fp.Plan:
        """The plan that silos follow."""
        return fp.Plan(
            title=self.name,
            groups=tuple(map(str, range(len(self.shares)))),
            score_range=self.score_range,
            score_step=1.0 if self.kind == "counts" else None,
            levels=self.levels,
            sketch=self.kind,
        )

    @property
    def score_range(self) -> tuple[float, float]:
        """The public bounds of the scores."""
        if self.family == "beta":
            return 0.5 - self.range / 2, 0.5 + self.range / 2
        return {"lognormal": (0.0, 30.0), "deciles": (1.0, 10.0)}.get(self.family, (0.0, 1.0))

    @cached_property
    def grid(self) -> Grid:
        """The bins of noisy histograms, as a plan with the right planning size would have them."""
        smallest = round(self.records * min(self.shares))
        bins = planned_bins(smallest, self.epsilon or 1.0, float(self.silos))
        if self.family == "deciles":
            return Grid.of_points(np.arange(1.0, 11.0), bins=bins_of_points(10, bins))
        return Grid.of(self.score_range, bins=bins)

    def law(self, silo: int, group: int) -> FloatArray:
        """The quantiles of a cell's law."""
        away = self.gap * group / (len(self.shares) - 1)
        place = self.between * (silo / max(self.silos - 1, 1) - 0.5)
        if self.family == "beta":
            return quantiles("beta", 3 + away + place, 4)
        if self.family == "lognormal":
            return quantiles("lognormal", 0.3 * away + place)
        if self.family in ("clumps", "zeros", "binary"):
            return quantiles(self.family, away + place)
        return quantiles("deciles", min(max(0.3 + away + place, 0.0), 1.0))

    def expected(self) -> FloatArray:
        """Expected records by silo and group."""
        sizes = 1 / np.arange(1, self.silos + 1) if self.zipf else np.ones(self.silos)
        table = np.outer(sizes / sizes.sum(), self.shares)
        lean = 1 + self.selection * np.linspace(-1, 1, self.silos)
        table[:, -1] *= lean / (lean @ (sizes / sizes.sum()))
        return np.asarray(self.records * table / table.sum())

    def truth(self) -> dict[str, FloatArray]:
        """The measures of the population."""
        cells = {
            (silo, group): fp.Cell(
                count=float(count), values=self.law(silo, group), kind="quantile"
            )
            for (silo, group), count in np.ndenumerate(self.expected())
        }
        whole = fp.Federation.from_cells(cells)
        method = fp.Method(estimator="exact", order=self.order)  # type: ignore[arg-type]
        found, parts = fp.theory.estimate(whole, method), fp.theory.attribute(whole, method)
        truth = {
            "G": np.array(found.disparity),
            "H": np.array(found.heterogeneity),
            "W": np.array([pair.wasserstein for pair in pairs(whole, method)]),
            "selection": np.array(parts.selection),
            "within": np.array(parts.within),
        }
        # The rounding of floats is no disparity: an interval that ends at 0 covers a part of -1e-25.
        return {
            name: np.where(np.abs(number) < ROUNDED, 0.0, number) for name, number in truth.items()
        }


def draw_scores(
    law: FloatArray, count: int, random: np.random.Generator, family: str
) -> FloatArray:
    """Records of a law, one by one."""
    at = random.random(count) * FINE
    if family in ("deciles", "binary"):
        return law[at.astype(np.int64)]
    nearest = np.clip(at - 0.5, 0, FINE - 1.000001)  # between the points of the table, linearly
    low = nearest.astype(np.int64)
    return law[low] + (nearest - low) * (law[low + 1] - law[low])


def sketch(
    world: World, silo: int, group: int, count: int, random: np.random.Generator
) -> fp.Cell:
    """One cell under the default rules, or without them."""
    law = world.law(silo, group)
    rules = Disclosure() if world.rules else Disclosure.off()
    weights = None
    if world.weights:
        weights = random.choice(np.asarray(world.weights), count)
    levels = allowed_levels(count, world.levels, rules, kind=world.kind)
    if count <= LARGE or world.kind == "counts":
        scores = draw_scores(law, count, random, world.family)
        cell = fp.Cell.from_scores(scores, levels=levels, kind=world.kind, weights=weights)
    else:
        cell = _by_order_statistics(law, count, levels, world.kind, random)
    return released(cell, world.plan) if world.rules else cell


def released(cell: fp.Cell, plan: fp.Plan) -> fp.Cell:
    """The cell as a silo releases it and the auditor reads it."""
    effective = math.floor(cell.effective) if cell.effective != cell.count else None
    sent = partial(
        fp.documents.SketchedCell, group=plan.groups[0], count=cell.count, effective=effective
    )
    if cell.masses is not None:
        points = plan.score_points
        records = np.zeros(points.size, np.int64)
        records[np.searchsorted(points, cell.values)] = cell.masses
        merged = merge_counts(points, records, plan.disclosure)
        read = sent(values=merged.values, counts=merged.counts).to_cell(plan)
    else:
        values = round_values(cell.values, plan.score_range, plan.rounding)
        square = cell.mean_square
        if square is not None:
            square = round_mean_square(
                square + float(np.mean((values - cell.values) ** 2)),
                values=values,
                count=effective or cell.count,
                score_range=plan.score_range,
                rounding=plan.rounding,
            )
        read = sent(values=values, mean_square=square).to_cell(plan)
    if read is None:
        raise AssertionError
    return read


def _by_order_statistics(
    law: FloatArray, count: int, levels: int, kind: Kind, random: np.random.Generator
) -> fp.Cell:
    """The same in distribution as sketching ``count`` records one by one."""
    if kind == "quantile":
        rank = np.ceil(count * (2 * np.arange(1, levels + 1) - 1) / (2 * levels) - 1e-9)
        spacing = np.diff(rank, prepend=0, append=count + 1)
        level = np.cumsum(random.standard_gamma(spacing))
        return fp.Cell(count=count, values=_at(law, level[:-1] / level[-1]), kind=kind)
    block = 8
    edges = np.rint(np.arange(levels * block + 1) * count / (levels * block))
    size = np.diff(edges)
    spacing = np.concatenate(([0.5], size, [0.5]))
    level = np.cumsum(random.standard_gamma(spacing))
    level = level[:-1] / level[-1]
    first, second = (_integral(law, level, power) for power in (1, 2))
    width = np.diff(level)
    mean, square = np.diff(first) / width, np.diff(second) / width
    variance = np.maximum(square - mean**2, 0.0)
    mean = mean + random.standard_normal(mean.size) * np.sqrt(variance / size)
    mean = np.maximum.accumulate(mean).reshape(levels, block)
    own, bins = size.reshape(levels, block), mean
    values = (own * bins).sum(axis=1) / own.sum(axis=1)
    inside = (own * (variance.reshape(levels, block) + (bins - values[:, None]) ** 2)).sum()
    return fp.Cell(count=count, values=values, kind=kind, mean_square=float(inside / count))


def _at(law: FloatArray, levels: FloatArray) -> FloatArray:
    return np.interp(levels * FINE - 0.5, np.arange(FINE), law)


def _integral(law: FloatArray, levels: FloatArray, power: int) -> FloatArray:
    """The integral of a power of the quantile function, up to levels."""
    running = np.concatenate(([0.0], np.cumsum(law**power))) / FINE
    at = np.clip(levels * FINE, 0, FINE - 1e-9)
    low = at.astype(np.int64)
    return running[low] + (at - low) * law[low] ** power / FINE


def assess_sketches(
    world: World, counts: IntArray, random: np.random.Generator, seed: int
) -> Assessment:
    """Sketch every cell and assess the sketches."""
    cells = {}
    for (silo, group), count in np.ndenumerate(counts):
        if count >= (world.minimum if world.rules else 1):
            cells[silo, group] = sketch(world, silo, group, int(count), random)
    federation = fp.Federation.from_cells(cells, score_range=world.score_range)
    method = fp.Method(
        estimator=world.estimator,  # type: ignore[arg-type]
        levels=world.levels,
        order=world.order,  # type: ignore[arg-type]
    )
    return assess(federation, method, score_range=world.score_range, seed=seed, local=())


def assess_histograms(
    world: World, counts: IntArray, random: np.random.Generator, seed: int
) -> Assessment:
    """Count every cell in bins, add noise of the law that silos draw from, and assess the result."""
    law, grid = NoiseLaw(world.epsilon or 1.0), world.grid
    noisy = law.draw(random, (*counts.shape, grid.bins))
    for (silo, group), count in np.ndenumerate(counts):
        scores = draw_scores(world.law(silo, group), int(count), random, world.family)
        noisy[silo, group] += np.bincount(grid.positions(scores), minlength=grid.bins)
    silos, groups = map(range, counts.shape)
    histograms = NoisyHistograms(
        silos=tuple(silos), groups=tuple(groups), counts=noisy, grid=grid, noise=law
    )
    method = fp.Method(estimator="exact", levels=1000)
    federation = histograms.federation()
    return assess_noisy(
        histograms, federation, method, score_range=world.score_range, seed=seed, redraws=200
    )


def simulate(world: World, truth: dict[str, FloatArray], seed: int) -> dict[str, float]:
    """Which intervals of one simulated federation cover (of ``W``: how many), and its p-value."""
    random = np.random.default_rng((seed, 77))
    expected = world.expected()
    counts = random.multinomial(round(world.records), (expected / expected.sum()).ravel())
    assessed = assess_sketches if world.epsilon is None else assess_histograms
    found = assessed(world, counts.reshape(expected.shape), random, seed)
    distances = np.array([[*pair.interval] for pair in found.pairs])
    together = np.array([[*pair.simultaneous] for pair in found.pairs])
    lower, upper = found.disparity.interval
    return {
        "G": float(lower <= truth["G"] <= upper),
        "too high": float(lower > truth["G"]),
        "H": _covers(found.heterogeneity.interval, truth["H"]),
        "W": float(np.sum((distances[:, 0] <= truth["W"]) & (truth["W"] <= distances[:, 1]))),
        "worst": float(together[:, 0].max() <= truth["W"].max() <= together[:, 1].max()),
        "selection": _covers(found.attribution["selection"], truth["selection"]),
        "within": _covers(found.attribution["within"], truth["within"]),
        "p": float(found.disparity.p_value <= 0.05),
        "p-value": found.disparity.p_value,
        "truth": float(truth["G"]),
        "value": found.disparity.value,
        "corrected": found.disparity.corrected,
        "width": upper - lower,
    }


def _covers(interval: Bounds, truth: FloatArray) -> float:
    return float(interval.lower <= truth <= interval.upper)


BETA = {"family": "beta"}
WORLDS = (
    # name, and what differs from: Beta laws, five silos, two equal groups, k = 100, default rules
    World(name="30 a cell", records=300),
    World(name="30 a cell, null", records=300, gap=0),
    World(name="60 a cell", records=600),
    World(name="200 a cell", records=2_000),
    World(name="200 a cell, null", records=2_000, gap=0),
    World(name="200 a cell, large gap", records=2_000, gap=3),
    World(name="200 a cell, k = 20", records=2_000, levels=20),
    World(name="200 a cell, k = 5", records=2_000, levels=5),
    World(name="200 a cell, k = 5, null", records=2_000, levels=5, gap=0),
    World(name="200 a cell, rules off", records=2_000, rules=False),
    World(name="200 a cell, quantiles", records=2_000, kind="quantile"),
    World(name="200 a cell, quantiles, null", records=2_000, kind="quantile", gap=0),
    World(name="200 a cell, quantiles, grid", records=2_000, kind="quantile", estimator="grid"),
    World(name="one silo of 400", records=400, silos=1),
    World(name="one silo of 10,000", records=10_000, silos=1),
    World(name="30 silos of 1,000", records=30_000, silos=30, shares=(0.8, 0.2)),
    World(name="30 silos of 1,000, null", records=30_000, silos=30, shares=(0.8, 0.2), gap=0),
    World(name="Zipf silos", records=10_000, silos=20, zipf=True),
    World(name="Zipf silos, null", records=10_000, silos=20, zipf=True, gap=0),
    World(name="Zipf silos of 2,000 in all, cells withheld", records=2_000, silos=20, zipf=True),
    World(name="third group of 1 %", records=6_000, silos=3, shares=(0.6, 0.39, 0.01)),
    World(
        name="third group of 1 %, null", records=6_000, silos=3, shares=(0.6, 0.39, 0.01), gap=0
    ),
    World(name="six groups, one of 1 %", records=12_000, shares=(0.3, 0.25, 0.2, 0.14, 0.1, 0.01)),
    World(
        name="six groups, one of 1 %, null",
        records=12_000,
        shares=(0.3, 0.25, 0.2, 0.14, 0.1, 0.01),
        gap=0,
    ),
    World(name="lognormal", records=2_000, family="lognormal"),
    World(name="lognormal, null", records=2_000, family="lognormal", gap=0),
    World(name="two clumps", records=2_000, family="clumps", gap=0.1),
    World(name="two clumps, null", records=2_000, family="clumps", gap=0),
    World(name="two clumps, 30 a cell, null", records=300, family="clumps", gap=0),
    World(name="two clumps, 2,000 a cell, null", records=20_000, family="clumps", gap=0),
    World(name="half zeros", records=2_000, family="zeros", gap=0.1),
    World(name="half zeros, 30 a cell, null", records=300, family="zeros", gap=0),
    World(
        name="scores in a fiftieth of the range, null",
        records=2_000,
        range=50.0,
        gap=0,
        conservative=True,
    ),
    World(name="deciles, counts", records=2_000, family="deciles", kind="counts", gap=0.3),
    World(name="deciles, counts, null", records=2_000, family="deciles", kind="counts", gap=0),
    World(
        name="deciles, counts, one silo of 400",
        records=400,
        silos=1,
        family="deciles",
        kind="counts",
        gap=0.3,
    ),
    World(
        name="deciles, counts, one silo of 400, rules off",
        records=400,
        silos=1,
        family="deciles",
        kind="counts",
        gap=0.3,
        rules=False,
    ),
    World(
        name="deciles, counts, smaller gap",
        records=2_000,
        family="deciles",
        kind="counts",
        gap=0.15,
    ),
    World(
        name="deciles, counts, 2,000 a cell, smaller gap",
        records=20_000,
        family="deciles",
        kind="counts",
        gap=0.05,
    ),
    World(
        name="0 or 1, one silo of 400",
        records=400,
        silos=1,
        family="binary",
        kind="counts",
        gap=0.05,
    ),
    World(name="0 or 1, 200 a cell", records=2_000, family="binary", kind="counts", gap=0.05),
    World(
        name="deciles, counts, 30 a cell",
        records=300,
        family="deciles",
        kind="counts",
        gap=0.3,
        conservative=True,
    ),
    World(
        name="deciles, counts, 30 a cell, null",
        records=300,
        family="deciles",
        kind="counts",
        gap=0,
        conservative=True,
    ),
    World(
        name="deciles, counts, 200,000 a cell",
        records=2_000_000,
        family="deciles",
        kind="counts",
        gap=0.1,
    ),
    World(
        name="deciles, quantiles",
        records=2_000,
        family="deciles",
        kind="quantile",
        gap=0.3,
        conservative=True,
    ),
    World(name="order 1, 60 a cell, smaller gap", records=600, gap=0.3, order=1),
    World(name="order 1, 200 a cell, smaller gap", records=2_000, gap=0.15, order=1),
    World(name="order 1, 200 a cell", records=2_000, order=1),
    World(name="order 1, 200 a cell, null", records=2_000, gap=0, order=1),
    World(name="order 1, lognormal", records=2_000, family="lognormal", order=1),
    World(
        name="order 1, deciles, counts, smaller gap",
        records=2_000,
        family="deciles",
        kind="counts",
        gap=0.15,
        order=1,
    ),
    World(name="weights 1, 1, 1, 20", records=4_000, weights=(1, 1, 1, 20)),
    World(name="weights 1, 1, 1, 20, null", records=4_000, weights=(1, 1, 1, 20), gap=0),
    World(name="silos differ", records=5_000, between=2.0),
    World(name="silos differ, groups selected", records=5_000, between=2.0, selection=0.6),
    World(name="groups selected, no gap inside", records=5_000, between=2.0, selection=0.6, gap=0),
    World(name="silos differ, null", records=5_000, between=2.0, gap=0),
    World(name="40,000 a cell, k = 20", records=400_000, levels=20, gap=0.3, conservative=True),
    World(name="40,000 a cell, k = 100", records=400_000, gap=0.3, conservative=True),
    World(name="40,000 a cell, k = 20, null", records=400_000, levels=20, gap=0),
    World(name="10^6 a cell, k = 20", records=10_000_000, levels=20, gap=0.3, conservative=True),
    World(name="10^6 a cell, k = 100", records=10_000_000, gap=0.3, conservative=True),
    World(name="10^6 a cell, k = 5", records=10_000_000, levels=5, gap=0.3, conservative=True),
    World(
        name="10^6 a cell, quantiles, k = 20",
        records=10_000_000,
        levels=20,
        gap=0.3,
        kind="quantile",
        conservative=True,
    ),
    World(name="noise, ε = 1, 2,000 a cell", records=20_000, epsilon=1.0),
    World(name="noise, ε = 1, 2,000 a cell, null", records=20_000, epsilon=1.0, gap=0),
    World(name="noise, ε = 0.5, 200 a cell", records=2_000, epsilon=0.5),
    World(name="noise, ε = 5, 2,000 a cell", records=20_000, epsilon=5.0),
    World(name="noise, ε = 1, deciles", records=20_000, epsilon=1.0, family="deciles", gap=0.3),
    World(
        name="noise, ε = 1, deciles, null", records=20_000, epsilon=1.0, family="deciles", gap=0
    ),
)
COVERED = ("G", "worst", "W", "H", "selection", "within")
NUMBERS = ("truth", "value", "corrected", "width", "p-value")
"""What tells one engine from another."""


def wilson(share: float, number: int) -> tuple[float, float]:
    """The 99 % Wilson interval of a share."""
    z = 2.5758
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = z / (1 + z * z / number)
    half *= math.sqrt(share * (1 - share) / number + z * z / (4 * number**2))
    return middle - half, middle + half


def _may_cover_more(world: World, name: str) -> bool:
    """Whether a number is judged by its lower limit only.

    In conservative rows; at zero; for all pairs at once; of selection, which is mostly zero; and of the part
    within where groups are selected: it is recovered from the disparity and the other part, as if they erred
    independently.
    """
    return (
        world.conservative
        or world.gap == 0
        or name in ("worst", "selection")
        or (name == "within" and world.selection > 0)
    )


def judged(world: World, name: str, share: float, number: int) -> str:
    """The share as the table shows it, in bold where it misses its bar.

    Where an interval may cover more often, a test may be passed more often: it finds less, and raises no alarm.
    The manual says where, below the table.
    """
    low, high = wilson(share, number)
    if name == "p":
        too_seldom = high < 0.03 and not world.conservative
        fails = world.gap == 0 and not world.selection and (too_seldom or low > 0.07)
    elif _may_cover_more(world, name):
        fails = high < 0.93
    else:
        fails = high < 0.93 or low > 0.97
    text = f"{100 * share:.1f}"
    return f"**{text}**" if fails else text


@dataclass
class Tally:
    """What was counted of a world so far."""

    federations: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    """Sums over federations: of hits, which are whole numbers, and of the numbers themselves."""
    first: list[float] = field(default_factory=list)
    """The numbers of the first federations."""

    def add(self, world: World, until: int, map_: Callable[..., object] = map) -> None:
        """Simulate the federations that are missing until there are so many."""
        seeds = range(self.federations, until)
        rows = list(map_(partial(simulate, world, world.truth()), seeds))  # type: ignore[call-overload]
        for row in rows:  # one after the other: the same sums in however many sittings
            for name, number in row.items():
                self.sums[name] = self.sums.get(name, 0.0) + number
            if self.federations < FIRST:
                self.first += [row[name] for name in NUMBERS]
            self.federations += 1

    def is_of(self, world: World) -> bool:
        """Whether the engine still gives the same numbers for the first federations."""
        anew = Tally()
        anew.add(world, min(self.federations, FIRST))
        return np.allclose(anew.first, self.first, rtol=1e-9, atol=1e-15)

    def row(self, world: World) -> str:
        """Return a row of the table."""
        mean = {name: total / self.federations for name, total in self.sums.items()}
        mean["W"] /= math.comb(len(world.shares), 2)
        columns = [judged(world, name, mean[name], self.federations) for name in (*COVERED, "p")]
        scale = max(mean["truth"], 1e-300)
        none = world.gap == 0 and not world.selection
        found = "–" if none else f"{mean['corrected'] / scale:.3f}"
        return (
            f"| {world.name} | {self.federations:,} | {' | '.join(columns)} "
            f"| {100 * mean['too high']:.1f} | {found} |"
        )


def run(world: World, federations: int) -> str:
    """One row of the table, from nothing."""
    tally = Tally()
    tally.add(world, federations)
    return tally.row(world)


def read_tallies(path: Path) -> dict[str, Tally]:
    """The tallies kept in a file, by the names of their worlds."""
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {name: Tally(**tally) for name, tally in kept.items()}


def write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(path)


def advance(
    worlds: Sequence[World],
    path: Path,
    *,
    federations: int,
    at_once: int,
    map_: Callable[..., object] = map,
) -> dict[str, Tally]:
    """Add to the tallies of a file until each world has so many federations, the fewest first."""
    kept = read_tallies(path)
    mine = {world: kept.get(world.name, Tally()) for world in worlds}
    for world, tally in mine.items():
        if not tally.is_of(world):
            print(f"{world.name}: other numbers than before, starts anew", file=sys.stderr)
            mine[world] = Tally()
    while True:
        world, tally = min(mine.items(), key=lambda item: item[1].federations)
        if tally.federations >= federations:
            return kept
        tally.add(world, min(federations, tally.federations + at_once), map_)
        print(tally.row(world), file=sys.stderr, flush=True)
        kept = {**read_tallies(path), world.name: tally}
        write(path, json.dumps({name: asdict(tally) for name, tally in kept.items()}, indent=1))


def main() -> None:
    """Simulate every world and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--federations", type=int, default=2000, help="until each row has so many")
    parser.add_argument("--at-once", type=int, default=100, help="so many before the next row")
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    parser.add_argument("--processes", type=int, help="as many as there are cores if absent")
    parser.add_argument("--tallies", type=Path, default=TALLIES, help="the file that keeps them")
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    options = parser.parse_args()
    chosen = [world for world in WORLDS if options.only in world.name]
    with ProcessPoolExecutor(options.processes) as pool:
        kept = advance(
            chosen,
            options.tallies,
            federations=options.federations,
            at_once=options.at_once,
            map_=partial(pool.map, chunksize=5),
        )
    print(text := table([kept[world.name].row(world) for world in WORLDS if world.name in kept]))
    if options.write:
        write(TABLE, text)


def table(rows: Sequence[str]) -> str:
    """The rows with their head."""
    names = ["world", "federations", *COVERED, "p ≤ 0.05", "G too high", "corrected / truth"]
    return "\n".join([f"| {' | '.join(names)} |", f"|---|{'---:|' * (len(names) - 1)}", *rows])


if __name__ == "__main__":
    main()
