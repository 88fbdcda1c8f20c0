"""A silo's release under a plan with axes or an outcome: several tables of the same records.

Records are distinguished by group and outcome, the *atoms*. What the rules decide follows from how many records
each atom has, and how many of them lie between thresholds; then each table is sketched on its own, as
if its cells were the groups of a plan.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.documents.message_cells import table_keys
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import OUTCOMES, OutcomeName, PlanTable
from fedparity.laws.labels import Group
from fedparity.laws.law import BoolArray, FloatArray, IntArray
from fedparity.privacy.count_merging import joint_ends, merged_runs, run_minimum
from fedparity.privacy.disclosure import Decision, allowed_levels, decide, smallest_cell
from fedparity.privacy.remainder_runs import RemainderRuns, remainder_runs
from fedparity.privacy.table_suppression import (
    OutcomeSizes,
    TableRelease,
    isolates_few,
    may_split,
    release_tables,
)
from fedparity.sketches.accumulators import SketchRequest
from fedparity.sketches.records import (
    Batch,
    BatchTask,
    Faults,
    Records,
    RowCounts,
    available_threads,
    cache_records,
    default_memory,
)
from fedparity.sketches.select import ComputeOptions, Measurement, measure_records

__all__ = ["JointRuns", "RegroupedRecords", "TableCells", "measure_tables"]

_POSITIVE, _NEGATIVE, _WITHOUT = range(3)


class JointRuns(NamedTuple):
    """Where the counts of a cell may be cut, as was decided for it and its outcomes together."""

    ends: IntArray
    """The last point of each run of scores; without meaning where records are not counted at points."""
    thresholds: frozenset[float]
    """Those at which records may be counted."""


class TableCells(NamedTuple):
    """All cells of one table, measured."""

    table: PlanTable
    outcome: OutcomeName | None
    plan: Plan
    """The plan of this table alone."""
    found: Measurement
    sent: BoolArray
    """Which of its cells are sent."""
    empty: BoolArray
    """Which of the others have nobody left to count, by their design."""
    runs: Mapping[int, JointRuns]


@dataclass(frozen=True, eq=False)
class RegroupedRecords:
    """The same records in other groups; those of the last one are left out of what is sent."""

    records: Records
    groups: tuple[Group, ...]
    places: IntArray
    """The new code of each old one."""
    rescannable: bool = True
    resident: bool = True
    worth_caching: bool = False

    @property
    def weighted(self) -> bool:
        """Whether the records have weights."""
        return self.records.weighted

    @property
    def rows(self) -> int | None:
        """An upper bound of the number of records, if it is known."""
        return self.records.rows

    def batches(self) -> Iterator[BatchTask]:
        """Yield tasks that read all the records once."""
        codes = self.places.astype(np.min_scalar_type(len(self.groups) - 1))
        for task in self.records.batches():
            yield _Regrouped(task, codes)

    def accept(self, faults: Faults) -> RowCounts:
        """Let the records decide."""
        return self.records.accept(faults)


@dataclass(frozen=True, slots=True)
class _Regrouped:
    """The task that reads a batch and changes its codes."""

    task: BatchTask
    codes: npt.NDArray[np.unsignedinteger]

    def __call__(self) -> Batch:
        batch = self.task()
        return Batch(batch.scores, self.codes[batch.codes], batch.weights, batch.faults)


def measure_tables(
    plan: Plan, silo: str, records: Records, options: ComputeOptions | None
) -> tuple[Atoms, list[TableCells]]:
    """Return what was counted of a silo's records, and the cells of every table of the plan."""
    options = options or ComputeOptions()
    kept = _rescannable(records, options)
    atoms = Atoms(plan, silo, _counted(plan, kept, options))
    keys = [(plan.tables[0], None), *table_keys(plan)]
    return atoms, [_table(atoms, table, outcome, kept, options) for table, outcome in keys]


