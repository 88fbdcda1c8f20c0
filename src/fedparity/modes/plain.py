"""Plain sketches: no privacy mode beyond the disclosure rules, which decide what leaves of each number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.documents.fields import group_words
from fedparity.documents.files import Path
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import SketchedCell, SketchedTable
from fedparity.documents.plan import Plan
from fedparity.errors import MessageError, OptionError
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.modes.mode import (
    AuditOptions,
    Cost,
    Description,
    Exchange,
    ExecutionInfo,
    Measured,
    Release,
)
from fedparity.privacy.count_merging import counts_above, counts_at, merge_counts, run_minimum
from fedparity.privacy.disclosure import (
    Decision,
    decide,
    round_mean_square,
    round_to_points,
    round_values,
    whole_effective,
)
from fedparity.sketches.accumulators import SketchRequest
from fedparity.sketches.kinds import ScoreGrid
from fedparity.sketches.records import Faults, Records, RowCounts
from fedparity.sketches.select import Census, ComputeOptions, Measurement, measure_records
from fedparity.text import counted, named, number
from fedparity.version import SOFTWARE

if TYPE_CHECKING:
    from fedparity.modes.table_release import JointRuns, TableCells
    from fedparity.sketches.streaming import StreamSketch

__all__ = ["PlainMode", "SketchMode"]


@dataclass(frozen=True)
class SketchMode:
    """What modes have in common in which each silo sends one message of its own."""

    plan: Plan
    in_rounds = False
    fewest_silos = 1

    def check(self, silo: str, *, weighted: bool) -> None:  # noqa: ARG002 -- weights are fine here
        """Raise if the roster does not list the silo."""
        plan = self.plan
        if plan.silos is not None and silo not in plan.silo_set:
            raise MessageError.not_in_roster(silo, plan.silos)

    def collect(self, exchange: Exchange[Any]) -> list[SiloSketch]:
        """Request the message of each silo."""
        from fedparity.documents.message_checks import check_message  # noqa: PLC0415 -- the auditor's

        def read(data: bytes) -> SiloSketch:
            sketch = SiloSketch.from_bytes(data)
            check_message(self.plan, sketch)
            return sketch

        return list(exchange.ask("sketch", read).values())


@dataclass(frozen=True)
class PlainMode(SketchMode):
    """Sketches under the disclosure rules."""

    name = "none"
    protected = False
    cost = Cost()

    @property
    def levels(self) -> int:
        """The k of the sketches."""
        return self.plan.levels

    @property
    def most_values(self) -> int:
        """How many values a cell has unless the rules cut it."""
        return self.plan.most_values

    @property
    def view(self) -> list[float | None]:
        """The range and the grid of the scores, and the rounding."""
        return [*self.plan.score_range, self.plan.score_step, self.plan.rounding]

    def guarantee(self) -> dict[str, Any]:
        """Return the disclosure rules."""
        return self.plan.guarantee

    def describe(self) -> Description:
        """Return what the plan means, in sentences."""
        how = {"grid": "Algorithm 1 on the grid of levels", "exact": "exact integration"}
        return Description(
            sent=_sent(self.plan),
            held_back=_held_back(self.plan),
            estimator=how[self.plan.estimator],
            sources="what it comes from, and what each silo would see alone",
        )

    def release(
        self, records: Records, silo: str, options: ComputeOptions | None = None
    ) -> Release:
        """Return what a silo with these records would send."""
        self.check(silo, weighted=records.weighted)
        if self.plan.releases_tables:
            return self._released_tables(records, silo, options)
        found = measure_records(
            records,
            partial(self._levels, silo, weighted=records.weighted),
            self._requested,
            score_range=self.plan.score_range,
            levels_hint=self.plan.levels,
            options=options,
        )
        return self._released(found, silo, weighted=records.weighted)

    preview = release  # nothing is drawn, so that all of it may be seen beforehand

    def check(self, silo: str, *, weighted: bool) -> None:
        """Raise if the roster does not list the silo, or weights meet several tables."""
        super().check(silo, weighted=weighted)
        if weighted and self.plan.releases_tables:
            raise OptionError(
                "a plan with axes or an outcome cannot take weighted records yet: its rules count records.",
                fix="leave the weights out, or use a plan without axes and outcome.",
            )

    def stream(self, *, weighted: bool, resolution: int) -> StreamSketch:
        """Return what gathers records that come once."""
        if self.plan.releases_tables:
            raise OptionError(
                "a plan with axes or an outcome needs all records at once, not batch by batch.",
                fix="give the table to fedparity.sketch; an iterator of batches will do.",
            )
        from fedparity.sketches.streaming import StreamSketch  # noqa: PLC0415 -- most come from tables

        return StreamSketch(
            groups=self.plan.groups,
            request=self._requested,
            weighted=weighted,
            resolution=resolution,
            score_range=self.plan.score_range,
        )

    def finish(
        self,
        stream: StreamSketch,
        silo: str,
        accept: Callable[[Faults], RowCounts],
        *,
        weighted: bool,
    ) -> Release:
        """Return what a silo whose records a stream has gathered would send."""
        levels = partial(self._levels, silo, weighted=weighted)
        selected, errors = stream.finish(levels, accept)
        found = Measurement(selected=selected, rank_errors=errors, strategy="one pass")
        return self._released(found, silo, weighted=weighted)

    def measure(self, messages: Iterable[SiloSketch | Path], options: AuditOptions) -> Measured:
        """Check the sketches, and measure the disparity from them."""
        from fedparity.modes.sketch_audit import measure_sketches  # noqa: PLC0415 -- not in a silo

        return measure_sketches(self, messages, options)

    @property
    def _requested(self) -> SketchRequest:
        plan = self.plan
        points = plan.score_points if plan.sketch == "counts" else None
        return SketchRequest(kind=plan.sketch, thresholds=tuple(plan.thresholds), points=points)

    def _levels(self, silo: str, census: Census, *, weighted: bool) -> list[int]:
        """How many levels each group may release, before anything is known of its scores."""
        decisions = self._decide(silo, census, weighted=weighted)
        return [decisions[group].levels for group in self.plan.groups]

    def _decide(self, silo: str, census: Census, *, weighted: bool) -> dict[Group, Decision]:
        groups = self.plan.groups
        return decide(
            dict(zip(groups, census.counts.tolist(), strict=True)),
            levels=self.plan.levels,
            disclosure=self.plan.disclosure,
            kind=self.plan.sketch,
            public_total=self.plan.totals.get(silo),
            effective=dict(zip(groups, census.effective.tolist(), strict=True))
            if weighted
            else None,
        )

    def _released_tables(
        self, records: Records, silo: str, options: ComputeOptions | None
    ) -> Release:
        """What a silo would send under a plan with axes or an outcome."""
        from fedparity.modes.table_release import measure_tables  # noqa: PLC0415 -- not for one table

        plan = self.plan
        atoms, (main, *further) = measure_tables(plan, silo, records, options)
        cells = _table_cells(main, atoms.decisions)
        return Release(
            sketch=SiloSketch(
                plan=plan.digest,
                silo=silo,
                kind=plan.sketch,
                cells=cells,
                tables=[
                    SketchedTable(
                        by=each.table.by, outcome=each.outcome, cells=_table_cells(each, {})
                    )
                    for each in further
                ],
                rows_dropped=atoms.rows.without_score,
                rows_filtered=atoms.rows.filtered,
                guarantee=plan.guarantee,
                software=SOFTWARE,
            ),
            decisions=_explained(plan, atoms.decisions, cells),
            records=dict(zip(plan.groups, atoms.group_counts.tolist(), strict=True)),
            execution=ExecutionInfo(
                strategy=main.found.strategy,
                kernel=main.found.selected.kernel,
                passes=main.found.selected.passes,
            ),
            rows=atoms.rows,
        )

    def _released(self, found: Measurement, silo: str, *, weighted: bool) -> Release:
        plan, census = self.plan, found.selected.census
        decisions = self._decide(silo, census, weighted=weighted)
        cells = _cells(plan, decisions, found, weighted=weighted)
        return Release(
            sketch=SiloSketch(
                plan=plan.digest,
                silo=silo,
                kind=plan.sketch,
                cells=cells,
                rows_dropped=census.rows.without_score,
                rows_filtered=census.rows.filtered,
                guarantee={**plan.guarantee, **({"weighted": True} if weighted else {})},
                software=SOFTWARE,
            ),
            decisions=_explained(plan, decisions, cells),
            records=dict(zip(plan.groups, census.counts.tolist(), strict=True)),
            execution=ExecutionInfo(
                strategy=found.strategy,
                kernel=found.selected.kernel,
                passes=found.selected.passes,
            ),
            rows=census.rows,
        )


def _cells(
    plan: Plan, decisions: Mapping[Group, Decision], found: Measurement, *, weighted: bool
) -> list[SketchedCell]:
    """One cell for each group of the plan: released, empty, or withheld.

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
            cells.append(GroupCell(plan, found, place, weighted=weighted).cell())
    return cells


