"""The page: one file with its style, its script, its figures and the whole result in it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fedparity.auditing.result import AuditResult
from fedparity.plots.headline import headline_of
from fedparity.plots.silo_rows import silo_rows
from fedparity.report.html.embedding import embedded
from fedparity.report.html.environment import environment
from fedparity.report.html.facts import guarantee, provenance
from fedparity.report.html.figures import are_few, page_figures
from fedparity.report.html.markup import Markup
from fedparity.report.html.security import content_policy
from fedparity.report.html.silo_table import silo_table
from fedparity.report.html.strip import strip
from fedparity.report.html.tables import page_tables, rate_tables
from fedparity.report.html.values import Values
from fedparity.report.html.words import said
from fedparity.report.magnitudes import READING_MAGNITUDES
from fedparity.report.sentences.rates import NO_RATES
from fedparity.report.verdicts import VERDICTS, level_words, verdict_words

__all__ = ["html_report"]

_CONTENTS = (
    ("groups", "The groups, and rates at thresholds"),
    ("laws", "How different are the groups?"),
    ("local", "Would a silo see it alone?"),
    ("sources", "Where does it come from?"),
    ("silos", "The silos"),
    ("sure", "How sure is it?"),
    ("privacy", "What did the silos release?"),
    ("provenance", "Where do the numbers come from?"),
    ("limits", "What this does not show"),
)
"""Name and heading of each section, in the order of the page."""

_SCRIPTS = "result", "describing", "tip", "figures", "table", "saving"
"""Parts of the script, in the order in which they use each other."""


def html_report(result: AuditResult) -> str:
    """Return the report of a result as one self-contained HTML page.

    The page fetches nothing and sends nothing, and a policy inside it lets the browser run its
    own script only. The same result gives the same bytes.

    Raises
    ------
    MissingExtraError
        If Jinja or matplotlib is not installed.

    Examples
    --------
    >>> from fedparity import simulate
    >>> table = {"z": [1.0, 2.0, 3.0, 5.0], "g": ["a", "b", "a", "b"], "s": ["x", "x", "y", "y"]}
    >>> result = simulate(table, score="z", group="g", silo="s", score_range=(0, 9), levels=2)
    >>> html_report(result).startswith("<!DOCTYPE html>")
    True
    """
    template = environment().get_template("page.html.jinja")
    page: str = template.render(_context(result))
    return page


def _context(result: AuditResult) -> dict[str, Any]:
    """Everything that the templates name."""
    document = result.to_dict()
    value, words = Values(document), said(result)
    rows = silo_rows([silo.disparity for silo in result.silos])
    style, script = _asset("style.css"), _script()
    return {
        "policy": content_policy(style=style, script=script),
        "style": Markup(style),
        "script": Markup(script),
        "embedded": Markup(embedded(result.to_json())),
        "document": document,
        "value": value,
        "contents": _CONTENTS,
        "said": words,
        "verdict": verdict_words(result),
        "verdicts": _verdicts(result, words["verdicts"]),
        "unit": "" if result.disparity.review_unit == "squared" else "points",
        "measured": headline_of(result).name.capitalize(),
        "review": level_words(result),
        "headline": "/".join(("", *headline_of(result).at)),
        "strip": strip(result),
        "largest_alone": _largest_alone(result),
        "figures": page_figures(result),
        "tables": page_tables(result, value, rows.places),
        "rates": tuple(zip(rate_tables(result, value), words["rates"], strict=True)),
        "no_rates": NO_RATES,
        "reading_magnitudes": READING_MAGNITUDES,
        "silos": silo_table(result, document),
        "guarantee": guarantee(document),
        "provenance": provenance(result),
        "chosen": bool(rows.hidden),
        "side_by_side": are_few(result),
        "file_name": "fedparity-result.json",
    }


def _asset(name: str) -> str:
    return files("fedparity.report.html").joinpath("assets", name).read_text("utf-8")


def _script() -> str:
    """All parts in one scope, which nothing else on the page shares."""
    parts = "\n".join(_asset(f"{part}.js") for part in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _verdicts(result: AuditResult, said: tuple[tuple[str, Markup], ...]) -> list[dict[str, str]]:
    """Both verdicts with their words and shapes; without a review level, that there is none."""
    found = result.disparity.verdict
    if not said:
        none = VERDICTS["none"]
        return [{"word": none.word, "shape": none.shape, "words": none.phrase}]
    return [
        {"word": VERDICTS[verdict].word, "shape": shape, "words": words}
        for verdict, (shape, words) in zip((found.answered, found.all), said, strict=True)
    ]


def _largest_alone(result: AuditResult) -> str:
    """The path of the most that a silo shows alone, in the headline's unit; empty if none does."""
    alone = headline_of(result).alone
    known = [
        (getattr(silo, alone), -index)
        for index, silo in enumerate(result.silos)
        if getattr(silo, alone) is not None
    ]
    return f"/silos/{-max(known)[1]}/{alone}" if known else ""
