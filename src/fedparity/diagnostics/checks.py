"""Options that several diagnostics share, checked in one place."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from fedparity.errors import OptionError

__all__ = [
    "FEWEST_REDRAWS",
    "check_confidence",
    "check_positive",
    "check_redraws",
    "check_score_range",
    "check_whole",
]


FEWEST_REDRAWS: Final = 20
"""Fewer redraws say nothing of the ends of an interval."""


def check_score_range(score_range: tuple[float, float]) -> tuple[float, float]:
    """Return the public bounds of the score as floats, the lower first."""
    try:
        low, high = map(float, score_range)
    except (TypeError, ValueError):
        low = high = math.nan
    if not -math.inf < low < high < math.inf:
        raise OptionError(
            f"score_range must be two finite numbers, the lower first, not {score_range!r}.",
            fix="pass the public bounds of the score, for example score_range=(0, 1).",
        )
    return low, high


def check_confidence(confidence: float) -> float:
    """Return ``confidence``, or raise unless it lies strictly between 0 and 1."""
    if not (_is_number(confidence) and 0 < confidence < 1):
        raise OptionError(
            f"confidence must be above 0 and below 1, not {confidence!r}.",
            fix="pass confidence=0.95, or another probability below 1.",
        )
    return float(confidence)


def check_positive(value: float, name: str) -> float:
    """Return ``value``, or raise unless it is a finite number above zero."""
    if not (_is_number(value) and 0 < value < math.inf):
        raise OptionError(
            f"{name} must be a finite number above 0, not {value!r}.",
            fix=f"pass a positive number as {name}; without one there is no such guarantee.",
        )
    return float(value)


def check_redraws(redraws: object) -> int:
    """Return ``redraws`` as an int, or raise unless it is a whole number of at least 20."""
    whole = isinstance(redraws, int | np.integer) and not isinstance(redraws, bool)
    if not whole or redraws < FEWEST_REDRAWS:  # type: ignore[operator]
        raise OptionError(
            f"redraws must be a whole number of at least {FEWEST_REDRAWS}, not {redraws!r}.",
            fix="pass redraws=500, or leave it out.",
        )
    return int(redraws)  # type: ignore[call-overload, no-any-return]


def check_whole(value: object, name: str) -> int:
    """Return ``value`` as an int, or raise unless it is a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise OptionError(
            f"{name} must be a whole number of at least 1, not {value!r}.",
            fix=f"pass a number of records, silos or cells as {name}; weights are not records.",
        )
    return int(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )
