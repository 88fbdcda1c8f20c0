"""The records of a data set in order of score: sorted once, for all allocations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.experiments.datasets.dataset import Dataset
from fedparity.laws.arrays import FloatArray

__all__ = ["Ranking"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking:
    """What every allocation of a data set has in common."""

    order: IntArray
    """The records in order of score, equal ones in order of the table."""
    values: FloatArray
    """The distinct scores, in increasing order."""
    ranks: npt.NDArray[np.int32]
    """Position in ``values`` of each record, in order of score."""
    codes: IntArray
    """Group of each record, in order of score."""
    totals: IntArray
    """Records of each group."""
    shares: FloatArray
    """Shares of the groups."""

    @classmethod
    def of(cls, dataset: Dataset) -> Ranking:
        """Return the ranking of a data set."""
        order = np.argsort(dataset.scores, kind="stable")
        values, ranks = np.unique(dataset.scores, return_inverse=True)
        totals = np.bincount(dataset.codes, minlength=len(dataset.group_names))
        return cls(
            order=order,
            values=values,
            ranks=ranks[order].astype(np.int32),
            codes=dataset.codes[order],
            totals=totals,
            shares=totals / totals.sum(),
        )

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.totals.size
