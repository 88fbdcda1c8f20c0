"""What an audit did not see, as warnings: silos that sent nothing, cells that were withheld or cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fedparity.documents.audit_warnings import AuditWarning, WarningCode
from fedparity.documents.fields import group_words
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import HistogramCell, SketchedCell
from fedparity.documents.plan import Plan
from fedparity.documents.result_parts import SetAside
from fedparity.errors.base import listed
from fedparity.modes.mode import MissingRecords, mode_of

if TYPE_CHECKING:
    from fedparity.modes.margins import SiloRow

__all__ = [
    "audit_warnings",
    "implausible_counts",
    "silo_note",
]


def silo_note(sketch: SiloSketch, cells: Sequence[SketchedCell | HistogramCell | SiloRow]) -> str:
    """Return what a silo's message lacks of some cells, in words; nothing if it is complete."""
    words = []
    for cell in cells:
        if cell.withheld is not None:
            words.append(f"{group_words(cell.group)} withheld ({cell.withheld})")
        elif not cell.levels:
            words.append(f"lacks {group_words(cell.group)}")
    if sketch.rows_dropped:
        words.append(f"{sketch.rows_dropped:,} rows dropped")
    if sketch.rows_filtered:
        words.append(f"{sketch.rows_filtered:,} rows filtered out")
    return ", ".join(words)


_IMPLAUSIBLE = 1000
"""So many times the median of the others is no number to take on trust."""


def audit_warnings(
    plan: Plan,
    messages: Sequence[SiloSketch],
    missing: MissingRecords,
    aside: Sequence[SetAside],
) -> tuple[AuditWarning, ...]:
    """Return a warning for each thing that is missing or was cut, groups set aside first."""
    sentences: dict[WarningCode, str] = {
        "implausible_count": implausible_counts(messages),
        "silos_missing": _missing(plan, missing),
        "cells_withheld": _withheld(plan, messages, missing),
        "unbounded": _unlimited(plan, missing),
        "totals_contradicted": _contradicted(missing),
        "rows_dropped": _dropped(messages),
        "messages_replaced": _replaced(messages),
        "coarser_cells": _coarser(plan, messages),
    }
    return (
        *(AuditWarning(code="group_set_aside", text=_set_aside(plan, each)) for each in aside),
        *(AuditWarning(code=code, text=text) for code, text in sentences.items() if text),
    )


def implausible_counts(messages: Sequence[SiloSketch]) -> str:
    """Return a sentence on silos that state a thousand times what is usual, in a group or in all.

    What is usual is the median of the other silos that released a number. Of a plan with axes, what the
    tables by axis count besides the intersections is compared too.
    """
    counts = [
        [
            cell.count
            for cells in (message.cells, *(each.cells for each in message.tables if each.by))
            for cell in cells
        ]
        for message in messages
    ]
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


def _set_aside(plan: Plan, aside: SetAside) -> str:
    name = group_words(aside.group)
    if plan.releases_tables and plan.privacy is not None:  # every cell was sent
        return f"group {name} was set aside: {aside.known}."
    return f"no silo released group {name}, so it was set aside: {aside.known}."


def _missing(plan: Plan, missing: MissingRecords) -> str:
    silos = missing.silos_missing
    if not silos:
        return ""
    named = len(dict.fromkeys((*(plan.silos or ()), *plan.totals)))
    return f"{len(silos):,} of {named:,} silos sent nothing: {listed(silos)}."


def _withheld(plan: Plan, messages: Sequence[SiloSketch], missing: MissingRecords) -> str:
    if not missing.withheld:
        return ""
    total = sum(len(message.cells) for message in messages)
    silos = [m.silo for m in messages if any(cell.withheld for cell in m.cells)]
    cells = "cells of intersections" if plan.axes else "cells"
    return f"{missing.withheld:,} of {total:,} {cells} were withheld, by {listed(silos)}."


def _unlimited(plan: Plan, missing: MissingRecords) -> str:
    """Where nothing bounds what is missing, the outer bounds are those of any data at all."""
    if not any(math.isinf(most) for most in missing.most.values()):
        return ""
    words = (
        "nothing bounds the number of records that were not seen, so the outer bounds are those "
        "of any data"
    )
    if plan.axes and plan.privacy is None:  # totals are refused there
        return f"{words}."
    return f"{words}; public numbers of records in [totals] of the plan would bound it."


def _contradicted(missing: MissingRecords) -> str:
    if not missing.contradicted:
        return ""
    return (
        "more records were released than the public total in the plan states, by "
        f"{listed(missing.contradicted)}: their totals were not used."
    )


def _dropped(messages: Sequence[SiloSketch]) -> str:
    silos = [message for message in messages if message.rows_dropped]
    if not silos:
        return ""
    rows = sum(message.rows_dropped for message in silos)
    names = listed(message.silo for message in silos)
    return f"{rows:,} rows without a score were dropped, by {names}: the ranges do not allow for them."


def _replaced(messages: Sequence[SiloSketch]) -> str:
    silos = [message.silo for message in messages if message.replaces is not None]
    if not silos:
        return ""
    return f"the messages of {listed(silos)} replace others that these silos sent and voided."


def _coarser(plan: Plan, messages: Sequence[SiloSketch]) -> str:
    most = mode_of(plan).most_values
    levels = [cell.levels for message in messages for cell in message.cells if cell.levels]
    coarser = [k for k in levels if k < most]
    if not coarser:
        return ""
    if plan.sketch == "counts":
        return (
            f"{len(coarser):,} of {len(levels):,} silo-group samples were small, so some of their "
            f"scores were counted together ({min(coarser)} counts for {most} scores at least)."
        )
    return (
        f"{len(coarser):,} of {len(levels):,} silo-group samples were small, so they sent fewer "
        f"values ({min(coarser)} at least)."
    )
