"""How many numbers a silo must send: k95 of the three estimators on all data sets."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from fedparity.experiments.montecarlo import ESTIMATORS, StudyResult

__all__ = ["HEADINGS", "k95_csv", "k95_markdown", "k95_range"]

HEADINGS = {
    "paper grid": "paper's estimator",
    "quantiles, exact": "quantiles, exact integration",
    "bin means, exact": "bin means, exact integration",
}


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
    """Return the table of the README: data sets by estimators, ranges over regimes and silos."""
    headings = [HEADINGS[name] for name in ESTIMATORS]
    lines = ["| data | " + " | ".join(headings) + " |", "|---|" + "---:|" * len(headings)]
    for title, result in results.items():
        cells = [k95_range(result, name) for name in ESTIMATORS]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def k95_csv(results: Mapping[str, StudyResult]) -> str:
    """Return one line per data set, estimator, regime and number of silos; empty if beyond."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["data", "estimator", "regime", "silos", "k95"])
    for title, result in results.items():
        found = result.k95()
        for i, regime in enumerate(result.study.regimes):
            for j, silos in enumerate(result.study.silos):
                for m, name in enumerate(ESTIMATORS):
                    writer.writerow([title, name, regime, silos, int(found[i, j, m]) or ""])
    return out.getvalue()
