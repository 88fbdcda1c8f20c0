"""Law: probabilities of passing the bar, fitted by logistic regression."""

from __future__ import annotations

import os

import numpy as np

from fedparity.experiments.datasets.dataset import Dataset, Provenance
from fedparity.experiments.datasets.finding import find_file
from fedparity.experiments.datasets.r_data import read_r_data
from fedparity.experiments.datasets.table import read_csv
from fedparity.experiments.datasets.upstream import UPSTREAM
from fedparity.experiments.logistic import design, fit_logistic

__all__ = ["load_law"]

_GROUPS = ("black", "white")
_NUMBERS = ("fam_inc", "lsat", "ugpa", "age")
_LEVELS = ("gender", "cluster", "fulltime")


def load_law(*, data: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the fitted probabilities of two races; neither race nor grades at law school enter."""
    upstream = UPSTREAM["law"]
    path = find_file(upstream, data)
    read = read_r_data if path.suffix == ".rda" else read_csv
    table = read(path, wanted=("race1", "bar", *_NUMBERS, *_LEVELS))
    kept = table.rows(np.isin(table["race1"], _GROUPS))
    columns = [*map(kept.numbers, _NUMBERS), *(kept[name].astype(str) for name in _LEVELS)]
    fit = fit_logistic(design(columns), kept["bar"] == "TRUE")
    return Dataset(
        name="law",
        title="Law",
        scores=fit.probabilities,
        codes=(kept["race1"] == _GROUPS[1]).astype(np.int64),
        group_names=_GROUPS,
        provenance=Provenance(
            file=table.file,
            sha256=table.sha256,
            rows_read=len(table),
            rows_dropped=len(table) - len(kept),
            specification=(
                f"logistic regression of bar on {', '.join(_NUMBERS)}, and the levels of "
                f"{', '.join(_LEVELS)}; {' and '.join(_GROUPS)}"
            ),
            licence=upstream.licence,
        ),
    )
