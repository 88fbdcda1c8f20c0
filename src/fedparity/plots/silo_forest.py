"""Silos one below the other: what each would see alone, and what each adds to the disparity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from fedparity.documents.result import AuditResult, Headline, headline_of
from fedparity.documents.result_parts import SiloResult
from fedparity.plots.style import (
    ACCENT,
    INK,
    MUTED,
    PAPER,
    REVIEW,
    Canvas,
    Display,
    Units,
    dress,
    pointer,
    shortened,
    span_from_zero,
)
from fedparity.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MOST_ROWS",
    "ROW",
    "InfluenceDisplay",
    "LocalForestDisplay",
    "Reference",
    "SiloRows",
    "level_line",
    "most_rows",
    "name_above",
    "name_rows",
    "records_of_silos",
    "silo_rows",
]

MOST_ROWS = 60
_MOST_CELLS = 240
_FEWEST_ROWS = 15
ROW = 0.2
"""Inches per row."""


@dataclass(frozen=True)
class SiloRows:
    """Positions of the silos with a row, from the top; one row represents those without."""

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


@dataclass(frozen=True)
class Reference:
    """A line across all rows, with its name above it."""

    name: str
    x: float
    color: str


def _draw_whole(ax: Axes, headline: Headline, units: Units) -> Reference:
    """Draw the headline's number of all silos together, with its interval as a band."""
    found, at = headline.found, pointer(*headline.at, headline.beside)
    lower, upper = map(units.place, found.interval)
    band = pointer(*headline.at, "interval")
    ax.axvspan(lower, upper, color=ACCENT, alpha=0.14, linewidth=0, gid=band)
    x = units.place(headline.whole)
    ax.axvline(x, color=ACCENT, linewidth=1.6, zorder=2, gid=at)
    return Reference(f"all silos {number(headline.whole)}", x, ACCENT)


def level_line(ax: Axes, level: float | None, units: Units) -> list[Reference]:
    """Draw the review level, if any, on an axis in its unit."""
    if level is None:
        return []
    x = units.place(level)
    at = pointer("disparity", "review_level")
    ax.axvline(x, color=REVIEW, linewidth=1.2, linestyle=(0, (4, 2)), zorder=2, gid=at)
    return [Reference(f"review level {number(level)}", x, REVIEW)]


def name_above(ax: Axes, references: Sequence[Reference], *, width: float) -> None:
    """Write the names above their lines: side by side if there is room, else on two lines.

    Parameters
    ----------
    width : float
        Of the axes, in inches, about.
    """
    left, right = ax.get_xlim()
    taken: list[tuple[float, float, int]] = []
    for reference in sorted(references, key=lambda each: each.x):
        half = 0.036 * (len(reference.name) + 2) / width * (right - left)
        middle = min(max(reference.x, left + half), max(right - half, left + half))
        start, end = middle - half, middle + half
        line = sum(start < other_end and other < end for other, other_end, _ in taken)
        taken.append((start, end, line))
        ax.annotate(
            reference.name,
            (middle, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 4 + 12 * line),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=reference.color,
            weight="bold",
            annotation_clip=False,
            parse_math=False,
        )


_LARGEST_DOT = 9.0
_SMALLEST_DOT = 2.5


