"""What an audit did not see: silos that sent nothing, and cells that were withheld."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fedparity.documents.audit_warnings import AuditWarning, WarningCode
from fedparity.documents.fields import group_words, typed_label
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.result_parts import SetAside
from fedparity.errors import GroupError
from fedparity.errors.base import listed
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import smallest_cell

__all__ = [
    "Unseen",
    "audit_warnings",
    "find_unseen",
    "implausible_counts",
    "measured_groups",
    "set_aside",
    "silo_note",
]


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


_IMPLAUSIBLE = 1000
"""So many times the median of the others is no number to take on trust."""


def audit_warnings(
    plan: Plan,
    messages: Sequence[SiloSketch],
    unseen: Unseen,
    aside: Sequence[SetAside],
) -> tuple[AuditWarning, ...]:
    """Return a warning for each thing that is missing or was cut, groups set aside first."""
    sentences: dict[WarningCode, str] = {
        "implausible_count": implausible_counts(messages),
        "silos_missing": _missing(plan, unseen),
        "cells_withheld": _withheld(messages, unseen),
        "unbounded": _unlimited(unseen),
        "totals_contradicted": _contradicted(unseen),
        "rows_dropped": _dropped(messages),
        "messages_replaced": _replaced(messages),
        "coarser_cells": _coarser(plan, messages),
    }
    return (
        *(AuditWarning(code="group_set_aside", text=_set_aside(each)) for each in aside),
        *(AuditWarning(code=code, text=text) for code, text in sentences.items() if text),
    )


def implausible_counts(messages: Sequence[SiloSketch]) -> str:
    """Return a sentence on silos that state a thousand times what is usual, in a group or in all.

    What is usual is the median of the other silos that released a number.
    """
    counts = [[cell.count for cell in message.cells] for message in messages]
    totals = [math.fsum(number or 0 for number in row) for row in counts]
    silos: set[str] = set()
    for column in (totals, *zip(*counts, strict=True)):
        known = [(number, m.silo) for number, m in zip(column, messages, strict=True) if number]
        if len(known) > 1:
            # the lower median of the others, for every number above it
            usual = sorted(number for number, _ in known)[len(known) // 2 - 1]
            silos |= {silo for number, silo in known if number > _IMPLAUSIBLE * usual}
    if not silos:
        return ""
    return (
        f"{listed(sorted(silos))} stated more than {_IMPLAUSIBLE:,} times as many records as is usual "
        "among the other silos, so that the result hangs on that number: ask whether it is right."
    )


def _set_aside(aside: SetAside) -> str:
    name = group_words(aside.group)
    return f"no silo released group {name}, so it was set aside: {aside.known}."


def _missing(plan: Plan, unseen: Unseen) -> str:
    missing = unseen.silos_missing
    if not missing:
        return ""
    named = len(dict.fromkeys((*(plan.silos or ()), *plan.totals)))
    return f"{len(missing):,} of {named:,} silos sent nothing: {listed(missing)}."


def _withheld(messages: Sequence[SiloSketch], unseen: Unseen) -> str:
    if not unseen.withheld:
        return ""
    total = sum(len(message.cells) for message in messages)
    silos = [m.silo for m in messages if any(cell.withheld for cell in m.cells)]
    return f"{unseen.withheld:,} of {total:,} cells were withheld, by {listed(silos)}."


def _unlimited(unseen: Unseen) -> str:
    """Where nothing bounds what is missing, the outer bounds are those of any data at all."""
    if not any(math.isinf(most) for most in unseen.most.values()):
        return ""
    return (
        "nothing bounds the number of records that were not seen, so the outer bounds are those "
        "of any data; public numbers of records in [totals] of the plan would bound it."
    )


def _contradicted(unseen: Unseen) -> str:
    if not unseen.contradicted:
        return ""
    return (
        "more records were released than the public total in the plan states, by "
        f"{listed(unseen.contradicted)}: their totals were not used."
    )


def _dropped(messages: Sequence[SiloSketch]) -> str:
    silos = [message for message in messages if message.rows_dropped]
    if not silos:
        return ""
    rows = sum(message.rows_dropped for message in silos)
    names = listed(message.silo for message in silos)
    return f"{rows:,} rows without a score were dropped, by {names}: no bound counts them."


def _replaced(messages: Sequence[SiloSketch]) -> str:
    silos = [message.silo for message in messages if message.replaces is not None]
    if not silos:
        return ""
    return f"the messages of {listed(silos)} replace others that these silos sent and voided."


def _coarser(plan: Plan, messages: Sequence[SiloSketch]) -> str:
    if plan.privacy is not None:  # histograms all have the plan's bins
        return ""
    levels = [cell.levels for message in messages for cell in message.cells if cell.levels]
    coarser = [k for k in levels if k < plan.most_values]
    if not coarser:
        return ""
    if plan.sketch == "counts":
        return (
            f"{len(coarser):,} of {len(levels):,} cells have counts of several scores joined, the "
            f"coarsest {min(coarser)} for {plan.most_values} scores: the rules ask for it."
        )
    return (
        f"{len(coarser):,} of {len(levels):,} cells have fewer than {plan.levels} levels, "
        f"the smallest {min(coarser)}: the rules cut them."
    )
