"""A result in a notebook: a small table, without script, readable on light and dark pages."""

from __future__ import annotations

from html import escape

from fedparity.auditing.result import AuditResult
from fedparity.report.sentences.answers import headline, size
from fedparity.report.tables import Measure, measures
from fedparity.report.verdicts import verdict_line

__all__ = ["notebook_html"]

_CELL = "text-align:left;padding:.15em .8em .15em 0"
_NUMBER = f"{_CELL};font-variant-numeric:tabular-nums"
_FAINT = f"{_CELL};opacity:.75"


def notebook_html(result: AuditResult) -> str:
    """Return the verdict, the answer in a sentence, and the measures with their ranges.

    Styles stand on the elements, so nothing else on the page changes; colors are the page's own.
    """
    rows = "".join(_row(each) for each in measures(result))
    return (
        '<div style="max-width:50em">'
        f'<p style="margin:.2em 0;font-weight:bold">{escape(verdict_line(result))}</p>'
        f'<p style="margin:.2em 0">{escape(headline(result))}</p>'
        '<table style="border-collapse:collapse;margin:.4em 0"><thead><tr>'
        f'<th scope="col" style="{_CELL}">measure</th><th scope="col" style="{_CELL}">value</th>'
        f'<th scope="col" style="{_CELL}">range</th>'
        f'<th scope="col" style="{_CELL}">the range is</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
        f'<p style="margin:.2em 0;opacity:.75">{escape(result.plan.title)} '
        f"({escape(size(result))})</p></div>"
    )


def _row(measure: Measure) -> str:
    return (
        f'<tr><th scope="row" style="{_CELL};font-weight:normal">{escape(measure.name)}</th>'
        f'<td style="{_NUMBER}">{escape(measure.value)}</td>'
        f'<td style="{_NUMBER}">{escape(measure.range)}</td>'
        f'<td style="{_FAINT}">{escape(measure.meaning)}</td></tr>'
    )
