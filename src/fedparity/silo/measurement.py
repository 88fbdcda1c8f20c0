"""Sketches to the cells of a message: what the rules of the plan leave of each number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.plan import Plan
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.privacy.count_merging import counts_above, merge_counts, run_minimum
from fedparity.privacy.disclosure import Decision, whole_effective
from fedparity.privacy.rounding import round_mean_square, round_to_points, round_values
from fedparity.sketches.buffers import cache_records, default_memory
from fedparity.sketches.grids import ScoreGrid
from fedparity.sketches.records import Batch, Records
from fedparity.sketches.selection.moments import Asked
from fedparity.sketches.selection.passes import (
    KernelName,
    Progress,
    available_threads,
    map_batches,
)
from fedparity.sketches.selection.select import Census, MayRank, Selected, select

__all__ = [
    "Effort",
    "Measured",
    "Way",
    "asked_of",
    "explained",
    "measure",
    "released_cells",
]

Way: TypeAlias = Literal["in memory", "several scans", "one pass", "where they are"]
"""``where they are``: ranked by a database or by Spark, and not read; ``in memory``: read once and held;
``several scans``: read twice or more, with little memory; ``one pass``: read once and not held, with a
stated error of the ranks beyond the first chunk, where ranks are asked for."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What a measurement may use; a matter of speed and memory, never of result."""

    memory: int | None = None
    """Bytes of records that may be held; a quarter of the machine's memory if absent."""
    threads: int | None = None
    kernel: KernelName = "auto"
    resolution: int = 4096
    """Values of a summary, where records come once: the error of ranks is about 1/(2m)."""
    progress: Progress | None = None


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The sketches of all groups, their errors, and how they came about."""

    selected: Selected
    rank_errors: tuple[float, ...]
    way: Way


def measure(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    *,
    score_range: tuple[float, float] | None,
    levels_hint: int = 100,
    effort: Effort | None = None,
) -> Measured:
    """Return the sketch of every group: exact, unless the records can be read only once.

    A source that can rank scores itself is asked first: its records then stay where they are.
    Of records that can be read only once, those beyond the first chunk are summarised, and the
    rank error says by how much the result may be off. Counts need one pass, and are always exact.
    """
    effort = effort or Effort()
    if isinstance(records, MayRank):
        found = _where_they_are(records, levels, asked, score_range, effort)
        if found is not None:
            return found
    if not records.rescannable:
        return _in_one_pass(records, levels, asked, score_range, effort)
    limit = default_memory() if effort.memory is None else effort.memory
    threads = available_threads() if effort.threads is None else effort.threads
    held = None
    once = asked.kind == "counts"
    if records.worth_caching and not once:
        held = cache_records(records, limit, threads=threads, progress=effort.progress)
    selected = select(
        records if held is None else held,
        levels,
        kind=asked.kind,
        thresholds=asked.thresholds,
        points=asked.points,
        score_range=score_range,
        levels_hint=levels_hint,
        threads=threads,
        kernel=effort.kernel,
        progress=effort.progress,
    )
    resident = held is not None or records.resident or not records.worth_caching
    read: Way = "one pass" if once else "several scans"
    return Measured(
        selected=selected,
        rank_errors=(0.0,) * len(records.groups),
        way="in memory" if resident else read,
    )


def _where_they_are(
    records: MayRank,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    score_range: tuple[float, float] | None,
    effort: Effort,
) -> Measured | None:
    """The same numbers, found by the source itself; None if it cannot."""
    ranked = records.ranked(asked)
    census = None if ranked is None else ranked.census(score_range)
    if ranked is None or census is None:
        return None
    wanted = levels(census)
    if effort.progress is not None:
        effort.progress(0, int(census.counts.sum()), f"ranking in {ranked.place}")
    selected = ranked.selected(census, wanted)
    if selected is None:
        return None
    errors = (0.0,) * census.counts.size
    return Measured(selected=selected, rank_errors=errors, way="where they are")


def _in_one_pass(
    records: Records,
    levels: Callable[[Census], Sequence[int]],
    asked: Asked,
    score_range: tuple[float, float] | None,
    effort: Effort,
) -> Measured:
    from fedparity.sketches.streaming import StreamSketch  # noqa: PLC0415 -- read once only

    stream = StreamSketch(
        groups=records.groups,
        asked=asked,
        weighted=records.weighted,
        resolution=effort.resolution,
        score_range=score_range,
        kernel=effort.kernel,
        threads=effort.threads,
    )
    done = 0

    def seen(rows: int) -> None:
        nonlocal done
        done += rows
        if effort.progress is not None:
            effort.progress(done, records.rows, "reading")

    def work(_: None, batch: Batch) -> None:
        stream.update(batch)

    map_batches(records, lambda: None, work, threads=1, seen=seen)
    selected, errors = stream.finish(levels, records.accept)
    return Measured(selected=selected, rank_errors=errors, way="one pass")


def asked_of(plan: Plan) -> Asked:
    """Return what a plan asks of a silo's records."""
    points = plan.score_points if plan.sketch == "counts" else None
    return Asked(kind=plan.sketch, thresholds=tuple(plan.thresholds), points=points)


