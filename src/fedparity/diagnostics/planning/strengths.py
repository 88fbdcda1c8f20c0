"""How far apart the laws of a shape must be: searches along its strength."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fedparity.diagnostics.planning.score_laws import disparity_between
from fedparity.diagnostics.planning.shapes import Shape
from fedparity.errors import OptionError

__all__ = ["smallest_strength", "strength_at"]

_OCTAVES = 32
"""Strengths are searched from the largest down to this many halvings of it."""
_STEPS = 45
"""Bisections that give the strength of a disparity to ten digits."""


def smallest_strength(
    reached: Callable[[float], bool], furthest: float, *, steps: int
) -> float | None:
    """Return the smallest strength that is ``reached``, or None if the furthest is not.

    Bisection of the logarithm: after s steps it is known to a factor of 2 to the 32 / 2^s.

    Examples
    --------
    >>> round(smallest_strength(lambda t: t * t >= 0.25, 3.0, steps=40), 9)
    0.5
    """
    if not reached(furthest):
        return None
    low, high = math.log2(furthest) - _OCTAVES, math.log2(furthest)
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(math.exp2(middle)) else (middle, high)
    return math.exp2(high)


def strength_at(shape: Shape, shares: Sequence[float], disparity: float) -> float:
    """Return the strength at which the shape has this disparity.

    Raises
    ------
    OptionError
        If it is not positive, or more than the shape reaches.
    """

    def measured(strength: float) -> float:
        return disparity_between(shape.laws(len(shares), strength), shares)

    if not disparity > 0:
        raise OptionError(
            f"the expected disparity must be above 0, not {disparity!r}.",
            fix="pass the disparity that you expect, or leave it out.",
        )
    strength = smallest_strength(lambda t: measured(t) >= disparity, shape.furthest, steps=_STEPS)
    if strength is None:
        raise OptionError(
            f"the shape {shape.name!r} cannot have a disparity of {disparity:g}.",
            fix=f"pass at most {measured(shape.furthest):.3g}, or a wider score range.",
        )
    return strength
