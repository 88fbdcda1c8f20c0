"""What may be asked of a plan: checks of its options."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fedparity.diagnostics.planning.shapes import SHAPES, Shape
from fedparity.errors import OptionError

__all__ = ["check_at_least", "check_power", "checked_shape", "checked_shares"]


def checked_shape(shape: str | Shape, score_range: tuple[float, float] | None) -> Shape:
    """Return the shape, or the one of this name, on this score range or else on its own.

    Raises
    ------
    OptionError
        If no shape has this name, or if the range is not one.
    """
    if not isinstance(shape, Shape):
        if shape not in SHAPES:
            raise OptionError.unknown("shape", shape, SHAPES)
        shape = SHAPES[shape]
    return shape if score_range is None else shape.on(*score_range)


def checked_shares(groups: int, shares: Sequence[float] | None) -> tuple[float, ...]:
    """Return the shares of the groups, positive and with sum one; equal if absent.

    Examples
    --------
    >>> checked_shares(2, (3, 1)), checked_shares(2, None)
    ((0.75, 0.25), (0.5, 0.5))
    """
    check_at_least(2, groups, "groups")
    sizes = [1.0] * groups if shares is None else [float(share) for share in shares]
    if len(sizes) != groups or not all(0 < size < math.inf for size in sizes):
        raise OptionError(
            f"shares must be {groups} positive numbers, one per group.",
            fix="pass shares=(0.7, 0.3) for two groups, or leave them out for equal ones.",
        )
    return tuple(size / sum(sizes) for size in sizes)


def check_power(power: float) -> None:
    """Raise unless ``power`` lies strictly between 0 and 1."""
    if not 0 < power < 1:
        raise OptionError(
            f"power must lie strictly between 0 and 1, not {power!r}.",
            fix="pass for example power=0.8.",
        )


def check_at_least(least: int, value: object, name: str) -> None:
    """Raise unless ``value`` is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(
            f"{name} must be a whole number of at least {least}, not {value!r}.",
            fix=f"pass {name}={least} or more.",
        )
