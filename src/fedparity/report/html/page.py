"""The page: one file with its style, its script, its figures and the whole result in it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fedparity.auditing.result import AuditResult
from fedparity.plots.silo_rows import silo_rows
from fedparity.report.html.embedding import embedded
from fedparity.report.html.environment import environment
from fedparity.report.html.facts import guarantee, provenance
from fedparity.report.html.figures import are_few, page_figures
from fedparity.report.html.markup import Markup
from fedparity.report.html.security import content_policy
from fedparity.report.html.silo_table import silo_table
from fedparity.report.html.strip import strip
from fedparity.report.html.tables import page_tables
from fedparity.report.html.values import Values
from fedparity.report.html.words import said
from fedparity.report.verdicts import mark_of, verdict_words

__all__ = ["html_report"]

_CONTENTS = (
    ("laws", "How different are the groups?"),
    ("local", "Would a silo see it alone?"),
    ("sources", "Where does it come from?"),
    ("silos", "The silos"),
    ("accuracy", "How accurate is it?"),
    ("privacy", "What did the silos release?"),
    ("provenance", "Where do the numbers come from?"),
    ("method", "Method and limits"),
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
    value = Values(document)
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
        "said": said(result),
        "verdict": _verdict(result),
        "strip": strip(result),
        "largest_alone": _largest_alone(result),
        "figures": page_figures(result),
        "tables": page_tables(result, value, rows.places),
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


def _verdict(result: AuditResult) -> dict[str, str]:
    mark = mark_of(result)
    return {"word": mark.word, "shape": mark.shape, "words": verdict_words(result)}


def _largest_alone(result: AuditResult) -> str:
    """The path of the largest disparity that a silo has alone; empty if none has any."""
    known = [
        (silo.disparity, -index)
        for index, silo in enumerate(result.silos)
        if silo.disparity is not None
    ]
    return f"/silos/{-max(known)[1]}/disparity" if known else ""
