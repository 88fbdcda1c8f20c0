"""The result as Markdown, for a pull request or an issue."""

from __future__ import annotations

from fedparity.auditing.result import AuditResult
from fedparity.report.escaping import code, plain, table
from fedparity.report.magnitudes import READING_MAGNITUDES, magnitude_columns
from fedparity.report.numbers import percent
from fedparity.report.sentences.accuracy import explain_accuracy
from fedparity.report.sentences.alone import READING_SILOS, seen_alone, summed_silos
from fedparity.report.sentences.answers import how_certain, how_large, size
from fedparity.report.sentences.missing import left_out, what_weakens
from fedparity.report.sentences.naming import counted_in
from fedparity.report.sentences.rates import rates_heading, reading_rates
from fedparity.report.sentences.scope import does_not_prove, reproduce_command
from fedparity.report.sentences.sizes import in_points, points_range, two_verdicts
from fedparity.report.sentences.sources import explain_decomposition, why
from fedparity.report.tables import (
    all_rates,
    group_rows,
    magnitude_rows,
    measures,
    rate_heads,
    rate_rows,
    silo_rows,
)
from fedparity.report.verdicts import mark_of

__all__ = [
    "first_lines",
    "group_table",
    "magnitude_table",
    "markdown_report",
    "measure_table",
    "rate_blocks",
    "silo_table",
]

_OPEN, _SHOWN = 20, 100
"""Beyond the first the table of silos is folded; beyond the second it is cut, as comments are."""


def markdown_report(result: AuditResult) -> str:
    """Return the result as GitHub-flavored Markdown; equal results give equal bytes."""
    blocks = [
        [f"## {mark_of(result).shape} {plain(in_points(result))}"],
        first_lines(result),
        [f"{plain(result.plan.title)} ({plain(size(result))})"],
        ["### Groups"],
        group_table(result),
        *rate_blocks(result),
        _answers(result),
        ["### How large, in other units"],
        magnitude_table(result),
        [READING_MAGNITUDES],
        *_silos(result),
        ["### How sure, in detail"],
        measure_table(result),
        [plain(how_certain(result))],
        [plain(explain_accuracy(result))],
        [plain(explain_decomposition(result))],
        ["### What this does not prove"],
        [f"- {plain(sentence)}" for sentence in does_not_prove()],
        _provenance(result),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def first_lines(result: AuditResult) -> list[str]:
    """Return what stands right below the headline: its range, both verdicts, and who is left out."""
    lines = [
        plain(points_range(result)),
        "",
        *(f"- {shape} {plain(words)}" for shape, words in two_verdicts(result)),
        *(f"- {plain(sentence)}" for sentence in left_out(result)),
    ]
    return lines if len(lines) > 2 else lines[:1]


def measure_table(result: AuditResult) -> list[str]:
    """Return the table of measures."""
    rows = [
        [plain(each.name), each.value, each.range, plain(each.meaning)]
        for each in measures(result)
    ]
    return table(["measure", "value", "range", "meaning"], rows, "lrrl")


def group_table(result: AuditResult) -> list[str]:
    """Return the table of groups."""
    rows = [[plain(name), *numbers] for name, *numbers in group_rows(result)]
    return table(["group", counted_in(result), "share", "mean score"], rows, "lrrr")


def rate_blocks(result: AuditResult) -> list[list[str]]:
    """Return a heading, a table and how to read it for the rates at every threshold."""
    blocks = []
    for rates in all_rates(result):
        rows = [[plain(name), *numbers] for name, *numbers in rate_rows(rates)]
        blocks += [
            [f"**{plain(rates_heading(rates))}**"],
            table(rate_heads(result), rows, "lrrrrl"),
            [plain(reading_rates(rates, result))],
        ]
    return blocks


def magnitude_table(result: AuditResult) -> list[str]:
    """Return the disparity in units that people can read, with bounds."""
    rows = [[plain(name), *numbers] for name, *numbers in magnitude_rows(result)]
    return table(["measure", *magnitude_columns(result)], rows, "lrrrr")


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
        "Seen by a silo alone?": seen_alone(result),
        "Why?": why(result),
    }
    lines = [f"- **{question}** {plain(answer)}" for question, answer in questions.items()]
    missing = [f"  - {plain(sentence)}" for sentence in what_weakens(result)]
    return [*lines, *(["- **What else is missing?**", *missing] if missing else [])]


def _silos(result: AuditResult) -> list[list[str]]:
    count = len(result.silos)
    title = f"Silos ({count:,})"
    if summed := summed_silos(result):
        return [[f"### {title}"], [plain(summed)]]
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
    signed = "not signed"
    if result.signature is not None:
        signed = f"signed with the key {code(result.signature.key)}, which fits"
    return [
        f"Plan {code(result.plan.digest)}, {plain(result.software)}; {signed}; again with {command}."
    ]
