"""A result in a notebook: a few lines and tables, without script, on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from fedparity.documents.result import AuditResult
from fedparity.report import tables
from fedparity.report.sentences.answers import (
    in_points,
    points_range,
    size,
    verdict_for_all,
    worse_off,
)
from fedparity.report.sentences.caveats import left_out, what_weakens
from fedparity.report.sentences.origins import next_steps
from fedparity.report.tables import Table
from fedparity.report.verdicts import mark_of

__all__ = ["notebook_html"]

_CELL = "text-align:left;padding:.15em .8em .15em 0"
_NUMBER = f"{_CELL};font-variant-numeric:tabular-nums"
_LINE = "margin:.2em 0"


def notebook_html(result: AuditResult) -> str:
    """Return the headline, its range, what is missing, the groups with their rates, and the warnings.

    Styles stand on the elements, so nothing else on the page changes; colors are the page's own.
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
    heads = (f'<th scope="col" style="{_CELL}">{escape(each)}</th>' for each in table.heads)
    rows = map(_row, table.texts(document))
    return (
        '<table style="border-collapse:collapse;margin:.4em 0">'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _row(cells: Sequence[str]) -> str:
    name, *numbers = cells
    shown = "".join(f'<td style="{_NUMBER}">{escape(each)}</td>' for each in numbers)
    return (
        f'<tr><th scope="row" style="{_CELL};font-weight:normal">{escape(name)}</th>{shown}</tr>'
    )
