"""The report as a PDF that screen readers can read: the answer first, details after it.

Typst lays it out. What it shows is data, never markup: a name with a ``#`` or a ``$`` in it is a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from fedparity.documents.result import AuditResult
from fedparity.errors.base import check_pdf, extra
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
    explain_privacy,
    left_out,
    reproduce_command,
    reproduce_words,
    weakening,
)
from fedparity.report.sentences.naming import groups_words, mark_of, verdict_line
from fedparity.report.sentences.origins import explain_decomposition, next_steps, why
from fedparity.report.tables import READING_MAGNITUDES, Table

__all__ = ["SheetFigure", "drawable", "pdf_report", "sheet_data", "sheet_figures"]

Block = dict[str, Any]
"""A part of the sheet: its kind, and what it shows."""

_INK: Final = "#1f2933"
_WHOLE, _HALF = 7.6, 4.2
"""Inches of a figure as wide as the sheet, and of one beside another; drawn larger than they are
shown, so that their letters are as small as those around them."""
_SILOS: Final = 60
"""Rows of the table of silos; the page has them all."""


class SheetFigure:
    """A drawing, its file, and what it shows for those who do not see it."""

    def __init__(self, name: str, svg: str, alt: str) -> None:
        self.name, self.svg, self.alt = name, svg, alt


def sheet_figures(result: AuditResult) -> tuple[SheetFigure, SheetFigure, SheetFigure]:
    """Return a figure as wide as the sheet, and two side by side.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    from fedparity import plots  # noqa: PLC0415 -- matplotlib is not light

    def figure(display: plots.Display, name: str, alt: str) -> SheetFigure:
        drawn = plots.drawing(display, alt=alt, name=name)
        # a drawing in a page takes color and font from the page; a sheet has to state them
        stated = f'<svg color="{_INK}" font-family="DejaVu Sans"'
        return SheetFigure(f"{name}.svg", drawable(drawn.svg.replace("<svg", stated, 1)), alt)

    groups = groups_words(result)
    if result.plan.score_step is not None:
        laws: plots.Display = plots.GroupDensityDisplay.from_audit(result, width=_HALF)
        first = figure(laws, "bars", f"Share of {groups} at each score.")
    else:
        laws = plots.GroupCDFDisplay.from_audit(result, width=_HALF)
        first = figure(laws, "cdf", f"Share of {groups} at or below each score.")
    if result.attribution.selection is None:  # a secure sum does not say the parts
        ranks = plots.GroupQuantileDisplay.from_audit(result, width=_HALF)
        last = figure(ranks, "quantiles", f"Scores of {groups} at each rank.")
    else:
        parts = plots.AttributionDisplay.from_audit(result, width=_HALF)
        parts.ax_.locator_params(axis="x", nbins=3)  # the words next to the bars leave little room
        alt = "How much of the disparity is how groups are spread over silos, and how much inside them."
        last = figure(parts, "attribution", alt)
    ranges = plots.UncertaintyDisplay.from_audit(result, width=_WHOLE)
    alt = "The headline's number with its ranges, and the review level if there is one."
    return figure(ranges, "uncertainty", alt), first, last


def sheet_data(
    result: AuditResult, figures: Iterable[SheetFigure], prepared: Preparation | None = None
) -> dict[str, Any]:
    """Return everything that the sheet shows, as JSON for typst."""
    document = result.to_dict()
    wide, *pair = figures
    signed = "not signed" if result.signature is None else "signed"
    return {
        "title": f"{result.plan.title}: {verdict_line(result)}",
        "author": "" if prepared is None else prepared.author,
        "circumstances": " · ".join(circumstances(result, prepared)),
        "subject": result.plan.title,
        "headline": f"{mark_of(result).shape} {in_points(result)}",
        "range": " ".join(filter(None, (worse_off(result), points_range(result)))),
        "next": " ".join(next_steps(result)),
        "footer": f"{result.software} · {result.plan.digest[:19]} · {signed}",
        "blocks": [
            *_first_page(result, document, pair),
            *_details(result, document, wide),
        ],
    }


def _first_page(
    result: AuditResult, document: Mapping[str, Any], pair: Iterable[SheetFigure]
) -> Iterator[Block]:
    for_all = verdict_for_all(result)
    beside = [*([] if for_all is None else [" ".join(for_all)]), *left_out(result)]
    if beside:
        yield _list(beside)
    yield _table(tables.groups(result), document)
    yield _figures(*pair)
    if care := weakening(result):
        yield {"kind": "section", "text": "Read with care"}
        yield _list(care)
    yield {"kind": "section", "text": "In other words"}
    yield _text(how_large(result))
    yield _text(seen_alone(result))
    yield _text(why(result))


