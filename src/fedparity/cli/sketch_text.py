"""What leaves a silo, in plain words, in 80 columns; for its operator."""

from __future__ import annotations

from itertools import chain
from typing import Any

from fedparity.cli.cell_text import numbers_text, numbers_words
from fedparity.cli.fitting import counted, cut, left, number, right, width_of, wrapped
from fedparity.cli.law_options import policy_words
from fedparity.cli.noise_text import spending_words
from fedparity.cli.plan_words import group_words
from fedparity.errors.base import printable
from fedparity.protocol.histogram_cell import HistogramCell
from fedparity.protocol.labels import json_label
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.protocol.sketched_cell import SketchedCell
from fedparity.releasing.permit import Permit
from fedparity.releasing.release import Release

__all__ = ["dry_run_text", "release_summary", "written_text"]

_COLUMNS_OF_A_TERMINAL = 80
_LONGEST_LABEL = 20
_COLUMNS = (("count", 11), ("levels", 7), ("lowest", 10), ("median", 10), ("highest", 10))


def dry_run_text(release: Release, plan: Plan, width: int = _COLUMNS_OF_A_TERMINAL) -> str:
    """Return all that would leave, what would not, and which rules decided so."""
    sketch = release.sketch
    lines = [
        *wrapped(f"{sketch.silo}: what would leave under “{plan.title}”", width),
        "",
        *_table(sketch, width),
        *numbers_text(sketch, plan, width),
        "",
        *wrapped(_size_words(sketch), width),
        f"digest  {sketch.digest}",
        f"plan    {sketch.plan}",
        "",
        *_rules(release, plan, width),
        "",
        *_not_sent(width),
    ]
    return "\n".join(lines)


def written_text(release: Release, output: str, permit: Permit) -> str:
    """Return what was written, which rules of the silo were asked, and what to do with it."""
    sketch, ledger = release.sketch, permit.ledger
    kept = "none: not entered anywhere" if ledger is None else printable(ledger.path)
    lines = [
        f"wrote {printable(output)}",
        *wrapped(_size_words(sketch), _COLUMNS_OF_A_TERMINAL, first="  "),
    ]
    lines += [f"  {group_words(group)}: {reason}" for group, reason in _reasons(release)]
    lines += [f"digest {sketch.digest}", f"policy {policy_words(permit.policy)}", f"ledger {kept}"]
    if sketch.kind == "histogram":
        lines += wrapped(f"cost {spending_words(permit)}", _COLUMNS_OF_A_TERMINAL, rest="  ")
    if sketch.replaces is not None:
        lines += [f"replaces {sketch.replaces}, which was voided"]
    if permit.weaker:
        lines += [f"weaker than the policy: {', '.join(permit.weaker)}"]
    return "\n".join([*lines, "next: send the file, unchanged, to the auditor"])


def release_summary(sketch: SiloSketch, output: str, permit: Permit) -> dict[str, Any]:
    """Return what was written, as JSON holds it; without what stays in the building."""
    return {
        "file": output,
        "silo": sketch.silo,
        "plan": sketch.plan,
        "digest": sketch.digest,
        "bytes": len(sketch.to_bytes()),
        "signed": sketch.signature is not None,
        "replaces": sketch.replaces,
        "dataset": permit.dataset,
        "policy": None if permit.policy.path is None else str(permit.policy.path),
        "weaker": list(permit.weaker),
        "ledger": None if permit.ledger is None else str(permit.ledger.path),
        "cells": [
            {"group": json_label(cell.group), "levels": cell.levels, "withheld": cell.withheld}
            for cell in sketch.cells
        ],
    }


def _table(sketch: SiloSketch, width: int) -> list[str]:
    labels = [group_words(cell.group) for cell in sketch.cells]
    names = min(max(5, *map(width_of, labels)), _LONGEST_LABEL)
    heading = left("group", names) + "".join(right(name, wide) for name, wide in _COLUMNS)
    lines = [cut(f"{heading}  status", width)]
    for label, cell in zip(labels, sketch.cells, strict=True):
        columns = "".join(
            right(text, wide) for text, (_, wide) in zip(_numbers(cell), _COLUMNS, strict=True)
        )
        lines.append(cut(f"{left(label, names)}{columns}  {_status(cell)}", width))
    return lines


def _numbers(cell: SketchedCell | HistogramCell) -> list[str]:
    count = "-" if cell.count is None else f"{cell.count:,.12g}"
    if cell.values is None:
        return [count, "-", "-", "-", "-"]
    if isinstance(cell, SketchedCell) and cell.counts is not None:
        return [count, f"{cell.levels:,}", "-", "-", "-"]
    middle = cell.values[(cell.levels - 1) // 2]
    shown = (number(float(value), 6) for value in (cell.values[0], middle, cell.values[-1]))
    return [count, f"{cell.levels:,}", *shown]


def _status(cell: SketchedCell | HistogramCell) -> str:
    if cell.withheld is not None:
        return f"withheld ({cell.withheld})"
    if cell.values is None:
        return "no record"
    return f"sent, ranks ±{number(cell.rank_error)}" if cell.rank_error else "sent"


def _size_words(sketch: SiloSketch) -> str:
    signed = "signed" if sketch.signature else "not signed"
    words = numbers_words(sketch)
    if sketch.rows_dropped:
        words += f"; {counted(sketch.rows_dropped, 'row')} without a score left out"
    return f"{words}; {len(sketch.to_bytes()):,} bytes, {signed}"


def _rules(release: Release, plan: Plan, width: int) -> list[str]:
    """The rules that changed something; their reasons stay in the building."""
    lines = ["Rules that held something back"]
    found = [
        wrapped(f"{group_words(group)}: {reason}", width, first="  - ", rest="    ")
        for group, reason in _reasons(release)
    ]
    if plan.rounding:
        step = plan.rounding * (plan.score_range[1] - plan.score_range[0])
        words = f"all values are rounded to steps of {number(step)}"
        if plan.sketch == "mean":
            words += ", and mean squares to steps that follow from it"
        found.append(wrapped(words, width, first="  - ", rest="    "))
    return [*lines, *chain.from_iterable(found or [["  - none"]])]


def _reasons(release: Release) -> list[tuple[Any, str]]:
    return [
        (group, reason)
        for group, decision in release.decisions.items()
        for reason in decision.reasons
    ]


def _not_sent(width: int) -> list[str]:
    words = (
        "Not sent: names or identifiers; any other column; the numbers of records of "
        "withheld groups; the reasons above. fedparity sketch --dry-run --json prints the very "
        "bytes."
    )
    return wrapped(words, width)
