"""Rows with a bar and its number: what the decomposition and the attribution are drawn with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedparity.plots.style import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BarRow", "draw_bar", "name_bars", "write_beside"]


@dataclass(frozen=True)
class BarRow:
    """A bar from one place to another, with the names of its row, its number and what is known of it."""

    name: str
    meaning: str
    text: str
    detail: str
    start: float
    end: float
    color: str
    at: str
    hatch: str | None = None


def draw_bar(ax: Axes, row: int, bar: BarRow) -> None:
    """Draw a bar; hatched ones read in gray."""
    ax.barh(
        row,
        bar.end - bar.start,
        left=bar.start,
        height=0.5,
        color=bar.color,
        hatch=bar.hatch,
        edgecolor="#ffffff" if bar.hatch else "none",
        linewidth=0,
        clip_on=False,
        zorder=2,
        gid=bar.at,
    )


def name_bars(ax: Axes, bars: Sequence[BarRow]) -> None:
    """Write each row's name, and below it what it means, on the left of the axes."""
    ax.set_yticks([])
    ax.set_ylim(len(bars) - 0.5, -0.5)
    for row, bar in enumerate(bars):
        # two texts: the lines of one are set by the widths of matplotlib's font, not the page's
        _write(ax, row, bar.name, (-6, 1), ha="right", va="bottom", color=INK, weight="bold")
        _write(ax, row, bar.meaning, (-6, -1), ha="right", va="top", color=MUTED)


def write_beside(ax: Axes, bars: Sequence[BarRow]) -> None:
    """Write each row's number, and below it what is known of it, on the right of the axes."""
    for row, bar in enumerate(bars):
        _write(ax, row, bar.text, (8, 1), x=1.0, va="bottom", color=INK, weight="bold")
        _write(ax, row, bar.detail, (8, -1), x=1.0, va="top", color=MUTED)


def _write(
    ax: Axes,
    row: int,
    text: str,
    away: tuple[float, float],
    *,
    x: float = 0.0,
    **look: Any,  # noqa: ANN401
) -> None:
    ax.annotate(
        text,
        (x, row),
        xycoords=("axes fraction", "data"),
        xytext=away,
        textcoords="offset points",
        fontsize=8.5,
        annotation_clip=False,
        parse_math=False,
        **look,
    )
