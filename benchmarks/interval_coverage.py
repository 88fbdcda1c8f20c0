"""How often the 95 % interval covers the truth, and whether p-values are uniform.

``python benchmarks/interval_coverage.py --federations 1000`` simulates federations whose population is known,
assesses each from its sketches alone, and prints a table in Markdown (also written to
``docs/explanation/coverage-table.md`` with ``--write``). A shorter run is part of the tests.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import kstest

import fedparity as fp
from fedparity.diagnostics.bootstrap import bootstrap
from fedparity.diagnostics.intervals import interval_of_length, p_value

LEVELS = 100
FINE = 20_000
TABLE = Path(__file__).parents[1] / "docs" / "explanation" / "coverage-table.md"

AFRICAN_AMERICAN = (365, 346, 298, 337, 323, 318, 343, 301, 317, 227)
CAUCASIAN = (605, 321, 238, 243, 200, 160, 113, 96, 77, 50)
"""Decile scores 1 to 10 of two groups, in the shape of the COMPAS file."""


@cache
def beta_law(group: int, silo: int) -> fp.Law:
    """Beta(3, 4) and Beta(6, 4), moved a little from silo to silo."""
    from scipy.stats import beta  # noqa: PLC0415

    levels = (np.arange(FINE) + 0.5) / FINE
    return fp.Law.from_scores(beta.ppf(levels, 3 + 3 * group + 0.2 * (silo % 5), 4))


@cache
def decile_law(group: int, silo: int) -> fp.Law:
    """Ten values; every other silo sees more of the high ones."""
    counts = np.array((AFRICAN_AMERICAN, CAUCASIAN)[group], dtype=float)
    return fp.Law(np.arange(1.0, 11.0), counts * np.linspace(1, 1 + 0.2 * (silo % 2), 10))


@cache
def tied_law(group: int, silo: int) -> fp.Law:
    """Two thirds at zero, one tenth at one, the rest rounded to tenths."""
    steps = np.arange(0.1, 1.0, 0.1)
    weight = 0.25 + 0.1 * group + 0.01 * (silo % 3)
    return fp.Law(
        np.concatenate(([0.0], steps, [1.0])),
        np.concatenate(([0.9 - weight], np.full(9, weight / 9), [0.1])),
    )


LAWS: dict[str, Callable[[int, int], fp.Law]] = {
    "Beta pair": beta_law,
    "deciles": decile_law,
    "heavy ties": tied_law,
    "unequal cells": beta_law,
}


@dataclass(frozen=True)
class World:
    """A population: the law and the expected number of records of each cell."""

    shape: str
    silos: int
    null: bool

    @property
    def counts(self) -> np.ndarray:
        """200 records per cell, or 30 to 5,000, evenly spread on a log scale."""
        if self.shape != "unequal cells":
            return np.full((self.silos, 2), 200)
        sizes = np.geomspace(30, 5000, 2 * self.silos).astype(int)
        return np.random.default_rng(5).permutation(sizes).reshape(self.silos, 2)

    def law(self, silo: int, group: int) -> fp.Law:
        """The law of a cell; under the null both groups have that of the first."""
        return LAWS[self.shape](0 if self.null else group, 0 if self.null else silo)

    def truth(self) -> float:
        """The disparity of the population."""
        totals = self.counts.sum(axis=0)
        laws = {
            group: fp.mixture(
                {silo: self.law(silo, group) for silo in range(self.silos)},
                fp.Weights(dict(enumerate(self.counts[:, group].tolist()))),
            )
            for group in (0, 1)
        }
        return fp.disparity(laws, fp.Weights(dict(enumerate(totals.tolist()))))


def simulate(world: World, seed: int, redraws: int) -> tuple[bool, bool, float]:
    """Whether the interval of one simulated federation is too high or too low; its p-value."""
    random = np.random.default_rng((seed, 77))
    expected = world.counts
    counts = random.multinomial(expected.sum(), (expected / expected.sum()).ravel())
    cells = {}
    for (silo, group), count in zip(
        product(range(world.silos), (0, 1)), counts.tolist(), strict=True
    ):
        if count:
            scores = world.law(silo, group).quantile(1 - random.random(count))
            cells[silo, group] = fp.Cell.from_scores(scores, levels=LEVELS)
    federation = fp.Federation.from_cells(cells)
    value = fp.estimate(federation).disparity
    draws = bootstrap(federation, redraws=redraws, seed=seed, details=False)["disparity"]
    found = interval_of_length(
        value, float(draws.base), draws.values, draws.noise, draws.null, confidence=0.95, order=2
    )
    truth = TRUTH[world]
    return truth < found.lower, truth > found.upper, p_value(value, draws.null)


TRUTH: dict[World, float] = {}


def run(world: World, federations: int, redraws: int) -> str:
    """One row of the table."""
    TRUTH[world] = world.truth()
    rows = [simulate(world, seed, redraws) for seed in range(federations)]
    high, low, p_values = (np.array(column) for column in zip(*rows, strict=True))
    covered = 1 - high.mean() - low.mean()
    rejected = np.mean(p_values <= 0.05)
    uniform = f"{kstest(p_values, 'uniform').pvalue:.3f}" if world.null else "–"
    row = (
        f"| {world.shape} | {world.silos} | {'yes' if world.null else 'no'} | {covered:.1%} "
        f"| {high.mean():.1%} | {low.mean():.1%} | {rejected:.1%} | {uniform} |"
    )
    print(row, file=sys.stderr, flush=True)
    return row


def main() -> None:
    """Simulate every world and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--federations", type=int, default=1000)
    parser.add_argument("--redraws", type=int, default=400)
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    options = parser.parse_args()
    worlds = [World(*world) for world in product(LAWS, (2, 5, 20), (True, False))]
    with ProcessPoolExecutor(max_workers=2) as pool:
        jobs = [pool.submit(run, world, options.federations, options.redraws) for world in worlds]
        rows = [job.result() for job in jobs]
    table = "\n".join(
        (
            f"{options.federations} federations per row, {options.redraws} redraws, k = {LEVELS}.",
            "",
            "| scores | silos | no disparity | covered | too high | too low | p ≤ 0.05 | KS |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
        )
    )
    print(table)
    if options.write:
        TABLE.write_text(table + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
