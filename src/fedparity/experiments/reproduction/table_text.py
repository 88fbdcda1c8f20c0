"""Tables as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io

from fedparity.experiments.reproduction.number_texts import fixed, mean_and_sd
from fedparity.experiments.reproduction.tables import COLUMNS, Row, Table

__all__ = ["REGIME_HEADINGS", "as_csv", "as_latex", "as_markdown", "lines_of", "symbol_of"]

REGIME_HEADINGS = {
    "random": "Random allocation",
    "negative": "Negative selection",
    "positive": "Positive selection",
}


def as_csv(table: Table) -> str:
    """Return one line per cell, numbers in full.

    The fields: table, regime, measure, column, paper, ours, mean, sd, agreement, verdict, reason.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    fields = "table regime measure column paper ours mean sd agreement verdict reason"
    writer.writerow(fields.split())
    for block, row in table.rows:
        for name, cell in zip(COLUMNS, row.cells, strict=True):
            writer.writerow(
                [
                    block.label,
                    block.regime,
                    row.measure.name,
                    name,
                    cell.printed or "",
                    *map(repr, (cell.one, cell.mean, cell.sd)),
                    cell.agreement or "",
                    row.verdict.word,
                    row.verdict.reason,
                ]
            )
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """Return three lines per measure (paper, ours, all draws), and the verdict."""
    lines = [f"# {table.title}", "", _caption(table), ""]
    for block in table.blocks:
        lines += [f"## {REGIME_HEADINGS[block.regime]} (`{block.label}`)", ""]
        lines.append("| | | " + " | ".join(COLUMNS) + " | verdict |")
        lines.append("|---|---|" + "---:|" * len(COLUMNS) + "---|")
        for row in block.rows:
            for i, (kind, values) in enumerate(lines_of(row, table)):
                verdict = f"{row.verdict.shape} {row.verdict.word}: {row.verdict.reason}"
                ends = (symbol_of(row, table), verdict) if i == 0 else ("", "")
                lines.append(
                    "| " + " | ".join((ends[0].replace("|", "\\|"), kind, *values, ends[1])) + " |"
                )
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def as_latex(table: Table) -> str:
    """Return a table for booktabs; nothing else has to be loaded."""
    lines = [
        r"\begin{tabular}{ll" + "r" * len(COLUMNS) + "}",
        r"\toprule",
        " & & " + " & ".join(COLUMNS) + r" \\",
    ]
    for block in table.blocks:
        heading = rf"\multicolumn{{{len(COLUMNS) + 2}}}{{l}}{{\textit{{{REGIME_HEADINGS[block.regime]}}}}}"
        lines += [r"\midrule", heading + r"\\"]
        for row in block.rows:
            for i, (kind, values) in enumerate(lines_of(row, table)):
                symbol = row.measure.latex if i == 0 else ""
                lines.append(" & ".join((symbol, kind, *map(_latex, values))) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _caption(table: Table) -> str:
    first, second = table.groups
    return (
        f"First group: {first}; second group: {second}. *paper*: as printed; *ours*: our first "
        f"draw, seed ({table.seed}, 0); *draws*: mean ± standard deviation over {table.draws} draws."
    )


def lines_of(row: Row, table: Table) -> list[tuple[str, list[str]]]:
    """The lines of a row: what they show, and a text per column."""
    decimals = row.measure.decimals
    lines = []
    if row.verdict.word != "not printed":
        lines.append(("paper", [cell.printed or "–" for cell in row.cells]))
    lines.append(("ours", [fixed(cell.one, decimals) for cell in row.cells]))
    if table.draws > 1:
        spread = 1 if decimals == 0 else decimals
        lines.append(
            ("draws", [_drawn(cell.mean, cell.sd, decimals, spread) for cell in row.cells])
        )
    return lines


def _drawn(mean: float, sd: float, decimals: int, spread: int) -> str:
    return mean_and_sd(mean, sd, spread if sd > 0 else decimals)


def symbol_of(row: Row, table: Table) -> str:
    """Return how a row is called in the tables; counts by the name of their group."""
    names = {"n_first": f"n ({table.groups[0]})", "n_second": f"n ({table.groups[1]})"}
    return names.get(row.measure.name, row.measure.symbol)


def _latex(text: str) -> str:
    return text.replace(" ± ", r"\,$\pm$\,").replace("–", "--").replace("−", "$-$")
