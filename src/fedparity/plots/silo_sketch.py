"""The groups inside each silo, from the quantiles it released: small multiples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedparity.auditing.parts import SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.laws.labels import Group
from fedparity.plots.display import WIDTH, Display, canvas
from fedparity.plots.labels import group_name, pointer, shortened
from fedparity.plots.limits import score_limits, score_units
from fedparity.plots.silo_rows import most_rows, silo_rows
from fedparity.plots.style import INK, MUTED, dress, group_style
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch
    from matplotlib.ticker import Locator

__all__ = ["SiloSketchDisplay"]

_STRIP = 0.13
"""Inches of height per group."""
_NAME = 0.2
_COLUMNS = 4


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SiloSketchDisplay(Display):
    """A panel per silo, and in it a strip per group: 5 to 95 %, the middle half, the median.

    Silos stand by their disparity, the largest first; beyond sixty, or fewer where groups are
    many, the extremes are shown. Panels of one column share an axis.
    """

    columns: tuple[Axes, ...]

    @property
    def axes_(self) -> tuple[Axes, ...]:
        """The axes of the columns of panels."""
        return self.columns

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> SiloSketchDisplay:
        """Draw the sketches of a result's silos.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; it is divided into columns. A new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        units = score_units(result)
        most = most_rows(len(result.groups))
        rows = silo_rows([silo.disparity for silo in result.silos], most)
        shown = list(rows.places)
        deep = math.ceil(len(shown) / (_COLUMNS if width > 5 else 2))
        columns = math.ceil(len(shown) / deep)
        panel = _NAME + _STRIP * len(result.groups)
        with canvas(ax, width, panel * deep + 0.75) as axes:
            held = _divided(axes, columns)
            for i, column in enumerate(held):
                silos = shown[i * deep : (i + 1) * deep]
                _draw_column(column, result, silos, units, deep=deep, panel=panel)
            _draw_key(held[0], result)
            if rows.hidden:
                _say_hidden(held[-1], len(rows.hidden))
        return cls(
            ax_=axes,
            figure_=axes.figure,  # type: ignore[arg-type]
            x_units=units,
            columns=held,
        )


def _divided(ax: Axes, columns: int) -> tuple[Axes, ...]:
    """The axes, emptied, and as many inside them side by side."""
    ax.set_axis_off()
    gap = 0.03
    wide = (1 - gap * (columns - 1)) / columns
    return tuple(ax.inset_axes((i * (wide + gap), 0, wide, 1)) for i in range(columns))


def _draw_column(
    ax: Axes,
    result: AuditResult,
    silos: Sequence[int],
    units: Units,
    *,
    deep: int,
    panel: float,
) -> None:
    """Panels below one another; heights are in inches from the top."""
    dress(ax)
    ax.set_yticks([])
    ax.set_xlim(*score_limits(result, units))
    ax.set_ylim(deep * panel, 0)
    ax.xaxis.set_major_locator(_ends_and_middle())
    ax.set_xlabel(units.label("score"))
    for place, position in enumerate(silos):
        _draw_panel(ax, result, position, place * panel, units)


def _ends_and_middle() -> Locator:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 -- heavy

    return MaxNLocator(3)


def _draw_panel(ax: Axes, result: AuditResult, position: int, top: float, units: Units) -> None:
    silo = result.silos[position]
    ax.text(
        0,
        top + _NAME - 0.04,
        shortened(silo.silo, 22),
        transform=ax.get_yaxis_transform(),
        fontsize=8,
        color=INK,
        va="baseline",
        in_layout=False,
        parse_math=False,
    )
    for place, each in enumerate(result.groups):
        middle = top + _NAME + _STRIP * (place + 0.5)
        quantiles = silo.quantiles[each.group]
        if quantiles is None:
            why = _why(silo, each.group)
            ax.text(
                0.5,
                middle,
                f"{group_name(each.group, 10)}: {why}",
                transform=ax.get_yaxis_transform(),
                fontsize=7,
                fontstyle="italic",
                color=MUTED,
                ha="center",
                va="center",
                in_layout=False,
                parse_math=False,
            )
            continue
        strip = _strip(units.places(quantiles).tolist(), middle, _thin(ax))
        strip.set_facecolor(group_style(place).color)
        strip.set_gid(pointer("silos", position, "quantiles", each.group))
        ax.add_patch(strip)


def _why(silo: SiloResult, group: Group) -> str:
    """Why a silo shows nothing of a group."""
    if group in silo.withheld:
        return "withheld"
    return "no record" if silo.n[group] == 0 else "not seen"


def _thin(ax: Axes) -> float:
    """Half the width of the bar at a median, in units of the axis."""
    left, right = ax.get_xlim()
    return 0.008 * (right - left)


def _strip(quantiles: list[float], middle: float, thin: float) -> PathPatch:
    """One shape: a thin line, a thick one, and a bar across at the median."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 -- heavy
    from matplotlib.path import Path  # noqa: PLC0415

    low, first, median, third, high = quantiles
    parts = [
        _box(low, high, middle, 0.07 * _STRIP),
        _box(first, third, middle, 0.22 * _STRIP),
        _box(median - thin, median + thin, middle, 0.48 * _STRIP),
    ]
    path = Path.make_compound_path(*(Path(part, closed=True) for part in parts))
    return PathPatch(path, linewidth=0, clip_on=False, in_layout=False)


def _box(left: float, right: float, middle: float, half: float) -> list[tuple[float, float]]:
    low, high = middle - half, middle + half
    return [(left, low), (right, low), (right, high), (left, high), (left, low)]


def _say_hidden(ax: Axes, hidden: int) -> None:
    """How many silos have no panel, above the last column."""
    ax.annotate(
        f"… {hidden:,} more in the table",
        (1, 1),
        xycoords="axes fraction",
        xytext=(0, 5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontstyle="italic",
        color=MUTED,
    )


def _draw_key(ax: Axes, result: AuditResult) -> None:
    """The groups from the top strip to the bottom one, above the first column."""
    from matplotlib.patches import Patch  # noqa: PLC0415 -- heavy

    names = [group_name(each.group, 18) for each in result.groups]
    handles = [
        Patch(color=group_style(place).color, label=name) for place, name in enumerate(names)
    ]
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=len(names) if sum(len(name) + 5 for name in names) < 90 else 3,
        frameon=False,
        borderaxespad=0.2,
        handlelength=1.2,
        handleheight=0.4,
        columnspacing=1.2,
    )
