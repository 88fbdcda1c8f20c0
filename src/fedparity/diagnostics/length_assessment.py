"""A measure that cannot be negative, with its errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fedparity.diagnostics.bootstrap import Draws
from fedparity.diagnostics.intervals import Interval, interval_of_length
from fedparity.laws.labels import Group

__all__ = ["LengthAssessment", "PairAssessment", "assess_length"]


@dataclass(frozen=True, kw_only=True)
class LengthAssessment:
    """A measure that cannot be negative, with its sampling error and that of the sketches."""

    value: float
    """The estimate as it is."""
    corrected: float
    """The estimate without what sampling and sketches add on average; never below 0."""
    interval: Interval
    """What the population could be: sampling and the estimated error of the sketches counted.

    It holds ``value`` and ``corrected``.
    """


@dataclass(frozen=True, kw_only=True)
class PairAssessment(LengthAssessment):
    """The distance of two groups, in score points."""

    groups: tuple[Group, Group]
    simultaneous: Interval
    """The same for all pairs at once: none is outside with the confidence stated."""


def assess_length(
    value: float, draws: Draws, confidence: float, order: int, *, inside: float = 0.0
) -> LengthAssessment:
    """Return the measure with its interval, and without what redraws have more on average.

    ``inside`` is what the reconstruction between the numbers sent leaves open; it is added to the
    reach of the interval as independent errors add.
    """
    corrected = max(0.0, value - float(draws.values.mean() - draws.base))
    lower, upper = interval_of_length(
        value,
        float(draws.base),
        draws.values,
        draws.noise,
        draws.null,
        confidence=confidence,
        order=order,
    )
    lower, upper = min(lower, corrected), max(upper, corrected)
    lower = corrected - math.hypot(corrected - lower, inside)
    upper = corrected + math.hypot(upper - corrected, inside)
    return LengthAssessment(
        value=value,
        corrected=corrected,
        interval=Interval(max(0.0, min(lower, value)), max(upper, value)),
    )
