"""Lines that every silo is compared with: the review level, and all silos together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedparity.auditing.result import AuditResult
from fedparity.plots.labels import pointer
from fedparity.plots.numbers import number
from fedparity.plots.style import ACCENT, REVIEW
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Reference", "global_value", "level_line", "name_above", "review_level"]


@dataclass(frozen=True)
class Reference:
    """A line across all rows, with its name above it."""

    name: str
    x: float
    color: str


def global_value(ax: Axes, result: AuditResult, units: Units) -> Reference:
    """Draw the disparity of all silos together, with its interval as a band."""
    found = result.disparity
    lower, upper = map(units.place, found.interval)
    ax.axvspan(
        lower, upper, color=ACCENT, alpha=0.14, linewidth=0, gid=pointer("disparity", "interval")
    )
    x = units.place(found.value)
    ax.axvline(x, color=ACCENT, linewidth=1.6, zorder=2, gid=pointer("disparity", "value"))
    return Reference(f"all silos {number(found.value)}", x, ACCENT)


def review_level(ax: Axes, result: AuditResult, units: Units) -> list[Reference]:
    """Draw the plan's review level, if it names one of the disparity itself."""
    return level_line(ax, result.disparity.level, units)


def level_line(ax: Axes, level: float | None, units: Units) -> list[Reference]:
    """Draw a review level on an axis of its unit, if there is one."""
    if level is None:
        return []
    x = units.place(level)
    at = pointer("disparity", "review_level")
    ax.axvline(x, color=REVIEW, linewidth=1.2, linestyle=(0, (4, 2)), zorder=2, gid=at)
    return [Reference(f"review level {number(level)}", x, REVIEW)]


def name_above(ax: Axes, references: Sequence[Reference], *, width: float) -> None:
    """Write the names above their lines: side by side if there is room, else on two lines.

    Parameters
    ----------
    width : float
        Of the axes, in inches, about.
    """
    left, right = ax.get_xlim()
    taken: list[tuple[float, float, int]] = []
    for reference in sorted(references, key=lambda each: each.x):
        half = 0.036 * (len(reference.name) + 2) / width * (right - left)
        middle = min(max(reference.x, left + half), max(right - half, left + half))
        start, end = middle - half, middle + half
        line = sum(start < other_end and other < end for other, other_end, _ in taken)
        taken.append((start, end, line))
        ax.annotate(
            reference.name,
            (middle, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 4 + 12 * line),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=reference.color,
            weight="bold",
            annotation_clip=False,
            parse_math=False,
        )
