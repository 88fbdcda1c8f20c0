"""Tables as CSV, Markdown and LaTeX, and their numbers as text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence

from fedparity_reproduction.estimators import ESTIMATORS
from fedparity_reproduction.studies import StudyResult
from fedparity_reproduction.tables import COLUMNS, Row, Table
from fedparity_reproduction.terms import LEVELS, TERMS, TermsTable

__all__ = [
    "ESTIMATOR_HEADINGS",
    "REGIME_HEADINGS",
    "fixed",
    "k95_csv",
    "k95_markdown",
    "k95_range",
    "lines_of",
    "mean_and_sd",
    "symbol_of",
    "table_csv",
    "table_latex",
    "table_markdown",
    "terms_cells",
    "terms_csv",
    "terms_latex",
    "terms_markdown",
]

REGIME_HEADINGS = {
    "random": "Random allocation",
    "positive": "Positive selection",
    "negative": "Negative selection",
}
ESTIMATOR_HEADINGS = dict(
    zip(
        ESTIMATORS,
        ("paper's estimator", "quantiles, exact integration", "bin means, exact integration"),
        strict=True,
    )
)
_MOST_DECIMALS = 7
_TERMS_LATEX = {
    "V_mix": r"$V_{\mathrm{mix}}$",
    "V_bar": r"$V_{\mathrm{bar}}$",
    "R": "$R$",
    "G₂": "$G_2$",
}


# -- numbers -------------------------------------------------------------------------------------


def fixed(value: float, decimals: int) -> str:
    """Return a number with a fixed number of decimals; a dash where there is none.

    Examples
    --------
    >>> fixed(0.76094, 4), fixed(3696.0, 0), fixed(float("nan"), 4), fixed(-0.00001, 3)
    ('0.7609', '3696', '–', '0.000')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def mean_and_sd(mean: float, sd: float, decimals: int) -> str:
    """Return mean ± standard deviation; the mean alone where draws do not differ.

    There are more decimals than ``decimals`` if the deviation would show as zero.

    Examples
    --------
    >>> mean_and_sd(0.42384, 0.0703, 4), mean_and_sd(3696.0, 0.0, 0), mean_and_sd(2e-5, 6e-6, 4)
    ('0.4238 ± 0.0703', '3696', '0.00002 ± 0.00001')
    """
    if not sd > 0:
        return fixed(mean, decimals)
    while round(sd, decimals) == 0 and decimals < _MOST_DECIMALS:
        decimals += 1
    return f"{fixed(mean, decimals)} ± {fixed(sd, decimals)}"


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _latex(cells: Iterable[str]) -> str:
    text = " & ".join(cells).replace(" ± ", r"\,$\pm$\,").replace("–", "--").replace("−", "$-$")
    return rf"{text} \\"


# -- the paper's tables --------------------------------------------------------------------------


def table_csv(table: Table) -> str:
    """Return one line per cell, numbers in full."""
    fields = "table regime measure column paper ours mean sd agreement verdict reason"
    return _csv(
        fields.split(),
        (
            [
                *(block.label, block.regime, row.measure.name, name, cell.printed or ""),
                *map(repr, (cell.one, cell.mean, cell.sd)),
                *(cell.agreement or "", row.verdict.word, row.verdict.reason),
            ]
            for block, row in table.rows
            for name, cell in zip(COLUMNS, row.cells, strict=True)
        ),
    )


def table_markdown(table: Table) -> str:
    """Return three lines per measure (paper, ours, all draws), and the verdict."""
    first, second = table.groups
    lines = [
        f"# {table.title}",
        "",
        (
            f"First group: {first}; second group: {second}. *paper*: as printed; *ours*: our first "
            f"draw, seed ({table.seed}, 0); *draws*: mean ± standard deviation over {table.draws} draws."
        ),
        "",
    ]
    for block in table.blocks:
        lines += [f"## {REGIME_HEADINGS[block.regime]} (`{block.label}`)", ""]
        lines.append("| | | " + " | ".join(COLUMNS) + " | verdict |")
        lines.append("|---|---|" + "---:|" * len(COLUMNS) + "---|")
        for row in block.rows:
            symbol = symbol_of(row, table).replace("|", "\\|")
            verdict = f"{row.verdict.shape} {row.verdict.word}: {row.verdict.reason}"
            for kind, values in lines_of(row, table):
                lines.append("| " + " | ".join((symbol, kind, *values, verdict)) + " |")
                symbol = verdict = ""
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def table_latex(table: Table) -> str:
    """Return a table for booktabs; nothing else has to be loaded."""
    lines = [
        r"\begin{tabular}{ll" + "r" * len(COLUMNS) + "}",
        r"\toprule",
        _latex(("", "", *COLUMNS)),
    ]
    for block in table.blocks:
        heading = rf"\textit{{{REGIME_HEADINGS[block.regime]}}}"
        lines += [r"\midrule", rf"\multicolumn{{{len(COLUMNS) + 2}}}{{l}}{{{heading}}}\\"]
        for row in block.rows:
            symbol = row.measure.latex
            for kind, values in lines_of(row, table):
                lines.append(_latex((symbol, kind, *values)))
                symbol = ""
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def lines_of(row: Row, table: Table) -> list[tuple[str, list[str]]]:
    """Return the lines of a row: what they show, and a text per column."""
    decimals = row.measure.decimals
    lines = []
    if row.verdict.word != "not printed":
        lines.append(("paper", [cell.printed or "–" for cell in row.cells]))
    lines.append(("ours", [fixed(cell.one, decimals) for cell in row.cells]))
    if table.draws > 1:
        spread = max(decimals, 1)
        drawn = [
            mean_and_sd(cell.mean, cell.sd, spread if cell.sd > 0 else decimals)
            for cell in row.cells
        ]
        lines.append(("draws", drawn))
    return lines


