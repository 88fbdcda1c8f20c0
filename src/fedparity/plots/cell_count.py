"""How many records each silo released of each group, and which cells it withheld."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fedparity.auditing.parts import SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.laws.labels import Group
from fedparity.plots.display import WIDTH, Display, canvas
from fedparity.plots.labels import group_name, pointer
from fedparity.plots.numbers import amount
from fedparity.plots.silo_rows import ROW, SiloRows, most_rows, name_rows, silo_rows
from fedparity.plots.style import BAND, INK, MUTED, PAPER, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CellCountDisplay"]

_LIGHT, _DARK = (0xF1, 0xF5, 0xF9), (0x7F, 0xA8, 0xCC)
"""The darkest still has a contrast of 5 with the text on it."""
_MOST_ROOMY = 5


class CellCountDisplay(Display):
    """A cell per silo and group: darker where more records are, hatched where withheld.

    Silos stand by their records; beyond sixty, or fewer where groups are many, the largest and the
    smallest are shown.
    """

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> CellCountDisplay:
        """Draw the counts of a result's cells.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        groups = [each.group for each in result.groups]
        records = [math.fsum(c or 0 for c in silo.n.values()) for silo in result.silos]
        rows = silo_rows(records, most_rows(len(groups)))
        with canvas(
            ax, width, ROW * rows.height + (1.3 if len(groups) > _MOST_ROOMY else 0.7)
        ) as axes:
            dress(axes, grid="")
            name_rows(axes, result, rows)
            _name_groups(axes, groups)
            largest = max(c or 0 for silo in result.silos for c in silo.n.values())
            for column, group in enumerate(groups):
                for position, row in rows.places.items():
                    _draw_cell(axes, result, (position, row), (group, column), largest)
                _draw_hidden(axes, result, rows, group, column)
        return cls(ax_=axes, figure_=axes.figure)  # type: ignore[arg-type]


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
    held = result.silos[position]
    count = held.n[label]
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
        _words(held, label),
        ha="center",
        va="center_baseline",
        fontsize=8,
        fontstyle="italic" if count is None else "normal",
        color=INK if count else MUTED,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1} if count is None else None,
        in_layout=False,
    )


def _words(silo: SiloResult, group: Group) -> str:
    """The count, or why there is none: it was withheld, or the silo's own sketch was not seen."""
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
    held = [count for count in counts if count is not None]
    if rows.gap is None or not held:
        return
    roomy = len(result.groups) <= _MOST_ROOMY
    ends = f"{amount(min(held))} to {amount(max(held))}" if roomy else "…"
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
