"""The terms of the three regimes as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io

from fedparity.experiments.reproduction.number_texts import mean_and_sd
from fedparity.experiments.reproduction.terms import LEVELS, TERMS, TermsTable

__all__ = ["cells_of", "decimals_of", "terms_csv", "terms_latex", "terms_markdown"]

_LATEX = {
    "V_mix": r"$V_{\mathrm{mix}}$",
    "V_bar": r"$V_{\mathrm{bar}}$",
    "R": "$R$",
    "G₂": "$G_2$",
}


def decimals_of(table: TermsTable) -> int:
    """Return how many decimals show three digits of the disparity.

    Examples
    --------
    >>> import numpy as np
    >>> decimals_of(TermsTable("toy", {"random": np.full((2, 6), 0.0029)}))
    5
    """
    size = table.mean(next(iter(table.draws)), "G₂")
    decimals = 3
    while size < 0.1 and decimals < 9:
        size, decimals = size * 10, decimals + 1
    return decimals


def terms_csv(table: TermsTable) -> str:
    """Return one line per scenario and term."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["scenario", "term", "mean", "sd"])
    for scenario in table.draws:
        for term in TERMS:
            numbers = (table.mean(scenario, term), table.sd(scenario, term))
            writer.writerow([scenario, term, *map(repr, numbers)])
    return out.getvalue()


def terms_markdown(table: TermsTable) -> str:
    """Return a line per scenario, and what the numbers say."""
    lines = [f"# {table.title}: ANOVA terms and attribution", ""]
    lines.append(f"Mean ± standard deviation over the draws, five silos, k = {LEVELS}.")
    lines += ["", "| scenario | " + " | ".join(TERMS) + " |", "|---|" + "---:|" * len(TERMS)]
    for scenario in table.draws:
        lines.append(f"| {scenario} | " + " | ".join(cells_of(table, scenario)) + " |")
    return "\n".join([*lines, "", table.sentence, ""])


def terms_latex(table: TermsTable) -> str:
    """Return a table for booktabs."""
    lines = [
        r"\begin{tabular}{l" + "r" * len(TERMS) + "}",
        r"\toprule",
        " & " + " & ".join(_LATEX.get(term, term) for term in TERMS) + r" \\",
        r"\midrule",
    ]
    for scenario in table.draws:
        cells = (
            c.replace(" ± ", r"\,$\pm$\,").replace("−", "$-$") for c in cells_of(table, scenario)
        )
        lines.append(f"{scenario} & " + " & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def cells_of(table: TermsTable, scenario: str) -> list[str]:
    """Return mean ± standard deviation of each term."""
    decimals = decimals_of(table)
    return [
        mean_and_sd(table.mean(scenario, term), table.sd(scenario, term), decimals)
        for term in TERMS
    ]
