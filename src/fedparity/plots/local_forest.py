"""What each silo would see alone, against all silos together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fedparity.auditing.result import AuditResult
from fedparity.plots.display import WIDTH, Display, canvas
from fedparity.plots.labels import pointer, shortened
from fedparity.plots.limits import span_from_zero
from fedparity.plots.reference_lines import global_value, name_above, review_level
from fedparity.plots.silo_rows import ROW, SiloRows, name_rows, silo_rows
from fedparity.plots.style import INK, MUTED, PAPER, dress
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LocalForestDisplay"]

_LARGEST_DOT = 9.0
_SMALLEST_DOT = 2.5


class LocalForestDisplay(Display):
    """The disparity inside each silo with its interval, the global one, and the review level.

    Silos stand by their disparity, the largest at the top; the area of a dot is the number of
    records. Beyond sixty silos the extremes are shown.
    """

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> LocalForestDisplay:
        """Draw a result's silos, one in a row.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        rows = silo_rows([silo.disparity for silo in result.silos])
        reach = _reach(result, rows)
        units = Units.for_values(reach)
        with canvas(ax, width, ROW * rows.height + 1.0) as axes:
            dress(axes)
            name_rows(axes, result, rows)
            span_from_zero(axes, [units.place(end) for end in reach])
            references = [global_value(axes, result, units), *review_level(axes, result, units)]
            _draw_hidden(axes, result, rows, units)
            records = _records(result)
            for position, row in rows.places.items():
                share = records[position] / (max(records) or 1.0)
                _draw_silo(axes, result, (position, row), share, units)
            name_above(axes, references, width=width - 1.8)
            order = result.plan.order
            axes.set_xlabel(
                units.label(f"disparity {'G₁' if order == 1 else 'G₂'} inside the silo")
            )
        return cls(ax_=axes, figure_=axes.figure, x_units=units)  # type: ignore[arg-type]


def _reach(result: AuditResult, rows: SiloRows) -> list[float]:
    """All numbers that the axis must show."""
    found = result.disparity
    ends = [found.value, found.interval.upper, found.level]
    for position in rows.places:
        silo = result.silos[position]
        ends += [silo.disparity, silo.interval and silo.interval.upper]
    return [end for end in ends if end is not None]


def _records(result: AuditResult) -> list[float]:
    return [math.fsum(count or 0 for count in silo.n.values()) for silo in result.silos]


def _draw_silo(
    ax: Axes, result: AuditResult, place: tuple[int, int], share: float, units: Units
) -> None:
    position, row = place
    silo = result.silos[position]
    if silo.disparity is None:
        ax.annotate(
            shortened(silo.note, 60) or "nothing to compare",
            (0, row),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            fontstyle="italic",
            color=MUTED,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1},
            in_layout=False,
            parse_math=False,
        )
        return
    if silo.interval is not None:
        ends = [units.place(end) for end in silo.interval]
        _add_line(ax, ends, row, color=MUTED, linewidth=1.3, solid_capstyle="butt")
    _add_line(
        ax,
        [units.place(silo.disparity)],
        row,
        marker="o",
        linestyle="none",
        color=INK,
        markersize=max(_LARGEST_DOT * math.sqrt(share), _SMALLEST_DOT),
        markeredgewidth=0,
        zorder=3,
        gid=pointer("silos", position, "disparity"),
    )


def _add_line(ax: Axes, places: list[float], row: int, **look: Any) -> None:  # noqa: ANN401
    """A line along a row; added as it is, since a thousand calls of ``plot`` are slow."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 -- heavy

    line = Line2D(places, [row] * len(places), in_layout=False, **look)
    ax.add_artist(line)
    line.set_clip_on(False)


def _draw_hidden(ax: Axes, result: AuditResult, rows: SiloRows, units: Units) -> None:
    """A bar from the smallest to the largest of those without a row."""
    held = [result.silos[i].disparity for i in rows.hidden]
    values = [units.place(value) for value in held if value is not None]
    if rows.gap is None or not values:
        return
    ax.plot(
        [min(values), max(values)],
        [rows.gap] * 2,
        color="#cbd2d9",
        linewidth=6,
        solid_capstyle="butt",
        zorder=2.4,
    )
