"""The cells of a plan's tables, gathered from the messages of all silos, and what is missing from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fedparity.documents.fields import group_words
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import SketchedCell, whole_cell
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import OUTCOMES, OutcomeName, PlanTable
from fedparity.documents.table_parts import CategoryStatus
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group, Silo
from fedparity.privacy.disclosure import smallest_cell
from fedparity.sketches.cell import Cell

__all__ = [
    "SiloTables",
    "category_status",
    "gathered_cells",
    "merged_silos",
    "row_counts",
    "silo_of",
    "table_unseen",
]

_REMAINDER = "*"
"""The piece of a silo's row that the cells of its intersections do not count."""


def silo_of(label: Silo) -> Silo:
    """Return the silo of a label of a table by axis, where a silo may have several pieces of a row."""
    return label[0] if isinstance(label, tuple) else label


@dataclass(frozen=True, eq=False)
class SiloTables:
    """The tables of one silo's message."""

    plan: Plan
    sketch: SiloSketch

    def cells(self, by: tuple[str, ...], outcome: OutcomeName | None) -> dict[Group, SketchedCell]:
        """Return the cells of one table by group, released or not."""
        if not by and outcome is None:
            found = self.sketch.cells
        else:
            found = next(
                table.cells
                for table in self.sketch.tables
                if (table.by, table.outcome) == (by, outcome)
            )
        return {cell.group: cell for cell in found if isinstance(cell, SketchedCell)}

    def pieces(
        self, table: PlanTable, outcome: OutcomeName | None
    ) -> dict[Group, list[tuple[str, SketchedCell]]]:
        """Return for each row the cells that make it up, each with the name of its piece.

        A row by an axis is made of the intersections that were sent, and of its remainder.
        """
        own = self.cells(table.by, outcome)
        if not table.by:
            return {group: [("", cell)] for group, cell in own.items()}
        (name,) = table.by
        axis = [*self.plan.axes].index(name)
        rows = {group: [(_REMAINDER, cell)] for group, cell in own.items()}
        for group, cell in self.cells((), outcome).items():
            rows[group[axis]].append((group_words(group), cell))
        return rows

    def unseen(self, table: PlanTable, outcome: OutcomeName | None) -> dict[Group, float]:
        """Return at most how many records of each row the silo did not send."""
        if outcome is None:
            return self._unseen_rows(table)
        everyone = self.unseen(table, None)
        whole, split = self.pieces(table, None), self.pieces(table, outcome)
        return {
            group: everyone[group]
            + math.fsum(
                cell.count or 0
                for (_, cell), (_, part) in zip(whole[group], split[group], strict=True)
                if part.withheld is not None
            )
            for group in table.groups
        }

    def _unseen_rows(self, table: PlanTable) -> dict[Group, float]:
        if not self.plan.axes:
            few = smallest_cell(self.plan.disclosure, kind=self.plan.sketch) - 1
            return {
                group: 0.0
                if cell.withheld is None
                else few
                if cell.withheld == "small"
                else math.inf
                for group, cell in self.cells((), None).items()
            }
        if table.by:
            (name,) = table.by
            return {
                group: self._left_out(name, own=cell.withheld is not None)
                for group, cell in self.cells(table.by, None).items()
            }
        remainders = [self.cells((name,), None) for name in self.plan.axes]
        return {
            group: 0.0
            if cell.withheld is None
            else self._of_intersection(
                [each[label] for each, label in zip(remainders, group, strict=True)]
            )
            for group, cell in self.cells((), None).items()
        }

    def _of_intersection(self, states: Sequence[SketchedCell]) -> float:
        """The most records of an intersection that was not sent."""
        if any(state.withheld is not None for state in states):
            return self._left_out(None, own=True)
        return float(min(state.count or 0 for state in states))

    def _left_out(self, name: str | None, *, own: bool) -> float:
        """The most people in categories that are in no table, on other axes or on the own one.

        Each had fewer records than a cell needs, without those of categories that had fallen out before.
        With an outcome the rarer of the two decides, which bounds nothing; and neither does anything if
        every category is withheld: then remainders may have been left out.
        """
        withheld = {
            axis: [cell.withheld is not None for cell in self.cells((axis,), None).values()]
            for axis in self.plan.axes
        }
        dropped = sum(sum(each) for axis, each in withheld.items() if own or axis != name)
        if not dropped:
            return 0.0
        if self.plan.outcome is not None or all(map(all, withheld.values())):
            return math.inf
        few = smallest_cell(self.plan.disclosure, kind=self.plan.sketch) - 1
        return float(dropped * few)


