"""What an audit did not see: silos that sent nothing, and cells that were withheld."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fedparity.errors import GroupError
from fedparity.errors.base import listed
from fedparity.laws.labels import Group
from fedparity.privacy.coarsening import smallest_cell
from fedparity.protocol.labels import group_words
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan

__all__ = ["Unseen", "check_every_group", "find_unseen", "silo_note"]


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """Records that exist, or may exist, and that no sketch describes."""

    silos_missing: tuple[str, ...]
    """Silos that the plan names and that sent nothing."""
    withheld: int
    """Cells that were withheld."""
    most: Mapping[Group, float]
    """At most so many records of each group were not seen; ``math.inf`` without a limit."""
    contradicted: tuple[str, ...]
    """Silos that released more records than their public total."""


def find_unseen(plan: Plan, sketches: Sequence[SiloSketch]) -> Unseen:
    """Return what is missing from ``sketches``, and how much it can be.

    A silo that sent nothing has at most as many records of *each* group as its public total;
    without a total there is no limit. A cell withheld as ``small`` has fewer records than the
    smallest cell that the rules let out. A ``complementary`` one has at most what a public total
    leaves after the cells released; without a total there is no limit. Where counts are weights
    neither number bounds them. These are bounds for each group alone, as
    :func:`fedparity.certify` takes them: a record that could be of two groups counts in both.
    """
    received = {sketch.silo for sketch in sketches}
    named = dict.fromkeys((*(plan.silos or ()), *plan.totals))
    missing = tuple(sorted(silo for silo in named if silo not in received))
    weighted = any(map(_has_weights, sketches))
    bounds = [_of_withheld(plan, sketch, weighted=weighted) for sketch in sketches]
    absent = sum(plan.totals.get(silo, math.inf) for silo in missing)
    if missing and weighted:
        absent = math.inf
    return Unseen(
        silos_missing=missing,
        withheld=sum(map(len, bounds)),
        most={
            group: absent + math.fsum(bound.get(group, 0) for bound in bounds)
            for group in plan.groups
        },
        contradicted=tuple(
            sorted(s.silo for s in sketches if not weighted and _left(plan, s) < 0)
        ),
    )


def check_every_group(plan: Plan, sketches: Sequence[SiloSketch], missing: Sequence[str]) -> None:
    """Raise unless some silo released a cell of every group.

    Raises
    ------
    GroupError
        If one group has none: its law, and so the disparity, is not known at all.
    """
    for position, group in enumerate(plan.groups):
        cells = [sketch.cells[position] for sketch in sketches]
        if any(cell.values is not None for cell in cells):
            continue
        withheld = sum(cell.withheld is not None for cell in cells)
        absent = f", and {len(missing)} silos sent nothing ({listed(missing)})" if missing else ""
        raise GroupError(
            f"no silo released group {group!r}: {withheld} of {len(cells)} withheld it{absent}.",
            fix=(
                "ask for the missing messages, or write a plan whose groups are large enough: "
                "join this group with another, or leave it out."
            ),
        )


def silo_note(sketch: SiloSketch) -> str:
    """Return what a silo's message lacks, in words; nothing if it is complete."""
    words = []
    for cell in sketch.cells:
        if cell.withheld is not None:
            words.append(f"{group_words(cell.group)} withheld ({cell.withheld})")
        elif cell.values is None:
            words.append(f"lacks {group_words(cell.group)}")
    if sketch.rows_dropped:
        words.append(f"{sketch.rows_dropped:,} rows dropped")
    return ", ".join(words)


def _of_withheld(plan: Plan, sketch: SiloSketch, *, weighted: bool) -> dict[Group, float]:
    """The most records of each group whose cell the silo withheld."""
    few = smallest_cell(plan.disclosure, kind=plan.sketch) - 1
    left = _left(plan, sketch)
    if left < 0:  # the public total is not one: it bounds nothing
        left = math.inf
    most: dict[Group, float] = {}
    for cell in sketch.cells:
        if cell.withheld is not None:
            limit = min(few, left) if cell.withheld == "small" else left
            most[cell.group] = math.inf if weighted else limit
    return most


def _left(plan: Plan, sketch: SiloSketch) -> float:
    """What the silo's public total leaves after the cells it released; no limit without one."""
    released = math.fsum(cell.count or 0 for cell in sketch.cells)
    return plan.totals.get(sketch.silo, math.inf) - released


def _has_weights(sketch: SiloSketch) -> bool:
    """Whether counts are weights: the silo says so, or one of them is not whole."""
    if sketch.guarantee.get("weighted"):
        return True
    return any(isinstance(cell.count, float) for cell in sketch.cells)
