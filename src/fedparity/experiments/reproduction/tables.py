"""The paper's tables: each printed value beside ours, with a verdict for every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fedparity.experiments.allocations import Regime
from fedparity.experiments.reproduction.draws import SILOS
from fedparity.experiments.reproduction.measures import MEASURES, Measure
from fedparity.experiments.reproduction.printed import printed_blocks
from fedparity.experiments.reproduction.verdicts import (
    Agreement,
    Alternative,
    Verdict,
    agreements,
    judge,
)
from fedparity.laws.arrays import FloatArray

__all__ = ["COLUMNS", "Block", "Cell", "Row", "Table", "World", "build_table"]

COLUMNS = ("Global", *(f"Silo {j}" for j in range(1, SILOS + 1)))
REGIMES: tuple[Regime, ...] = ("random", "negative", "positive")
"""In the order of the paper's tables."""
_POSITION = {measure.name: i for i, measure in enumerate(MEASURES)}
_RANGE = "the paper divides H₂ by the range of the scores"


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

    regime: Regime
    label: str
    """The label, in the paper's source, of the table that it stands beside."""
    rows: tuple[Row, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """A table of the paper, rebuilt."""

    name: str
    title: str
    groups: tuple[str, str]
    draws: int
    seed: int
    """Draw r, from 0, is the allocation with ``seed=(seed, r)``."""
    blocks: tuple[Block, ...]
    as_printed: bool = True
    """Whether it is meant to match: not where it follows the paper's words against its numbers."""

    @property
    def printed_rows(self) -> Iterator[Row]:
        """Each row that the paper prints, once: by its definition, where we show it twice."""
        return (
            row
            for _, row in self.rows
            if row.verdict.word != "not printed" and row.measure.name == row.measure.printed_as
        )

    @property
    def rows(self) -> Iterator[tuple[Block, Row]]:
        """All rows, each with its block."""
        return ((block, row) for block in self.blocks for row in block.rows)


@dataclass(frozen=True)
class World:
    """Draws under one assumption, and what it has to say for itself if it is not the main one."""

    reasons: tuple[str, ...]
    draws: Callable[[Regime], FloatArray]
    """The draws of a regime: draws by measures by columns."""


def build_table(
    *,
    name: str,
    title: str,
    dataset: str,
    groups: tuple[str, str],
    world: World,
    others: Sequence[World] = (),
    labels: Mapping[str, Sequence[Regime]],
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
        Other assumptions, tried in their order where a row differs.
    labels : mapping of the paper's label of a table to the regimes to show of it
    """
    blocks = tuple(
        _block(block.label, block.regime, block.rows, world, others)  # type: ignore[arg-type]
        for block in printed_blocks()
        if block.dataset == dataset and block.regime in labels.get(block.label, ())
    )
    draws = world.draws(blocks[0].regime).shape[0]
    return Table(name, title, groups, draws, seed, blocks, as_printed)


def _block(
    label: str,
    regime: Regime,
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
        if verdict.word == "differs":
            verdict = judge(texts, own, COLUMNS, _alternatives(measure, regime, world, others))
        rows.append(Row(measure, _cells(texts, own), verdict))
    return Block(regime, label, tuple(rows))


def _alternatives(
    measure: Measure, regime: Regime, world: World, others: Sequence[World]
) -> list[Alternative]:
    """Every other reading of a row: first those that need the fewest assumptions."""
    readings: list[tuple[tuple[str, ...], str]] = [((), measure.name)]
    if measure.name == "H2":
        readings.append(((_RANGE,), "H2_range"))
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
