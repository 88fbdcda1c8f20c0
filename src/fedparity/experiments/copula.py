"""The Gaussian copula that ties silos to scores: normal quantiles, and a latent variable cut up."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray

__all__ = ["cut_ranks", "cut_values", "normal_quantiles"]

IntArray: TypeAlias = npt.NDArray[np.int64]


def cut_values(latent: FloatArray, counts: IntArray) -> IntArray:
    """Return the silo of each record of a group, cut where the share of the baseline is reached."""
    ends = normal_quantiles(np.cumsum(counts[:-1]) / counts.sum())
    return np.searchsorted(ends, latent, side="left")


def cut_ranks(latent: FloatArray, counts: IntArray) -> IntArray:
    """Return the silo of each record of a group, each getting as many as in the baseline."""
    dealt = np.empty(latent.size, dtype=np.int64)
    dealt[np.argsort(latent, kind="stable")] = np.repeat(np.arange(counts.size), counts)
    return dealt


def normal_quantiles(levels: FloatArray) -> FloatArray:
    r"""Return :math:`\Phi^{-1}` of levels from 0 to 1, infinite at both ends."""
    from statistics import NormalDist  # noqa: PLC0415 -- slow to import

    quantiles = np.where(levels > 0, np.inf, -np.inf)
    inside = (levels > 0) & (levels < 1)
    quantiles[inside] = np.fromiter(map(NormalDist().inv_cdf, levels[inside].tolist()), float)
    return quantiles
