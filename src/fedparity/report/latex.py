"""The tables of a result for LaTeX, with the rules of booktabs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fedparity.documents.result import AuditResult
from fedparity.report import tables
from fedparity.report.tables import Table

__all__ = ["escaped", "latex_tables"]

_MOST_SILOS = 60
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "[": "{[}",  # after a row's end it would begin an option
        "]": "{]}",
        "−": "$-$",
        "–": "--",
        "∞": r"$\infty$",
        "×": r"$\times$",
        "₁": "$_1$",
        "₂": "$_2$",
        "≤": r"$\leq$",
        "▲": r"$\blacktriangle$",
        "▼": r"$\blacktriangledown$",
    }
)


def escaped(text: str) -> str:
    r"""Return a text as LaTeX that shows just this text.

    Examples
    --------
    >>> print(escaped("A & B_1: 5 % [x]"))
    A \& B\_1: 5 \% {[}x{]}
    """
    return " ".join(text.split()).translate(_ESCAPES)


def latex_tables(result: AuditResult) -> str:
    """Return one ``table`` for each of groups, rates, measures, pairs and silos."""
    document = result.to_dict()
    rates = [tables.rates_table(result, place) for place in range(len(tables.all_rates(result)))]
    every = [
        tables.groups(result),
        *rates,
        tables.measures(result),
        tables.pairs(result),
        tables.silos(result, _MOST_SILOS),
    ]
    return "\n\n".join(_table(table, document) for table in every if table.rows) + "\n"


def _table(table: Table, document: Mapping[str, Any]) -> str:
    columns = "l" + "r" * (len(table.heads) - 1)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(table.caption)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _row(table.heads),
            r"\midrule",
            *map(_row, table.texts(document)),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(escaped, cells))} \\\\"
