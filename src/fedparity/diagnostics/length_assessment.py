"""A measure that cannot be negative, with its sampling error."""

from __future__ import annotations

from dataclasses import dataclass

from fedparity.diagnostics.bootstrap import Draws
from fedparity.diagnostics.intervals import Interval, interval_of_length

__all__ = ["LengthAssessment", "assess_length"]


@dataclass(frozen=True, kw_only=True)
class LengthAssessment:
    """A measure that cannot be negative, with its sampling error."""

    value: float
    """The estimate."""
    corrected: float
    """The estimate without the part that sampling noise adds on average; never below 0."""
    interval: Interval
    """What the population could be, given the data."""


def assess_length(value: float, draws: Draws, confidence: float, order: int) -> LengthAssessment:
    """Return the measure with its interval, and without what noise adds on average."""
    added_by_noise = float(draws.values.mean() - draws.base)
    return LengthAssessment(
        value=value,
        corrected=max(0.0, value - added_by_noise),
        interval=interval_of_length(
            value,
            float(draws.base),
            draws.values,
            draws.noise,
            draws.null,
            confidence=confidence,
            order=order,
        ),
    )
