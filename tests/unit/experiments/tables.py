"""Small data sets for tests."""

import numpy as np

from fedparity.experiments.datasets import Dataset, Provenance

__all__ = ["dataset"]

MADE = Provenance(
    file=None, sha256=None, rows_read=0, rows_dropped=0, specification="made up", licence="none"
)


def dataset(size=400, *, decimals=12, groups=2, seed=0, name="made"):
    """Scores of Beta laws, higher from group to group, rounded to give ties."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, groups, size)
    codes[:groups] = range(groups)
    return Dataset(
        name=name,
        title=name.title(),
        scores=np.round(random.beta(3 + codes, 4), decimals),
        codes=codes,
        group_names=tuple("abcdef"[:groups]),
        provenance=MADE,
    )
