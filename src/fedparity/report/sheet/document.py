"""What stands on the sheet, as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import counted, percent
from fedparity.report.sentences.alone import READING_SILOS, seen_alone, summed_silos
from fedparity.report.sentences.answers import how_certain, how_large, size
from fedparity.report.sentences.missing import left_out, what_weakens
from fedparity.report.sentences.naming import counted_in, short
from fedparity.report.sentences.rates import rates_heading
from fedparity.report.sentences.scope import does_not_prove, reproduce_command
from fedparity.report.sentences.sizes import in_points, points_range, two_verdicts
from fedparity.report.sentences.sources import why
from fedparity.report.sheet.figures import SheetFigure
from fedparity.report.tables import all_rates, group_rows, rate_heads, rate_rows, silo_rows
from fedparity.report.verdicts import mark_of, verdict_line

__all__ = ["Room", "sheet_html"]

_GROUPS, _THRESHOLDS = 6, 2
"""Rows and tables of rates that a sheet has room for."""


@dataclass(frozen=True)
class Room:
    """How much the sheet holds: where it does not fit, there is less of it, and smaller."""

    points: float
    """Of the letters."""
    silos: int
    """Rows of the table."""
    missing: int
    """Sentences on what is missing."""


def sheet_html(
    result: AuditResult, figures: Iterable[SheetFigure], *, style: str, room: Room
) -> str:
    """Return the page that becomes the sheet."""
    wide, *pair = (_figure(each) for each in figures)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(short(result.plan.title))}: {escape(verdict_line(result))}</title>"
        f'<meta name="generator" content="{escape(result.software)}">'
        f"<style>{style}html {{ font-size: {room.points}pt; }}</style></head><body>"
        f'<header><p class="title">{escape(result.plan.title)}</p>'
        f'<p class="size">{escape(size(result))}</p></header>'
        f"<main><h1>{mark_of(result).shape} {escape(in_points(result))}</h1>"
        f'<p class="range">{escape(points_range(result))}</p>{_verdicts(result)}{wide}'
        f"{_groups(result)}"
        f'<div class="pair">{"".join(pair)}</div>'
        f"{_answers(result, room.missing)}{_silos(result, room.silos)}</main>"
        f"{_footer(result)}</body></html>"
    )


def _verdicts(result: AuditResult) -> str:
    """Both verdicts, and whom they leave out."""
    verdicts = (f"{shape} {words}" for shape, words in two_verdicts(result))
    lines = (*verdicts, *left_out(result))
    shown = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="verdicts">{shown}</ul>' if shown else ""


def _groups(result: AuditResult) -> str:
    """The groups; with their rates, a table for each threshold."""
    if not all_rates(result):
        heads = ["group", counted_in(result), "share", "mean score"]
        return _table("Groups", heads, group_rows(result)[:_GROUPS])
    tables = []
    for rates in all_rates(result)[:_THRESHOLDS]:
        group, *heads = rate_heads(result)
        rows = zip(group_rows(result), rate_rows(rates), strict=True)
        both = [[name, n, mean, *numbers] for (name, n, _, mean), (_, *numbers) in rows]
        columns = [group, counted_in(result), "mean score", *heads]
        tables.append(_table(rates_heading(rates), columns, both[:_GROUPS]))
    return "".join(tables) + _more(result)


def _more(result: AuditResult) -> str:
    """What of the rates has no room on a sheet."""
    groups, rates = len(result.groups) - _GROUPS, len(all_rates(result)) - _THRESHOLDS
    left = [
        *([counted(groups, "more group")] if groups > 0 else []),
        *([counted(rates, "more threshold")] if rates > 0 else []),
    ]
    return f"<figcaption>{' and '.join(left)} in the JSON.</figcaption>" if left else ""


def _table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table whose first column is a name, and all others numbers."""
    head = "".join(_head(name, number=i > 0) for i, name in enumerate(heads))
    body = "".join(
        f"<tr><td>{escape(short(name))}</td>{''.join(map(_number, numbers))}</tr>"
        for name, *numbers in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _figure(figure: SheetFigure) -> str:
    caption = escape(figure.caption)
    return f"<figure>{figure.svg}<figcaption>{caption}</figcaption></figure>"


def _answers(result: AuditResult, most: int) -> str:
    left = (("How large?", how_large(result)), ("Why?", why(result)))
    right = (
        ("Would a silo have seen it alone?", seen_alone(result)),
        ("How certain, in detail?", how_certain(result)),
    )
    columns = "".join(
        f"<div>{''.join(_section(title, f'<p>{escape(text)}</p>') for title, text in column)}</div>"
        for column in (left, right)
    )
    limits = _section("What this does not prove", _listed(does_not_prove()[:2]))
    missing = _section("What is missing?", _listed(_cut(what_weakens(result), most)))
    return (
        f'<div class="answers">{columns}</div>'
        f'<div class="answers"><div>{missing}</div><div>{limits}</div></div>'
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _listed(sentences: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in sentences)}</ul>"


def _cut(sentences: tuple[str, ...], most: int) -> tuple[str, ...]:
    more = len(sentences) - most
    if more <= 0:
        return sentences
    return (*sentences[:most], f"{more:,} more in the JSON and the HTML report.")


def _silos(result: AuditResult, most: int) -> str:
    if summed := summed_silos(result):
        return _section("Silos", f"<p>{escape(summed)}</p>")
    heading = ("silo", counted_in(result), "alone", f"{percent(result.confidence)} interval")
    rows = [row[:-1] for row in silo_rows(result, most)]
    cut = len(result.silos) > len(rows)
    caption = f"The {len(rows)} silos of largest influence" if cut else "Silos"
    more = f"{len(result.silos) - len(rows):,} more are in the JSON. " if cut else ""
    table = _table(caption, (*heading, "influence"), rows)
    return f"{table}<figcaption>{more}{escape(READING_SILOS)}</figcaption>"


def _head(name: str, *, number: bool) -> str:
    kind = ' class="number"' if number else ""
    return f'<th scope="col"{kind}>{escape(name)}</th>'


def _number(text: str) -> str:
    return f'<td class="number">{escape(text)}</td>'


def _footer(result: AuditResult) -> str:
    signed = "not signed"
    if result.signature is not None:
        signed = f"signed with the key {escape(result.signature.key)}"
    return (
        f"<footer><p>Plan {escape(result.plan.digest)} · {escape(result.software)} · {signed}</p>"
        f"<p>Again with: {escape(reproduce_command(result))}</p></footer>"
    )
