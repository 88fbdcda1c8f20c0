"""A lower and an upper end on the line."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Interval"]


class Interval(NamedTuple):
    """Lower and upper end."""

    lower: float
    upper: float
