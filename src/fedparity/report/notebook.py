"""A result in a notebook: a few lines and tables, without script, on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from fedparity.documents.document import html_table
from fedparity.documents.result import AuditResult
from fedparity.report import tables
from fedparity.report.sentences.answers import (
    in_points,
    points_range,
    size,
    two_verdicts,
)
from fedparity.report.sentences.caveats import left_out
from fedparity.report.tables import Table
from fedparity.report.verdicts import mark_of
from fedparity.text import counted

__all__ = ["notebook_html"]

_LINE = "margin:.2em 0"


def notebook_html(result: AuditResult) -> str:
    """Return the headline, its range, both verdicts, the groups and their rates, and all warnings.

    Styles stand on the elements, so nothing else on the page changes; colors are the page's own.
    """
    first = [points_range(result), *(f"{shape} {words}" for shape, words in two_verdicts(result))]
    lines = [*first, *left_out(result)]
    document = result.to_dict()
    rates = [tables.rates_table(result, i) for i in range(len(tables.all_rates(result)))]
    rated = (_line(table.caption) + _table(table, document) for table in rates)
    return (
        '<div style="max-width:50em">'
        f'<p style="{_LINE};font-weight:bold">{mark_of(result).shape} '
        f"{escape(in_points(result))}</p>{''.join(map(_line, lines))}"
        f"{_table(tables.groups(result), document)}{''.join(rated)}"
        '<details><summary style="cursor:pointer">How sure, in detail</summary>'
        f"{_table(tables.measures(result), document)}</details>{_warnings(result)}"
        f'<p style="{_LINE};opacity:.75">{escape(result.plan.title)} '
        f"({escape(size(result))})</p></div>"
    )


def _line(text: str) -> str:
    return f'<p style="{_LINE}">{escape(text)}</p>'


def _table(table: Table, document: Mapping[str, Any]) -> str:
    return html_table(table.heads, table.texts(document))


def _warnings(result: AuditResult) -> str:
    """Every warning with its code, which programs go by; open, since a reader must see them."""
    if not result.warnings:
        return ""
    told = (
        f'<p style="{_LINE}">⚠ {escape(each.text[:1].upper() + each.text[1:])} '
        f"({escape(each.code)})</p>"
        for each in result.warnings
    )
    heading = counted(len(result.warnings), "warning")
    return (
        f'<details open=""><summary style="cursor:pointer">{heading}</summary>'
        f"{''.join(told)}</details>"
    )
