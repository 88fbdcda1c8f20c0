"""The curves of all groups on one pair of axes, each labeled with its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import numpy.typing as npt

from fedparity.documents.result import AuditResult
from fedparity.plots.style import (
    GRID,
    INK,
    MUTED,
    Canvas,
    Display,
    GroupStyle,
    Units,
    dress,
    group_name,
    group_style,
    pointer,
    score_limits,
    score_units,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "GroupCDFDisplay",
    "GroupQuantileDisplay",
    "Line",
    "Point",
    "Spot",
    "center_line",
    "draw_lines",
    "free_spots",
    "group_lines",
    "has_steps",
    "name_in_key",
    "name_lines",
    "shade_between",
]

FloatArray = npt.NDArray[np.float64]
Curve = tuple[FloatArray, FloatArray]
Point = tuple[float, float]
_STEPS = np.arange(0.1, 0.92, 0.04)
_PAD = 0.012
_LINE = 0.07
"""The height of a name in a large figure, as a share of the height of the axes."""
_LINE_INCHES = 0.17


@dataclass(frozen=True)
class Spot:
    """The position of a name, in shares of the width or the height of the axes."""

    at: Point
    """The corner of the name that is next to the curves."""
    curve: Point
    """The point of its curve that it names."""
    before: bool
    """Whether the name ends at ``at``, on the left of the curves, or begins there."""
    width: float
    height: float
    level: bool
    """Whether the line to the curve runs across, so that the name is centered on it."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, right, lower and upper end of the name."""
        x, y = self.at
        left = x - self.width if self.before else x
        low = y - self.height / 2 if self.level else y if self.before else y - self.height
        return left, left + self.width, low, low + self.height

    def meets(self, other: Spot) -> bool:
        """Whether two names overlap."""
        left, right, low, high = self.box
        others = other.box
        return left < others[1] and others[0] < right and low < others[3] and others[2] < high


def free_spots(
    curves: Sequence[Curve], widths: Sequence[float], *, steep: bool, height: float = _LINE
) -> tuple[Spot, ...] | None:
    """Return a spot for the name of each curve, or None if they do not all fit.

    Increasing curves leave two corners free, above on the left and below on the right. A name stands
    in one of them, where there is room for it, and a thin line leads from it to its curve: across
    where the curves are steep, up or down where they are flat.

    Parameters
    ----------
    curves : sequence of (x, y)
        Non-decreasing both, as shares of the width and the height of the axes.
    widths : sequence of float
        How wide each name is, as a share of the width of the axes.
    steep : bool
        Whether names stand left and right of the curves, or else above and below them.
    height : float
        How high a name is, as a share of the height of the axes.

    Examples
    --------
    >>> line = np.linspace(0, 1, 11)
    >>> spots = free_spots([(line / 2, line), (line, line)], [0.1, 0.1], steep=True)
    >>> [spot.before for spot in spots]
    [True, False]
    """
    candidates = _beside if steep else _above
    spots: list[Spot] = []
    for own, width in enumerate(widths):
        free = (
            (cost, spot)
            for cost, spot in candidates(curves, own, (width, height))
            if _inside(spot) and not any(spot.meets(other) for other in spots)
        )
        best = min(free, key=lambda entry: entry[0], default=None)
        if best is None:
            return None
        spots.append(best[1])
    return tuple(spots)


def _inside(spot: Spot) -> bool:
    left, right, low, high = spot.box
    return left >= 0 and right <= 1 and low >= 0 and high <= 1


def _beside(
    curves: Sequence[Curve], own: int, size: tuple[float, float]
) -> Iterator[tuple[float, Spot]]:
    """Spots left and right of all curves, with what they cost: rather near, and at middle heights."""
    half = size[1] / 2
    here = np.interp(_STEPS, curves[own][1], curves[own][0])
    # a name is a line high: its lower edge is nearest to curves on its right, its upper to those on its left
    left = np.min([np.interp(_STEPS - half, y, x) for x, y in curves], axis=0) - _PAD
    right = np.max([np.interp(_STEPS + half, y, x) for x, y in curves], axis=0) + _PAD
    for i, y in enumerate(_STEPS.tolist()):
        for before, edge in ((True, left), (False, right)):
            spot = Spot((float(edge[i]), y), (float(here[i]), y), before, *size, level=True)
            yield abs(float(here[i] - edge[i])) + 0.15 * abs(y - 0.5), spot


def _above(
    curves: Sequence[Curve], own: int, size: tuple[float, float]
) -> Iterator[tuple[float, Spot]]:
    """Spots above and below all curves."""
    here = np.interp(_STEPS, *curves[own])
    above = np.max([np.interp(_STEPS, x, y) for x, y in curves], axis=0) + 2 * _PAD
    below = np.min([np.interp(_STEPS, x, y) for x, y in curves], axis=0) - 2 * _PAD
    for i, x in enumerate(_STEPS.tolist()):
        for before, edge in ((True, above), (False, below)):
            spot = Spot((x, float(edge[i])), (x, float(here[i])), before, *size, level=False)
            yield abs(float(here[i] - edge[i])) + 0.15 * abs(x - 0.5), spot


