"""Stated shapes of score laws: what a planned audit is simulated from.

A shape is a family of laws on a score range: the law at position 0 is the one that all groups
share at parity, and laws drift to higher scores as the position grows. No law is clipped or
reflected at the ends of the range: each stays a law of its family.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fedparity.diagnostics.planning.score_laws import DensityLaw, ScoreLaw
from fedparity.errors import OptionError
from fedparity.laws.law import Law

__all__ = ["SHAPES", "Shape"]

_PIECES = 2048
"""Pieces of constant density that stand for a Beta law: its disparities keep six digits."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A family of score laws, from the law of parity towards higher scores.

    Parameters
    ----------
    name : str
    meaning : str
        The law at position 0 and where it moves, in words.
    family : callable of (position, low, high)
        Returns the law at a position on a score range.
    furthest : float
        The largest position.
    low, high : float
        The score range.
    density : float
        What the densities times the length of the range are never below on their supports;
        0 where there is no such number.

    Examples
    --------
    >>> low, high = SHAPES["uniform"].laws(groups=2, strength=1.0)
    >>> low.quantile(np.array([0.0, 1.0])), high.quantile(np.array([0.0, 1.0]))
    (array([0. , 0.5]), array([0.175, 0.675]))
    """

    name: str
    meaning: str
    family: Callable[[float, float, float], ScoreLaw]
    furthest: float
    low: float = 0.0
    high: float = 1.0
    density: float = 0.0

    @property
    def width(self) -> float:
        """The length R of the score range."""
        return self.high - self.low

    @property
    def least_density(self) -> float:
        """The density that no law is below on its support, on this range; 0 if there is none."""
        return self.density / self.width

    def on(self, low: float, high: float) -> Shape:
        """Return the same shape on another score range."""
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise OptionError(
                f"a score range must be two finite numbers, low < high, not {low!r} and {high!r}.",
                fix="pass score_range=(0.0, 1.0), or the range of your scores.",
            )
        return replace(self, low=float(low), high=float(high))

    def laws(self, groups: int, strength: float) -> list[ScoreLaw]:
        """Return one law per group, evenly from position 0 to position ``strength``."""
        return [
            self.family(strength * group / (groups - 1), self.low, self.high)
            for group in range(groups)
        ]


def _beta(a: float, b: float, low: float, high: float) -> DensityLaw:
    """The Beta(a, b) law on a range, by the density in the middle of many pieces."""
    middles = (np.arange(_PIECES) + 0.5) / _PIECES
    logs = (a - 1) * np.log(middles) + (b - 1) * np.log1p(-middles)
    return DensityLaw.from_masses(np.linspace(low, high, _PIECES + 1), np.exp(logs - logs.max()))


def _skewed_beta(position: float, low: float, high: float) -> ScoreLaw:
    return _beta(3 + 3 * position, 4, low, high)


def _bell_beta(position: float, low: float, high: float) -> ScoreLaw:
    """Mean 0.4 + 0.175 t of the range, the sum of both parameters kept at 20."""
    return _beta(8 + 3.5 * position, 12 - 3.5 * position, low, high)


def _shifted_uniform(position: float, low: float, high: float) -> ScoreLaw:
    """Uniform on half of the range, shifted by 0.175 t of it."""
    start = low + 0.175 * position * (high - low)
    return DensityLaw.from_masses(np.array([start, start + (high - low) / 2]), np.array([1.0]))


_FALLING = np.array([28.0, 15, 11, 11, 10, 8, 6, 5, 4, 2])
"""Per cent of each decile in a group whose scores are mostly low."""


def _tilted_deciles(position: float, low: float, high: float) -> ScoreLaw:
    """Ten equally spaced scores, falling at 0, level at 1, rising beyond."""
    return Law(np.linspace(low, high, 10), _FALLING ** (1 - position))


_BETA = Shape(
    name="beta",
    meaning="from Beta(3, 4) towards Beta(6, 4)",
    family=_skewed_beta,
    furthest=15.0,
)
_UNIFORM = Shape(
    name="uniform",
    meaning="on half of the range, shifted",
    family=_shifted_uniform,
    furthest=0.5 / 0.175,
    density=2.0,
)
_NORMAL = Shape(
    name="normal",
    meaning="bell-shaped, from Beta(8, 12) towards Beta(11.5, 8.5)",
    family=_bell_beta,
    furthest=3.0,
)
_DECILES = Shape(
    name="deciles",
    meaning="ten scores, their shares from falling towards level",
    family=_tilted_deciles,
    furthest=3.0,
    low=1.0,
    high=10.0,
)

SHAPES: dict[str, Shape] = {shape.name: shape for shape in (_BETA, _UNIFORM, _NORMAL, _DECILES)}
"""The shapes by name."""
