"""The number that the review level speaks of: what the first figures of a report show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fedparity.auditing.parts import Estimate
from fedparity.auditing.result import AuditResult

__all__ = ["Headline", "headline_of"]


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A number with its errors, where it stands, and what a silo alone has instead of it."""

    found: Estimate
    at: tuple[str, ...]
    """Steps to it in the JSON of the result."""
    name: str
    """Of an axis."""
    level: float | None
    """The review level on that axis; ``None`` without one, or if it has another unit."""
    alone: Literal["disparity", "wasserstein"]
    """The field of a silo that holds the same measure of the silo alone."""


def headline_of(result: AuditResult) -> Headline:
    """Return the distance of the two groups furthest apart, or the disparity if that is reviewed.

    Examples
    --------
    >>> from fedparity import simulate
    >>> table = {"z": [1.0, 2.0, 3.0, 5.0], "g": ["a", "b", "a", "b"], "s": ["x", "x", "y", "y"]}
    >>> result = simulate(table, score="z", group="g", silo="s", score_range=(0, 9), levels=2)
    >>> headline_of(result).name
    'score points between the groups furthest apart'
    """
    review = result.disparity.review_level
    if result.disparity.review_unit == "squared":
        return Headline(
            found=result.disparity,
            at=("disparity",),
            name="disparity",
            level=review,
            alone="disparity",
        )
    lowest, highest = result.plan.score_range
    scale = {"points": 1.0, "share": highest - lowest}.get(result.disparity.review_unit)
    return Headline(
        found=result.magnitudes.worst_pair,
        at=("magnitudes", "worst_pair"),
        name="score points between the groups furthest apart",
        level=None if review is None or scale is None else review * scale,
        alone="wasserstein",
    )
