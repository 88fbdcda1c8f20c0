"""Sketches to the cells of a message: what the rules of the plan leave of each number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.privacy.decisions import Decision, whole_effective
from fedparity.privacy.merging import merge_counts, run_minimum
from fedparity.privacy.rounding import round_mean_square, round_to_points, round_values
from fedparity.privacy.threshold_counts import counts_above
from fedparity.protocol.plan import Plan
from fedparity.protocol.sketched_cell import SketchedCell
from fedparity.releasing.measuring import Measured
from fedparity.sketches.score_grid import ScoreGrid
from fedparity.sketches.selection.asked import Asked

__all__ = ["asked_of", "explained", "released_cells"]


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
