"""How often intervals of rates, differences and ratios cover, and four fifths is answered wrongly.

``python benchmarks/rate_coverage.py`` simulates federations whose population is known, compares the
rates of their groups from the cells alone, and prints a table in Markdown (also written to
``docs/explanation/rate-coverage-table.md`` with ``--write``). The group under study is the last
one; it is compared with the largest, the first, and with whichever is best. A coverage comes with
its 99 % Wilson interval. The run fails if one of these lies below 93 %, or the share of wrong
answers above 5 %; coverage above 97 % is marked: small counts, sketches that leave much open, or
limits that hold for many groups at once. A shorter run is part of the tests.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, norm, uniform

import fedparity as fp
from fedparity.laws.bounds import Bounds
from fedparity.laws.law import FloatArray

TABLE = Path(__file__).parents[1] / "docs" / "explanation" / "rate-coverage-table.md"
LEAST, MOST, WRONG = 0.93, 0.97, 0.05
THRESHOLD, LEVELS = 0.5, 20

Report = fp.theory.ThresholdReport | fp.theory.TailReport


@dataclass(frozen=True)
class Threshold:
    """Groups of which known shares lie at or above 0.5, in silos that differ."""

    name: str
    rates: tuple[float, ...]
    sizes: tuple[int, ...]
    silos: int = 1
    weights: str = "none"
    sketch: str = "counts"

    @property
    def truth(self) -> FloatArray:
        """The rates of the population."""
        return np.array(self.rates)

    def draw(self, random: np.random.Generator) -> Report:
        """Draw the records of all groups, and return the rates from the cells of the silos.

        A score is a power of a uniform number, which power depending on group and silo. Without
        the sketch only the side of the threshold matters.
        """
        groups = np.repeat(np.arange(len(self.sizes)), self.sizes)
        silos = random.integers(0, self.silos, groups.size)
        spread = 0.3 * min(1.0, *((1 - rate) / rate for rate in self.rates))
        tilt = np.linspace(-spread, spread, self.silos) if self.silos > 1 else np.zeros(1)
        rates = self.truth[groups] * (1 + tilt[silos])
        scores = random.random(groups.size) ** (math.log(THRESHOLD) / np.log1p(-rates))
        selected = scores >= THRESHOLD
        if self.sketch == "counts":
            scores = selected.astype(float)
        federation = fp.Federation.from_scores(
            scores,
            groups=groups,
            silos=silos,
            levels=LEVELS,
            kind="counts" if self.sketch == "counts" else "mean",
            weights=self.weigh(random, groups.size),
        )
        if self.sketch == "means and counts":
            cells = groups * self.silos + silos
            above = np.bincount(cells, selected)[np.bincount(cells) > 0].astype(np.float64)
            federation = replace(federation, above={THRESHOLD: above})
        return fp.at_threshold(federation, THRESHOLD, score_range=(0, 1))

    def weigh(self, random: np.random.Generator, size: int) -> FloatArray | None:
        """Draw the weights of so many records."""
        if self.weights == "none":
            return None
        if self.weights == "lognormal":
            return random.lognormal(0.0, 1.0, size)
        return np.where(random.random(size) < 0.25, 20.0, 1.0)


LAWS = {
    "equal": (beta(3, 4), beta(3, 4)),
    "shifted": (beta(3, 4), beta(4, 4)),
    "three": (beta(3, 4), beta(4, 4), beta(3.3, 3)),
    "narrow": (uniform(0, 1), norm(0.52, 0.05)),
}


@dataclass(frozen=True)
class Tail:
    """Groups with known laws, of which the shares above a pooled quantile are compared."""

    name: str
    laws: str
    shares: tuple[float, ...]
    total: int
    level: float

    @property
    def truth(self) -> FloatArray:
        """The rates of the population above its own quantile."""

        def excess(score: float) -> float:
            cdfs = [law.cdf(score) for law in LAWS[self.laws]]
            return float(np.dot(self.shares, cdfs)) - self.level

        cutoff = brentq(excess, -1.0, 2.0)
        return np.array([law.sf(cutoff) for law in LAWS[self.laws]])

    def draw(self, random: np.random.Generator) -> Report:
        """Draw records, as many of each group as chance has it, and return their rates."""
        counts = random.multinomial(self.total, self.shares)
        scores = np.concatenate(
            [
                law.rvs(size=count, random_state=random)
                for law, count in zip(LAWS[self.laws], counts, strict=True)
            ]
        )
        federation = fp.Federation.from_scores(
            np.clip(scores, 0, 1),
            groups=np.repeat(np.arange(counts.size), counts),
            silos=random.integers(0, 3, self.total),
            levels=LEVELS,
            kind="counts",
        )
        return fp.theory.tail_rates(federation, self.level, score_range=(0, 1))


World = Threshold | Tail


class Tally(NamedTuple):
    """How often something happened, of how many times."""

    times: int
    trials: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 99 % Wilson interval of the probability."""
        z, n = NormalDist().inv_cdf(0.995), self.trials
        share = self.times / n
        middle = share + z * z / (2 * n)
        spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.times / self.trials:.1f} ({100 * low:.1f}–{100 * high:.1f})"


