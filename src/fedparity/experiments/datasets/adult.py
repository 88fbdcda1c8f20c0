"""Adult: probabilities of an income above 50,000 dollars, fitted by logistic regression."""

from __future__ import annotations

import os

import numpy as np

from fedparity.experiments.datasets.dataset import Dataset, Provenance
from fedparity.experiments.datasets.finding import find_file
from fedparity.experiments.datasets.table import read_csv
from fedparity.experiments.datasets.upstream import UPSTREAM
from fedparity.experiments.logistic import design, fit_logistic

__all__ = ["load_adult"]

_GROUPS = ("Black", "White")
_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
_NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_UNUSED = ("fnlwgt", "native-country", "income")


def load_adult(*, with_race: bool, data: str | os.PathLike[str] | None = None) -> Dataset:
    """Return the fitted probabilities of two races.

    ``with_race`` has race and sex among the covariates, which gives the paper's numbers; without
    them is what the paper's text says.
    """
    upstream = UPSTREAM["adult"]
    table = read_csv(find_file(upstream, data), wanted=_COLUMNS, header=_COLUMNS)
    complete = np.all([table[name] != "?" for name in _COLUMNS], axis=0)
    kept = table.rows(complete & np.isin(table["race"], _GROUPS))
    left_out = _UNUSED if with_race else (*_UNUSED, "race", "sex")
    columns = [
        kept.numbers(name) if name in _NUMBERS else kept[name]
        for name in _COLUMNS
        if name not in left_out
    ]
    fit = fit_logistic(design(columns), kept["income"] == ">50K")
    others = "race and sex among them" if with_race else "race and sex not among them"
    return Dataset(
        name="adult" if with_race else "adult-without-race",
        title="Adult" if with_race else "Adult, without race and sex",
        scores=fit.probabilities,
        codes=(kept["race"] == _GROUPS[1]).astype(np.int64),
        group_names=_GROUPS,
        provenance=Provenance(
            file=table.file,
            sha256=table.sha256,
            rows_read=len(table),
            rows_dropped=len(table) - len(kept),
            specification=(
                "logistic regression of income > 50K on all columns but fnlwgt and "
                f"native-country, {others}; rows with ? dropped; Black and White"
            ),
            licence=upstream.licence,
        ),
    )