def gathered_cells(
    plan: Plan, sketches: Sequence[SiloSketch], table: PlanTable, outcome: OutcomeName | None
) -> dict[tuple[Silo, Group], Cell]:
    """Return the released cells of a table, by silo and row.

    In a table by axis a silo may have several pieces of a row: they are disjoint, and their label is a
    pair of silo and piece; see :func:`silo_of`.
    """
    own = plan.table_plan(table, by_outcome=outcome is not None)
    parts_plan = plan.table_plan(table, by_outcome=True)
    cells: dict[tuple[Silo, Group], Cell] = {}
    for sketch in sketches:
        tables = SiloTables(plan, sketch)
        by_outcome = [] if plan.outcome is None else [tables.pieces(table, y) for y in OUTCOMES]
        for group, pieces in tables.pieces(table, outcome).items():
            for place, (piece, sketched) in enumerate(pieces):
                parts = [] if outcome else [each[group][place][1] for each in by_outcome]
                found = whole_cell(
                    own,
                    sketched,
                    parts,
                    parts_plan=parts_plan,
                    is_remainder=piece == _REMAINDER,
                )
                if found is not None:
                    label = (sketch.silo, piece) if table.by else sketch.silo
                    cells[label, group] = found
    return cells


def table_unseen(
    plan: Plan,
    sketches: Sequence[SiloSketch],
    table: PlanTable,
    outcome: OutcomeName | None,
    *,
    silos_missing: int,
) -> Mapping[Group, float]:
    """Return at most how many records of each row no message describes; infinite without a limit."""
    absent = math.inf if silos_missing else 0.0
    by_silo = [SiloTables(plan, sketch).unseen(table, outcome) for sketch in sketches]
    return {group: absent + math.fsum(each[group] for each in by_silo) for group in table.groups}


def row_counts(
    table: PlanTable, cells: Mapping[tuple[Silo, Group], Cell]
) -> dict[Group, int | float]:
    """Return how many records were released of each row of a table."""
    return {
        group: sum(cell.count for (_, own), cell in cells.items() if own == group)
        for group in table.groups
    }


def category_status(
    plan: Plan, counts: Mapping[Group, int | float], group: Group
) -> CategoryStatus:
    """Return whether a row of a table is compared, or why not; ``counts`` are those of all its rows."""
    if not counts[group]:
        return "withheld"
    if _is_unknown(plan, group):
        return "unknown"
    known = sum(n for each, n in counts.items() if not _is_unknown(plan, each))
    return "set aside" if counts[group] < plan.set_aside * known else "compared"


def _is_unknown(plan: Plan, group: Group) -> bool:
    parts = group if isinstance(group, tuple) else (group,)
    return any(part in plan.unknown for part in parts)


def merged_silos(federation: Federation) -> Federation:
    """Return the same laws with one cell for each silo and group, whatever pieces they came in.

    For what depends on silos: their own numbers, and where a disparity comes from. Errors of the
    pieces are left out, so that nothing is certified by it.
    """
    if not any(isinstance(silo, tuple) for silo in federation.silos):
        return federation
    read = federation.reconstructed
    pieces: dict[tuple[Silo, Group], list[int]] = {}
    for cell, (silo, group) in enumerate(zip(read.silo_of, read.group_of, strict=True)):
        key = silo_of(read.silos[silo]), read.groups[group]
        pieces.setdefault(key, []).append(cell)
    cells = {key: _merged(read, own) for key, own in pieces.items()}
    return Federation.from_cells(
        cells, groups=federation.groups, score_range=federation.score_range
    )


def _merged(read: Federation, cells: Sequence[int]) -> Cell:
    """One cell with the records of several, at the values where their laws have them."""
    spans = [slice(read.offsets[cell], read.offsets[cell + 1]) for cell in cells]
    values = np.concatenate([read.values[span] for span in spans])
    masses = np.concatenate(
        [
            read.parts[span] * (read.counts[cell] / read.units[cell])
            for cell, span in zip(cells, spans, strict=True)
        ]
    )
    order = np.argsort(values, kind="stable")
    return Cell(
        count=sum(read.counts[cell].item() for cell in cells),
        values=values[order],
        masses=masses[order],
        kind="counts",
    )
