"""Further tables of a message: the same people by one axis, and the records of one outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedparity.documents.fields import is_name
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.plan import Plan
from fedparity.documents.plan_tables import OUTCOMES, OutcomeName, PlanTable
from fedparity.errors import MessageError

__all__ = ["SketchedTable", "TableKey", "table_keys"]

TableKey = tuple[PlanTable, OutcomeName | None]
"""A table of the plan, and the outcome whose records it counts; None for all records."""
_FIELDS = frozenset(("by", "outcome", "cells"))


def table_keys(plan: Plan) -> Iterator[TableKey]:
    """Yield the tables that a message has beside its cells, in their order.

    Of an axis a message holds the *remainders*: what the cells of the intersections do not count, see
    :mod:`fedparity.privacy.table_suppression`.
    """
    if not plan.releases_tables:
        return
    outcomes: tuple[OutcomeName | None, ...] = (
        (None,) if plan.outcome is None else (None, *OUTCOMES)
    )
    for place, table in enumerate(plan.tables):
        for outcome in outcomes:
            if place or outcome is not None:  # the first is the list of cells itself
                yield table, outcome


@dataclass(frozen=True, eq=False, kw_only=True)
class SketchedTable:
    """The cells of one further table; valid once built.

    Examples
    --------
    >>> SketchedTable(by=("sex",), outcome=None, cells=[SketchedCell.empty("F")]).to_dict()["by"]
    ['sex']
    """

    by: Sequence[str]
    """The axis; none for the groups of the plan."""
    outcome: OutcomeName | None
    cells: Sequence[SketchedCell]

    def __post_init__(self) -> None:
        if not isinstance(self.by, list | tuple) or not all(map(is_name, self.by)):
            raise MessageError.field("by", "a list of names of axes", self.by)
        if self.outcome not in (None, *OUTCOMES):
            raise MessageError.field("outcome", '"positive", "negative" or null', self.outcome)
        object.__setattr__(self, "by", tuple(self.by))
        object.__setattr__(self, "cells", tuple(self.cells))

    @classmethod
    def read(cls, fields: Any, cell_fields: frozenset[str]) -> SketchedTable:  # noqa: ANN401
        """Return the table of what JSON holds.

        Raises
        ------
        MessageError
            If it is not a valid table.
        """
        if not isinstance(fields, Mapping) or fields.keys() != _FIELDS:
            raise MessageError.field("tables", "objects with by, outcome and cells", fields)
        cells = fields["cells"]
        if not isinstance(cells, list) or not all(
            isinstance(cell, dict) and cell.keys() == cell_fields and cell["levels"] is not None
            for cell in cells
        ):
            raise MessageError.field("cells of a table", "a list of cells", cells)
        read = [SketchedCell.read(cell) for cell in cells]
        return cls(by=fields["by"], outcome=fields["outcome"], cells=read)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON holds it."""
        return {
            "by": list(self.by),
            "outcome": self.outcome,
            "cells": [cell.to_dict() for cell in self.cells],
        }
