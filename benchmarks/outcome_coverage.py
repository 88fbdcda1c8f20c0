"""How often intervals of areas, error rates and their ratios cover, over a grid of true values.

``python benchmarks/outcome_coverage.py`` draws positives and negatives of two groups from laws that are
known, measures them from exact counts with the functions of the audit, and prints a table in Markdown
(also written to ``docs/explanation/outcome-coverage-table.md`` with ``--write``). The grid goes down to
30 records of a group. The mean over the grid must lie in 93–97 %, and no row clearly below 92 %: the
run fails otherwise. Rates near 0 and 1 of 30 records cover more than 97 % (a mid-p interval of a count that
takes few values), and are part of the mean. A shorter run is part of the tests.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from fedparity.laws.bounds import Bounds
from fedparity.laws.law import FloatArray, Law
from fedparity.outcomes.discrimination import area, area_limits, placement_variance
from fedparity.outcomes.error_rates import Flagged, rate_table
from fedparity.thresholds.rates import Records

TABLE = Path(__file__).parents[1] / "docs" / "explanation" / "outcome-coverage-table.md"
LEAST, MOST, WORST = 0.93, 0.97, 0.92
TAIL, CONFIDENCE = 0.025, 0.95
DECILES = np.arange(1.0, 11.0)


@dataclass(frozen=True)
class AreaWorld:
    """Positives and negatives whose area is known."""

    law: str
    area: float
    sizes: tuple[int, int]

    @property
    def name(self) -> str:
        """The row's first column."""
        return f"{self.law}, {self.sizes[0]} and {self.sizes[1]}, area {self.area:g}"

    def cover(self, random: np.random.Generator) -> dict[str, bool]:
        """Draw once, and say whether the interval holds the area."""
        draw, truth = laws_of(self.law, self.area)
        positives, negatives = (Law.from_scores(each) for each in draw(random, *self.sizes))
        found = area(positives, negatives)
        variance = placement_variance(positives, negatives, self.sizes)
        limits = area_limits(found, self.sizes, variance, TAIL, about=found)
        return {"area": limits.lower - 1e-12 <= truth <= limits.upper + 1e-12}


Draw = Callable[[np.random.Generator, int, int], tuple[FloatArray, FloatArray]]


def laws_of(law: str, truth: float) -> tuple[Draw, float]:
    """Return how to draw positives and negatives, and the area that they have."""
    apart = NormalDist().inv_cdf(truth)
    if law == "exponential":
        scale = truth / (1 - truth)
        return lambda r, m, n: (r.exponential(scale, m), r.exponential(1.0, n)), truth
    if law in ("wide positives", "wide negatives"):
        wide, narrow = (2.0, 1.0) if law == "wide positives" else (1.0, 2.0)
        center = apart * math.hypot(wide, narrow)
        return lambda r, m, n: (r.normal(center, wide, m), r.normal(0.0, narrow, n)), truth
    if law == "deciles":
        normal = NormalDist()
        edges = [-math.inf, *(normal.inv_cdf(level / 10) for level in range(1, 10)), math.inf]
        masses = [
            np.diff([normal.cdf(edge - shift) for edge in edges])
            for shift in (apart * math.sqrt(2), 0.0)
        ]
        positives, negatives = (each / each.sum() for each in masses)
        tied = float(np.sum(positives * (np.cumsum(negatives) - negatives / 2)))
        return (
            lambda r, m, n: (r.choice(DECILES, m, p=positives), r.choice(DECILES, n, p=negatives)),
            tied,
        )
    center = apart * math.sqrt(2)
    return lambda r, m, n: (r.normal(center, 1.0, m), r.normal(0.0, 1.0, n)), truth


@dataclass(frozen=True)
class RateWorld:
    """Two groups, half of them positive, of which known shares of both outcomes are flagged."""

    rates: tuple[float, float]
    size: int

    @property
    def name(self) -> str:
        """The row's first column."""
        return f"rates {self.rates[0]:g} and {self.rates[1]:g}, n = {self.size}"

    def cover(self, random: np.random.Generator) -> dict[str, bool]:
        """Draw once, and say which intervals hold the rates of the population."""
        flags = []
        # Records are drawn with their outcomes: a silo does not choose how many are positive.
        positives = random.binomial(2 * self.size, 0.5, 2)
        for rates, sizes in ((self.rates, positives), ((0.2, 0.3), 2 * self.size - positives)):
            counts = random.binomial(sizes, rates).astype(float)
            totals = sizes.astype(float)
            flags.append(
                Flagged(
                    groups=("a", "b"),
                    totals=totals,
                    effective=totals,
                    above=Records(counts, counts, counts),
                    unseen=np.zeros(2),
                )
            )
        found = {}
        for measure in ("tpr", "ppv"):
            truth = np.array(self.rates)
            if measure == "ppv":
                truth = truth / (truth + np.array((0.2, 0.3)))
            rows = rate_table(measure, *flags).rows(CONFIDENCE)
            if any(row.rate is None for row in rows):
                continue  # nobody is flagged: there is no such rate
            found[measure] = _inside(rows[0].rate.interval, truth[0])  # type: ignore[union-attr]
            best = truth.max()
            found[f"{measure} ratio"] = _inside(rows[1].ratio.interval, truth[1] / best)  # type: ignore[union-attr]
        return found


