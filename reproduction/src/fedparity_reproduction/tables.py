"""The paper's tables: each printed value beside ours, with a verdict for every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import fedparity as fp
from fedparity_reproduction.datasets import Dataset
from fedparity_reproduction.estimators import FloatArray, IntArray
from fedparity_reproduction.printed import PrintedNumber, printed_blocks, printed_numbers
from fedparity_reproduction.runner import Runner
from fedparity_reproduction.verdicts import Agreement, Alternative, Verdict, agreements, judge

__all__ = [
    "COLUMNS",
    "MEASURES",
    "SILOS",
    "Block",
    "Cell",
    "Drawn",
    "Measure",
    "Population",
    "Row",
    "Table",
    "TextNumber",
    "World",
    "build_table",
    "compare_numbers",
    "draw_measures",
    "measures_of_silos",
]

SILOS = 5
"""Number of silos in every table of the paper."""
COLUMNS = ("Global", *(f"Silo {j}" for j in range(1, SILOS + 1)))
_RANGE = "the paper divides {} by the range of the scores"


@dataclass(frozen=True)
class Measure:
    """A row of a table."""

    name: str
    symbol: str
    """In plain text."""
    latex: str
    decimals: int
    printed_as: str
    """The row of the paper that it stands beside."""


MEASURES = (
    Measure("n_first", "n (first group)", r"$n_{\mathrm{first}}$", 0, "n_first"),
    Measure("n_second", "n (second group)", r"$n_{\mathrm{second}}$", 0, "n_second"),
    Measure("gap", "|Δz̄|", r"$|\Delta\bar{z}|$", 4, "gap"),
    Measure("U2", "U₂", "$U_2$", 4, "U2"),
    Measure("H2", "H₂", "$H_2$", 4, "H2"),
    Measure("H2_range", "H₂ / range", r"$H_2/\mathrm{range}$", 4, "H2"),
    Measure("W2", "W₂", "$W_2$", 4, "W2"),
)
"""In the paper's order; ``H2_range`` stands below ``H2``, for reasons that the verdicts give."""
_POSITION = {measure.name: i for i, measure in enumerate(MEASURES)}


# -- draws ---------------------------------------------------------------------------------------


class Drawn(NamedTuple):
    """The records of one draw, in order of score."""

    dataset: Dataset
    order: IntArray
    scores: FloatArray
    second: npt.NDArray[np.bool_]
    """Whether a record is of the second group."""

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> Drawn:
        """Sort the records of a data set."""
        order = np.argsort(dataset.scores, kind="stable")
        return cls(dataset, order, dataset.scores[order], dataset.codes[order] == 1)

    def silos(self, regime: str, rho: float, seed: Sequence[int]) -> IntArray:
        """Return the silo of each record, in order of score."""
        data = self.dataset
        options: Any = {"regime": regime, "rho": rho, "groups": data.codes, "seed": seed}
        allocated: IntArray = fp.theory.allocate(data.scores, silos=SILOS, **options).silos[
            self.order
        ]
        return allocated


@dataclass(frozen=True, eq=False)
class Population:
    """A data set of two groups, to draw allocations from."""

    dataset: Dataset
    jittered: bool = False
    """Whether each score is a whole number minus a uniform variable below 1, anew in each draw."""

    def drawn(self, seed: Sequence[int]) -> Drawn:
        """Return the records of one draw; draw 0 has the scores as they are."""
        if not (self.jittered and seed[-1]):
            return self._unchanged
        random = np.random.default_rng((*seed, 1))  # the allocation has the shorter seed
        scores = np.ceil(self.dataset.scores) - random.random(len(self.dataset))
        return Drawn.from_dataset(replace(self.dataset, scores=scores))

    @cached_property
    def _unchanged(self) -> Drawn:
        return Drawn.from_dataset(self.dataset)


