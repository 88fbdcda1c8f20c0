"""What leaves a silo: every number of its message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fedparity.documents.message import SiloSketch
from fedparity.plots.style import (
    INK,
    MUTED,
    WIDTH,
    Canvas,
    Shown,
    Units,
    amount,
    dress,
    group_name,
    group_style,
    shortened,
    styled,
)
from fedparity.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MessageDisplay"]

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
            _draw_cell(ax, row, cell, units, binned=binned)
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


def _draw_cell(ax: Axes, row: int, cell: Any, units: Units, *, binned: bool) -> None:  # noqa: ANN401
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
