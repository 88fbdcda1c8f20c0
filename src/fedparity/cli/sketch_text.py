"""What leaves a silo, in plain words, in 80 columns; for its operator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

from fedparity.cli.options import policy_words
from fedparity.documents.fields import group_words, json_label
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import HistogramCell, SketchedCell
from fedparity.documents.plan import Plan
from fedparity.errors.base import printable
from fedparity.modes.mode import Release, mode_of
from fedparity.modes.noisy import Preview
from fedparity.silo.permit import Permit
from fedparity.text import counted, cut, left, named, number, right, width_of, wrapped

__all__ = [
    "dry_run_text",
    "numbers_text",
    "numbers_words",
    "preview_summary",
    "preview_text",
    "release_summary",
    "spending_words",
    "written_text",
]

_VALUES = {"mean": "bin means", "quantile": "quantiles"}


def numbers_words(sketch: SiloSketch) -> str:
    """Return how many numbers leave, and what they are.

    Examples
    --------
    >>> from fedparity.documents.message import SiloSketch
    >>> cell = SketchedCell(group="A", count=40, values=[0.1, 0.5], mean_square=0.02, above=[17])
    >>> cells = [cell, SketchedCell.kept_back("B", "small")]
    >>> plan = "sha256:" + 64 * "0"
    >>> numbers_words(SiloSketch(plan=plan, silo="a", kind="mean", cells=cells, software="x 1"))
    '5 numbers: 1 count, 2 values, 1 mean square and 1 threshold count'
    """
    cells = [cell for cell in sketch.cells if isinstance(cell, SketchedCell)]
    kinds = {
        "count": sum(cell.count is not None for cell in cells),
        "effective number": sum(cell.effective is not None for cell in cells),
        "value": sum(cell.levels for cell in cells),
        "count at scores": sum(_stated(cell.counts or ()) for cell in cells),
        "mean square": sum(cell.mean_square is not None for cell in cells),
        "threshold count": sum(_stated(cell.above) for cell in cells),
        "rank error": sum(bool(cell.rank_error) for cell in cells),
    }
    named = [_counted(number, kind) for kind, number in kinds.items() if number]
    *most, last = named or ["none"]
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"{counted(sum(kinds.values()), 'number')}: {listed}"


def numbers_text(sketch: SiloSketch, plan: Plan, width: int) -> list[str]:
    """Return the numbers themselves, of every group that sends some."""
    lines: list[str] = []
    for cell in sketch.cells:
        if isinstance(cell, SketchedCell) and cell.values is not None:
            lines += ["", *wrapped(f"{group_words(cell.group)}: {_records(cell)}", width)]
            for sentence in _sentences(cell, plan):
                lines += wrapped(sentence, width, first="  ", rest="    ")
    return lines


def _records(cell: SketchedCell) -> str:
    number = _amount(cell.count or 0)
    if cell.effective is None:
        return f"{number} record{'' if cell.count == 1 else 's'}"
    return f"weight {number}, which amounts to {counted(cell.effective, 'record')}"


def _sentences(cell: SketchedCell, plan: Plan) -> Iterator[str]:
    if cell.counts is not None:
        yield f"counts at scores: {', '.join(_runs(cell, plan))}"
    elif cell.values is not None:
        values = " ".join(map(_exact, cell.values.tolist()))
        yield f"{cell.levels:,} {_VALUES.get(plan.sketch, 'values')}: {values}"
    if cell.mean_square is not None:
        yield f"mean squared distance from them: {_exact(cell.mean_square)}"
    for threshold, above in zip(plan.thresholds, cell.above, strict=True):
        yield f"at or above {_exact(threshold)}: {'not sent' if above is None else _amount(above)}"
    if cell.rank_error:
        yield f"ranks may be off by a share of {_exact(cell.rank_error)}"


def _runs(cell: SketchedCell, plan: Plan) -> Iterator[str]:
    """The count of each run of scores; one without a count is counted with the run before."""
    points = plan.score_points.tolist()
    ends = [points.index(value) for value in (cell.values if cell.values is not None else ())]
    for (before, end), records in zip(pairwise([-1, *ends]), cell.counts or (), strict=True):
        low, high = _exact(points[before + 1]), _exact(points[end])
        scores = low if low == high else f"{low} to {high}"
        yield f"{scores}: {'with those before' if records is None else _amount(records)}"


def _stated(numbers: object) -> int:
    return sum(number is not None for number in numbers)  # type: ignore[attr-defined]


def _counted(number: int, kind: str) -> str:
    if kind == "count at scores":
        return f"{number:,} count{'' if number == 1 else 's'} at scores"
    return counted(number, kind)


def _amount(number: float) -> str:
    """A number of records, or their weight, in full."""
    return f"{number:,}" if isinstance(number, int) else _exact(number)


def _exact(value: float) -> str:
    """A number with all the digits that it leaves with."""
    return repr(float(value)).removesuffix(".0")


def preview_text(shown: Preview, permit: Permit, width: int = 80) -> str:
    """Return what would leave, how noisy it would be, and what it would cost; no number of the data."""
    plan, terms = shown.plan, shown.guarantee
    groups = named([group_words(group) for group in plan.groups])
    paragraphs = [
        f"{shown.silo}: what would leave under “{plan.title}”",
        (
            f"For each of the {len(plan.groups)} groups ({groups}), whether it has records or not: "
            f"{counted(plan.grid.bins, 'whole number')}, the numbers of its records in the bins of "
            "the plan, each with noise of its own."
        ),
        (
            f"Noise: {terms['mechanism']} of scale {number(terms['scale'], 6)} by {terms['library']}. "
            f"A bin is off by {number(shown.deviation)} on average (standard deviation), the count "
            f"of a group by {number(shown.count_deviation)}."
        ),
        (
            f"A group whose noisy count is below {plan.disclosure.minimum_cell} is withheld."
            if plan.disclosure.minimum_cell > 1
            else "No group is withheld."
        ),
        f"Cost: {spending_words(permit)}",
        (
            "The records were read and can be counted. No noise was drawn and nothing was "
            "spent: the numbers themselves are only seen when they are released."
        ),
    ]
    blocks = ["\n".join(wrapped(paragraph, width)) for paragraph in paragraphs]
    return "\n\n".join([*blocks, f"plan    {plan.digest}"])


def preview_summary(shown: Preview, permit: Permit) -> dict[str, Any]:
    """Return the same as JSON holds it."""
    return {
        "silo": shown.silo,
        "plan": shown.plan.digest,
        "kind": "histogram",
        "cells": [
            {"group": json_label(group), "levels": shown.plan.grid.bins}
            for group in shown.plan.groups
        ],
        "guarantee": dict(shown.guarantee),
        "noise_deviation": shown.deviation,
        "count_deviation": shown.count_deviation,
        "dataset": permit.dataset,
        "spent": permit.spent,
    }


def spending_words(permit: Permit) -> str:
    """Return what a release costs, and what the same records have cost so far."""
    cost = mode_of(permit.plan).cost
    epsilon, budget = cost.epsilon or 0.0, cost.budget or 0.0
    words = f"epsilon = {number(epsilon)}; the plan's budget for {permit.dataset_words} is {number(budget)}"
    if permit.ledger is None:
        return f"{words}. No ledger is asked, so nobody adds up what is spent."
    return f"{words}. So far {number(permit.spent)} is spent, by the ledger of this silo."


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
    if mode_of(permit.plan).cost.epsilon is not None:
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
