"""What an audit did not see: silos that sent nothing, and cells that were withheld."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fedparity.auditing.parts import SetAside
from fedparity.errors import GroupError
from fedparity.errors.base import listed
from fedparity.laws.labels import Group
from fedparity.privacy.coarsening import smallest_cell
from fedparity.protocol.labels import group_words, typed_label
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan

__all__ = ["Unseen", "find_unseen", "measured_groups", "set_aside", "silo_note"]


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """Records that exist, or may exist, and that no sketch describes."""

    silos_missing: tuple[str, ...]
    """Silos that the plan names and that sent nothing."""
    withheld: int
    """Cells that were withheld."""
    most: Mapping[Group, float]
    """At most so many records of each group were not seen; ``math.inf`` without a limit."""
    total: float
    """At most so many records of all groups together were not seen."""
    contradicted: tuple[str, ...]
    """Silos that released more records than their public total."""

    def of(self, groups: Sequence[Group]) -> dict[Group, float]:
        """Return the most unseen records of those of these groups that may have any."""
        return {group: self.most[group] for group in groups if self.most[group]}


def find_unseen(plan: Plan, sketches: Sequence[SiloSketch]) -> Unseen:
    """Return what is missing from ``sketches``, and how much it can be.

    A silo that sent nothing has at most as many records of *each* group as its public total;
    without a total there is no limit. A cell withheld as ``small`` has fewer records than the
    smallest cell that the rules let out. A ``complementary`` one has at most what a public total
    leaves after the cells released; without a total there is no limit. Where counts are weights
    neither number bounds them. These are bounds for each group alone: a record that could be of two
    groups counts in both. It counts once in ``total``.
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
        total=absent
        + math.fsum(
            min(math.fsum(bound.values()), _room(plan, sketch, weighted=weighted))
            for sketch, bound in zip(sketches, bounds, strict=True)
        ),
        most={
            group: absent + math.fsum(bound.get(group, 0) for bound in bounds)
            for group in plan.groups
        },
        contradicted=tuple(
            sorted(s.silo for s in sketches if not weighted and _left(plan, s) < 0)
        ),
    )


def set_aside(plan: Plan, sketches: Sequence[SiloSketch], unseen: Unseen) -> tuple[SetAside, ...]:
    """Return the groups of which no silo released a cell, with what is known of their number.

    Their laws are not known at all, so that the others are measured without them.

    Raises
    ------
    GroupError
        If fewer than two groups remain to be compared.
    """
    aside = []
    for position, group in enumerate(plan.groups):
        cells = [sketch.cells[position] for sketch in sketches]
        if any(cell.values is not None for cell in cells):
            continue
        withheld = [sketch.silo for sketch in sketches if sketch.cells[position].withheld]
        most = unseen.most[group]
        aside.append(
            SetAside(
                group=group,
                withheld=len(withheld),
                most=most if math.isfinite(most) else None,
                known=_known(withheld, most, len(sketches), unseen.silos_missing),
            )
        )
    if len(plan.groups) - len(aside) < 2:
        raise _nothing_to_compare(aside[0], len(sketches), unseen.silos_missing)
    return tuple(aside)


def measured_groups(plan: Plan, aside: Sequence[SetAside]) -> tuple[Group, ...]:
    """Return the groups of the plan that are not set aside, in its order."""
    left_out = {typed_label(each.group) for each in aside}
    return tuple(group for group in plan.groups if typed_label(group) not in left_out)


def _known(withheld: Sequence[str], most: float, silos: int, missing: Sequence[str]) -> str:
    """What is known of a group that no silo released: where it was withheld, and how many it has."""
    words = []
    if withheld:
        words.append(f"withheld by {len(withheld):,} of {silos:,} silos")
    elif most:
        words.append(f"no record in {silos:,} silos")
    if missing:
        words.append(f"{len(missing):,} silo{'' if len(missing) == 1 else 's'} sent nothing")
    if not most:
        words.append("no silo has a record of it")
    elif math.isfinite(most):
        words.append(f"at most {most:,.12g} record{'' if most == 1 else 's'}")
    else:
        words.append("nothing bounds its number")
    return "; ".join(words)


def _nothing_to_compare(aside: SetAside, silos: int, missing: Sequence[str]) -> GroupError:
    absent = f", and {len(missing)} silos sent nothing ({listed(missing)})" if missing else ""
    return GroupError(
        f"no silo released group {aside.group!r}: {aside.withheld} of {silos} withheld it{absent}; "
        "fewer than two groups remain to be compared.",
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
    left = _room(plan, sketch, weighted=weighted)
    most: dict[Group, float] = {}
    for cell in sketch.cells:
        if cell.withheld is not None:
            limit = min(few, left) if cell.withheld == "small" else left
            most[cell.group] = math.inf if weighted else limit
    return most


def _room(plan: Plan, sketch: SiloSketch, *, weighted: bool) -> float:
    """The most records that the silo can have withheld; a total that is none bounds nothing."""
    left = _left(plan, sketch)
    return math.inf if weighted or left < 0 else left


def _left(plan: Plan, sketch: SiloSketch) -> float:
    """What the silo's public total leaves after the cells it released; no limit without one."""
    released = math.fsum(cell.count or 0 for cell in sketch.cells)
    return plan.totals.get(sketch.silo, math.inf) - released


def _has_weights(sketch: SiloSketch) -> bool:
    """Whether counts are weights: the silo says so, or one of them is not whole."""
    if sketch.guarantee.get("weighted"):
        return True
    return any(isinstance(cell.count, float) for cell in sketch.cells)