def draw_measures(
    population: Population, regime: str, runner: Runner, *, rho: float | None = None
) -> FloatArray:
    """Return the measures of every draw: draws by measures by columns (the whole, then silos).

    Draw r is the allocation with ``seed=(seed, r)``; the regimes of one draw share their baseline
    and noise.
    """
    settings = runner.settings
    rho = settings.rho if rho is None else rho

    def one(replicate: int) -> FloatArray:
        seed = (settings.seed, replicate)
        drawn = population.drawn(seed)
        return measures_of_silos(drawn.scores, drawn.second, drawn.silos(regime, rho, seed))

    def compute() -> dict[str, FloatArray]:
        label = f"{population.dataset.title}: tables, {regime} allocation"
        return {"draws": np.stack(runner.map(one, settings.draws, label))}

    decides = {
        "data": population.dataset.digest,
        "jittered": population.jittered,
        "regime": regime,
        "rho": rho,
        "draws": settings.draws,
        "seed": settings.seed,
    }
    return runner.cached(f"tables-{population.dataset.name}-{regime}", decides, compute)["draws"]


def measures_of_silos(
    scores: FloatArray, second: npt.NDArray[np.bool_], silos: IntArray
) -> FloatArray:
    """Return each measure (rows) of the whole and of each silo (columns), from all records.

    A silo without one of the groups has counts only; its other measures are NaN. The scores must
    be sorted.
    """
    columns = [_measures(scores[~second], scores[second])]
    for silo in range(SILOS):
        own = silos == silo
        columns.append(_measures(scores[own & ~second], scores[own & second]))
    return np.array(columns).T


def _measures(first: FloatArray, second: FloatArray) -> tuple[float, ...]:
    if not (first.size and second.size):
        return (first.size, second.size, *(np.nan,) * 5)
    laws = fp.Law.from_sorted(first), fp.Law.from_sorted(second)
    share = first.size / (first.size + second.size)
    squared = fp.theory.wasserstein_power(*laws)
    heterogeneity = share * (1 - share) * fp.theory.cramer_power(*laws)
    length = max(first[-1], second[-1]) - min(first[0], second[0])
    return (
        first.size,
        second.size,
        abs(float(first.mean() - second.mean())),
        share * (1 - share) * squared,
        heterogeneity,
        heterogeneity / length if length else 0.0,
        float(np.sqrt(squared)),
    )


# -- tables --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One number: as printed, in our first draw, and over all draws."""

    printed: str | None
    one: float
    mean: float
    sd: float
    agreement: Agreement | None
    """None where the paper prints nothing."""