class LocalForestDisplay(Display):
    """What each silo shows alone, all silos together, and the review level.

    The unit is that of the headline: score points between the two groups furthest apart inside the
    silo; where the plan reviews the disparity itself, the silo's disparity with its interval. The
    largest stands at the top; the area of a dot is the number of records. Beyond sixty silos the
    extremes are shown.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        headline = headline_of(result)
        rows = silo_rows([headline.of_silo(silo) for silo in result.silos])
        reach = _reach(result, headline, rows)
        units = Units.for_values(reach)
        ax = canvas.axes(ROW * rows.height + 1.0)
        dress(ax)
        name_rows(ax, result, rows)
        span_from_zero(ax, [units.place(end) for end in reach])
        references = [
            _draw_whole(ax, headline, units),
            *level_line(ax, headline.level, units),
        ]
        _draw_hidden(ax, rows, [headline.of_silo(result.silos[i]) for i in rows.hidden], units)
        records = records_of_silos(result)
        for position, row in rows.places.items():
            share = records[position] / (max(records) or 1.0)
            _draw_silo(ax, result, (position, row), share, units)
        name_above(ax, references, width=canvas.width - 1.8)
        inside = "score points" if headline.in_points else "disparity"
        ax.set_xlabel(units.label(f"{inside} {headline.symbol} inside the silo"))
        return cls(ax_=ax, x_units=units)


def _reach(result: AuditResult, headline: Headline, rows: SiloRows) -> list[float]:
    """All numbers that the axis must show."""
    found = headline.found
    ends = [headline.whole, found.interval.upper, headline.level]
    for silo in (result.silos[position] for position in rows.places):
        ends.append(headline.of_silo(silo))
        if headline.has_intervals and silo.interval is not None:
            ends.append(silo.interval.upper)
    return [end for end in ends if end is not None]


def records_of_silos(result: AuditResult) -> list[float]:
    """Return how many records each silo released, or their weight."""
    return [math.fsum(count or 0 for count in silo.n.values()) for silo in result.silos]


def _draw_silo(
    ax: Axes, result: AuditResult, place: tuple[int, int], share: float, units: Units
) -> None:
    position, row = place
    silo, headline = result.silos[position], headline_of(result)
    value = headline.of_silo(silo)
    if value is None:
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
    if headline.has_intervals and silo.interval is not None:
        ends = [units.place(end) for end in silo.interval]
        _add_line(ax, ends, row, color=MUTED, linewidth=1.3, solid_capstyle="butt")
    _add_line(
        ax,
        [units.place(value)],
        row,
        marker="o",
        linestyle="none",
        color=INK,
        markersize=max(_LARGEST_DOT * math.sqrt(share), _SMALLEST_DOT),
        markeredgewidth=0,
        zorder=3,
        gid=pointer("silos", position, headline.alone),
    )


def _add_line(ax: Axes, places: list[float], row: int, **look: Any) -> None:  # noqa: ANN401
    """A line along a row; added as it is, since a thousand calls of ``plot`` are slow."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 -- heavy

    line = Line2D(places, [row] * len(places), in_layout=False, **look)
    ax.add_artist(line)
    line.set_clip_on(False)


def _draw_hidden(ax: Axes, rows: SiloRows, hidden: Sequence[float | None], units: Units) -> None:
    """A bar from the smallest to the largest of those without a row."""
    values = [units.place(value) for value in hidden if value is not None]
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


_RAISES, _LOWERS = "#00558c", "#c58500"


class InfluenceDisplay(Display):
    """The disparity of all silos minus that without one: above 0 the silo raises it.

    Silos are ordered by their influence; beyond sixty the extremes are shown.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        influences = [each.influence for each in result.attribution.silos]
        rows = silo_rows(influences)
        units = Units.for_values(influences)
        ax = canvas.axes(ROW * rows.height + 0.8)
        dress(ax)
        name_rows(ax, result, rows)
        placed = [None if value is None else units.place(value) for value in influences]
        span_from_zero(ax, placed)
        _draw_bars(ax, placed, rows, result.silos)
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_xlabel(units.label("change of the disparity if the silo is added"))
        return cls(ax_=ax, x_units=units)


def _draw_bars(
    ax: Axes, placed: list[float | None], rows: SiloRows, silos: Sequence[SiloResult]
) -> None:
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
    hidden = [value for i in rows.hidden if (value := placed[i]) is not None]
    if rows.gap is not None and hidden:
        ax.barh(rows.gap, max(hidden) - min(hidden), left=min(hidden), height=0.3, color="#cbd2d9")


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
