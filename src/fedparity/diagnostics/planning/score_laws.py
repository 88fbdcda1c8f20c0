"""Laws that records are simulated from, and their exact disparity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedparity.functionals.dispersion import around_mean
from fedparity.functionals.order import weighted_sum
from fedparity.laws.arrays import FloatArray

__all__ = ["DensityLaw", "ScoreLaw", "disparity_between", "farthest_distance"]


class ScoreLaw(Protocol):
    """A law that can be sampled: records are its quantiles at uniform levels."""

    @property
    def cumulative(self) -> FloatArray:
        """The cdf at the points between which the quantile function is constant or linear."""

    def quantile(self, levels: FloatArray) -> FloatArray:
        """Return the quantiles at ``levels``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DensityLaw:
    """A law whose density is constant between points: its quantile function is linear there.

    Examples
    --------
    >>> law = DensityLaw.from_masses(np.array([0.0, 1.0, 3.0]), np.array([1.0, 1.0]))
    >>> law.quantile(np.array([0.25, 0.75]))
    array([0.5, 2. ])
    """

    points: FloatArray
    cumulative: FloatArray
    """The cdf at each point: from 0 to 1, strictly increasing."""

    @classmethod
    def from_masses(cls, points: FloatArray, masses: FloatArray) -> DensityLaw:
        """Return the law with these masses, up to a factor, between consecutive ``points``."""
        running = np.concatenate(([0.0], np.cumsum(masses)))
        cumulative, first = np.unique(running / running[-1], return_index=True)
        return cls(points=points[first], cumulative=cumulative)

    def quantile(self, levels: FloatArray) -> FloatArray:
        """Return the quantiles at ``levels`` in [0, 1]."""
        values: FloatArray = np.interp(levels, self.cumulative, self.points)
        return values


def disparity_between(laws: Sequence[ScoreLaw], shares: Sequence[float]) -> float:
    r"""Return :math:`U_2` of the laws themselves, not of samples of them.

    Between cdf values of any of the laws all quantile functions are linear (or constant), so
    that two Gauss points per interval integrate their squared differences exactly.
    """
    ends = np.unique(np.concatenate([[0.0, 1.0], *(law.cumulative for law in laws)]))
    halves = np.diff(ends) / 2
    middles, offsets = ends[:-1] + halves, halves / math.sqrt(3)
    nodes = np.concatenate([middles - offsets, middles + offsets])
    values = np.stack([law.quantile(nodes) for law in laws])
    columns = np.asarray(shares, dtype=np.float64)[:, None]
    return weighted_sum(around_mean(values, columns, 2), np.tile(halves, 2))


def farthest_distance(laws: Sequence[ScoreLaw]) -> float:
    r"""Return :math:`W_2` between the first and the last law: the two farthest of a shape."""
    return 2 * math.sqrt(disparity_between([laws[0], laws[-1]], [0.5, 0.5]))
