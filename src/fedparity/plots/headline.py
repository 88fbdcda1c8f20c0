"""The number that a report leads with, and what a silo alone shows of it, in the same unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import Estimate, SiloResult

__all__ = ["Headline", "has_noise", "headline_of", "symbol"]


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A number with its errors, where it stands, and what a silo alone has instead of it."""

    found: Estimate
    at: tuple[str, ...]
    """Steps to it in the JSON of the result."""
    name: str
    """Of an axis."""
    symbol: str
    level: float | None
    """The review level on that axis; ``None`` without one, or if it has another unit."""
    alone: Literal["disparity", "wasserstein"]
    """The field of a silo that holds the same measure of the silo alone."""
    beside: Literal["corrected", "value"]
    """The field of ``found`` that stands beside what silos show alone.

    In points it is the number of the headline; a disparity is shown as the silos have theirs, with
    what noise adds on average.
    """

    @property
    def whole(self) -> float:
        """The number of all silos together that stands beside what silos show alone."""
        return self.found.value if self.beside == "value" else self.found.corrected

    @property
    def has_intervals(self) -> bool:
        """Whether what a silo shows alone has an interval.

        The interval of a silo is one for its disparity. From it none follows for the largest
        distance of two groups: a disparity mixes all pairs, and weighs them by shares that are
        estimated too.
        """
        return self.alone == "disparity"

    @property
    def in_points(self) -> str:
        """What follows the number of a silo: its unit, or nothing for a disparity."""
        return "" if self.alone == "disparity" else " points"

    @property
    def column(self) -> str:
        """The heading of a column of what silos show alone."""
        return f"{self.symbol} alone{',' if self.in_points else ''}{self.in_points}"

    def of_silo(self, silo: SiloResult) -> float | None:
        """Return what a silo shows alone."""
        return silo.disparity if self.alone == "disparity" else silo.wasserstein


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
    review, unit = result.disparity.review_level, result.disparity.review_unit
    if unit == "squared":
        return Headline(
            found=result.disparity,
            at=("disparity",),
            name="disparity",
            symbol=symbol("G", result),
            level=review,
            alone="disparity",
            beside="value",
        )
    lowest, highest = result.plan.score_range
    scale = {"points": 1.0, "share": highest - lowest}.get(unit)
    return Headline(
        found=result.magnitudes.worst_pair,
        at=("magnitudes", "worst_pair"),
        name="score points between the groups furthest apart",
        symbol=symbol("W", result),
        level=None if review is None or scale is None else review * scale,
        alone="wasserstein",
        beside="corrected",
    )


def symbol(letter: str, result: AuditResult) -> str:
    """Return a measure's symbol with its order: ``G₂``."""
    return letter + "₁₂"[result.plan.order - 1]


def has_noise(result: AuditResult) -> bool:
    """Return whether noise was added for differential privacy."""
    return "dp" in str(result.guarantee.get("mode"))
