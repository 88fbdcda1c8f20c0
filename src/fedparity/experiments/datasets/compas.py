"""COMPAS: risk deciles of defendants, as they are and spread over their bins."""

from __future__ import annotations

import os

import numpy as np

from fedparity.experiments.datasets.dataset import Dataset, Provenance
from fedparity.experiments.datasets.finding import find_file
from fedparity.experiments.datasets.table import read_csv
from fedparity.experiments.datasets.upstream import UPSTREAM

__all__ = ["load_compas"]

_GROUPS = ("African-American", "Caucasian")


def load_compas(
    *, jittered: bool, data: str | os.PathLike[str] | None = None, seed: int = 0
) -> Dataset:
    """Return the deciles of two races in the two-year file, with no other filter.

    ``jittered`` takes from each decile a number uniform on [0, 1), as the paper does to avoid ties.
    """
    upstream = UPSTREAM["compas"]
    table = read_csv(find_file(upstream, data), wanted=("race", "decile_score"))
    kept = table.rows(np.isin(table["race"], _GROUPS))
    scores = kept.numbers("decile_score")
    words = "decile_score"
    if jittered:
        scores = scores - np.random.default_rng(seed).random(scores.size)
        words += f" - U(0, 1), seed {seed}"
    return Dataset(
        name="compas" if jittered else "compas-deciles",
        title="COMPAS" if jittered else "COMPAS, original deciles",
        scores=scores,
        codes=(kept["race"] == _GROUPS[1]).astype(np.int64),
        group_names=_GROUPS,
        provenance=Provenance(
            file=table.file,
            sha256=table.sha256,
            rows_read=len(table),
            rows_dropped=len(table) - len(kept),
            specification=f"{words}; {_GROUPS[0]} and {_GROUPS[1]}, no other filter",
            licence=upstream.licence,
        ),
    )
