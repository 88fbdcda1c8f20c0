"""How strongly two columns go together: along a line, or in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray

__all__ = ["centred", "mean_ranks", "pearson", "spearman"]


def pearson(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float | None:
    """Return Pearson's correlation, or None if one of the columns is constant.

    0 means that no line helps to tell one from the other.

    Examples
    --------
    >>> round(pearson(np.array([0.1, 0.2, 0.9]), np.array([0, 1, 1])), 6)
    0.59604
    """
    x, y = centred(first), centred(second)
    if x is None or y is None:
        return None
    both = np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y))
    return float(np.clip(both, -1.0, 1.0))


def spearman(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float | None:
    """Return Spearman's correlation: Pearson's of the ranks, equal values sharing their mean rank.

    Examples
    --------
    >>> spearman(np.array([0.1, 0.2, 0.9]), np.array([0, 5, 6]))
    1.0
    """
    return pearson(mean_ranks(first), mean_ranks(second))


def mean_ranks(values: npt.NDArray[Any]) -> FloatArray:
    """Return the rank of each value from 1, the mean of their ranks for equal ones.

    Examples
    --------
    >>> mean_ranks(np.array([7, 3, 7]))
    array([2.5, 1. , 2.5])
    """
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle: FloatArray = np.cumsum(counts) - (counts - 1) / 2
    return middle[position]


def centred(values: npt.NDArray[Any]) -> FloatArray | None:
    """Return values around their mean, the farthest at distance 1; None if they are all the same."""
    if values.min() == values.max():
        return None
    centred: FloatArray = values - values.mean(dtype=np.float64)
    centred /= np.abs(centred).max()  # the square of a tiny difference would be no float
    return centred
