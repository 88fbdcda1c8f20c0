"""Which silos get a row: all of them, or beyond sixty the extremes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedparity.auditing.result import AuditResult
from fedparity.plots.labels import shortened
from fedparity.plots.style import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOST_ROWS", "ROW", "SiloRows", "most_rows", "name_rows", "silo_rows"]

MOST_ROWS = 60
_MOST_CELLS = 240
_FEWEST_ROWS = 15
ROW = 0.2
"""Inches per row."""


@dataclass(frozen=True)
class SiloRows:
    """Positions of the silos with a row, from the top; one row stands for those without."""

    above: tuple[int, ...]
    below: tuple[int, ...]
    hidden: tuple[int, ...]

    @property
    def places(self) -> dict[int, int]:
        """The row of each silo that has one."""
        rows = {silo: row for row, silo in enumerate(self.above)}
        first = len(self.above) + bool(self.hidden)
        return rows | {silo: first + row for row, silo in enumerate(self.below)}

    @property
    def gap(self) -> int | None:
        """The row of those without one, if there are any."""
        return len(self.above) if self.hidden else None

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.above) + len(self.below) + bool(self.hidden)


def most_rows(groups: int) -> int:
    """Return how many silos a figure shows that has a mark for each of their groups.

    Examples
    --------
    >>> most_rows(2), most_rows(10)
    (60, 24)
    """
    return min(MOST_ROWS, max(_FEWEST_ROWS, _MOST_CELLS // groups))


def silo_rows(keys: Sequence[float | None], most: int = MOST_ROWS) -> SiloRows:
    """Return the rows of silos by a number of each, the largest first; those without one last.

    Beyond ``most`` silos a third of it have a row at each end, the largest and the smallest, and
    a few of those without a number.

    Examples
    --------
    >>> silo_rows([0.1, None, 0.3]).above
    (2, 0, 1)
    >>> rows = silo_rows(range(1000))
    >>> rows.above[0], rows.below[-1], len(rows.hidden), rows.height
    (999, 0, 960, 41)
    """
    numbers = {i: key for i, key in enumerate(keys) if key is not None}
    ranked = sorted(numbers, key=lambda i: -numbers[i])
    without = [i for i, key in enumerate(keys) if key is None]
    if len(keys) <= most:
        return SiloRows((*ranked, *without), (), ())
    each = most // 3
    start = max(len(ranked) - each, each)
    shown = without[: each // 3]
    hidden = (*ranked[each:start], *without[len(shown) :])
    return SiloRows(tuple(ranked[:each]), (*ranked[start:], *shown), hidden)


def name_rows(ax: Axes, result: AuditResult, rows: SiloRows, *, most: int = 26) -> None:
    """Name the rows of silos on the left of the axes, the first at the top.

    The names are plain texts: sixty ticks would take longer to draw than all the rest.
    """
    ax.set_yticks([])
    ax.set_ylim(rows.height - 0.4, -0.6)
    for silo, row in rows.places.items():
        _write(ax, row, shortened(result.silos[silo].silo, most))
    if rows.gap is not None:
        _write(ax, rows.gap, f"… {len(rows.hidden):,} more in the table", fontstyle="italic")


def _write(ax: Axes, row: int, name: str, *, fontstyle: str = "normal") -> None:
    ax.text(
        -0.008,
        row,
        name,
        transform=ax.get_yaxis_transform(),
        ha="right",
        va="center_baseline",
        color=MUTED,
        fontstyle=fontstyle,
        parse_math=False,
    )
