"""How sure the headline is: its interval, then what sketches and the missing leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from fedparity.documents.result import AuditResult
from fedparity.laws.bounds import Bounds
from fedparity.plots.headline import Headline, has_noise, headline_of
from fedparity.plots.part_bars import BarRow, name_bars, write_beside
from fedparity.plots.silo_forest import Reference, level_line, name_above
from fedparity.plots.style import (
    ACCENT,
    INK,
    MUTED,
    Canvas,
    Display,
    Units,
    dress,
    pointer,
    span_from_zero,
)
from fedparity.text import number, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["UncertaintyDisplay"]


_FAR = 5.0
"""A bound this many times beyond the others leaves the axes, as an arrow."""


class UncertaintyDisplay(Display):
    """The headline's number with its interval, then with what the sketches and the missing leave open.

    It is the distance of the two groups furthest apart, in score points, or the disparity where
    the review level speaks of it. The diamond is the estimate, without what noise adds on average.
    A bound far beyond the others leaves the axes as an arrow; its number stands on the right.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        headline = headline_of(result)
        found = headline.found
        near = [found.corrected, found.interval.upper, found.combined.upper, headline.level]
        reach = max(end for end in near if end is not None)
        shown = found.outer.upper if found.outer.upper <= _FAR * reach else 1.25 * reach
        units = Units.for_values([shown, reach])
        bars = _rows(result, headline)
        ax = canvas.axes(0.46 * len(bars) + 0.85)
        dress(ax)
        name_bars(ax, bars)
        span_from_zero(ax, [units.place(max(shown, reach))])
        value = units.place(found.corrected)
        ax.axvline(value, color=ACCENT, linewidth=1.0, zorder=1.5)
        references = [
            Reference(f"all silos {number(found.corrected)}", value, ACCENT),
            *level_line(ax, headline.level, units),
        ]
        for row, interval in enumerate((found.interval, found.combined, found.outer)):
            _draw_interval(ax, row, interval, units)
            ax.plot([value], [row], "D", color=ACCENT, markersize=5, zorder=4, gid=bars[row].at)
        write_beside(ax, bars)
        name_above(ax, references, width=canvas.width - 3.0)
        ax.set_xlabel(units.label(headline.name))
        return cls(ax_=ax, x_units=units)


def _rows(result: AuditResult, headline: Headline) -> list[BarRow]:
    found = headline.found
    often = f"{100 * result.confidence:.3g} % interval"
    sketches = "noise and bins" if has_noise(result) else "sketches"
    names = (
        ("interval", often, "of the population", found.interval),
        ("combined", "combined", f"and all errors of {sketches}", found.combined),
        ("outer", "outer bounds", "raw data, with the missing", found.outer),
    )
    return [
        BarRow(
            name=name,
            meaning=meaning,
            text=span(interval),
            detail="",
            start=0.0,
            end=0.0,
            color=INK,
            at=pointer(*headline.at, field),
        )
        for field, name, meaning, interval in names
    ]


def _draw_interval(ax: Axes, row: int, interval: Bounds, units: Units) -> None:
    """A bar from end to end; the first, which is the headline's, is the boldest."""
    lower, upper = units.place(interval.lower), units.place(interval.upper)
    right = ax.get_xlim()[1]
    color = INK if row == 0 else MUTED
    ax.plot(
        [lower, min(upper, right)],
        [row, row],
        color=color,
        linewidth=4.0 if row == 0 else 2.2,
        solid_capstyle="butt",
        zorder=3,
        clip_on=False,
    )
    if upper > right:
        ax.plot([right], [row], ">", color=color, markersize=6, clip_on=False)
