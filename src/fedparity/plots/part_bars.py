"""Bars: where the disparity comes from, and how sure the headline is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from fedparity.documents.result import AuditResult, Headline, has_noise, headline_of, symbol
from fedparity.laws.bounds import Bounds
from fedparity.plots.silo_forest import Reference, level_line, name_above
from fedparity.plots.style import (
    ACCENT,
    INK,
    MUTED,
    PAPER,
    Canvas,
    Display,
    Units,
    dress,
    pointer,
    span_from_zero,
)
from fedparity.text import number, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "AttributionDisplay",
    "BarRow",
    "DecompositionDisplay",
    "UncertaintyDisplay",
    "draw_bar",
    "name_bars",
    "write_beside",
]


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


_SELECTION, _WITHIN = "#00558c", "#c58500"


class AttributionDisplay(Display):
    """Selection and within-silo shares of the disparity, from 0, with their intervals.

    They add up to the disparity. One of them is negative where it works against the other.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        parts = _known(result)
        ends = [e for part in parts for e in (part.value, *(part.interval or ()))]
        units = Units.for_values(ends)
        bars = [part.bar(units) for part in parts]
        ax = canvas.axes(0.46 * len(parts) + 0.6)
        dress(ax)
        name_bars(ax, bars)
        span_from_zero(ax, [units.place(end) for end in ends])
        for row, (bar, part) in enumerate(zip(bars, parts, strict=True)):
            draw_bar(ax, row, bar)
            _draw_interval(ax, row, part.interval, units)
        ax.axvline(0, color=INK, linewidth=0.8)
        write_beside(ax, bars)
        ax.set_xlabel(units.label("disparity"))
        return cls(ax_=ax, x_units=units)


@dataclass(frozen=True)
class _Part:
    """A part of the disparity that is known, with its words and its look."""

    name: str
    meaning: str
    value: float
    interval: Bounds | None
    at: str
    color: str
    hatch: str | None = None

    def bar(self, units: Units) -> BarRow:
        return BarRow(
            name=self.name,
            meaning=self.meaning,
            text=number(self.value),
            detail="" if self.interval is None else span(self.interval),
            start=0.0,
            end=units.place(self.value),
            color=self.color,
            at=self.at,
            hatch=self.hatch,
        )


def _known(result: AuditResult) -> list[_Part]:
    """The two parts, unless only sums over silos were seen, and the whole."""
    known, found = result.attribution, result.disparity
    parts = []
    if known.selection is not None and known.within is not None:
        parts = [
            _Part(
                "selection",
                "who is in which silo",
                known.selection,
                known.intervals.selection,
                pointer("attribution", "selection"),
                _SELECTION,
            ),
            _Part(
                "within silos",
                "groups differ inside a silo",
                known.within,
                known.intervals.within,
                pointer("attribution", "within"),
                _WITHIN,
                "////",
            ),
        ]
    name = symbol("G", result)
    meaning = "all silos together" if parts else "its parts are not known"
    at = pointer("disparity", "value")
    return [*parts, _Part(name, meaning, found.value, found.interval, at, ACCENT)]


def _draw_interval(ax: Axes, row: int, interval: Bounds | None, units: Units) -> None:
    if interval is None:
        return
    ends = [units.place(end) for end in interval]
    for color, thick in ((PAPER, 3.6), (INK, 1.4)):  # with a rim, as it crosses a dark bar
        ax.plot(ends, [row, row], color=color, linewidth=thick, solid_capstyle="butt", zorder=3)


@dataclass(frozen=True)
class _Look:
    name: str
    meaning: str
    color: str
    hatch: str | None


_LOOKS: Final = {
    "v_mix": _Look("V_mix", "how far silos differ", "#00558c", None),
    "v_bar": _Look("V_bar", "how far group centers differ", "#c58500", "////"),
    "remainder": _Look("R", "interaction of the two", "#7b8794", "xxxx"),
}


