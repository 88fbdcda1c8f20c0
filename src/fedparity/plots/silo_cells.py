"""The groups inside each silo: their counts, the quantiles that the silo released, and the values that one sends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fedparity.documents.message import SiloSketch
from fedparity.documents.result import AuditResult, headline_of
from fedparity.documents.result_parts import SiloResult
from fedparity.laws.labels import Group
from fedparity.plots.silo_forest import (
    ROW,
    SiloRows,
    most_rows,
    name_rows,
    records_of_silos,
    silo_rows,
)
from fedparity.plots.style import (
    BAND,
    INK,
    MUTED,
    PAPER,
    WIDTH,
    Canvas,
    Display,
    Shown,
    Units,
    amount,
    dress,
    group_name,
    group_style,
    pointer,
    score_limits,
    score_units,
    shortened,
    styled,
)
from fedparity.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch
    from matplotlib.ticker import Locator

__all__ = [
    "CellCountDisplay",
    "MessageDisplay",
    "SiloSketchDisplay",
]

_LIGHT, _DARK = (0xF1, 0xF5, 0xF9), (0x7F, 0xA8, 0xCC)
"""The darkest still has a contrast of 5 with the text on it."""
_MOST_ROOMY = 5


class CellCountDisplay(Display):
    """A cell per silo and group: darker where more records are, hatched where withheld.

    Silos are ordered by their records; beyond sixty, or fewer where groups are many, the largest and the
    smallest are shown.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        groups = [each.group for each in result.groups]
        rows = silo_rows(records_of_silos(result), most_rows(len(groups)))
        names = 1.3 if len(result.groups) > _MOST_ROOMY else 0.7
        ax = canvas.axes(ROW * rows.height + names)
        dress(ax, grid="")
        name_rows(ax, result, rows)
        _name_groups(ax, groups)
        largest = max(c or 0 for silo in result.silos for c in silo.n.values())
        for column, group in enumerate(groups):
            for position, row in rows.places.items():
                _draw_cell(ax, result, (position, row), (group, column), largest)
            _draw_hidden(ax, result, rows, group, column)
        return cls(ax_=ax)