_MOST_NAMED = 12
_EXTREMES = 5
_MOST_BESIDE = 4
_CENTER = GroupStyle(color=INK, text=INK, dashes=(4.0, 2.0), marker="")
_REST = GroupStyle(color="#cbd2d9", text=MUTED, dashes=(), marker="")


@dataclass(frozen=True)
class Line:
    """A curve with its name and its look; no name if it is one of many that look the same."""

    name: str
    at: str
    """Where in the result its numbers are."""
    style: GroupStyle
    x: FloatArray
    y: FloatArray

    def marked(self, position: int) -> list[int]:
        """Which points carry the marker: few, and not those of the next curve."""
        step = max(len(self.x) // 4, 1)
        start = step // 2 + (position % 5) * max(step // 8, 1)
        return list(range(start, len(self.x), step)) if self.style.marker else []


def group_lines(result: AuditResult, units: Units) -> list[Line]:
    """Return the groups' distribution functions: x are scores, y levels.

    Beyond a dozen groups only those with the lowest and the highest medians are distinguished.
    """
    curves, levels = result.curves.groups, np.array(result.curves.levels)
    named = _told_apart([curve.quantiles[len(levels) // 2] for curve in curves])
    return [
        Line(
            name=group_name(curve.group, 22) if position in named else "",
            at=pointer("curves", "groups", position, "quantiles"),
            style=group_style(position) if position in named else _REST,
            x=units.places(curve.quantiles),
            y=levels,
        )
        for position, curve in enumerate(curves)
    ]


def center_line(result: AuditResult, units: Units) -> Line:
    """Return the center of the groups, dashed."""
    return Line(
        name="barycenter" if result.plan.order == 2 else "median of the groups",
        at=pointer("curves", "center"),
        style=_CENTER,
        x=units.places(result.curves.center),
        y=np.array(result.curves.levels),
    )


def has_steps(result: AuditResult) -> bool:
    """Return whether scores lie on a public grid, so that nothing is between its points."""
    return result.plan.score_step is not None


def draw_lines(
    ax: Axes,
    lines: Sequence[Line],
    *,
    steps: Literal["default", "steps-pre", "steps-post"] = "default",
) -> None:
    """Draw the curves, those without a name below the others.

    Parameters
    ----------
    steps : "default", "steps-pre" or "steps-post"
        Joins points by straight lines, or by steps: first upwards, or first to the right.
    """
    for position, line in enumerate(lines):
        ax.plot(
            line.x,
            line.y,
            color=line.style.color,
            linestyle=line.style.line,
            drawstyle=steps,
            linewidth=1.2 if line.style in (_CENTER, _REST) else 1.8,
            marker=line.style.marker or None,
            markevery=line.marked(position),
            markersize=4.5,
            markeredgewidth=0,
            solid_capstyle="butt",
            label=line.name or "_rest",
            zorder=1.5 if line.style is _REST else 2.5,
            gid=line.at,
        )


def name_lines(ax: Axes, lines: Sequence[Line], *, width: float, steep: bool) -> None:
    """Label few increasing curves directly, and many in a key in their order.

    Parameters
    ----------
    width : float
        Of the axes, in inches, about; it says how many characters fit.
    steep : bool
        Whether names stand left and right of the curves, or else above and below them.
    """
    if len(lines) > _MOST_BESIDE + 1 or not all(line.name for line in lines):
        name_in_key(ax, lines)
        return
    corner = ax.get_xlim()[0], ax.get_ylim()[0]
    size = ax.get_xlim()[1] - corner[0], ax.get_ylim()[1] - corner[1]
    curves = [((n.x - corner[0]) / size[0], (n.y - corner[1]) / size[1]) for n in lines]
    widths = [(0.085 * len(line.name) + 0.06) / width for line in lines]
    height = max(_LINE, _LINE_INCHES / (0.5 * width + 0.1))  # such axes are half as high as wide
    spots = free_spots(curves, widths, steep=steep, height=height)
    if spots is None:
        name_in_key(ax, lines)
        return
    for line, spot in zip(lines, spots, strict=True):
        at, end = (
            (corner[0] + x * size[0], corner[1] + y * size[1]) for x, y in (spot.at, spot.curve)
        )
        _name_beside(ax, line, spot, (at, end))


def _name_beside(ax: Axes, line: Line, spot: Spot, ends: tuple[Point, Point]) -> None:
    """A name, and a thin line from it to its curve."""
    (x, y), (there, height) = ends
    ax.plot([x, there], [y, height], color=MUTED, linewidth=0.6, zorder=2.2, clip_on=False)
    ax.annotate(
        line.name,
        (x, y),
        xytext=((-3, 0) if spot.before else (3, 0)) if spot.level else (0, 0),
        textcoords="offset points",
        color=line.style.text,
        weight="normal" if line.style is _CENTER else "bold",
        ha="right" if spot.before else "left",
        va="center_baseline" if spot.level else "bottom" if spot.before else "top",
        annotation_clip=False,
        parse_math=False,
    )


def name_in_key(
    ax: Axes, lines: Sequence[Line], *, by_median: bool = True, bars: bool = False
) -> None:
    """Name the curves in a key next to the axes.

    Parameters
    ----------
    by_median : bool
        In the order in which they lie at the median, or else in their own.
    bars : bool
        Whether they were drawn as bars.
    """
    from matplotlib.lines import Line2D  # noqa: PLC0415 -- heavy

    handles = [
        Line2D(
            [],
            [],
            color=line.style.color,
            linestyle="-" if bars else line.style.line,
            marker=None if bars else line.style.marker or None,
            linewidth=6.0 if bars else 1.2 if line.style is _CENTER else 1.8,
            markersize=4.5,
            markeredgewidth=0,
            label=line.name,
        )
        for line in (_in_order(lines) if by_median else lines)
        if line.name
    ]
    rest = sum(not line.name for line in lines)
    if rest:
        handles.append(Line2D([], [], color=_REST.color, linewidth=1.2, label=f"{rest} more"))
    ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        borderaxespad=0,
        handlelength=2.6,
        labelspacing=0.55,
    )


def shade_between(ax: Axes, lines: Sequence[Line], *, across: bool, steps: bool = False) -> None:
    """Shade what lies between the outermost groups: all of it would vanish without disparity.

    Parameters
    ----------
    across : bool
        Whether the curves are given as functions of their ``y``.
    steps : bool
        Whether the curves are steps.
    """
    step: Literal["pre"] | None = "pre" if steps else None
    if across:
        curves = np.stack([line.x for line in lines])
        ax.fill_betweenx(
            lines[0].y, curves.min(axis=0), curves.max(axis=0), color=GRID, linewidth=0, step=step
        )
    else:
        curves = np.stack([line.y for line in lines])
        ax.fill_between(
            lines[0].x, curves.min(axis=0), curves.max(axis=0), color=GRID, linewidth=0, step=step
        )


def _in_order(lines: Sequence[Line]) -> Iterator[Line]:
    """The named curves, the leftmost (or uppermost) first."""
    named = [line for line in lines if line.name]
    return iter(
        sorted(named, key=lambda line: (line.x[len(line.x) // 2], -line.y[len(line.y) // 2]))
    )


def _told_apart(medians: Sequence[float]) -> set[int]:
    """Positions of the groups that get a name."""
    if len(medians) <= _MOST_NAMED:
        return set(range(len(medians)))
    order = sorted(range(len(medians)), key=medians.__getitem__)
    return {*order[:_EXTREMES], *order[-_EXTREMES:]}


class GroupCDFDisplay(Display):
    """The share of each group that scores at or below a value, and the barycenter of the groups.

    The curves are those of the sketches of all silos together. What lies between the outermost
    groups is shaded: without disparity all curves are one. Where scores lie on a public grid, curves
    are steps.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        units, stepped = score_units(result), has_steps(result)
        lines = [*group_lines(result, units), center_line(result, units)]
        ax = canvas.axes(0.5 * canvas.width + 0.2)
        dress(ax, grid="both")
        ax.set_xlim(*score_limits(result, units))
        ax.set_ylim(0, 1.02)
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        shade_between(ax, lines[:-1], across=True, steps=stepped)
        draw_lines(ax, lines, steps="steps-post" if stepped else "default")
        name_lines(ax, lines, width=canvas.width - 0.9, steep=True)
        ax.set_xlabel(units.label("score"))
        ax.set_ylabel("share at or below")
        return cls(ax_=ax, x_units=units)


class GroupQuantileDisplay(Display):
    """The score below which a share of each group lies, and the barycenter of the groups.

    At each level the barycenter is the weighted mean of the groups (order 1: a median). The
    disparity is how far, on average over the levels, the groups are from it. Where scores lie on a
    public grid, curves are steps.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        units, stepped = score_units(result), has_steps(result)
        drawn = [*group_lines(result, units), center_line(result, units)]
        lines = [replace(line, x=line.y, y=line.x) for line in drawn]
        ax = canvas.axes(0.5 * canvas.width + 0.2)
        dress(ax, grid="both")
        ax.set_xlim(0, 1)
        ax.set_ylim(*score_limits(result, units))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        shade_between(ax, lines[:-1], across=False, steps=stepped)
        draw_lines(ax, lines, steps="steps-pre" if stepped else "default")
        name_lines(ax, lines, width=canvas.width - 0.9, steep=False)
        ax.set_xlabel("share of group below")
        ax.set_ylabel(units.label("score"))
        return cls(ax_=ax, y_units=units)
