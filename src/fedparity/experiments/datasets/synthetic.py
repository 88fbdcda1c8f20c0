"""The synthetic pair: two groups with Beta laws on [0, 1]."""

from __future__ import annotations

import numpy as np

from fedparity.errors import OptionError
from fedparity.experiments.datasets.dataset import Dataset, Provenance

__all__ = ["SHAPES", "make_synthetic"]

SHAPES = ((3.0, 4.0), (6.0, 4.0))
"""The paper gives none; these have its U₂ of 0.0076."""


def make_synthetic(*, size: int = 10_000, seed: int = 0) -> Dataset:
    """Return a balanced sample of Beta(3, 4) and Beta(6, 4).

    Examples
    --------
    >>> make_synthetic()
    Dataset('synthetic', 10,000 records: 5,000 A, 5,000 B)
    """
    if size < 2 or size % 2:
        raise OptionError(
            f"size must be an even number of at least 2, not {size!r}.", fix="pass size=10_000."
        )
    random = np.random.default_rng(seed)
    words = " and ".join(f"Beta({a:g}, {b:g})" for a, b in SHAPES)
    return Dataset(
        name="synthetic",
        title="Synthetic Beta",
        scores=np.concatenate([random.beta(a, b, size // 2) for a, b in SHAPES]),
        codes=np.repeat([0, 1], size // 2),
        group_names=("A", "B"),
        provenance=Provenance(
            file=None,
            sha256=None,
            rows_read=size,
            rows_dropped=0,
            specification=f"{words}, {size // 2:,} draws each, seed {seed}",
            licence="none needed: made up",
        ),
    )
