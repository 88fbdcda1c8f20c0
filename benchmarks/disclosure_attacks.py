"""What one message, or two, tell of a single record: attacks on all that a cell sends.

``python benchmarks/disclosure_attacks.py --data FOLDER`` prints three tables in Markdown, also written to
``docs/explanation/disclosure-*-table.md`` with ``--write``: two attacks, and what the rules cost. Somebody who knows all records of a cell
but one tries every score that it could have, and keeps those with which the message would be the same,
number by number. Somebody who has the messages of a cell before and after a record was removed fits
what changed. Without ``--data`` the rows of real data are left out. A shorter run is part of the tests.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

import fedparity as fp
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.privacy.count_merging import counts_above, merge_counts
from fedparity.privacy.disclosure import (
    SHARED,
    Disclosure,
    allowed_levels,
    default_rounding,
    mean_square_step,
    round_values,
)
from fedparity.sketches.kinds import Kind, ranks

Ranks: TypeAlias = npt.NDArray[np.int64]

FOLDER = Path(__file__).parents[1] / "docs" / "explanation"
SIZES = (11, 20, 50, 200, 1000)
TRIED = 2001
"""Scores that are tried where any is possible, equally spaced over the range."""
PINNED = 0.01
"""A record is pinned if the scores that fit span no more than this share of the range."""


@dataclass(frozen=True, eq=False)
class Population:
    """Scores from which records are drawn, scaled to [0, 1]."""

    name: str
    draw: Callable[[np.random.Generator, int], FloatArray]
    threshold: float = 0.5
    tried: FloatArray = field(default_factory=lambda: np.linspace(0.0, 1.0, TRIED))
    """Scores that an attacker thinks of."""


@dataclass(frozen=True)
class Rule:
    """How a cell is told."""

    kind: Kind = "mean"
    rounding: float | None = None
    shared: float | None = SHARED
    """Of the mean square; None: it is not sent; 0: it is not rounded."""
    thresholds: bool = True

    @property
    def share(self) -> float:
        """The rounding of the values."""
        return (
            default_rounding(self.kind, stepped=False) if self.rounding is None else self.rounding
        )


@dataclass(frozen=True, eq=False)
class Told:
    """All that messages say of a cell, one message in each row."""

    count: int
    values: FloatArray
    mean_square: FloatArray
    step: FloatArray
    above: FloatArray

    def same(self, other: Told) -> npt.NDArray[np.bool_]:
        """Whether each message is that of the other."""
        fields = (self.values, other.values), (self.above, other.above)
        same = np.abs(self.mean_square - other.mean_square) <= 1e-12
        for ours, theirs in fields:
            same &= np.equal(ours, theirs).all(axis=-1)
        return same


def tell(others: FloatArray, last: FloatArray, population: Population, rule: Rule) -> Told:
    """Return the messages of the same sorted records and one more, which differs."""
    place = np.searchsorted(others, last)[:, None]
    count = others.size + 1
    levels = allowed_levels(count, 100, Disclosure(), kind=rule.kind)
    sums = np.append(0.0, np.cumsum(others))

    def record(at: Ranks) -> FloatArray:
        """The records of so high a rank, from 0."""
        kept = others[np.clip(np.where(at < place, at, at - 1), 0, others.size - 1)]
        return np.where(at == place, last[:, None], kept)

    def below(at: Ranks) -> FloatArray:
        """The sum of so many of the lowest records."""
        return np.where(
            at <= place, sums[np.minimum(at, others.size)], sums[at - 1] + last[:, None]
        )

    exact = _read(record, below, count, levels, rule.kind)
    values = round_values(exact, (0.0, 1.0), rule.share)
    mean_square, step = np.zeros(last.size), np.zeros(last.size)
    if rule.kind == "mean" and rule.shared is not None:
        total = (np.square(others).sum() + np.square(last)) / count
        mean_square = total - 2 * np.mean(exact * values, -1) + np.mean(np.square(values), -1)
        if rule.shared:
            step = mean_square_step(values, count, (0.0, 1.0), rule.share, shared=rule.shared)
            mean_square = np.rint(mean_square / step) * step
    return Told(count, values, mean_square, step, _above(others, last, population, rule))


def _read(
    record: Callable[[Ranks], FloatArray],
    below: Callable[[Ranks], FloatArray],
    count: int,
    levels: int,
    kind: Kind,
) -> FloatArray:
    """Return the exact values of many tables, one in each row, from their records and sums by rank."""
    if kind == "quantile":
        return record(np.asarray(ranks(count, levels) - 1)[None, :])
    whole, part = np.divmod(np.arange(levels + 1)[None, :] * count, levels)
    reached = below(whole) + part / levels * record(np.minimum(whole, count - 1))
    exact: FloatArray = np.diff(reached, axis=-1) * (levels / count)
    return exact


def _above(others: FloatArray, last: FloatArray, population: Population, rule: Rule) -> FloatArray:
    """The count at the threshold by the rules; -1 where it is not sent, or not asked for."""
    if not rule.thresholds:
        return np.full((last.size, 1), -1.0)
    known = int(np.count_nonzero(others >= population.threshold))
    sides = [
        counts_above([others.size + 1 - known - side, known + side], Disclosure())[0]
        for side in (0, 1)
    ]
    sent = np.array([-1.0 if side is None else float(side) for side in sides])
    found: FloatArray = np.where(last >= population.threshold, sent[1], sent[0])[:, None]
    return found


def span_that_fits(records: FloatArray, target: int, population: Population, rule: Rule) -> float:
    """The length of the scores that fit, for somebody who knows all records but the target."""
    others = np.sort(np.delete(records, target))
    tried = np.append(population.tried, records[target])
    told = tell(others, tried, population, rule)
    truth = tell(others, records[[target]], population, rule)
    fitting = tried[told.same(truth)]
    return float(np.ptp(fitting))


def guesses_from_two(
    records: FloatArray, target: int, population: Population, rule: Rule
) -> tuple[float, float]:
    """Two guesses of a record from the messages with it and without it, and nothing else."""
    others = np.sort(np.delete(records, target))
    before = tell(others, records[[target]], population, rule)
    after = tell(others[1:], others[:1], population, rule)
    tried = population.tried
    sides = before.above[0, 0] - after.above[0, 0]
    if min(before.above[0, 0], after.above[0, 0]) >= 0:  # the side of the threshold is known
        tried = tried[(tried >= population.threshold) == bool(sides)]
    return by_moments(before, after, rule, tried), by_removal(before, after, rule, tried)


def by_moments(before: Told, after: Told, rule: Rule, tried: FloatArray) -> float:
    """The score that the sums, and the sums of squares, lack most likely, given how all are rounded.

    With m the bin means and v the rounded ones, a cell of n records and k bins has the sum
    (n/k) Σ m and the sum of squares n (s + (2/k) Σ m v - (1/k) Σ v²), where s is the mean square.
    """
    centers, spreads = np.zeros(2), np.zeros((2, 2))
    for sign, told in ((1, before), (-1, after)):
        values, weight = told.values[0], told.count / told.values.shape[1]
        centers += sign * np.array(
            [weight * values.sum(), told.count * told.mean_square[0] + weight * values @ values]
        )
        rows = weight * np.stack([np.ones_like(values), 2 * values])
        spreads += rows @ rows.T * max(rule.share, 1e-9) ** 2 / 12
        spreads[1, 1] += (told.count * told.step[0]) ** 2 / 12
    if rule.kind == "quantile" or rule.shared is None:
        spreads[1, 1] += 1e6  # nothing is known of the squares
    misses = np.stack([tried, np.square(tried)]) - centers[:, None]
    likely = np.einsum("ix,ij,jx->x", misses, np.linalg.inv(spreads + 1e-15 * np.eye(2)), misses)
    return float(tried[np.argmin(likely)])


def by_removal(before: Told, after: Told, rule: Rule, tried: FloatArray) -> float:
    """The record to remove from a table made up from the first message to arrive at the second."""
    levels = before.values.shape[1]
    if after.values.shape[1] != levels:
        return float(np.median(before.values))
    middles = (np.arange(levels) + 0.5) / levels
    made = np.interp((np.arange(before.count) + 0.5) / before.count, middles, before.values[0])
    sums = np.append(0.0, np.cumsum(made))
    place = np.arange(made.size)[(made >= tried[0]) & (made <= tried[-1])][:, None]
    if not place.size:
        return float(np.median(tried))

    def record(at: Ranks) -> FloatArray:
        ours: FloatArray = made[np.minimum(np.where(at < place, at, at + 1), made.size - 1)]
        return ours

    def below(at: Ranks) -> FloatArray:
        return np.where(at <= place, sums[at], sums[np.minimum(at + 1, made.size)] - made[place])

    whole = _read(lambda at: made[at], lambda at: sums[at], made.size, levels, rule.kind)
    moved = _read(record, below, made.size - 1, levels, rule.kind) - whole
    misfits = np.square(after.values - before.values - moved).sum(axis=-1)
    return float(made[place[np.argmin(misfits), 0]])


def populations(folder: Path | None) -> Iterator[Population]:
    """All scores of the benchmark; a threshold is where a decision may be made."""
    yield Population("uniform", lambda random, size: random.random(size))
    yield Population("Beta(2, 5)", lambda random, size: random.beta(2, 5, size), 0.3)
    yield Population(
        "lognormal, range 50 medians",
        lambda random, size: np.minimum(random.lognormal(0, 1, size) / 50, 1.0),
        0.05,
    )
    if folder is not None:
        yield _drawn("COMPAS, spread within deciles", "compas", folder, 0.5)
        yield _drawn("Adult", "adult", folder, 0.5)
        yield _drawn("law school", "law", folder, 0.5)
        deciles = _drawn("COMPAS deciles", "compas-deciles", folder, 4 / 9)
        yield replace(deciles, tried=np.linspace(0.0, 1.0, 10))


def _drawn(name: str, dataset: str, folder: Path, threshold: float) -> Population:
    """Records drawn from a real table, without putting any back."""
    from fedparity_reproduction.datasets import load_dataset  # noqa: PLC0415 -- a second project

    scores = load_dataset(dataset, data=folder).scores
    scaled = (scores - scores.min()) / np.ptp(scores)
    return Population(
        name, lambda random, size: random.choice(scaled, size, replace=False), threshold
    )


RULES = {
    "quantiles to 0.001": Rule(kind="quantile", thresholds=False),
    "means to 0.001": Rule(rounding=0.001, shared=None, thresholds=False),
    "means to 0.005": Rule(shared=None, thresholds=False),
    "and an exact mean square": Rule(shared=0.0, thresholds=False),
    "and the rounded mean square": Rule(thresholds=False),
    "and a threshold: the message": Rule(),
}
"""From what was sent once to what is sent by default."""


def pinned_share(population: Population, size: int, rule: Rule, runs: int) -> tuple[float, float]:
    """How often all but one pin the last record, and how long the scores are that fit (median)."""
    random = np.random.default_rng(size)
    spans = np.array(
        [span_that_fits(population.draw(random, size), 0, population, rule) for _ in range(runs)]
    )
    return float(np.mean(spans <= PINNED)), float(np.median(spans))


def error_of_two(population: Population, size: int, rule: Rule, runs: int) -> float:
    """The median error of the better of two guesses from two messages."""
    random = np.random.default_rng(size)
    errors = []
    for _ in range(runs):
        records = population.draw(random, size)
        guesses = np.array(guesses_from_two(records, 0, population, rule))
        errors.append(np.abs(guesses - records[0]))
    return float(np.median(errors, axis=0).min())


def all_but_one(folder: Path | None, runs: int) -> Iterator[str]:
    """What somebody learns of the last record who knows all others, and all bins."""
    yield (
        f"{runs} targets per number. Share of targets for which the scores that fit span at most "
        f"{PINNED:.0%} of the range, and the median of what they span."
    )
    yield ""
    yield f"| scores | records | {' | '.join(RULES)} |"
    yield "|---|---|" + "---|" * len(RULES)
    for population in populations(folder):
        for size in SIZES:
            found = [pinned_share(population, size, rule, runs) for rule in RULES.values()]
            cells = " | ".join(f"{pinned:.0%}, {span:.1%}" for pinned, span in found)
            yield f"| {population.name} | {size:,} | {cells} |"


def two_releases(folder: Path | None, runs: int) -> Iterator[str]:
    """What somebody learns of a record who has the message with it and the one without."""
    yield (
        f"{runs} targets per number. Median error of the better of two guesses, as a share of the "
        "range; the last column is a guess without any message."
    )
    yield ""
    yield f"| scores | records | {' | '.join(RULES)} | none |"
    yield "|---|---|" + "---|" * (len(RULES) + 1)
    for population in populations(folder):
        drawn = population.draw(np.random.default_rng(0), 3000)
        blind = float(np.median(np.abs(drawn - np.median(drawn))))
        for size in SIZES:
            found = [
                error_of_two(population, size + size // 50 + 1, rule, runs)
                for rule in RULES.values()
            ]
            cells = " | ".join(f"{error:.1%}" for error in (*found, blind))
            yield f"| {population.name} | {size + size // 50 + 1:,} | {cells} |"


def cost(_: Path | None, runs: int) -> Iterator[str]:
    """What the rules cost: errors of the disparity of five silos against the pooled records."""
    yield (
        "Two groups in five silos, Beta(3, 4) and Beta(6, 4), all cells of the same size; error of "
        f"$G_2$ against the pooled records, mean over {runs} federations. The last two columns: the "
        "same scores in steps of 0.05."
    )
    yield ""
    yield (
        "| records per cell | k allowed | means, no rules | means | quantiles | means of 21 scores "
        "| counts of 21 scores |"
    )
    yield "|---|---|---|---|---|---|---|"
    for size in (12, 30, 100, 300, 1000):
        random = np.random.default_rng(size)
        errors = np.array([_errors(random, size) for _ in range(runs)])
        cells = " | ".join(f"{error:.1%}" for error in errors.mean(axis=0))
        yield f"| {size:,} | {allowed_levels(size, 100, Disclosure(), kind='mean')} | {cells} |"


def _errors(random: np.random.Generator, size: int) -> list[float]:
    """The errors of five kinds of message on the same records."""
    laws: dict[Group, tuple[float, float]] = {"A": (3.0, 4.0), "B": (6.0, 4.0)}
    records = {
        (silo, group): random.beta(*shape, size)
        for silo in range(5)
        for group, shape in laws.items()
    }
    stepped = {key: (20 * scores).round() / 20 for key, scores in records.items()}
    kinds: list[tuple[Kind, Disclosure, dict[tuple[int, Group], FloatArray]]] = [
        ("mean", Disclosure.off(), records),
        ("mean", Disclosure(), records),
        ("quantile", Disclosure(), records),
        ("mean", Disclosure(), stepped),
        ("counts", Disclosure(), stepped),
    ]
    found = []
    for kind, rules, table in kinds:
        plan = fp.Plan(
            title="cost",
            groups=tuple(laws),
            score_range=(0, 1),
            score_step=0.05 if kind == "counts" else None,
            sketch=kind,
            disclosure=rules,
        )
        cells: dict[tuple[Hashable, Group], fp.Cell] = {
            key: _told(plan, scores) for key, scores in table.items()
        }
        federation = fp.Federation.from_cells(cells, groups=plan.groups)
        pooled = {g: np.concatenate([table[silo, g] for silo in range(5)]) for g in laws}
        labels = np.repeat(list(pooled), 5 * size)
        exact = fp.disparity(np.concatenate(list(pooled.values())), sensitive_features=labels)
        measured = fp.theory.estimate(federation, fp.Method(estimator="exact")).disparity
        found.append(abs(measured / exact - 1))
    return found


def _told(plan: fp.Plan, scores: FloatArray) -> fp.Cell:
    """The cell that an auditor reads of these scores."""
    if plan.sketch == "counts":
        places = np.searchsorted(plan.score_points, scores)
        held = np.bincount(places, minlength=plan.score_points.size)
        merged = merge_counts(plan.score_points, held, plan.disclosure)
        told = fp.documents.SketchedCell(
            group="A", count=scores.size, values=merged.values, counts=merged.counts
        )
    else:
        levels = allowed_levels(scores.size, plan.levels, plan.disclosure, kind=plan.sketch)
        cell = fp.Cell.from_scores(scores, levels=levels, kind=plan.sketch)
        values = round_values(cell.values, plan.score_range, plan.rounding)
        told = fp.documents.SketchedCell(group="A", count=scores.size, values=values)
    read = told.to_cell(plan)
    if read is None:
        raise TypeError
    return read


TABLES: dict[str, Callable[[Path | None, int], Iterator[str]]] = {
    "disclosure-all-but-one-table.md": all_but_one,
    "disclosure-two-releases-table.md": two_releases,
    "disclosure-cost-table.md": cost,
}


def main() -> None:
    """Print the tables, and write them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the real data")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--write", action="store_true", help="write the tables of the docs")
    parser.add_argument("--only", choices=list(TABLES), help="print one table")
    options = parser.parse_args()
    chosen = {name: TABLES[name] for name in TABLES if options.only in (None, name)}
    for name, table in chosen.items():
        lines = []
        for line in table(options.data, options.runs):
            print(line, flush=True)
            lines.append(line)
        print()
        if options.write:
            (FOLDER / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
