"""The disparity's two sources: who is where, and what happens inside the silos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedparity.auditing.result import AuditResult
from fedparity.diagnostics.intervals import Interval
from fedparity.plots.bars import BarRow, draw_bar, name_bars, write_beside
from fedparity.plots.display import WIDTH, Display, canvas
from fedparity.plots.labels import pointer
from fedparity.plots.limits import span_from_zero
from fedparity.plots.numbers import number, span
from fedparity.plots.style import ACCENT, INK, PAPER, dress
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AttributionDisplay"]

_SELECTION, _WITHIN = "#00558c", "#c58500"


class AttributionDisplay(Display):
    """Selection and within-silo shares of the disparity, from 0, with their intervals.

    They add up to the disparity. One of them is negative where it works against the other.
    """

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> AttributionDisplay:
        """Draw the attribution of a result.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        parts = _known(result)
        ends = [e for part in parts for e in (part.value, *(part.interval or ()))]
        units = Units.for_values(ends)
        bars = [part.bar(units) for part in parts]
        with canvas(ax, width, 0.46 * len(bars) + 0.6) as axes:
            dress(axes)
            name_bars(axes, bars)
            span_from_zero(axes, [units.place(end) for end in ends])
            for row, (bar, part) in enumerate(zip(bars, parts, strict=True)):
                draw_bar(axes, row, bar)
                _draw_interval(axes, row, part.interval, units)
            axes.axvline(0, color=INK, linewidth=0.8)
            write_beside(axes, bars)
            axes.set_xlabel(units.label("disparity"))
        return cls(ax_=axes, figure_=axes.figure, x_units=units)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Part:
    """A part of the disparity that is known, with its words and its look."""

    name: str
    meaning: str
    value: float
    interval: Interval | None
    at: str
    color: str
    hatch: str | None = None

    def bar(self, units: Units) -> BarRow:
        return BarRow(
            name=self.name,
            meaning=self.meaning,
            text=number(self.value),
            detail="" if self.interval is None else span(self.interval),
            start=0.0,
            end=units.place(self.value),
            color=self.color,
            at=self.at,
            hatch=self.hatch,
        )


def _known(result: AuditResult) -> list[_Part]:
    """The two parts, unless only sums over silos were seen, and the whole."""
    held, found = result.attribution, result.disparity
    parts = []
    if held.selection is not None and held.within is not None:
        parts = [
            _Part(
                "selection",
                "who is in which silo",
                held.selection,
                held.intervals.selection,
                pointer("attribution", "selection"),
                _SELECTION,
            ),
            _Part(
                "within silos",
                "groups differ inside a silo",
                held.within,
                held.intervals.within,
                pointer("attribution", "within"),
                _WITHIN,
                "////",
            ),
        ]
    name = "G₁" if result.plan.order == 1 else "G₂"
    meaning = "all silos together" if parts else "its parts are not known"
    at = pointer("disparity", "value")
    return [*parts, _Part(name, meaning, found.value, found.interval, at, ACCENT)]


def _draw_interval(ax: Axes, row: int, interval: Interval | None, units: Units) -> None:
    if interval is None:
        return
    ends = [units.place(end) for end in interval]
    for color, thick in ((PAPER, 3.6), (INK, 1.4)):  # with a rim, as it crosses a dark bar
        ax.plot(ends, [row, row], color=color, linewidth=thick, solid_capstyle="butt", zorder=3)
