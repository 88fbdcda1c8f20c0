"""Laws with a density, in closed form: what the assumptions of the paper speak of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import integrate

import fedparity as fp


class Continuous(Protocol):
    """A law with a continuous cdf."""

    def cdf(self, x):
        """Return F(x)."""

    def quantile(self, u):
        """Return the left-continuous inverse of F."""


@dataclass(frozen=True)
class Tilted:
    r"""The law on [0, 1] with density :math:`1 + c (2x - 1)`, where :math:`|c| < 1`.

    Its cdf is :math:`x + c (x^2 - x)`. A mixture of such laws is one of them, whose tilt is the
    mean of the tilts, and a larger tilt has larger quantiles at every level.
    """

    tilt: float

    def cdf(self, x):
        """Return F(x)."""
        inside = np.clip(x, 0.0, 1.0)
        return inside + self.tilt * (inside**2 - inside)

    def quantile(self, u):
        """Return the root in [0, 1] of F(x) = u."""
        linear = 1 - self.tilt
        return 2 * u / (linear + np.sqrt(linear**2 + 4 * self.tilt * u))

    @property
    def lowest_density(self) -> float:
        """The smallest value of the density on the support."""
        return 1 - abs(self.tilt)

    @property
    def highest_density(self) -> float:
        """The largest value of the density."""
        return 1 + abs(self.tilt)

    @property
    def curvature(self) -> float:
        r"""The largest :math:`|Q''| = |f'(Q)| / f(Q)^3`."""
        return 2 * abs(self.tilt) / self.lowest_density**3


def tilted_disparity(tilts: Sequence[float], shares: Sequence[float], order: int) -> float:
    r"""Return :math:`U_p` of tilted laws.

    For p = 1 two tilted laws are at distance :math:`|c - c'|/6` and their median is the law of
    the median tilt; for p = 2 the integrand is smooth and integrated numerically.
    """
    weights = np.asarray(shares, dtype=float)
    if order == 1:
        spreads = [weights @ np.abs(np.asarray(tilts) - center) for center in tilts]
        return float(min(spreads)) / 6

    def variance(u):
        values = np.array([Tilted(tilt).quantile(u) for tilt in tilts])
        return weights @ (values - weights @ values) ** 2

    return integrate.quad(variance, 0, 1, epsabs=1e-14, epsrel=1e-13)[0]


def tilted_heterogeneity(tilts: Sequence[float], shares: Sequence[float], order: int) -> float:
    r"""Return :math:`H_p` of tilted laws: their cdfs differ by multiples of :math:`x - x^2`."""
    weights, slopes = np.asarray(shares, dtype=float), np.asarray(tilts, dtype=float)
    integral = 1 / 6 if order == 1 else 1 / 30
    return float(weights @ np.abs(slopes - weights @ slopes) ** order) * integral


@dataclass(frozen=True)
class Blocks:
    """A law that is uniform on each of several disjoint intervals, with gaps between them."""

    left: tuple[float, ...]
    right: tuple[float, ...]
    masses: tuple[float, ...]

    def cdf(self, x):
        """Return F(x)."""
        points = np.asarray(x, dtype=float)[..., None]
        shares = (points - self.left) / (np.asarray(self.right) - self.left)
        return np.clip(shares, 0.0, 1.0) @ np.asarray(self.masses)

    def quantile(self, u):
        """Return the left-continuous inverse of F: below a gap where F is flat."""
        reached = np.cumsum(self.masses)
        block = np.searchsorted(reached, np.asarray(u), side="left").clip(max=reached.size - 1)
        masses = np.asarray(self.masses)
        share = (u - (reached - masses)[block]) / masses[block]
        return np.asarray(self.left)[block] + share * (np.asarray(self.right) - self.left)[block]

    def lowest_density(self, low: float, high: float) -> float:
        """Return the smallest density on [low, high], zero if a gap meets it."""
        inside = [
            (max(a, low), min(b, high), mass / (b - a))
            for a, b, mass in zip(self.left, self.right, self.masses, strict=True)
            if a < high and b > low
        ]
        ends = [low, *(b for _, b, _ in inside)]
        starts = [*(a for a, _, _ in inside), high]
        has_gap = any(start > end for end, start in zip(ends, starts, strict=True))
        return 0.0 if has_gap else min(density for _, _, density in inside)


def distance_between_cdfs(continuous: Continuous, law: fp.Law) -> float:
    r"""Return :math:`\|F - G\|_\infty` of a continuous cdf and a step cdf, exactly.

    Between two atoms G is constant and F monotone, so the largest gap is at an atom, on one of
    its two sides.
    """
    cdf = continuous.cdf(law.atoms)
    above = np.abs(law.cumulative - cdf)
    below = np.abs(law.cumulative - law.masses - cdf)
    return float(max(above.max(), below.max()))
