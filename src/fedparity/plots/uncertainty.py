"""How sure the disparity is: sampling, sketches, what is missing, and all of it together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedparity.auditing.result import AuditResult
from fedparity.diagnostics.intervals import Interval
from fedparity.plots.bars import BarRow, name_bars, write_beside
from fedparity.plots.display import WIDTH, Display, canvas
from fedparity.plots.labels import pointer
from fedparity.plots.limits import span_from_zero
from fedparity.plots.numbers import number, span
from fedparity.plots.reference_lines import Reference, name_above, review_level
from fedparity.plots.style import ACCENT, INK, MUTED, PAPER, dress
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["UncertaintyDisplay"]

_FAR = 5.0
"""A bound this many times beyond the others leaves the axes, as an arrow."""


class UncertaintyDisplay(Display):
    """The disparity with its interval, certificate, outer bounds, and all errors combined.

    A bound far beyond the others leaves the axes as an arrow; its number stands on the right.
    """

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> UncertaintyDisplay:
        """Draw the errors of a result's disparity.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        found = result.disparity
        near = [found.value, found.interval.upper, found.certificate.upper, found.level]
        reach = max(end for end in near if end is not None)
        far = max(found.outer.upper, found.combined.upper)
        shown = far if far <= _FAR * reach else 1.25 * reach
        units = Units.for_values([shown, reach])
        bars = _rows(result)
        with canvas(ax, width, 0.46 * len(bars) + 0.85) as axes:
            dress(axes)
            name_bars(axes, bars)
            span_from_zero(axes, [units.place(max(shown, reach))])
            value = units.place(found.value)
            axes.axvline(value, color=ACCENT, linewidth=1.0, zorder=1.5)
            references = [
                Reference(f"all silos {number(found.value)}", value, ACCENT),
                *review_level(axes, result, units),
            ]
            for row, interval in enumerate(_intervals(result)):
                _draw_interval(axes, row, interval, units, last=row == len(bars) - 1)
                axes.plot(
                    [value], [row], "D", color=ACCENT, markersize=5, zorder=4, gid=bars[row].at
                )
            axes.plot(
                [units.place(found.corrected)],
                [0],
                "o",
                markerfacecolor=PAPER,
                markeredgecolor=INK,
                markeredgewidth=1.0,
                markersize=4.5,
                zorder=3.5,
                gid=pointer("disparity", "corrected"),
            )
            write_beside(axes, bars)
            name_above(axes, references, width=width - 3.0)
            axes.set_xlabel(units.label("disparity"))
        return cls(ax_=axes, figure_=axes.figure, x_units=units)  # type: ignore[arg-type]


def _intervals(result: AuditResult) -> tuple[Interval, Interval, Interval, Interval]:
    found = result.disparity
    return found.interval, found.certificate, found.outer, found.combined


def _rows(result: AuditResult) -> list[BarRow]:
    noisy = "dp" in str(result.guarantee.get("mode"))
    names = (
        ("interval", f"{100 * result.confidence:.3g} % interval", "chance of sampling"),
        ("certificate", "certificate", "noise and bins" if noisy else "error of the sketches"),
        ("outer", "outer bounds", "and what is missing"),
        ("combined", "combined", "all errors together"),
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
            at=pointer("disparity", field),
        )
        for (field, name, meaning), interval in zip(names, _intervals(result), strict=True)
    ]


def _draw_interval(ax: Axes, row: int, interval: Interval, units: Units, *, last: bool) -> None:
    lower, upper = units.place(interval.lower), units.place(interval.upper)
    right = ax.get_xlim()[1]
    ax.plot(
        [lower, min(upper, right)],
        [row, row],
        color=INK if last else MUTED,
        linewidth=4.0 if last else 2.2,
        solid_capstyle="butt",
        zorder=3,
        clip_on=False,
    )
    if upper > right:
        ax.plot([right], [row], ">", color=INK if last else MUTED, markersize=6, clip_on=False)
