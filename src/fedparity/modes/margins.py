"""The rows of a table by axis that an audit compares where the intersections of the axes cannot be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import HistogramCell, SketchedCell, Withheld
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import PlanTable
from fedparity.documents.result_parts import SetAside
from fedparity.federated.federation import Federation
from fedparity.federated.local_audits import Measures
from fedparity.laws.labels import Group
from fedparity.modes.mode import MissingRecords
from fedparity.modes.sketch_audit import set_aside
from fedparity.modes.table_cells import (
    SiloTables,
    category_status,
    gathered_cells,
    merged_silos,
    row_counts,
    silo_of,
    table_unseen,
)

__all__ = ["Margin", "SiloRow", "first_margin", "only_by_axis", "silo_rows"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Margin:
    """The rows of a table by axis that are compared in place of the groups of the plan."""

    plan: Plan
    table: PlanTable
    federation: Federation
    missing: MissingRecords
    unreleased: tuple[SetAside, ...]

    def by_silo(self, measures: Measures) -> Measures:
        """Return the same measures of whole silos; those given if no silo has several pieces of a row."""
        merged = merged_silos(self.federation)
        return measures if merged is self.federation else Measures(merged, measures.method)

    @property
    def warning(self) -> AuditWarning:
        """The reason, which is said first."""
        return only_by_axis(self.plan, self.table, "were released by any silo")


def first_margin(
    plan: Plan, sketches: Sequence[SiloSketch], missing: MissingRecords
) -> Margin | None:
    """Return the first table by axis of which two rows can be compared; None if there is none."""
    for table in plan.tables[1:]:
        cells = gathered_cells(plan, sketches, table, None)
        counts = row_counts(table, cells)
        status = {group: category_status(plan, counts, group) for group in table.groups}
        groups = [group for group in table.groups if status[group] == "compared"]
        if len(groups) < 2:
            continue
        most = table_unseen(plan, sketches, table, None, silos_missing=len(missing.silos_missing))
        rows = [silo_rows(plan, sketch, table) for sketch in sketches]
        own = {key: cell for key, cell in cells.items() if key[1] in groups}
        if len({(silo_of(label), group) for label, group in own}) == len(own):
            own = {(silo_of(label), group): cell for (label, group), cell in own.items()}
        return Margin(
            plan=plan,
            table=table,
            federation=Federation.from_cells(own, groups=groups, score_range=plan.score_range),
            missing=replace(missing, most=most, total=math.fsum(most[each] for each in groups)),
            unreleased=tuple(
                set_aside(
                    group,
                    [s.silo for s, row in zip(sketches, rows, strict=True) if row[group].withheld],
                    most[group],
                    len(sketches),
                    missing.silos_missing,
                )
                for group in table.groups
                if status[group] == "withheld"
            ),
        )
    return None


@dataclass(frozen=True, kw_only=True)
class SiloRow:
    """What one silo released of a row, in however many cells."""

    group: Group
    count: int | float | None
    levels: int
    """Of the cell with the fewest."""
    withheld: Withheld | None


def silo_rows(plan: Plan, sketch: SiloSketch, table: PlanTable) -> dict[Group, SiloRow]:
    """Return what a silo released of each row of a table by axis; with noise that is every cell."""
    axis = [*plan.axes].index(table.by[0])
    found: dict[Group, list[SketchedCell | HistogramCell]] = {group: [] for group in table.groups}
    for cell in sketch.cells:
        if isinstance(cell, HistogramCell):
            found[cell.group[axis]].append(cell)
    if plan.privacy is None:
        pieces = SiloTables(plan, sketch).pieces(table, None)
        found = {group: [cell for _, cell in own] for group, own in pieces.items()}
    return {group: _silo_row(group, cells) for group, cells in found.items()}


def _silo_row(group: Group, cells: Sequence[SketchedCell | HistogramCell]) -> SiloRow:
    sent = [cell for cell in cells if cell.values is not None]
    remainder = cells[0]  # an intersection that was not sent is in it, or it is withheld as well
    return SiloRow(
        group=group,
        count=sum(cell.count or 0 for cell in sent) if sent else remainder.count,
        levels=min((cell.levels for cell in sent), default=0),
        withheld=None if sent else remainder.withheld,
    )


def only_by_axis(plan: Plan, table: PlanTable, reason: str) -> AuditWarning:
    """Return the warning that the groups of the plan cannot be compared, and those of an axis are."""
    *others, last = plan.axes
    return AuditWarning(
        code="no_intersections",
        text=f"fewer than two intersections of {', '.join(others)} and {last} {reason}: the first "
        f"numbers are those by {table.by[0]}.",
    )
