"""What each silo adds to the disparity of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedparity.auditing.parts import SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.plots.display import WIDTH, Display, canvas
from fedparity.plots.labels import pointer, shortened
from fedparity.plots.limits import span_from_zero
from fedparity.plots.silo_rows import ROW, SiloRows, name_rows, silo_rows
from fedparity.plots.style import INK, MUTED, dress
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["InfluenceDisplay"]

Silos = tuple[SiloResult, ...]

_RAISES, _LOWERS = "#00558c", "#c58500"


class InfluenceDisplay(Display):
    """The disparity of all silos minus that without one: above 0 the silo raises it.

    Silos stand by their influence; beyond sixty the extremes are shown.
    """

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> InfluenceDisplay:
        """Draw the influence of a result's silos.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        influences = [each.influence for each in result.attribution.silos]
        rows = silo_rows(influences)
        units = Units.for_values(influences)
        with canvas(ax, width, ROW * rows.height + 0.8) as axes:
            dress(axes)
            name_rows(axes, result, rows)
            placed = [None if value is None else units.place(value) for value in influences]
            span_from_zero(axes, placed)
            _draw_bars(axes, placed, rows, result.silos)
            axes.axvline(0, color=INK, linewidth=0.8)
            axes.set_xlabel(units.label("change of the disparity if the silo is added"))
        return cls(ax_=axes, figure_=axes.figure, x_units=units)  # type: ignore[arg-type]


def _draw_bars(ax: Axes, placed: list[float | None], rows: SiloRows, silos: Silos) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 -- heavy

    for position, row in rows.places.items():
        value = placed[position]
        if value is None:
            _say_why(ax, row, silos[position])
            continue
        bar = Rectangle(
            (0, row - 0.31),
            value,
            0.62,
            color=_RAISES if value > 0 else _LOWERS,
            linewidth=0,
            in_layout=False,
            gid=pointer("attribution", "silos", position, "influence"),
        )
        ax.add_artist(bar)
        bar.set_clip_on(False)
    held = [value for i in rows.hidden if (value := placed[i]) is not None]
    if rows.gap is not None and held:
        ax.barh(rows.gap, max(held) - min(held), left=min(held), height=0.3, color="#cbd2d9")


def _say_why(ax: Axes, row: int, silo: SiloResult) -> None:
    """Why a silo's influence is not known: it showed nothing, or nothing is left without it."""
    seen = any(quantiles is not None for quantiles in silo.quantiles.values())
    ax.annotate(
        "nothing is left to compare without it" if seen else shortened(silo.note, 60),
        (0, row),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        fontstyle="italic",
        color=MUTED,
        in_layout=False,
        parse_math=False,
    )
