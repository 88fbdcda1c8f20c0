"""The report as a PDF of one page: its figures, its HTML, and as much as fits."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any, Final, NoReturn

from fedparity.documents.result import AuditResult
from fedparity.errors.extras import check_pdf, weasyprint
from fedparity.report import tables
from fedparity.report.sentences.answers import (
    how_certain,
    how_large,
    in_points,
    points_range,
    reading_silos,
    seen_alone,
    size,
    summed_silos,
    two_verdicts,
)
from fedparity.report.sentences.caveats import (
    does_not_prove,
    left_out,
    reproduce_command,
    what_weakens,
)
from fedparity.report.sentences.naming import groups_words, short
from fedparity.report.sentences.origins import why
from fedparity.report.verdicts import mark_of, verdict_line
from fedparity.text import counted

__all__ = [
    "Room",
    "SheetFigure",
    "pdf_report",
    "sheet_figures",
    "sheet_html",
]

_INK = "#1f2933"
_WHOLE, _HALF = 9.2, 4.5
"""Inches of a figure as wide as the sheet, and of one beside another; drawn larger than they are
shown, so that their letters are as small as those around them."""


@dataclass(frozen=True, kw_only=True)
class SheetFigure:
    """A drawing and what stands below it."""

    svg: str
    caption: str


def sheet_figures(result: AuditResult) -> tuple[SheetFigure, SheetFigure, SheetFigure]:
    """Return a figure as wide as the sheet, and two that stand side by side.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    from fedparity import plots  # noqa: PLC0415 -- matplotlib is not light

    def figure(display: plots.Display, name: str, caption: str) -> SheetFigure:
        drawn = plots.drawing(display, alt=caption, name=name)
        # WeasyPrint does not hand the page's color to a drawing
        return SheetFigure(
            svg=drawn.svg.replace("<svg", f'<svg color="{_INK}"', 1), caption=caption
        )

    if result.attribution.selection is None:  # a secure sum does not tell the parts
        last = figure(
            plots.GroupQuantileDisplay.from_audit(result, width=_HALF),
            "quantiles",
            f"Scores of {groups_words(result)} at each rank.",
        )
    else:
        parts = plots.AttributionDisplay.from_audit(result, width=_HALF)
        parts.ax_.locator_params(axis="x", nbins=3)  # the words beside the bars leave little room
        last = figure(
            parts,
            "attribution",
            "Selection between silos and within silos: shares of a measure, not causes.",
        )
    return (
        figure(
            plots.UncertaintyDisplay.from_audit(result, width=_WHOLE),
            "uncertainty",
            "The headline with its errors, and the review level if there is one.",
        ),
        figure(
            plots.GroupCDFDisplay.from_audit(result, width=_HALF),
            "cdf",
            f"Share of {groups_words(result)} at or below each score.",
        ),
        last,
    )


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
    wide, *pair = (
        f"<figure>{each.svg}<figcaption>{escape(each.caption)}</figcaption></figure>"
        for each in figures
    )
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
    groups, rates = tables.groups(result), tables.all_rates(result)[:_THRESHOLDS]
    document = result.to_dict()
    if not rates:
        return _table("Groups", groups.heads, groups.texts(document)[:_GROUPS])
    shown = []
    for table in (tables.rates_table(result, place) for place in range(len(rates))):
        both = zip(
            [groups.heads, *groups.texts(document)],
            [table.heads, *table.texts(document)],
            strict=True,
        )
        heads, *rows = [[name, n, mean, *cells] for (name, n, _, mean), (_, *cells) in both]
        shown.append(_table(table.caption, heads, rows[:_GROUPS]))
    return "".join(shown) + _more(result)


def _more(result: AuditResult) -> str:
    """What of the rates has no room on a sheet."""
    groups = len(result.groups) - _GROUPS
    rates = len(tables.all_rates(result)) - _THRESHOLDS
    left = [
        *([counted(groups, "more group")] if groups > 0 else []),
        *([counted(rates, "more threshold")] if rates > 0 else []),
    ]
    return f"<figcaption>{' and '.join(left)} in the JSON.</figcaption>" if left else ""


def _table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table whose first column is a name, and all others numbers."""
    number = ' class="number"'
    head = "".join(
        f'<th scope="col"{number if place else ""}>{escape(name)}</th>'
        for place, name in enumerate(heads)
    )
    body = "".join(
        f"<tr><td>{escape(short(name))}</td>"
        f"{''.join(f'<td{number}>{escape(text)}</td>' for text in numbers)}</tr>"
        for name, *numbers in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


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
    table, left = tables.silos(result, most), len(result.silos) - most
    rows = (row[:-1] for row in table.texts(result.to_dict()))  # without the notes
    more = f"{left:,} more are in the JSON. " if left > 0 else ""
    return (
        f"{_table(table.caption, table.heads[:-1], rows)}"
        f"<figcaption>{more}{escape(reading_silos(result))}</figcaption>"
    )


def _footer(result: AuditResult) -> str:
    signed = "not signed"
    if result.signature is not None:
        signed = f"signed with the key {escape(result.signature.key)}"
    return (
        f"<footer><p>Plan {escape(result.plan.digest)} · {escape(result.software)} · {signed}</p>"
        f"<p>Again with: {escape(reproduce_command(result))}</p></footer>"
    )


_ROOMS: Final = (
    Room(8.4, 8, 6),
    Room(8.0, 6, 5),
    Room(7.5, 5, 4),
    Room(7.0, 4, 3),
    Room(6.4, 3, 3),
    Room(5.8, 3, 2),
    Room(5.0, 2, 1),
)
"""From the most that a sheet usually holds to what one of the longest names needs."""


def pdf_report(result: AuditResult) -> bytes:
    """Return the report as a PDF of one page (A4), tagged, with its fonts in it.

    Equal results give equal bytes with the same version of WeasyPrint and the same fonts.

    Raises
    ------
    MissingExtraError
        If WeasyPrint, a library of the system that it needs, or matplotlib is missing.
    """
    check_pdf()
    figures = sheet_figures(result)
    style = files("fedparity.report").joinpath("sheet.css").read_text("utf-8")
    pages = (sheet_html(result, figures, style=style, room=room) for room in _ROOMS)
    digest = hashlib.sha256(result.to_json().encode()).digest()
    with _quiet(), _without_clock():
        documents = map(_rendered, pages)
        document = next(each for each in documents if len(each.pages) == 1)
        data: bytes = document.write_pdf(pdf_identifier=digest[:16], pdf_tags=True)
    return data


def _rendered(page: str) -> Any:  # noqa: ANN401 -- a document of WeasyPrint
    return weasyprint().HTML(string=page, base_url=None, url_fetcher=_refuse).render()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without a line in the log for each letter, of each name, that no font here has."""
    logger = logging.getLogger("weasyprint")
    logger.addFilter(_is_news)
    try:
        yield
    finally:
        logger.removeFilter(_is_news)


@contextmanager
def _without_clock() -> Iterator[None]:
    """With one time of writing for all fonts: fontTools, which cuts them where HarfBuzz cannot, states it."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = before or "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]


def _is_news(record: logging.LogRecord) -> bool:
    return ".notdef" not in str(record.msg)


def _refuse(url: str, *_: object, **__: object) -> NoReturn:
    """Nothing on the sheet is fetched, from the network or from a file."""
    raise ValueError(url)
