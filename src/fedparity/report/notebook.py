"""A result in a notebook: a few lines and tables, without script, on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from fedparity.documents.result import AuditResult
from fedparity.documents.tabular import html_table
from fedparity.report import tables
from fedparity.report.sentences.answers import (
    in_points,
    points_range,
    size,
    verdict_for_all,
    worse_off,
)
from fedparity.report.sentences.caveats import left_out, what_weakens
from fedparity.report.sentences.naming import mark_of
from fedparity.report.sentences.origins import next_steps
from fedparity.report.tables import Table

__all__ = ["notebook_html"]

_LINE = "margin:.2em 0"


def notebook_html(result: AuditResult) -> str:
    """Return the headline, its range, what is missing, the groups with their rates, and the warnings.

    Styles are set on the elements, so nothing else on the page changes; colors are the page's own.
    """
    for_all = verdict_for_all(result)
    lines = [
        " ".join(filter(None, (worse_off(result), points_range(result)))),
        *([] if for_all is None else [" ".join(for_all)]),
        *left_out(result),
        f"Next: {' '.join(next_steps(result))}",
    ]
    document = result.to_dict()
    rates = tables.rate_tables(result)
    cautions = "".join(
        _line(f"! {each.text} [{each.code}]") for each in what_weakens(result) if each.code
    )
    rated = (_line(table.caption) + _table(table, document) for table in rates)
    return (
        '<div style="max-width:50em">'
        f'<p style="{_LINE};font-weight:bold">{mark_of(result).shape} '
        f"{escape(in_points(result))}</p>{''.join(map(_line, lines))}"
        f"{_table(tables.groups(result), document)}{''.join(rated)}{cautions}"
        '<details><summary style="cursor:pointer">How sure, in detail</summary>'
        f"{_table(tables.measures(result), document)}</details>"
        f'<p style="{_LINE};opacity:.75">{escape(result.plan.title)} '
        f"({escape(size(result))})</p></div>"
    )


def _line(text: str) -> str:
    return f'<p style="{_LINE}">{escape(text)}</p>'


def _table(table: Table, document: Mapping[str, Any]) -> str:
    return html_table(table.heads, table.texts(document))