def _rescannable(records: Records, options: ComputeOptions) -> Records:
    """The records in memory, if they fit or can be read only once."""
    if records.resident and records.rescannable:
        return records
    limit = default_memory() if options.memory is None else options.memory
    threads = available_threads() if options.threads is None else options.threads
    limit = limit if records.rescannable else sys.maxsize
    cached = cache_records(records, limit, threads=threads, progress=options.progress)
    return records if cached is None else cached


def _counted(plan: Plan, records: Records, options: ComputeOptions) -> Measurement:
    """How many records each atom has, at each point of the score or between thresholds."""
    everything = plan.table_plan(plan.tables[0], by_outcome=True)
    points = plan.score_points if plan.sketch == "counts" else None
    same = RegroupedRecords(records, records.groups, np.arange(len(records.groups)))
    return measure_records(
        same,
        lambda census: (census.counts > 0).astype(np.int64).tolist(),
        SketchRequest(kind=plan.sketch, thresholds=tuple(everything.thresholds), points=points),
        score_range=plan.score_range,
        levels_hint=1,
        options=options,
    )


def _table(
    atoms: Atoms,
    table: PlanTable,
    outcome: OutcomeName | None,
    records: Records,
    options: ComputeOptions,
) -> TableCells:
    plan = atoms.plan
    own = plan.table_plan(table, by_outcome=outcome is not None)
    members = atoms.members(table, outcome)
    sent = atoms.sent(table, outcome)
    left_out = len(table.groups)
    places = np.full(len(plan.record_labels), left_out)
    for place in np.flatnonzero(sent):
        places[members[place]] = place
    counts = atoms.counts
    levels = [
        allowed_levels(
            int(counts[own_members].sum()), plan.levels, plan.disclosure, kind=plan.sketch
        )
        if is_sent
        else 0
        for own_members, is_sent in zip(members, sent, strict=True)
    ]
    points = plan.score_points if plan.sketch == "counts" else None
    found = measure_records(
        RegroupedRecords(records, (*table.groups, None), places),
        lambda _: [*levels, 0],
        SketchRequest(kind=plan.sketch, thresholds=tuple(own.thresholds), points=points),
        score_range=plan.score_range,
        levels_hint=plan.levels,
        options=options,
    )
    empty = ~sent & np.array([not counts[own_members].any() for own_members in members])
    return TableCells(
        table=table,
        outcome=outcome,
        plan=own,
        found=found,
        sent=sent,
        empty=empty & atoms.visible(table),
        runs={
            place: runs
            for place in np.flatnonzero(sent).tolist()
            if (runs := atoms.runs(table, outcome, place)) is not None
        },
    )


