"""Densities of the groups, drawn from their quantiles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from fedparity.documents.result import AuditResult
from fedparity.plots.group_curves import Line, draw_lines, group_lines, has_steps, name_in_key
from fedparity.plots.style import (
    MUTED,
    Canvas,
    Display,
    Units,
    dress,
    score_limits,
    score_units,
)
from fedparity.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import Locator

__all__ = ["GroupDensityDisplay"]

FloatArray = npt.NDArray[np.float64]
_MOST_BINS = 48
_FEWEST_BINS = 12
_FEW_VALUES = 30
_KERNEL = np.array([0.25, 0.5, 0.25])


class GroupDensityDisplay(Display):
    """How the scores of each group are spread: the share of the group in each bin of scores.

    Between two of the result's quantiles the mass is spread evenly; where they are equal it stands
    in the bin of that score. Shares are averaged over three neighboring bins, and no finer detail
    is drawn, since the sketches do not hold it. Where scores lie on a public grid, its points have
    bars instead.
    """

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        units = score_units(result)
        curves = group_lines(result, units)
        ax = canvas.axes(0.42 * canvas.width + 0.2)
        dress(ax, grid="x")
        ax.set_xlabel(units.label("score"))
        if has_steps(result):
            _draw_bars(ax, curves, _grid_edges(result, units), units)
        else:
            _draw_curves(ax, curves, score_limits(result, units), units, canvas.width)
        ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.3g} %")
        ax.yaxis.set_major_locator(_few_ticks())
        return cls(ax_=ax, x_units=units)


def _draw_curves(
    ax: Axes, curves: list[Line], limits: tuple[float, float], units: Units, width: float
) -> None:
    """Lines through the shares of bins, for scores that may lie anywhere."""
    edges = np.linspace(*limits, _bins(curves) + 1)
    lines = [_density(line, edges) for line in curves]
    ax.set_xlim(*limits)
    ax.set_ylim(0, 1.08 * max(float(line.y.max()) for line in lines))
    if len(lines) <= 3:
        for line in lines:
            ax.fill_between(line.x, line.y, color=line.style.color, alpha=0.08, linewidth=0)
    draw_lines(ax, lines)
    _name(ax, lines, width - 0.9)
    ax.set_ylabel("share of group")
    _say_how(ax, edges, units)


def _draw_bars(ax: Axes, curves: list[Line], edges: FloatArray, units: Units) -> None:
    """A bar per group and point of the grid, side by side; of many, per few points."""
    step = float(edges[1] - edges[0])
    room = 0.84 * step / len(curves)
    ax.set_xlim(edges[0], edges[-1])
    for place, curve in enumerate(curves):
        shares = np.diff(_mass_below(curve.x, curve.y, edges))
        starts = edges[:-1] + 0.08 * step + place * room
        ax.bar(
            starts,
            shares,
            width=room,
            align="edge",
            color=curve.style.color,
            linewidth=0,
            zorder=2,
            label=curve.name or "_rest",
            gid=curve.at,
        )
    ax.set_ylim(bottom=0)
    name_in_key(ax, curves, by_median=False, bars=True)
    ax.set_ylabel("share of group")
    ax.set_title(
        f"per {number(step * units.size)} of the score",
        loc="right",
        fontsize=8,
        color=MUTED,
        pad=3,
    )


def _grid_edges(result: AuditResult, units: Units) -> FloatArray:
    """Edges half a step beside the points of the public grid; of many points, of every few."""
    low, high = result.plan.score_range
    step = result.plan.score_step or high - low
    points = 1 + round((high - low) / step)
    together = -(-points // _MOST_BINS)
    bars = -(-points // together)
    edges = low - step / 2 + step * together * np.arange(bars + 1)
    return units.places(edges)


def _few_ticks() -> Locator:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 -- heavy

    return MaxNLocator(4)


def _bins(curves: list[Line]) -> int:
    """How many bins: no more than a few values of the sketches fall in each.

    Scores of few different values keep narrow bins, so that each value is seen.
    """
    values = min(len(np.unique(curve.x)) for curve in curves)
    if values <= _FEW_VALUES:
        return _MOST_BINS
    return max(_FEWEST_BINS, min(values // 4, _MOST_BINS))


def _density(line: Line, edges: FloatArray) -> Line:
    """The curve's mass in each bin, averaged over neighbors, at the bins' middles."""
    masses = np.diff(_mass_below(line.x, line.y, edges))
    padded = np.concatenate(([masses[0]], masses, [masses[-1]]))
    smooth = np.convolve(padded, _KERNEL, mode="valid")
    return replace(line, x=(edges[1:] + edges[:-1]) / 2, y=smooth)


def _mass_below(scores: FloatArray, levels: FloatArray, edges: FloatArray) -> FloatArray:
    """The mass up to each edge: that between two levels is spread evenly between their scores."""
    starts, ends = scores[:-1, None], scores[1:, None]
    lengths = ends - starts
    inside = np.divide(
        edges - starts, lengths, where=lengths > 0, out=np.zeros((len(starts), len(edges)))
    )
    part = np.where(lengths > 0, np.clip(inside, 0, 1), edges >= starts)
    below: FloatArray = (np.diff(levels)[:, None] * part).sum(axis=0)
    below[0] = 0.0  # mass on the first edge is in the first bin
    return below


def _name(ax: Axes, lines: list[Line], width: float) -> None:
    """Name few curves where they rise above the others; many in a key."""
    tops = np.stack([line.y for line in lines])
    places = [_clear_of_others(tops, i) for i in range(len(lines))]
    apart = 0.1 * max(len(line.name) for line in lines) / width * tops.shape[1] + 2
    close = any(abs(a - b) < apart for i, a in enumerate(places) for b in places[:i])
    if len(lines) > 3 or close:
        name_in_key(ax, lines, by_median=False)
        return
    for line, place in zip(lines, places, strict=True):
        ax.annotate(
            line.name,
            (line.x[place], line.y[place]),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=line.style.text,
            weight="bold",
            parse_math=False,
        )


def _clear_of_others(tops: FloatArray, own: int) -> int:
    """Where a curve is furthest above all others."""
    others = np.delete(tops, own, axis=0).max(axis=0)
    return int(np.argmax(tops[own] - others))


def _say_how(ax: Axes, edges: FloatArray, units: Units) -> None:
    width = number(float(edges[1] - edges[0]) * units.size)  # above the curves are their names
    ax.set_xlabel(f"{ax.get_xlabel()}, in bins of {width} averaged over three")