class Row(NamedTuple):
    """What one world gave."""

    world: World
    rate: Tally
    difference: Tally
    ratio: Tally
    to_best: Tally
    wrong: Tally

    @property
    def holds(self) -> bool:
        """Whether no coverage is clearly below 93 %, nor wrong answers above 5 %."""
        covered = all(tally.interval[1] >= LEAST for tally in self[1:5])
        return covered and self.wrong.interval[0] <= WRONG

    def __str__(self) -> str:
        shown = [f"{tally}{'+' if tally.interval[0] > MOST else ''}" for tally in self[1:5]]
        return f"| {self.world.name} | {' | '.join([*shown, str(self.wrong)])} |"


def covers(interval: Bounds, number: float) -> bool:
    """Whether a number lies in an interval, up to rounding."""
    return interval.lower <= number + 1e-12 and number <= interval.upper + 1e-12


def run(world: World, replicates: int, seed: int = 0) -> Row:
    """Simulate one world."""
    random = np.random.default_rng((seed, zlib.crc32(world.name.encode())))
    truth = world.truth
    first, last, best = truth[0], truth[-1], truth.max()
    wrong = "below" if truth.min() / best >= 0.8 - 1e-9 else "at least"
    happened = np.zeros(5, int)
    for _ in range(replicates):
        report = world.draw(random)
        row = report.groups[-1]
        turned = report.largest == row.group  # the same pair, the other way round
        pair = report.groups[0] if turned else row
        one, other = (first, last) if turned else (last, first)
        happened += (
            covers(row.rate.interval, last),
            covers(pair.difference_to_largest.interval, one - other),
            covers(pair.ratio_to_largest.interval, one / other),
            covers(row.ratio.interval, last / best),
            report.answer.startswith(wrong),
        )
    found = Row(world, *(Tally(int(times), replicates) for times in happened))
    print(found, file=sys.stderr, flush=True)
    return found


def worlds() -> Iterator[World]:
    """Yield every row of the table."""
    for rate, size in product((0.02, 0.05, 0.1, 0.3, 0.5, 0.9), (30, 100, 1000)):
        yield Threshold(f"{rate:g}, n = {size}", (rate, 0.8 * rate), (size, size))
    for rate in (0.02, 0.1, 0.5, 0.9):
        yield Threshold(f"{rate:g} each, n = 1000 and 30", (rate, rate), (1000, 30))
    for silos in (5, 30):
        yield Threshold(f"0.3, n = 200, {silos} silos", (0.3, 0.24), (200, 200), silos)
    for weights, size in product(("1 or 20", "lognormal"), (100, 1000)):
        name = f"0.3, n = {size}, weights {weights}"
        yield Threshold(name, (0.3, 0.24), (size, size), 5, weights)
    for rates, size in product(
        ((0.5, 0.4, 0.4), (0.5, 0.5, 0.4), (0.5,) + 5 * (0.4,), 3 * (0.5,) + 3 * (0.4,)),
        (30, 100, 1000),
    ):
        best = rates.count(max(rates))
        name = f"{len(rates)} groups, {best} of them best, n = {size}"
        yield Threshold(name, rates, len(rates) * (size,))
    for size, silos in ((100, 1), (1000, 1), (1000, 5)):
        name = f"0.3, n = {size}, {silos} silo{'s' * (silos > 1)}, {LEVELS} bin means"
        yield Threshold(name, (0.3, 0.24), (size, size), silos, sketch="means")
    name = "the same, and counts at the threshold"
    yield Threshold(name, (0.3, 0.24), (1000, 1000), 5, sketch="means and counts")
    for level, total in product((0.5, 0.9), (200, 2000)):
        for laws, shares in (
            ("equal", (0.5, 0.5)),
            ("shifted", (0.9, 0.1)),
            ("three", (0.6, 0.3, 0.1)),
            ("narrow", (0.8, 0.2)),
        ):
            if laws != "narrow" or level == 0.5:  # of which nobody is in the highest tenth
                name = f"above the quantile {level}, {laws}, n = {total}"
                yield Tail(name, laws, shares, total, level)


def table(rows: list[Row], replicates: int) -> str:
    """Return the table in Markdown."""
    return "\n".join(
        (
            f"{replicates} federations per row, 95 % intervals; + marks coverage above 97 %.",
            "",
            "| the best rate, records of a group | rate | difference | ratio | ratio to the highest rate | wrong |",
            "|---|---|---|---|---|---|",
            *map(str, rows),
        )
    )


def failures(rows: list[Row]) -> list[str]:
    """Return the worlds whose coverage lies outside its limits."""
    return [row.world.name for row in rows if not row.holds]


if __name__ == "__main__":
    import coverage_worlds  # beside this script; tests import the rest as a package

    coverage_worlds.main(worlds(), run, table, failures, page=TABLE, description=__doc__)
