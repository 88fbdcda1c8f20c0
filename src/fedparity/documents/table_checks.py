"""Further tables of a message against its plan: the right cells, and none that tells of too few people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fedparity.documents.fields import typed_label
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.message_tables import table_keys
from fedparity.documents.plan import Plan
from fedparity.documents.plan_tables import OUTCOMES
from fedparity.errors import MessageError
from fedparity.errors.document_errors import RESEND
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import smallest_cell

__all__ = ["check_tables"]

CheckCell = Callable[[Plan, str, SketchedCell], None]
Cells = Mapping[Group, SketchedCell]


def check_tables(plan: Plan, sketch: SiloSketch, check_cell: CheckCell) -> None:
    """Raise unless the further tables of a message are those that the plan asks for.

    Every cell must obey the rules on its own, the tables must count the same people, and no difference
    of what is sent may tell of fewer people than a cell needs.

    Raises
    ------
    MessageError
        For the first thing that is wrong.
    """
    expected = list(table_keys(plan))
    found = [(table.by, table.outcome) for table in sketch.tables]
    if found != [(table.by, outcome) for table, outcome in expected]:
        raise MessageError(
            f"silo {sketch.silo!r} sent {len(found)} further tables, but the plan asks for "
            f"{len(expected)}, in its order.",
            fix=RESEND,
        )
    for (table, outcome), sent in zip(expected, sketch.tables, strict=True):
        groups = [typed_label(cell.group) for cell in sent.cells]
        if groups != [typed_label(group) for group in table.groups]:
            raise _wrong(sketch, "has a table with other rows than the plan's")
        own = plan.table_plan(table, by_outcome=outcome is not None)
        for cell in sent.cells:
            if cell.effective is not None:
                raise _wrong(sketch, "has weights in a table by axis or outcome")
            if cell.count != 0:
                check_cell(own, sketch.silo, cell)
    if plan.axes:
        _check_remainders(plan, sketch)
    if plan.outcome is not None:
        _check_outcomes(plan, sketch)


def _tables(sketch: SiloSketch) -> dict[tuple[tuple[str, ...], str | None], Cells]:
    """The cells of each table by group; those of the message itself first."""
    listed: list[tuple[tuple[tuple[str, ...], str | None], Sequence[SketchedCell]]] = [
        (((), None), [cell for cell in sketch.cells if isinstance(cell, SketchedCell)]),
        *(((tuple(table.by), table.outcome), table.cells) for table in sketch.tables),
    ]
    return {key: {cell.group: cell for cell in cells} for key, cells in listed}


def _check_remainders(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless each intersection is sent, or counted in a remainder of each of its categories."""
    tables = _tables(sketch)
    cells = tables[(), None]
    remainders = [tables[(name,), None] for name in plan.axes]
    for group, cell in cells.items():
        states = [remainder[label] for remainder, label in zip(remainders, group, strict=True)]
        hidden = any(state.withheld is not None for state in states)
        left = all(state.values is not None for state in states)
        if cell.withheld is None and hidden:
            raise _wrong(sketch, "has a cell of a category that is withheld as a whole")
        if cell.withheld is not None and not hidden and not left:
            raise _wrong(sketch, "withheld a cell that follows from the table of an axis")
    totals = {sum(state.count or 0 for state in remainder.values()) for remainder in remainders}
    if len(totals) > 1:
        raise _wrong(sketch, "counts different people in the tables of its axes")


def _check_outcomes(plan: Plan, sketch: SiloSketch) -> None:
    """Raise unless both outcomes of a cell are sent or neither, and what they leave is enough."""
    tables = _tables(sketch)
    least = smallest_cell(plan.disclosure, kind=plan.sketch)
    for table in plan.tables:
        positive, negative = (tables[table.by, outcome] for outcome in OUTCOMES)
        split = set()
        for group, cell in tables[table.by, None].items():
            counts = positive[group].count, negative[group].count
            if (counts[0] is None) != (counts[1] is None):
                raise _wrong(sketch, "has one outcome of a cell without the other")
            if cell.values is not None:
                split.add(counts[0] is not None)
            if counts[0] is None or counts[1] is None:
                continue
            without = (cell.count or 0) - counts[0] - counts[1]
            if cell.count is None or without < 0 or 0 < without < least:
                raise _wrong(sketch, "has outcomes that leave too few records of a cell")
        if table.by and len(split) > 1:
            raise _wrong(sketch, "has some remainders by outcome, which tell of the others")


def _wrong(sketch: SiloSketch, what: str) -> MessageError:
    return MessageError(f"the message of silo {sketch.silo!r} {what}.", fix=RESEND)