def _name_groups(ax: Axes, groups: list[Group]) -> None:
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.spines["bottom"].set_visible(False)
    ax.xaxis.tick_top()
    many = len(groups) > _MOST_ROOMY
    names = [group_name(group, 16 if many else min(22, 52 // len(groups))) for group in groups]
    ax.set_xticks(
        range(len(groups)),
        names,
        parse_math=False,
        rotation=35 if many else 0,
        ha="left" if many else "center",
        rotation_mode="anchor",
        color=INK,
        weight="bold",
    )
    ax.tick_params(length=0)


def _draw_cell(
    ax: Axes,
    result: AuditResult,
    silo: tuple[int, int],
    group: tuple[Group, int],
    largest: float,
) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 -- heavy

    (position, row), (label, column) = silo, group
    silo_result = result.silos[position]
    count = silo_result.n[label]
    shade = 0.0 if not count else math.log1p(count) / math.log1p(largest)
    ax.add_artist(
        Rectangle(
            (column - 0.48, row - 0.46),
            0.96,
            0.92,
            facecolor=BAND if not count else _color(shade),
            hatch="////" if count is None else None,
            edgecolor="#b8c2cc" if count is None else "none",
            linewidth=0,
            clip_on=False,
            in_layout=False,
            gid=pointer("silos", position, "n", label),
        )
    )
    ax.text(
        column,
        row,
        _words(silo_result, label),
        ha="center",
        va="center_baseline",
        fontsize=8,
        fontstyle="italic" if count is None else "normal",
        color=INK if count else MUTED,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1} if count is None else None,
        in_layout=False,
    )


def _words(silo: SiloResult, group: Group) -> str:
    """The count, or the reason why it is missing: it was withheld, or the silo's own sketch was not seen."""
    count = silo.n[group]
    if count is not None:
        return amount(count)
    return "withheld" if group in silo.withheld else "not seen"


def _color(shade: float) -> str:
    """From light to dark; the lightness falls all the way, so that it reads in gray."""
    mixed = (round(a + (b - a) * shade**2) for a, b in zip(_LIGHT, _DARK, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _draw_hidden(ax: Axes, result: AuditResult, rows: SiloRows, group: Group, column: int) -> None:
    """The range of counts of those without a row, where there is room for it."""
    counts = [result.silos[i].n[group] for i in rows.hidden]
    known = [count for count in counts if count is not None]
    if rows.gap is None or not known:
        return
    roomy = len(result.groups) <= _MOST_ROOMY
    ends = f"{amount(min(known))} to {amount(max(known))}" if roomy else "…"
    ax.text(
        column,
        rows.gap,
        ends,
        ha="center",
        va="center_baseline",
        fontsize=8,
        color=MUTED,
        in_layout=False,
    )


_STRIP = 0.13
"""Inches of height per group."""
_NAME = 0.2
_COLUMNS = 4


class SiloSketchDisplay(Display):
    """A panel per silo, and in it a strip per group: 5 to 95 %, the middle half, the median.

    Silos are ordered by what they show alone, the largest first; beyond sixty, or fewer where groups are
    many, the extremes are shown. Panels of one column share an axis.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        units = score_units(result)
        most = most_rows(len(result.groups))
        headline = headline_of(result)
        rows = silo_rows([headline.of_silo(silo) for silo in result.silos], most)
        shown = list(rows.places)
        deep = math.ceil(len(shown) / (_COLUMNS if canvas.width > 5 else 2))
        panel = _NAME + _STRIP * len(result.groups)
        ax = canvas.axes(panel * deep + 0.75)
        columns = _divided(ax, math.ceil(len(shown) / deep))
        for i, column in enumerate(columns):
            silos = shown[i * deep : (i + 1) * deep]
            _draw_column(column, result, silos, units, deep=deep, panel=panel)
        _draw_key(columns[0], result)
        if rows.hidden:
            _say_hidden(columns[-1], len(rows.hidden))
        return cls(ax_=ax, x_units=units, panels=columns)


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


_ROW = 0.55
"""The height of a group, in inches."""


class MessageDisplay(Shown):
    """What leaves a silo: a mark for every value that its message holds of each group.

    Where records were counted, at scores or in bins, the height of a mark is their number. A cell that was
    withheld says so.
    """

    @classmethod
    def from_message(
        cls, message: SiloSketch, *, ax: Axes | None = None, width: float = WIDTH
    ) -> Self:
        """Draw the figure of a message.

        Parameters
        ----------
        message : SiloSketch
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        with styled():
            return cls._draw(message, Canvas(ax, width))

    @classmethod
    def _draw(cls, message: SiloSketch, canvas: Canvas) -> Self:
        binned = message.kind == "histogram"
        sent = [cell.values for cell in message.cells if cell.values is not None]
        places = [np.arange(1.0, values.size + 1) if binned else values for values in sent]
        units = Units.for_values([end for each in places for end in (each.min(), each.max())])
        ax = canvas.axes(_ROW * len(message.cells) + 0.9)
        dress(ax, grid="x")
        for row, cell in enumerate(message.cells):
            _draw_sent_values(ax, row, cell, units, binned=binned)
        ax.set_ylim(len(message.cells) - 0.3, -0.65)
        ax.set_yticks(
            range(len(message.cells)),
            [_name(cell) for cell in message.cells],
            parse_math=False,
            color=INK,
        )
        ax.set_xlabel("bin" if binned else units.label("score"))
        numbers = counted(sum(values.size for values in sent), "value")
        ax.set_title(
            f"What leaves {shortened(message.silo)}: {numbers}",
            loc="left",
            fontsize=10,
            color=INK,
            parse_math=False,
        )
        return cls(ax_=ax, x_units=units)


def _name(cell: Any) -> str:  # noqa: ANN401 -- of a sketch or of a histogram
    records = "withheld" if cell.count is None else f"{amount(cell.count)} records"
    return f"{group_name(cell.group, 18)}\n{records}"


def _draw_sent_values(ax: Axes, row: int, cell: Any, units: Units, *, binned: bool) -> None:  # noqa: ANN401
    if cell.values is None:
        ax.text(
            0.5,
            row,
            f"withheld ({cell.withheld})",
            transform=ax.get_yaxis_transform(),
            ha="center",
            va="center",
            fontstyle="italic",
            color=MUTED,
        )
        return
    places = np.arange(1.0, cell.values.size + 1) if binned else units.places(cell.values)
    counts = cell.values if binned else getattr(cell, "counts", None)
    heights = np.full(cell.values.size, 0.55)
    if counts is not None:
        known = np.array([0.0 if each is None else max(float(each), 0.0) for each in counts])
        heights = 0.75 * known / max(float(known.max()), 1.0)
    ax.vlines(
        places,
        row + 0.3 - heights,
        row + 0.3,
        color=group_style(row).color,
        linewidth=1.0 if counts is None else 2.0,
    )
