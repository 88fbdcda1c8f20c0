"""The result as Markdown, for a pull request or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from fedparity.documents.result import AuditResult
from fedparity.report import tables
from fedparity.report.outcome_tables import outcome_blocks
from fedparity.report.sentences.answers import (
    how_certain,
    how_large,
    in_points,
    points_range,
    reading_rates,
    reading_silos,
    seen_alone,
    size,
    summed_silos,
    two_verdicts,
)
from fedparity.report.sentences.caveats import (
    does_not_prove,
    explain_accuracy,
    left_out,
    reproduce_command,
    what_weakens,
)
from fedparity.report.sentences.origins import explain_decomposition, why
from fedparity.report.tables import READING_MAGNITUDES, Table
from fedparity.report.verdicts import mark_of

__all__ = [
    "code",
    "first_lines",
    "markdown_report",
    "plain",
    "rate_blocks",
    "table_lines",
]

_MARKUP = re.compile(r"([\\`*_\[\]<>|~&$#])")
_START = re.compile(r"^(\d{0,9})([-+=.)])(?=[-=\s]|$)")
"""What makes a line a list, a rule or the underline of a heading."""
_SPLIT = "\u200b"
"""A space of no width: forges look for mentions after Markdown's own escapes are gone."""
_LINKS = re.compile(r"(@|#(?=\d)|(?<=:)(?=//)|(?<=www)(?=\.))", re.IGNORECASE)


def plain(text: str) -> str:
    r"""Return a text as one line of Markdown that shows just this text.

    Examples
    --------
    >>> plain("a|b <b>\n*x*")
    'a\\|b \\<b\\> \\*x\\*'
    >>> plain("# 1 & 2 #"), plain("1. a"), plain("- a"), plain("-0.5")
    ('\\# 1 \\& 2 \\#', '1\\. a', '\\- a', '-0.5')
    >>> plain("@team") == "@\u200bteam"
    True
    """
    line = _START.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", " ".join(text.split())))
    return _LINKS.sub(lambda found: found[0] + _SPLIT, line)


def code(text: str) -> str:
    """Return a text as a span of code; the fence is longer than any run of backticks in it.

    Examples
    --------
    >>> code("sha256:ab")
    '`sha256:ab`'
    """
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}"


def table_lines(table: Table, document: Mapping[str, Any], *, texts: int = 0) -> list[str]:
    """Return a table: names and the last ``texts`` columns are text, to the left; others numbers."""
    numbers = len(table.columns) - texts
    rows = (
        [plain(name), *cells[:numbers], *map(plain, cells[numbers:])]
        for name, *cells in table.texts(document)
    )
    rule = "|".join([":---", *["---:"] * numbers, *[":---"] * texts])
    return [_row(table.heads), f"|{rule}|", *map(_row, rows)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_OPEN, _SHOWN = 20, 100
"""Beyond the first the table of silos is folded; beyond the second it is cut, as comments are."""


def markdown_report(result: AuditResult) -> str:
    """Return the result as GitHub-flavored Markdown; equal results give equal bytes."""
    document = result.to_dict()
    blocks = [
        [f"## {mark_of(result).shape} {plain(in_points(result))}"],
        first_lines(result),
        [f"{plain(result.plan.title)} ({plain(size(result))})"],
        ["### Groups"],
        table_lines(tables.groups(result), document),
        *rate_blocks(result, document),
        *_outcomes(result, document),
        _answers(result),
        ["### How large, in other units"],
        table_lines(tables.magnitudes(result), document),
        [READING_MAGNITUDES],
        *_silos(result, document),
        ["### How sure, in detail"],
        table_lines(tables.measures(result), document, texts=1),
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


def rate_blocks(result: AuditResult, document: Mapping[str, Any]) -> list[list[str]]:
    """Return a heading, a table and how to read it for the rates at every threshold."""
    blocks = []
    for place, rates in enumerate(tables.all_rates(result)):
        table = tables.rates_table(result, place)
        blocks += [
            [f"**{plain(table.caption)}**"],
            table_lines(table, document, texts=1),
            [plain(reading_rates(rates, result))],
        ]
    return blocks


def _outcomes(result: AuditResult, document: Mapping[str, Any]) -> list[list[str]]:
    """The tables by axis and by outcome; nothing without them."""
    if not result.tables:
        return []
    blocks = [["### By axis and by outcome"]]
    for table, sentences in outcome_blocks(result):
        blocks += [[f"**{plain(table.caption)}**"], table_lines(table, document)]
        blocks += [[plain(sentence)] for sentence in sentences]
    return blocks


def _answers(result: AuditResult) -> list[str]:
    questions = {
        "How large?": how_large(result),
        "Seen by a silo alone?": seen_alone(result),
        "Why?": why(result),
    }
    lines = [f"- **{question}** {plain(answer)}" for question, answer in questions.items()]
    missing = [f"  - {plain(sentence)}" for sentence in what_weakens(result)]
    return [*lines, *(["- **What else is missing?**", *missing] if missing else [])]


def _silos(result: AuditResult, document: Mapping[str, Any]) -> list[list[str]]:
    count = len(result.silos)
    title = f"Silos ({count:,})"
    if summed := summed_silos(result):
        return [[f"### {title}"], [plain(summed)]]
    left_out = count - _SHOWN
    after = [plain(reading_silos(result))]
    table = table_lines(tables.silos(result, _SHOWN), document, texts=1)
    if left_out > 0:
        after.insert(0, f"The {_SHOWN} of largest influence; {left_out:,} more are in the JSON.")
    if count <= _OPEN:
        return [[f"### {title}"], table, after]
    return [
        ["<details>", f"<summary>{title}</summary>"],
        table,
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