def _table_cells(measured: TableCells, decisions: Mapping[Group, Decision]) -> list[SketchedCell]:
    """One cell for each row of a table: released, empty, or withheld."""
    cells = []
    for place, group in enumerate(measured.table.groups):
        if measured.sent[place]:
            runs = measured.runs.get(place)
            built = GroupCell(measured.plan, measured.found, place, weighted=False, runs=runs)
            cells.append(built.cell())
        elif measured.empty[place]:
            cells.append(SketchedCell.empty(group))
        else:
            withheld = None if group not in decisions else decisions[group].withheld
            cells.append(SketchedCell.kept_back(group, withheld or "complementary"))
    return cells


def _explained(
    plan: Plan, decisions: Mapping[Group, Decision], cells: Sequence[SketchedCell]
) -> dict[Group, Decision]:
    """The decisions with what the rules did to counts; for the operator alone."""
    explained = {}
    for cell in cells:
        decision = decisions[cell.group]
        explained[cell.group] = replace(
            decision, reasons=(*decision.reasons, *_reasons(plan, cell))
        )
    return explained


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
class GroupCell:
    """What was found of one group, and the plan that it is released under."""

    plan: Plan
    found: Measurement
    place: int
    weighted: bool
    runs: JointRuns | None = None
    """Where counts may be divided; if absent, by the rule for a single cell."""

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
        points, thresholds = self.plan.score_points, self.plan.thresholds
        if self.runs is not None:
            merged = counts_at(points, self._records, self.runs.ends, thresholds=thresholds)
        else:
            merged = merge_counts(
                points,
                self._records,
                self.plan.disclosure,
                thresholds=thresholds,
                weights=self._values() if self.weighted else None,
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
        """The values on the grid that the plan requests."""
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
        if self.runs is not None:
            stated = [threshold in self.runs.thresholds for threshold in self.plan.thresholds]
            pairs = zip(stated, self._exact_above, strict=True)
            return tuple(exact if is_stated else None for is_stated, exact in pairs)
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


def _sent(plan: Plan) -> list[str]:
    groups = named([group_words(group) for group in plan.groups])
    match plan.sketch:
        case "counts":
            values, numbers = (
                f"how many at each of the {plan.most_values:,} scores there can be",
                2 * plan.most_values,
            )
        case "mean":
            values, numbers = (
                (
                    f"up to {counted(plan.levels, 'number')}, the means of its scores between quantiles, "
                    "and the mean square of what these leave out"
                ),
                plan.levels + 1,
            )
        case _:
            values, numbers = (
                f"up to {counted(plan.levels, 'number')}, the quantiles of its scores",
                plan.levels,
            )
    sentences = [
        f"for each of the {len(plan.groups)} groups ({groups}): how many records it has, and {values};"
    ]
    if plan.thresholds:
        scores = named([number(threshold) for threshold in plan.thresholds])
        sentences.append(
            f"how many of its records lie at or above {scores} ({plan.favorable} is good);"
        )
    sentences += _tables_sent(plan)
    lowest, highest = (number(end) for end in plan.score_range)
    step = "" if plan.score_step is None else f", in steps of {plan.score_step:g}"
    cells = len(plan.groups) + sum(map(len, plan.axes.values()))
    bins = 0 if plan.outcome is None else 2 * len(plan.outcome.bins)
    times = 1 if plan.outcome is None else 3
    most = cells * (times * (numbers + len(plan.thresholds) + 1) + bins)
    sentences.append(
        f"scores lie between {lowest} and {highest}{step}; at most {most:,} numbers in all;"
    )
    if plan.period is not None:
        sentences.append(
            f"of records from {plan.period[0]} to {plan.period[1]}, which the silo selects;"
        )
    return [
        *sentences,
        "how many rows it left out because they have no score, and the rules it applied;",
        "no record, no name, no other column.",
    ]


def _tables_sent(plan: Plan) -> list[str]:
    """What a plan with axes or an outcome requests in addition."""
    sentences = []
    if plan.axes:
        sentences.append(
            f"the same by {named([*plan.axes])}, of everybody whose group is withheld: a table by each "
            "axis is the sum of both;"
        )
    if plan.outcome is not None:
        positive, negative = plan.outcome.positive, plan.outcome.negative
        edges = named([number(edge) for edge in plan.outcome.bins])
        sentences.append(
            f"the same once more of the records whose outcome is {positive}, and of those whose outcome "
            f"is {negative}{f', counted at {edges} too' if plan.outcome.bins else ''};"
        )
    return sentences


def _held_back(plan: Plan) -> list[str]:
    rules, sentences = plan.disclosure, []
    if plan.axes and rules.minimum_cell > 1:
        sentences.append(
            f"everything about people of a category with fewer than {counted(rules.minimum_cell, 'record')};"
        )
    if plan.outcome is not None and rules.minimum_cell > 1:
        sentences.append(
            f"both outcomes of a group, if one has fewer than {counted(rules.minimum_cell, 'record')}, or "
            "if that few lack one;"
        )
    if rules.minimum_cell > 1:
        sentences.append(f"a group with fewer than {counted(rules.minimum_cell, 'record')};")
    if plan.sketch == "counts" and run_minimum(rules) > 1:
        sentences.append(
            f"counts of fewer than {counted(run_minimum(rules), 'record')}: neighboring scores are "
            "counted together;"
        )
    elif rules.records_per_level and plan.sketch != "counts":
        sentences.append(
            f"more than one value per {counted(rules.records_per_level, 'record')}, and values "
            "based on fewer than 5 extreme records;"
        )
    if plan.thresholds and rules.minimum_cell > 1:
        sentences.append(
            f"a threshold with fewer than {counted(rules.minimum_cell, 'record')} beside it;"
        )
    if plan.rounding:
        step = plan.rounding * (plan.score_range[1] - plan.score_range[0])
        sentences.append(f"fine detail: values are rounded to {number(step)};")
    if plan.totals:
        sentences.append(
            "a second group where the public total of a silo would give away a withheld one;"
        )
    return sentences or ["nothing: every disclosure rule is off."]