@dataclass(frozen=True, eq=False)
class Row:
    """A measure in every column."""

    measure: Measure
    cells: tuple[Cell, ...]
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one regime."""

    regime: str
    label: str
    """The label, in the paper's source, of the table that it stands beside."""
    rows: tuple[Row, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """A table of the paper, rebuilt."""

    name: str
    title: str
    groups: tuple[str, ...]
    draws: int
    seed: int
    blocks: tuple[Block, ...]
    as_printed: bool = True
    """Whether it is meant to match: not where it follows the paper's words against its numbers."""

    @property
    def rows(self) -> Iterator[tuple[Block, Row]]:
        """All rows, each with its block."""
        return ((block, row) for block in self.blocks for row in block.rows)

    @property
    def printed_rows(self) -> Iterator[Row]:
        """Each row that the paper prints, once: by its definition, where we show it twice."""
        return (
            row
            for _, row in self.rows
            if row.verdict.word != "not printed" and row.measure.name == row.measure.printed_as
        )


@dataclass(frozen=True)
class World:
    """Draws under one assumption."""

    reasons: tuple[str, ...]
    """What would have to hold; empty for the main assumption."""
    draws: Callable[[str], FloatArray]
    """The draws of a regime: draws by measures by columns."""

    @classmethod
    def from_population(
        cls, population: Population, runner: Runner, *, rho: float | None = None, reason: str = ""
    ) -> World:
        """Return the draws of a population; they are made when they are first needed."""
        draws = cache(lambda regime: draw_measures(population, regime, runner, rho=rho))
        return cls((reason,) if reason else (), draws)


def build_table(
    *,
    name: str,
    title: str,
    dataset: str,
    groups: tuple[str, ...],
    world: World,
    others: Sequence[World] = (),
    label: str,
    regimes: Sequence[str],
    seed: int = 0,
    as_printed: bool = True,
) -> Table:
    """Return the rows of a table with their verdicts.

    Parameters
    ----------
    dataset : str
        Whose printed values to stand beside: "compas", "adult" or "law".
    world : World
        The draws that the table shows.
    others : sequence of World
        Other assumptions, tried in this order where a row differs.
    label : str
        The label of the table in the paper's source.
    regimes : sequence of str
        The regimes to show.
    """
    blocks = tuple(
        _block(label, block.regime, block.rows, world, others)
        for block in printed_blocks()
        if (block.dataset, block.label) == (dataset, label) and block.regime in regimes
    )
    draws = world.draws(blocks[0].regime).shape[0]
    return Table(name, title, groups, draws, seed, blocks, as_printed)


def _block(
    label: str,
    regime: str,
    printed: Mapping[str, tuple[str, ...]],
    world: World,
    others: Sequence[World],
) -> Block:
    draws = world.draws(regime)
    rows = []
    for measure in MEASURES:
        texts = printed.get(measure.printed_as)
        own = draws[:, _POSITION[measure.name]]
        verdict = judge(texts, own, COLUMNS)
        if verdict.word == "differs":  # only now are other assumptions drawn
            verdict = judge(texts, own, COLUMNS, _alternatives(measure, regime, world, others))
        rows.append(Row(measure, _cells(texts, own), verdict))
    return Block(regime, label, tuple(rows))


def _alternatives(
    measure: Measure, regime: str, world: World, others: Sequence[World]
) -> list[Alternative]:
    """Every other reading of a row: first those that need the fewest assumptions."""
    readings: list[tuple[tuple[str, ...], str]] = [((), measure.name)]
    if measure.name == "H2":
        readings.append(((_RANGE.format("H₂"),), "H2_range"))
    found = [
        Alternative((*why, *other.reasons), other.draws(regime)[:, _POSITION[name]])
        for other in (world, *others)
        for why, name in readings
        if why or other is not world
    ]
    return sorted(found, key=lambda alternative: len(alternative.reasons))


def _cells(printed: Sequence[str] | None, draws: FloatArray) -> tuple[Cell, ...]:
    found = [None] * draws.shape[1] if printed is None else agreements(printed, draws)
    texts = [None] * draws.shape[1] if printed is None else printed
    return tuple(
        Cell(text, float(column[0]), *_mean_and_sd(column), agreement)
        for text, column, agreement in zip(texts, draws.T, found, strict=True)
    )


def _mean_and_sd(draws: FloatArray) -> tuple[float, float]:
    known = draws[np.isfinite(draws)]
    if known.size == 0:
        return float("nan"), float("nan")
    if np.ptp(known) == 0:  # the mean of equal numbers may round
        return float(known[0]), 0.0
    return float(known.mean()), float(known.std(ddof=1))


# -- numbers of the running text -----------------------------------------------------------------

_SYMBOLS = {
    "U2": "U₂",
    "H2": "H₂",
    "W2": "W₂",
    "C2": "C₂",
    "mean_first": "mean score, first group",
    "mean_second": "mean score, second group",
}


@dataclass(frozen=True, eq=False)
class TextNumber:
    """A number of the running text beside our draws."""

    printed: PrintedNumber
    symbol: str
    mean: float
    sd: float
    verdict: Verdict


def compare_numbers(dataset: str, draws: Mapping[str, FloatArray]) -> tuple[TextNumber, ...]:
    """Return every number that the text gives of a data set, with a verdict.

    ``draws`` holds ours by measure; ``H2_range`` and ``C2_range`` are the alternatives of ``H2``
    and ``C2``.
    """
    found = []
    for number in printed_numbers():
        if number.dataset != dataset:
            continue
        own = draws[number.measure][:, None]
        divided = draws.get(f"{number.measure}_range")
        reason = _RANGE.format("C₂²" if number.measure == "C2" else "H₂")
        others = [] if divided is None else [Alternative((reason,), divided[:, None])]
        verdict = judge((number.value,), own, ("it",), others)
        symbol = _SYMBOLS[number.measure]
        found.append(TextNumber(number, symbol, *_mean_and_sd(own[:, 0]), verdict))
    return tuple(found)