@dataclass(frozen=True, eq=False)
class Atoms:
    """The records of a silo by group and outcome: what the rules decide from."""

    plan: Plan
    silo: str
    counted: Measurement

    @cached_property
    def counts(self) -> IntArray:
        """Records of each atom."""
        return self.counted.selected.census.counts

    @property
    def rows(self) -> RowCounts:
        """What became of the rows of the table."""
        return self.counted.selected.census.rows

    @cached_property
    def _by_place(self) -> FloatArray:
        """Records of each atom at each point, or between thresholds."""
        found = self.counted.selected.records
        size = max((each.size for each in found if each is not None), default=1)
        return np.stack([np.zeros(size) if each is None else each for each in found]).astype(float)

    @property
    def _outcomes(self) -> int:
        return 1 if self.plan.outcome is None else 3

    @cached_property
    def group_counts(self) -> IntArray:
        """Records of each group of the plan, whatever their outcome."""
        counts: IntArray = self.counts.reshape(-1, self._outcomes).sum(axis=1)
        return counts

    @property
    def _minimum(self) -> int:
        return smallest_cell(self.plan.disclosure, kind=self.plan.sketch)

    @cached_property
    def release(self) -> TableRelease:
        """Which intersections are sent, and which are counted in remainders.

        With an outcome the rarer of the two decides, so that what counts everybody can be split.
        """
        if self.plan.outcome is None:
            return release_tables(self.group_counts.reshape(self._shape), self._minimum)
        by_outcome = [self._of_outcome(each) for each in (_POSITIVE, _NEGATIVE, _WITHOUT)]
        return release_tables(by_outcome, self._minimum, by_outcome=True)

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(labels) for labels in self.plan.axes.values())

    def _of_outcome(self, place: int) -> IntArray:
        """Records of each intersection with one of the outcomes."""
        return self.counts.reshape(*self._shape, 3)[..., place]

    @cached_property
    def decisions(self) -> dict[Group, Decision]:
        """What each group of the plan may send."""
        plan = self.plan
        decided = decide(
            dict(zip(plan.groups, self.group_counts.tolist(), strict=True)),
            levels=plan.levels,
            disclosure=plan.disclosure,
            kind=plan.sketch,
            public_total=plan.totals.get(self.silo),
        )
        if not plan.axes or self._minimum <= 1:
            return decided
        complete = self.release.complete.ravel().tolist()
        return {
            group: decision if is_sent else _held_back(decision)
            for (group, decision), is_sent in zip(decided.items(), complete, strict=True)
        }

    def members(self, table: PlanTable, outcome: OutcomeName | None) -> list[BoolArray]:
        """Return for each cell of a table which atoms it counts."""
        if table.by:
            (name,) = table.by
            axis = [*self.plan.axes].index(name)
            remainder = self.release.remainder
            index = np.indices(remainder.shape)[axis]
            groups = [(remainder & (index == place)).ravel() for place in range(len(table.groups))]
        else:
            groups = [*np.eye(len(self.plan.groups), dtype=bool)]
        asked = np.ones(self._outcomes, dtype=bool)
        if outcome is not None:
            asked = np.arange(3) == OUTCOMES.index(outcome)
        return [np.outer(each, asked).ravel() for each in groups]

    def sent(self, table: PlanTable, outcome: OutcomeName | None) -> BoolArray:
        """Return which cells of a table are sent."""
        if table.by:
            (name,) = table.by
            sent = self.release.remainders([*self.plan.axes].index(name))
            split = np.full(sent.size, self._splits_remainders) if outcome is not None else sent
            return sent & split
        sent = np.array([self.decisions[group].withheld is None for group in self.plan.groups])
        sent &= self.group_counts > 0
        if outcome is None:
            return sent
        split = np.array([self._splits(each) for each in self.members(table, None)])
        some = [bool(self.counts[each].any()) for each in self.members(table, outcome)]
        return np.asarray(sent & split & some)

    def visible(self, table: PlanTable) -> BoolArray:
        """Return which cells of a table may be seen to have nobody: all others of them are sent."""
        if not table.by or self._minimum <= 1:
            return np.full(len(table.groups), self._minimum <= 1)
        (name,) = table.by
        axis = [*self.plan.axes].index(name)
        return self.release.counted[axis] & self.release.is_whole

    def _splits(self, members: BoolArray) -> bool:
        """Whether a cell is sent by outcome as well."""
        by_outcome = np.where(members, self.counts, 0).reshape(-1, 3).sum(axis=0).tolist()
        sizes = OutcomeSizes(
            positive=by_outcome[_POSITIVE],
            negative=by_outcome[_NEGATIVE],
            unknown=by_outcome[_WITHOUT],
        )
        return may_split(sizes, self._minimum)

    @cached_property
    def _splits_remainders(self) -> bool:
        """Whether all remainders are sent by outcome; some of them would disclose the others."""
        without = np.where(self.release.remainder, self._of_outcome(_WITHOUT), 0)
        return not isolates_few(without, self._minimum) and all(
            self._splits(members)
            for table in self.plan.tables[1:]
            for members in self.members(table, None)
            if members.any()
        )

    @cached_property
    def _remainder_runs(self) -> RemainderRuns:
        """Where the remainders may be cut: those of all axes and outcomes together."""
        plan = self.plan
        amounts = self._by_place.reshape(*self._shape, self._outcomes, -1)
        parts = np.moveaxis(amounts, -2, 0) * self.release.remainder[..., np.newaxis]
        if not (plan.outcome is not None and self._splits_remainders):
            parts = parts.sum(axis=0, keepdims=True)
        if plan.sketch != "counts":
            return remainder_runs(parts, plan.disclosure.minimum_cell)
        return remainder_runs(parts, run_minimum(plan.disclosure), cuts=self._cuts)

    @property
    def _cuts(self) -> list[int]:
        """The points of the score at which thresholds lie."""
        plan = self.plan
        thresholds = plan.table_plan(plan.tables[0], by_outcome=True).thresholds
        return [int(place) for place in np.searchsorted(plan.score_points, thresholds)]

    def runs(self, table: PlanTable, outcome: OutcomeName | None, place: int) -> JointRuns | None:
        """Return where a cell and its outcomes may be cut; None if the rule of a single cell holds.

        Counts at thresholds are sent of both outcomes or of neither, and wherever they are of the whole
        cell. At the points of a score each outcome has runs of its own, and the whole cell is cut
        only where both of them are. Remainders have the same runs for all outcomes.
        """
        counted = self.plan.sketch == "counts"
        thresholds = self.plan.table_plan(table, by_outcome=True).thresholds
        if table.by:
            ends = self._remainder_runs.ends([*self.plan.axes].index(table.by[0]), place)
            stated = () if counted else np.take(thresholds, ends[:-1]).tolist()
            return JointRuns(ends, frozenset(stated))
        if self.plan.outcome is None or not self.sent(table, OUTCOMES[0])[place]:
            return None
        if counted and outcome is not None:
            return None
        members = self.members(table, None)[place]
        amounts = np.where(members[:, np.newaxis], self._by_place, 0.0)
        parts = amounts.reshape(-1, 3, amounts.shape[1]).sum(axis=0)
        if counted:
            return JointRuns(self._common_ends(parts), frozenset())
        minimum = self.plan.disclosure.minimum_cell
        ends = joint_ends(parts[parts.any(axis=1)], minimum)
        if outcome is None:
            ends = _refined(parts, ends, minimum)
        return JointRuns(ends, frozenset(np.take(thresholds, ends[:-1]).tolist()))

    def _common_ends(self, parts: FloatArray) -> IntArray:
        """The last point of each run of a whole cell: where the runs of both outcomes start."""
        minimum = run_minimum(self.plan.disclosure)
        shared = set(range(1, parts.shape[1]))
        for part in parts[:_WITHOUT]:
            runs = merged_runs(part, minimum, cuts=self._cuts)
            shared &= set((np.append(0, runs.ends[:-1] + 1)[runs.counted]).tolist())
        starts = np.array([0, *sorted(shared)])
        ends = np.append(starts[1:] - 1, parts.shape[1] - 1)
        without = np.add.reduceat(parts[_WITHOUT], starts)
        if not without.any():
            return ends
        return ends[joint_ends(without, minimum)]


def _refined(parts: FloatArray, ends: IntArray, minimum: int) -> IntArray:
    """Runs inside runs: those of the whole cell end wherever those of its outcomes do.

    Inside a run of the outcomes these numbers are the margins of a table, outcomes by runs, which must
    not isolate a few records.
    """
    found: list[int] = []
    start = 0
    for end in ends.tolist():
        own = parts[:, start : end + 1]
        inner = joint_ends(own.sum(axis=0), minimum)
        if minimum > 1:
            table = np.add.reduceat(own, np.append(0, inner[:-1] + 1), axis=1)
            inner = inner[-1:] if isolates_few(table, minimum) else inner
        found += (start + inner).tolist()
        start = end + 1
    return np.array(found, dtype=np.int64)


def _held_back(decision: Decision) -> Decision:
    """The decision for an intersection that is counted in remainders only, or nowhere."""
    reasons = (
        decision.reasons
        if decision.withheld
        else (
            "counted with others of its categories: the tables by axis would give away a smaller cell",
        )
    )
    return Decision(levels=0, withheld="complementary", reasons=reasons)
