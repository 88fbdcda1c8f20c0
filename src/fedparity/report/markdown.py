"""The result as Markdown, for a pull request or an issue."""

from __future__ import annotations

from fedparity.auditing.result import AuditResult
from fedparity.report.escaping import code, plain, table
from fedparity.report.numbers import percent
from fedparity.report.sentences.alone import READING_SILOS, seen_alone
from fedparity.report.sentences.answers import headline, how_certain, how_large, size
from fedparity.report.sentences.missing import what_is_missing
from fedparity.report.sentences.naming import counted_in
from fedparity.report.sentences.scope import does_not_prove, reproduce_command
from fedparity.report.sentences.sources import why
from fedparity.report.tables import group_rows, measures, silo_rows
from fedparity.report.verdicts import verdict_line

__all__ = ["group_table", "markdown_report", "measure_table", "silo_table"]

_OPEN, _SHOWN = 20, 100
"""Beyond the first the table of silos is folded; beyond the second it is cut, as comments are."""


def markdown_report(result: AuditResult) -> str:
    """Return the result as GitHub-flavored Markdown; equal results give equal bytes."""
    blocks = [
        [f"## {plain(verdict_line(result))}"],
        [f"**{plain(headline(result))}**"],
        [f"{plain(result.plan.title)} ({plain(size(result))})"],
        measure_table(result),
        _answers(result),
        ["### Groups"],
        group_table(result),
        *_silos(result),
        ["### What this does not prove"],
        [f"- {plain(sentence)}" for sentence in does_not_prove()],
        _provenance(result),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def measure_table(result: AuditResult) -> list[str]:
    """Return the table of measures."""
    rows = [
        [plain(each.name), each.value, each.range, plain(each.meaning)]
        for each in measures(result)
    ]
    return table(["measure", "value", "range", "the range is"], rows, "lrrl")


def group_table(result: AuditResult) -> list[str]:
    """Return the table of groups."""
    rows = [[plain(name), *numbers] for name, *numbers in group_rows(result)]
    return table(["group", counted_in(result), "share", "mean score"], rows, "lrrr")


def silo_table(result: AuditResult) -> list[str]:
    """Return the table of silos; of very many, those of largest influence."""
    heading = ["silo", counted_in(result), "alone", f"{percent(result.confidence)} interval"]
    rows = [
        [plain(silo), *numbers, plain(note)] for silo, *numbers, note in silo_rows(result, _SHOWN)
    ]
    return table([*heading, "influence", "note"], rows, "lrrrrl")


def _answers(result: AuditResult) -> list[str]:
    questions = {
        "How large?": how_large(result),
        "How certain?": how_certain(result),
        "Seen by a silo alone?": seen_alone(result),
        "Why?": why(result),
    }
    lines = [f"- **{question}** {plain(answer)}" for question, answer in questions.items()]
    missing = [f"  - {plain(sentence)}" for sentence in what_is_missing(result)]
    return [*lines, "- **What is missing?**", *missing]


def _silos(result: AuditResult) -> list[list[str]]:
    count = len(result.silos)
    title = f"Silos ({count:,})"
    left_out = count - _SHOWN
    after = [READING_SILOS]
    if left_out > 0:
        after.insert(0, f"The {_SHOWN} of largest influence; {left_out:,} more are in the JSON.")
    if count <= _OPEN:
        return [[f"### {title}"], silo_table(result), after]
    return [
        ["<details>", f"<summary>{title}</summary>"],
        silo_table(result),
        after,
        ["</details>"],
    ]


def _provenance(result: AuditResult) -> list[str]:
    command = code(reproduce_command(result))
    return [f"Plan {code(result.plan.digest)}, {plain(result.software)}; again with {command}."]