class DecompositionDisplay(Display):
    r"""V_mix and V_bar upwards, R up or down, and the disparity that they add up to.

    The bracket is what the two first terms prove about the disparity, and so about R:
    :math:`(\sqrt{V_{mix}} \mp \sqrt{V_{bar}})^2`. For order 1 nothing adds up: the terms are drawn
    from 0, and the bracket is that of the triangle inequality. The terms do not see which silo
    is which across groups, so they do not distinguish selection from disparity inside silos.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        terms = _Terms.from_audit(result)
        known = (terms.v_mix, terms.v_bar, terms.upper) if terms else ()
        units = Units.for_values([result.disparity.value, *known])
        bars = [*(terms.bars(units) if terms else ()), _total(result, units, terms)]
        ax = canvas.axes(0.46 * len(bars) + 0.6)
        dress(ax)
        name_bars(ax, bars)
        bounds = terms.bounds(units) if terms else ()
        span_from_zero(ax, [end for bar in bars for end in (bar.start, bar.end, *bounds)])
        for row, bar in enumerate(bars):
            draw_bar(ax, row, bar)
        if terms:
            _draw_bounds(ax, 2, terms.bounds(units))
        if terms and terms.remainder is not None:
            _draw_connections(ax, bars)
        ax.axvline(0, color=INK, linewidth=0.8)
        write_beside(ax, bars)
        ax.set_xlabel(units.label("disparity"))
        return cls(ax_=ax, x_units=units)


@dataclass(frozen=True)
class _Terms:
    """The terms of a result that has them; a secure sum has none."""

    v_mix: float
    v_bar: float
    remainder: float | None
    lower: float
    upper: float
    value: float

    @classmethod
    def from_audit(cls, result: AuditResult) -> _Terms | None:
        terms = result.decomposition
        mix, bar, lower, upper = terms.v_mix, terms.v_bar, terms.lower, terms.upper
        if mix is None or bar is None or lower is None or upper is None:
            return None
        value = result.disparity.value
        return cls(mix, bar, terms.remainder, lower, upper, value)

    def bounds(self, units: Units) -> Bounds:
        """What the terms prove about the disparity, on the axis."""
        return Bounds(units.place(self.lower), units.place(self.upper))

    def bars(self, units: Units) -> list[BarRow]:
        """Order 2: each starts where the one before ends. Order 1: all from 0, nothing adds up."""
        mix, bar = units.place(self.v_mix), units.place(self.v_bar)
        if self.remainder is None:
            return [
                _bar("v_mix", self.v_mix, (0.0, mix)),
                _bar("v_bar", self.v_bar, (0.0, bar)),
            ]
        steps = mix + bar, units.place(self.value)
        return [
            _bar("v_mix", self.v_mix, (0.0, mix)),
            _bar("v_bar", self.v_bar, (mix, mix + bar)),
            _bar("remainder", self.remainder, steps),
        ]


def _bar(field: str, value: float, ends: tuple[float, float]) -> BarRow:
    look = _LOOKS[field]
    return BarRow(
        name=look.name,
        meaning=look.meaning,
        text=number(value),
        detail="",
        start=ends[0],
        end=ends[1],
        color=look.color,
        at=pointer("decomposition", field),
        hatch=look.hatch,
    )


def _total(result: AuditResult, units: Units, terms: _Terms | None) -> BarRow:
    value = result.disparity.value
    known = f"proven: {span(Bounds(terms.lower, terms.upper))}" if terms else "terms not known"
    return BarRow(
        name=symbol("G", result),
        meaning="all silos together",
        text=number(value),
        detail=known,
        start=0.0,
        end=units.place(value),
        color=ACCENT,
        at=pointer("disparity", "value"),
    )


def _draw_connections(ax: Axes, bars: list[BarRow]) -> None:
    """Thin lines from the end of a step to the start of the next."""
    for row, bar in enumerate(bars[:-1]):
        ax.plot([bar.end] * 2, [row + 0.25, row + 0.75], color=MUTED, linewidth=0.7, zorder=1.5)


def _draw_bounds(ax: Axes, row: int, bounds: Bounds) -> None:
    """A bracket over the row: where the end of its bar must lie."""
    y = row + 0.36
    ends = [bounds.lower, bounds.lower, bounds.upper, bounds.upper]
    heights = [y - 0.07, y + 0.07]
    ax.plot(
        [*ends[:2], ends[0], ends[2], *ends[2:]],
        [*heights, y, y, *heights],
        color=INK,
        linewidth=1.1,
        zorder=4,
        clip_on=False,
        solid_joinstyle="miter",
    )


_FAR = 5.0
"""A bound this many times beyond the others leaves the axes, as an arrow."""


class UncertaintyDisplay(Display):
    """The headline's number with its interval, then with what the sketches and the missing leave open.

    It is the distance of the two groups furthest apart, in score points, or the disparity where
    the review level speaks of it. The diamond is the estimate, without what noise adds on average.
    A bound far beyond the others leaves the axes as an arrow; its number is on the right.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        headline = headline_of(result)
        found = headline.found
        near = [found.corrected, found.interval.upper, found.combined.upper, headline.level]
        reach = max(end for end in near if end is not None)
        shown = found.outer.upper if found.outer.upper <= _FAR * reach else 1.25 * reach
        units = Units.for_values([shown, reach])
        bars = _rows(result, headline)
        ax = canvas.axes(0.46 * len(bars) + 0.85)
        dress(ax)
        name_bars(ax, bars)
        span_from_zero(ax, [units.place(max(shown, reach))])
        value = units.place(found.corrected)
        ax.axvline(value, color=ACCENT, linewidth=1.0, zorder=1.5)
        references = [
            Reference(f"all silos {number(found.corrected)}", value, ACCENT),
            *level_line(ax, headline.level, units),
        ]
        for row, interval in enumerate((found.interval, found.combined, found.outer)):
            _draw_range(ax, row, interval, units)
            ax.plot([value], [row], "D", color=ACCENT, markersize=5, zorder=4, gid=bars[row].at)
        write_beside(ax, bars)
        name_above(ax, references, width=canvas.width - 3.0)
        ax.set_xlabel(units.label(headline.name))
        return cls(ax_=ax, x_units=units)


def _rows(result: AuditResult, headline: Headline) -> list[BarRow]:
    found = headline.found
    often = f"{100 * result.confidence:.3g} % interval"
    sketches = "noise and bins" if has_noise(result) else "sketches"
    names = (
        ("interval", often, "of the population", found.interval),
        ("combined", "combined", f"and all errors of {sketches}", found.combined),
        ("outer", "outer bounds", "raw data, with the missing", found.outer),
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
            at=pointer(*headline.at, field),
        )
        for field, name, meaning, interval in names
    ]


def _draw_range(ax: Axes, row: int, interval: Bounds, units: Units) -> None:
    """A bar from end to end; the first, which is the headline's, is the boldest."""
    lower, upper = units.place(interval.lower), units.place(interval.upper)
    right = ax.get_xlim()[1]
    color = INK if row == 0 else MUTED
    ax.plot(
        [lower, min(upper, right)],
        [row, row],
        color=color,
        linewidth=4.0 if row == 0 else 2.2,
        solid_capstyle="butt",
        zorder=3,
        clip_on=False,
    )
    if upper > right:
        ax.plot([right], [row], ">", color=color, markersize=6, clip_on=False)