def _inside(interval: Bounds, number: float) -> bool:
    lower, upper = interval
    return bool(lower <= number + 1e-12 and number <= upper + 1e-12)


class Tally(NamedTuple):
    """How often an interval held, of how many times."""

    times: int
    trials: int

    @property
    def share(self) -> float:
        """The coverage."""
        return self.times / self.trials

    @property
    def most(self) -> float:
        """The upper end of its 99 % Wilson interval."""
        z, n = NormalDist().inv_cdf(0.995), self.trials
        spread = z * math.sqrt(self.share * (1 - self.share) / n + z * z / (4 * n * n))
        return (self.share + z * z / (2 * n) + spread) / (1 + z * z / n)

    def __str__(self) -> str:
        return f"{100 * self.share:.1f}"


World = AreaWorld | RateWorld
Row = tuple[World, dict[str, Tally]]


def run(world: World, replicates: int, seed: int = 0) -> Row:
    """Simulate one world."""
    random = np.random.default_rng((seed, zlib.crc32(world.name.encode())))
    times: dict[str, int] = {}
    trials: dict[str, int] = {}
    for _ in range(replicates):
        for name, held in world.cover(random).items():
            times[name] = times.get(name, 0) + held
            trials[name] = trials.get(name, 0) + 1
    return world, {name: Tally(times[name], trials[name]) for name in times}


def worlds() -> Iterator[World]:
    """Yield every row of the table."""
    laws = ("normal", "wide positives", "wide negatives", "exponential", "deciles")
    sizes = ((15, 15), (10, 20), (20, 10), (30, 30), (30, 100), (100, 30), (100, 100))
    for law, truth, each in product(laws, (0.5, 0.6, 0.7, 0.8, 0.9, 0.95), sizes):
        yield AreaWorld(law, truth, each)
    rates = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
    for rate, size in product(rates, (30, 100, 1000)):
        yield RateWorld((rate, 0.8 * rate), size)


def failures(rows: list[Row]) -> list[str]:
    """Return what lies outside its limits."""
    found = []
    for name in ("area", "tpr", "tpr ratio", "ppv", "ppv ratio"):
        tallies = [(world, held[name]) for world, held in rows if name in held]
        mean = float(np.mean([tally.share for _, tally in tallies])) if tallies else 0.95
        if not LEAST <= mean <= MOST:
            found.append(f"{name}: {100 * mean:.2f} % on average")
        found += [
            f"{name}, {world.name}: {tally} %" for world, tally in tallies if tally.most < WORST
        ]
    return found


def table(rows: list[Row], replicates: int) -> str:
    """Return the table in Markdown: the mean, the least and the largest coverage of each block."""
    lines = [
        f"{replicates} draws per true value, 95 % intervals; least, mean and largest coverage in %.",
        "",
        "| number | records | true values | least | mean | largest |",
        "|---|---|---|---|---|---|",
    ]
    blocks: dict[tuple[str, str], list[Tally]] = {}
    for world, held in rows:
        size = (
            f"{world.sizes[0]} positives, {world.sizes[1]} negatives"
            if isinstance(world, AreaWorld)
            else f"{world.size} of each outcome, on average"
        )
        for name, tally in held.items():
            blocks.setdefault((name, size), []).append(tally)
    for (name, size), tallies in sorted(blocks.items(), key=lambda each: each[0][0]):
        shares = [100 * tally.share for tally in tallies]
        lines.append(
            f"| {name} | {size} | {len(shares)} | {min(shares):.1f} | {np.mean(shares):.1f} "
            f"| {max(shares):.1f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    import coverage_worlds  # beside this script; tests import the rest as a package

    coverage_worlds.main(worlds(), run, table, failures, page=TABLE, description=__doc__)
