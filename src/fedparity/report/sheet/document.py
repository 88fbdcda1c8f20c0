"""What stands on the sheet, as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import percent
from fedparity.report.sentences.alone import READING_SILOS, seen_alone
from fedparity.report.sentences.answers import headline, how_certain, how_large, size
from fedparity.report.sentences.missing import what_is_missing
from fedparity.report.sentences.naming import counted_in, is_summed, joined, short
from fedparity.report.sentences.scope import does_not_prove, reproduce_command
from fedparity.report.sentences.sources import why
from fedparity.report.sheet.figures import SheetFigure
from fedparity.report.tables import silo_rows
from fedparity.report.verdicts import verdict_line

__all__ = ["Room", "sheet_html"]


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
        f'<main><p class="verdict">{escape(verdict_line(result))}</p>'
        f"<h1>{escape(headline(result))}</h1>{wide}"
        f'<div class="pair">{"".join(pair)}</div>'
        f"{_answers(result, room.missing)}{_silos(result, room.silos)}</main>"
        f"{_footer(result)}</body></html>"
    )


def _figure(figure: SheetFigure) -> str:
    caption = escape(figure.caption)
    return f"<figure>{figure.svg}<figcaption>{caption}</figcaption></figure>"


def _answers(result: AuditResult, most: int) -> str:
    left = (("How large?", how_large(result)), ("How certain?", how_certain(result)))
    right = (("Would a silo have seen it alone?", seen_alone(result)), ("Why?", why(result)))
    columns = "".join(
        f"<div>{''.join(_section(title, f'<p>{escape(text)}</p>') for title, text in column)}</div>"
        for column in (left, right)
    )
    limits = _section("What this does not prove", _listed(does_not_prove()[:2]))
    missing = _section("What is missing?", _listed(_cut(what_is_missing(result), most)))
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
    if is_summed(result):
        names = escape(joined(result.silos_received, most=20))
        return _section("Silos", f"<p>Only their sums were seen: {names}.</p>")
    heading = ("silo", counted_in(result), "alone", f"{percent(result.confidence)} interval")
    rows = [row[:-1] for row in silo_rows(result, most)]
    cut = len(result.silos) > len(rows)
    caption = f"The {len(rows)} silos of largest influence" if cut else "Silos"
    head = "".join(_head(name, number=i > 0) for i, name in enumerate((*heading, "influence")))
    body = "".join(
        f"<tr><td>{escape(short(silo))}</td>{''.join(map(_number, numbers))}</tr>"
        for silo, *numbers in rows
    )
    more = f"{len(result.silos) - len(rows):,} more are in the JSON. " if cut else ""
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table><figcaption>{more}{escape(READING_SILOS)}</figcaption>"
    )


def _head(name: str, *, number: bool) -> str:
    kind = ' class="number"' if number else ""
    return f'<th scope="col"{kind}>{escape(name)}</th>'


def _number(text: str) -> str:
    return f'<td class="number">{escape(text)}</td>'


def _footer(result: AuditResult) -> str:
    return (
        f"<footer><p>Plan {escape(result.plan.digest)} · {escape(result.software)}</p>"
        f"<p>Again with: {escape(reproduce_command(result))}</p></footer>"
    )