def symbol_of(row: Row, table: Table) -> str:
    """Return the name of a row; counts have the name of their group."""
    names = {"n_first": f"n ({table.groups[0]})", "n_second": f"n ({table.groups[1]})"}
    return names.get(row.measure.name, row.measure.symbol)


# -- the ANOVA terms -----------------------------------------------------------------------------


def terms_cells(table: TermsTable, scenario: str) -> list[str]:
    """Return mean ± standard deviation of each term, with three digits of the disparity."""
    size, decimals = table.mean(next(iter(table.draws)), "G₂"), 3
    while size < 0.1 and decimals < 9:
        size, decimals = size * 10, decimals + 1
    return [
        mean_and_sd(table.mean(scenario, term), table.sd(scenario, term), decimals)
        for term in TERMS
    ]


def terms_csv(table: TermsTable) -> str:
    """Return one line per scenario and term."""
    return _csv(
        ["scenario", "term", "mean", "sd"],
        (
            [scenario, term, repr(table.mean(scenario, term)), repr(table.sd(scenario, term))]
            for scenario in table.draws
            for term in TERMS
        ),
    )


def terms_markdown(table: TermsTable) -> str:
    """Return a line per scenario, and what the numbers say."""
    lines = [
        f"# {table.title}: ANOVA terms and attribution",
        "",
        f"Mean ± standard deviation over the draws, five silos, k = {LEVELS}.",
        "",
        "| scenario | " + " | ".join(TERMS) + " |",
        "|---|" + "---:|" * len(TERMS),
        *(f"| {each} | " + " | ".join(terms_cells(table, each)) + " |" for each in table.draws),
    ]
    return "\n".join([*lines, "", table.sentence, ""])


def terms_latex(table: TermsTable) -> str:
    """Return a table for booktabs."""
    lines = [
        r"\begin{tabular}{l" + "r" * len(TERMS) + "}",
        r"\toprule",
        _latex(("", *(_TERMS_LATEX.get(term, term) for term in TERMS))),
        r"\midrule",
        *(_latex((scenario, *terms_cells(table, scenario))) for scenario in table.draws),
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


# -- how many numbers are enough -----------------------------------------------------------------


def k95_range(result: StudyResult, estimator: str) -> str:
    """Return k95 over all regimes and numbers of silos, as a range.

    Above the largest k of the study it is not known: then the range ends with ">200".
    """
    found = result.k95()[:, :, ESTIMATORS.index(estimator)]
    reached = found[found > 0].tolist()
    beyond = f">{max(result.study.levels)}"
    if not reached:
        return beyond
    low = str(min(reached))
    high = str(max(reached)) if (found > 0).all() else beyond
    return low if low == high else f"{low} to {high}"


def k95_markdown(results: Mapping[str, StudyResult]) -> str:
    """Return the table of the manual: data sets by estimators, ranges over regimes and silos."""
    headings = ESTIMATOR_HEADINGS.values()
    lines = ["| data | " + " | ".join(headings) + " |", "|---|" + "---:|" * len(headings)]
    for title, result in results.items():
        cells = [k95_range(result, name) for name in ESTIMATORS]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def k95_csv(results: Mapping[str, StudyResult]) -> str:
    """Return one line per data set, estimator, regime and number of silos; empty if beyond."""
    return _csv(
        ["data", "estimator", "regime", "silos", "k95"],
        (
            [title, name, regime, silos, int(result.k95()[i, j, m]) or ""]
            for title, result in results.items()
            for i, regime in enumerate(result.study.regimes)
            for j, silos in enumerate(result.study.silos)
            for m, name in enumerate(ESTIMATORS)
        ),
    )