def released_cells(
    plan: Plan, decisions: Mapping[Group, Decision], found: Measured, *, weighted: bool
) -> list[SketchedCell]:
    """Return one cell for each group of the plan: released, empty, or withheld.

    Raises
    ------
    ScoreError
        If quantiles are no points of the plan's grid.
    """
    cells = []
    for place, group in enumerate(plan.groups):
        withheld = decisions[group].withheld
        if withheld is not None:
            cells.append(SketchedCell.kept_back(group, withheld))
        elif found.selected.values[place] is None:
            cells.append(SketchedCell.empty(group))
        else:
            cells.append(_Group(plan, found, place, weighted=weighted).cell())
    return cells


def explained(
    plan: Plan, decisions: Mapping[Group, Decision], cells: Sequence[SketchedCell]
) -> dict[Group, Decision]:
    """Return the decisions with what the rules did to counts; for the operator alone."""
    told = {}
    for cell in cells:
        decision = decisions[cell.group]
        told[cell.group] = replace(decision, reasons=(*decision.reasons, *_reasons(plan, cell)))
    return told


def _reasons(plan: Plan, cell: SketchedCell) -> list[str]:
    reasons = []
    counts = [number for number in cell.counts or () if number is not None]
    if counts and len(counts) < plan.score_points.size:
        reasons.append(
            f"counts at {plan.score_points.size:,} scores merged into {len(counts):,}: "
            f"{run_minimum(plan.disclosure)} records each"
        )
    thresholds = zip(plan.thresholds, cell.above, strict=False)
    hidden = [f"{threshold:g}" for threshold, number in thresholds if number is None]
    if hidden:
        reasons.append(
            f"no count at {', '.join(hidden)}: it would tell of fewer than "
            f"{plan.disclosure.minimum_cell} records"
        )
    return reasons


@dataclass(frozen=True, eq=False)
class _Group:
    """What was found of one group, and the plan that it is released under."""

    plan: Plan
    found: Measured
    place: int
    weighted: bool

    def cell(self) -> SketchedCell:
        """Return the cell that is released."""
        if self.plan.sketch == "counts":
            return self._counted()
        values = self._values()
        rounded = self._rounded(values)
        unrounded = SketchedCell(
            group=self.plan.groups[self.place],
            count=self.found.selected.totals[self.place],
            values=rounded,
            effective=self._whole_effective,
            above=self._above(),
            rank_error=self.found.rank_errors[self.place],
        )
        inside = self.found.selected.inside[self.place]
        if inside is None:
            return unrounded
        moved = math.fsum(((values - rounded) ** 2).tolist()) / rounded.size
        mean_square = round_mean_square(
            inside + moved,
            values=rounded,
            count=unrounded.amount,
            score_range=self.plan.score_range,
            rounding=self.plan.rounding,
        )
        return replace(unrounded, mean_square=mean_square)

    def _counted(self) -> SketchedCell:
        """Counts at the points of the grid, small ones merged."""
        values = self._values()
        merged = merge_counts(
            self.plan.score_points,
            self._records,
            self.plan.disclosure,
            thresholds=self.plan.thresholds,
            weights=values if self.weighted else None,
            effective=self._effective,
        )
        return SketchedCell(
            group=self.plan.groups[self.place],
            count=self.found.selected.totals[self.place],
            values=merged.values,
            effective=self._whole_effective,
            counts=merged.counts,
            above=self._sent(merged.above),
        )

    def _rounded(self, values: FloatArray) -> FloatArray:
        """The values on the grid that the plan asks for."""
        plan = self.plan
        if plan.sketch == "quantile" and plan.score_step is not None:
            grid = ScoreGrid(plan.score_points)
            off = np.count_nonzero(grid.places(values) % 2 == 0)
            grid.require(int(off), values.size)
            values = round_to_points(values, plan.score_range, plan.score_step)
        return round_values(values, plan.score_range, plan.rounding)

    def _above(self) -> tuple[int | float | None, ...]:
        """The counts at thresholds that may be sent."""
        if not self.plan.thresholds:
            return ()
        between = None
        if self.weighted:
            total = self.found.selected.totals[self.place]
            between = -np.diff([total, *self._exact_above, 0.0])
        return self._sent(
            counts_above(
                self._records,
                self.plan.disclosure,
                weights=between,
                effective=self._effective,
            )
        )

    def _sent(self, allowed: Sequence[int | float | None]) -> tuple[int | float | None, ...]:
        """The exact counts, where the rules allow one."""
        pairs = zip(allowed, self._exact_above, strict=True)
        return tuple(None if one is None else exact for one, exact in pairs)

    def _values(self) -> npt.NDArray[Any]:
        values = self.found.selected.values[self.place]
        return np.zeros(0) if values is None else values

    @property
    def _records(self) -> npt.NDArray[Any]:
        records = self.found.selected.records[self.place]
        return np.zeros(0) if records is None else records

    @property
    def _exact_above(self) -> tuple[int | float, ...]:
        return self.found.selected.above[self.place] or ()

    @property
    def _effective(self) -> float | None:
        return float(self.found.selected.census.effective[self.place]) if self.weighted else None

    @property
    def _whole_effective(self) -> int | None:
        return None if self._effective is None else whole_effective(self._effective)
