"""How every figure looks, and how it becomes a file: the same bytes each time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

from fedparity_reproduction.estimators import ESTIMATORS

__all__ = [
    "CENTER",
    "ESTIMATOR_NAMES",
    "ESTIMATOR_STYLES",
    "GROUPS",
    "REGIME_NAMES",
    "REGIME_STYLES",
    "SILO_STYLES",
    "figure_files",
    "label_levels",
    "level_axis",
    "panels",
    "percent_axis",
    "power_axis",
    "style",
    "top_legend",
]

ESTIMATOR_NAMES = dict(
    zip(
        ESTIMATORS, ("Paper: quantiles, grid", "Quantiles, exact", "Bin means, exact"), strict=True
    )
)
REGIME_NAMES = {
    "random": "Random allocation",
    "positive": "Positive selection",
    "negative": "Negative selection",
}

GROUPS: tuple[Mapping[str, Any], ...] = (
    {"color": "#00558c", "linestyle": "-"},
    {"color": "#d55e00", "linestyle": (0, (5, 1.2))},
)
"""The colors that groups have in the plots of fedparity; dashes distinguish them in gray."""
CENTER: Mapping[str, Any] = {"color": "black", "linestyle": (0, (2, 1.5)), "linewidth": 1.0}

SILO_STYLES: tuple[Mapping[str, Any], ...] = (
    {"color": "#F2B134", "marker": "o"},
    {"color": "#E3703F", "marker": "s"},
    {"color": "#B8397E", "marker": "^"},
    {"color": "#5B1FA0", "marker": "D"},
    {"color": "#120A3D", "marker": "v"},
)
"""From few silos (light) to many (dark): the order can be read without color."""

REGIME_STYLES: Mapping[str, Mapping[str, Any]] = {
    "positive": {"color": "#0072B2", "marker": "^"},
    "negative": {"color": "#E69F00", "marker": "v"},
}
ESTIMATOR_STYLES: tuple[Mapping[str, Any], ...] = (
    {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    {"color": "#0072B2", "marker": "s", "linestyle": (0, (4, 1.2))},
    {"color": "#009E73", "marker": "^", "linestyle": (0, (1.5, 1))},
)

_WIDTH = 7.2
"""Inches: the width of a page's text."""
_SHOWN_LEVELS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_COORDINATES = re.compile(rb' (?:d|x|y)="[^"]*"')
"""Paths and places of an SVG; the scales of letters stay as they are."""
_LONG = re.compile(rb"-?\d+\.\d{3,}")

_SETTINGS: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#444444",
    "axes.formatter.use_mathtext": True,
    "axes.grid": True,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.constrained_layout.hspace": 0.03,
    "figure.constrained_layout.wspace": 0.03,
    "figure.dpi": 100,
    "figure.labelsize": 7.5,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 7.5,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
    "lines.markeredgewidth": 0.0,
    "mathtext.fontset": "dejavusans",
    "pdf.compression": 9,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "fedparity",
    "xtick.labelsize": 7,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 7,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.6,
}


@contextmanager
def style() -> Iterator[None]:
    """Give matplotlib this style, whatever the user's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def panels(
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    height: float,
    share_x: bool = True,
    share_y: Literal["all", "row", "none"] = "all",
) -> tuple[Figure, Any]:
    """Return a figure of panels; the layout makes room for every label.

    Parameters
    ----------
    rows : names of the rows, drawn at the right; empty names for none
    columns : names of the columns, drawn at the top
    height : float
        Of one row of panels, in inches.
    """
    figure = Figure(figsize=(_WIDTH, height * len(rows) + 0.7), layout="constrained")
    grid = figure.subplots(
        len(rows),
        len(columns),
        squeeze=False,
        sharex="all" if share_x else "none",
        sharey=share_y,
    )
    for axes, name in zip(grid[0], columns, strict=True):
        axes.set_title(name, pad=4)
    for axes, name in zip(grid[:, -1], rows, strict=True):
        if name:
            at = {"transform": axes.transAxes, "ha": "left", "va": "center"}
            axes.text(1.03, 0.5, name, rotation=270, **at)
    return figure, grid


def top_legend(figure: Figure, *axes: Axes, title: str = "") -> None:
    """Put the legend of some panels above all of them, in one line."""
    handles, labels = [], []
    for each in axes:
        more = each.get_legend_handles_labels()
        handles += more[0]
        labels += more[1]
    if title:
        handles.insert(0, Line2D([], [], linestyle="none"))
        labels.insert(0, title)
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=len(labels),
        handlelength=1.8,
        columnspacing=1.4,
        handletextpad=0.5,
    )


def level_axis(axes: Axes, levels: Sequence[int]) -> None:
    """Give an axis of numbers of levels k a log scale with plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(
        FixedLocator([k for k in _SHOWN_LEVELS if min(levels) <= k <= max(levels)])
    )
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    axes.set_xlim(min(levels) * 0.88, max(levels) * 1.14)


def label_levels(grid: Any) -> None:  # noqa: ANN401 -- an array of axes
    """Name the horizontal axes of the last row of panels."""
    for axes in grid[-1]:
        axes.set_xlabel("$k$, numbers per group and silo")


def power_axis(axes: Axes) -> None:
    """Give the vertical axis a log scale with powers of ten only."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=7))
    axes.yaxis.set_minor_locator(NullLocator())


def percent_axis(axes: Axes) -> None:
    """Write the vertical axis of a relative error in percent, on a log scale."""
    power_axis(axes)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")


def figure_files(draw: Callable[[], Figure]) -> dict[str, bytes]:
    """Return a figure as SVG and PDF; nothing in it says when or where it was made."""
    with style():
        figure = draw()
        svg, pdf = io.BytesIO(), io.BytesIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
        figure.savefig(pdf, format="pdf", metadata={"CreationDate": None})
    # coordinates to a hundredth of a point: a third of the size, and no visible difference
    short = _COORDINATES.sub(lambda found: _LONG.sub(_rounded, found[0]), svg.getvalue())
    return {"svg": short, "pdf": pdf.getvalue()}


def _rounded(found: re.Match[bytes]) -> bytes:
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".").encode()