def _details(
    result: AuditResult, document: Mapping[str, Any], ranges: SheetFigure
) -> Iterator[Block]:
    """The basis of the answer."""
    yield {"kind": "break"}
    if rates := tables.all_rates(result):
        yield {"kind": "section", "text": "Rates at thresholds"}
        for table in tables.rate_tables(result):
            yield _table(table, document)
        yield from (_text(reading_rates(each, result)) for each in rates)
    if result.tables:
        yield {"kind": "section", "text": "By axis and by outcome"}
        for table, sentences in outcome_blocks(result):
            yield _table(table, document)
            yield from map(_text, sentences)
    yield {"kind": "section", "text": "Silos"}
    if summed := summed_silos(result):
        yield _text(summed)
    else:
        yield _table(tables.silos(result, _SILOS), document, texts=1)
        more = len(result.silos) - _SILOS
        yield _text(f"{f'{more:,} more are in the JSON. ' * (more > 0)}{reading_silos(result)}")
    yield {"kind": "section", "text": "How sure, in detail"}
    yield _text(f"{method(result)[0].upper()}{method(result)[1:]}.")
    yield _figures(ranges)
    yield _text(how_certain(result))
    yield _table(tables.measures(result), document, texts=1)
    yield _text(explain_accuracy(result))
    yield _text(explain_decomposition(result))
    yield _table(tables.magnitudes(result), document)
    yield _text(READING_MAGNITUDES)
    yield {"kind": "section", "text": "What the silos released"}
    yield _text(explain_privacy(result))
    yield {"kind": "section", "text": "What this does not prove"}
    yield _list(does_not_prove())
    yield {"kind": "section", "text": "Where the numbers come from"}
    yield _text(f"Plan {result.plan.digest}. {reproduce_words(result)}")
    yield {"kind": "code", "text": reproduce_command(result)}


def _text(text: str) -> Block:
    return {"kind": "text", "text": text}


def _list(items: Iterable[str]) -> Block:
    return {"kind": "list", "items": list(items)}


def _figures(*figures: SheetFigure) -> Block:
    return {
        "kind": "figures",
        "names": [each.name for each in figures],
        "alts": [each.alt for each in figures],
    }


def _table(table: Table, document: Mapping[str, Any], *, texts: int = 0) -> Block:
    """A table whose first column, and the last ``texts`` ones, are texts."""
    last = len(table.heads)
    return {
        "kind": "table",
        "caption": table.caption,
        "columns": table.heads,
        "rows": table.texts(document),
        "texts": list(range(last - texts, last)),
    }


@cache
def _letters() -> frozenset[int]:
    """What the sheet's font can show."""
    from matplotlib.ft2font import FT2Font  # noqa: PLC0415 -- heavy

    return frozenset(FT2Font(str(_fonts() / "DejaVuSans.ttf")).get_charmap())


def _fonts() -> Path:
    """The folder of the fonts that come with matplotlib: the same on every machine."""
    from matplotlib import get_data_path  # noqa: PLC0415 -- heavy

    return Path(get_data_path()) / "fonts" / "ttf"


def drawable(text: str) -> str:
    r"""Return a text in which a character that the font lacks is written as its code: PDF/UA allows no blanks.

    Examples
    --------
    >>> drawable("Hôpital 東")
    'Hôpital \\u6771'
    """
    known = _letters()
    return "".join(each if each.isspace() or ord(each) in known else _code(each) for each in text)


def _shown(value: Any) -> Any:  # noqa: ANN401 -- JSON
    """The same with every text drawable."""
    if isinstance(value, str):
        return drawable(value)
    if isinstance(value, Mapping):
        return {name: _shown(each) for name, each in value.items()}
    return list(map(_shown, value)) if isinstance(value, list) else value


def _code(letter: str) -> str:
    return letter.encode("ascii", "backslashreplace").decode()


def pdf_report(result: AuditResult, prepared: Preparation | None = None) -> bytes:
    """Return the report as a PDF/UA-1 (A4), tagged, with its fonts in it and texts for its figures.

    Equal arguments give equal bytes with the same versions of typst and matplotlib.

    Raises
    ------
    MissingExtraError
        If typst or matplotlib is not installed.
    """
    check_pdf()
    typst = extra("typst", "a PDF report", "pdf")
    figures = sheet_figures(result)
    data = json.dumps(_shown(sheet_data(result, figures, prepared)), ensure_ascii=False)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "report.json").write_text(data, "utf-8")
        for figure in figures:
            (place / figure.name).write_text(figure.svg, "utf-8")
        layout = files("fedparity.report").joinpath("sheet.typ").read_bytes()
        (place / "sheet.typ").write_bytes(layout)
        made: bytes = typst.compile(
            str(place / "sheet.typ"),
            root=folder,
            font_paths=[str(_fonts())],
            ignore_system_fonts=True,
            pdf_standards=["ua-1"],
            timestamp=0,
        )
    return made
