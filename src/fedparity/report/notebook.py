"""A result in a notebook: a few lines and tables, without script, on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from fedparity.documents.result import AuditResult
from fedparity.report.sentences.answers import (
    in_points,
    points_range,
    rates_heading,
    size,
    two_verdicts,
)
from fedparity.report.sentences.caveats import left_out
from fedparity.report.sentences.naming import counted_in
from fedparity.report.tables import all_rates, group_rows, measures, rate_heads, rate_rows
from fedparity.report.verdicts import mark_of

__all__ = ["notebook_html"]

_CELL = "text-align:left;padding:.15em .8em .15em 0"
_NUMBER = f"{_CELL};font-variant-numeric:tabular-nums"
_LINE = "margin:.2em 0"


def notebook_html(result: AuditResult) -> str:
    """Return the headline, its range, both verdicts, the groups and their rates.

    Styles stand on the elements, so nothing else on the page changes; colors are the page's own.
    """
    first = [points_range(result), *(f"{shape} {words}" for shape, words in two_verdicts(result))]
    lines = [*first, *left_out(result)]
    rates = (
        _line(rates_heading(each)) + _table(rate_heads(result), rate_rows(each))
        for each in all_rates(result)
    )
    heads = ["group", counted_in(result), "share", "mean score"]
    return (
        '<div style="max-width:50em">'
        f'<p style="{_LINE};font-weight:bold">{mark_of(result).shape} '
        f"{escape(in_points(result))}</p>{''.join(map(_line, lines))}"
        f"{_table(heads, group_rows(result))}{''.join(rates)}"
        '<details><summary style="cursor:pointer">How sure, in detail</summary>'
        f"{_table(['measure', 'value', 'range', 'meaning'], measures(result))}</details>"
        f'<p style="{_LINE};opacity:.75">{escape(result.plan.title)} '
        f"({escape(size(result))})</p></div>"
    )


def _line(text: str) -> str:
    return f'<p style="{_LINE}">{escape(text)}</p>'


def _table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col" style="{_CELL}">{escape(each)}</th>' for each in heads)
    return (
        '<table style="border-collapse:collapse;margin:.4em 0">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, rows))}</tbody></table>"
    )


def _row(cells: Sequence[str]) -> str:
    name, *numbers = cells
    shown = "".join(f'<td style="{_NUMBER}">{escape(each)}</td>' for each in numbers)
    return (
        f'<tr><th scope="row" style="{_CELL};font-weight:normal">{escape(name)}</th>{shown}</tr>'
    )
