"""The result as Markdown, for a pull request or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from fedparity.documents.result import AuditResult
from fedparity.report import tables
from fedparity.report.formats import Preparation, circumstances
from fedparity.report.outcome_tables import outcome_blocks
from fedparity.report.sentences.answers import (
    how_certain,
    how_large,
    in_points,
    method,
    points_range,
    reading_rates,
    reading_silos,
    seen_alone,
    summed_silos,
    verdict_for_all,
    worse_off,
)
from fedparity.report.sentences.caveats import (
    does_not_prove,
    explain_accuracy,
    left_out,
    reproduce_command,
    weakening,
)
from fedparity.report.sentences.naming import mark_of
from fedparity.report.sentences.origins import explain_decomposition, next_steps, why
from fedparity.report.tables import READING_MAGNITUDES, Table

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


def markdown_report(result: AuditResult, prepared: Preparation | None = None) -> str:
    """Return the result as GitHub-flavored Markdown; equal arguments give equal bytes."""
    document = result.to_dict()
    blocks = [
        [f"## {mark_of(result).shape} {plain(in_points(result))}"],
        first_lines(result),
        [f"{plain(result.plan.title)}: {plain('; '.join(circumstances(result, prepared)))}."],
        ["### Groups"],
        table_lines(tables.groups(result), document),
        *rate_blocks(result, document),
        *_outcomes(result, document),
        _answers(result),
        *_silos(result, document),
        ["### How sure, in detail"],
        [plain(f"{method(result)[0].upper()}{method(result)[1:]}.")],
        ["**How large, in other units**"],
        table_lines(tables.magnitudes(result), document),
        [READING_MAGNITUDES],
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
    """Return the sentences below the headline: its range, who is left out, and what to do next."""
    for_all = verdict_for_all(result)
    return [
        plain(" ".join(filter(None, (worse_off(result), points_range(result))))),
        "",
        *([] if for_all is None else [f"- {for_all[0]} {plain(for_all[1])}"]),
        *(f"- {plain(sentence)}" for sentence in left_out(result)),
        f"- **Next:** {plain(' '.join(next_steps(result)))}",
    ]


def rate_blocks(result: AuditResult, document: Mapping[str, Any]) -> list[list[str]]:
    """Return how to read the rates of the groups; at several thresholds, each with a table."""
    every, shown = tables.all_rates(result), tables.rate_tables(result)
    blocks = [[plain(reading_rates(rates, result))] for rates in every]
    if not shown:
        return blocks
    return [
        block
        for table, reading in zip(shown, blocks, strict=True)
        for block in (
            [f"**{plain(table.caption)}**"],
            table_lines(table, document, texts=1),
            reading,
        )
    ]


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
    missing = [f"  - {plain(sentence)}" for sentence in weakening(result)]
    return [*lines, *(["- **Read with care**", *missing] if missing else [])]


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
        f"Plan {code(result.plan.digest)}, {plain(result.software)}; {signed}. The same result again: {command}."
    ]
