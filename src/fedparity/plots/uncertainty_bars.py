"""How sure the headline is: its interval, then what sketches and the missing leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import Estimate
from fedparity.laws.bounds import Bounds
from fedparity.plots.part_bars import BarRow, name_bars, write_beside
from fedparity.plots.silo_forest import Reference, level_line, name_above
from fedparity.plots.style import (
    ACCENT,
    INK,
    MUTED,
    WIDTH,
    Display,
    Units,
    canvas,
    dress,
    pointer,
    span_from_zero,
)
from fedparity.text import number, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Headline",
    "UncertaintyDisplay",
    "headline_of",
]


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A number with its errors, where it stands, and what a silo alone has instead of it."""

    found: Estimate
    at: tuple[str, ...]
    """Steps to it in the JSON of the result."""
    name: str
    """Of an axis."""
    level: float | None
    """The review level on that axis; ``None`` without one, or if it has another unit."""
    alone: Literal["disparity", "wasserstein"]
    """The field of a silo that holds the same measure of the silo alone."""


def headline_of(result: AuditResult) -> Headline:
    """Return the distance of the two groups furthest apart, or the disparity if that is reviewed.

    Examples
    --------
    >>> from fedparity import simulate
    >>> table = {"z": [1.0, 2.0, 3.0, 5.0], "g": ["a", "b", "a", "b"], "s": ["x", "x", "y", "y"]}
    >>> result = simulate(table, score="z", group="g", silo="s", score_range=(0, 9), levels=2)
    >>> headline_of(result).name
    'score points between the groups furthest apart'
    """
    review = result.disparity.review_level
    if result.disparity.review_unit == "squared":
        return Headline(
            found=result.disparity,
            at=("disparity",),
            name="disparity",
            level=review,
            alone="disparity",
        )
    lowest, highest = result.plan.score_range
    scale = {"points": 1.0, "share": highest - lowest}.get(result.disparity.review_unit)
    return Headline(
        found=result.magnitudes.worst_pair,
        at=("magnitudes", "worst_pair"),
        name="score points between the groups furthest apart",
        level=None if review is None or scale is None else review * scale,
        alone="wasserstein",
    )


_FAR = 5.0
"""A bound this many times beyond the others leaves the axes, as an arrow."""


class UncertaintyDisplay(Display):
    """The headline's number with its interval, then with what the sketches and the missing leave open.

    It is the distance of the two groups furthest apart, in score points, or the disparity where
    the review level speaks of it. The diamond is the estimate, without what noise adds on average.
    A bound far beyond the others leaves the axes as an arrow; its number stands on the right.
    """

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> UncertaintyDisplay:
        """Draw the errors of a result's headline.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        headline = headline_of(result)
        found = headline.found
        near = [found.corrected, found.interval.upper, found.combined.upper, headline.level]
        reach = max(end for end in near if end is not None)
        shown = found.outer.upper if found.outer.upper <= _FAR * reach else 1.25 * reach
        units = Units.for_values([shown, reach])
        bars = _rows(result, headline)
        with canvas(ax, width, 0.46 * len(bars) + 0.85) as axes:
            dress(axes)
            name_bars(axes, bars)
            span_from_zero(axes, [units.place(max(shown, reach))])
            value = units.place(found.corrected)
            axes.axvline(value, color=ACCENT, linewidth=1.0, zorder=1.5)
            references = [
                Reference(f"all silos {number(found.corrected)}", value, ACCENT),
                *level_line(axes, headline.level, units),
            ]
            for row, interval in enumerate((found.interval, found.combined, found.outer)):
                _draw_interval(axes, row, interval, units)
                axes.plot(
                    [value], [row], "D", color=ACCENT, markersize=5, zorder=4, gid=bars[row].at
                )
            write_beside(axes, bars)
            name_above(axes, references, width=width - 3.0)
            axes.set_xlabel(units.label(headline.name))
        return cls(ax_=axes, figure_=axes.figure, x_units=units)  # type: ignore[arg-type]


def _rows(result: AuditResult, headline: Headline) -> list[BarRow]:
    noisy = "dp" in str(result.guarantee.get("mode"))
    found = headline.found
    often = f"{100 * result.confidence:.3g} % interval"
    sketches = "noise and bins" if noisy else "sketches"
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


def _draw_interval(ax: Axes, row: int, interval: Bounds, units: Units) -> None:
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
