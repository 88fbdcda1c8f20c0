"""The three estimates of one allocation, compiled: see ``numpy_kernel`` for what they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fedparity.experiments.montecarlo.compiled import estimates
from fedparity.experiments.montecarlo.ranking import Ranking
from fedparity.laws.arrays import FloatArray

__all__ = ["NumbaKernel"]

_CELLS = 1 << 12


class NumbaKernel:
    """Estimates by compiled loops, which let other threads run."""

    name = "numba"

    def __init__(self, ranking: Ranking, levels: Sequence[int]) -> None:
        self._ranking, self._levels = ranking, np.array(levels, dtype=np.int64)
        self._places = _places(ranking.values)

    def estimates(self, silos: npt.NDArray[np.int64], number: int) -> FloatArray:
        """Return the estimates of an allocation, by estimator and number of levels."""
        ranking = self._ranking
        found = np.empty((3, self._levels.size))
        estimates(
            ranking.values,
            ranking.ranks,
            ranking.codes,
            ranking.totals,
            ranking.shares,
            self._places,
            silos,
            number,
            self._levels,
            found,
        )
        return found


def _places(values: FloatArray) -> FloatArray:
    """At equal distances over the range of scores: the share of a value's bucket up to there.

    Half of the buckets go by how many scores there are, half by the distance, so that neither
    dense regions nor gaps between few scores end in one bucket.
    """
    edges = np.linspace(values[0], values[-1], _CELLS + 1)
    below = np.searchsorted(values, edges, side="right") / values.size
    return (below + np.linspace(0.0, 1.0, _CELLS + 1)) / 2
