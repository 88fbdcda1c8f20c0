"""How every figure of the reproduction looks: sizes, fonts, colors that survive without color."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from fedparity.errors import MissingExtraError
from fedparity.plots.style import group_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "CENTER",
    "ESTIMATOR_NAMES",
    "GROUPS",
    "REGIME_NAMES",
    "REGIME_STYLES",
    "SILO_STYLES",
    "WIDTH",
    "panels",
    "style",
    "top_legend",
]

WIDTH = 7.2
"""Inches: the width of a page's text."""

ESTIMATOR_NAMES = {
    "paper grid": "Paper: quantiles, grid",
    "quantiles, exact": "Quantiles, exact",
    "bin means, exact": "Bin means, exact",
}
REGIME_NAMES = {
    "random": "Random allocation",
    "positive": "Positive selection",
    "negative": "Negative selection",
}

GROUPS: tuple[Mapping[str, Any], ...] = (
    {"color": group_style(0).color, "linestyle": "-"},
    {"color": group_style(1).color, "linestyle": (0, (5, 1.2))},
)
"""The colors that groups have in every plot; long dashes tell them apart in grey."""
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
    "random": {"color": "#555555", "marker": "o"},
    "positive": {"color": "#0072B2", "marker": "^"},
    "negative": {"color": "#E69F00", "marker": "v"},
}

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
    "axes.titley": 1.0,  # where it is; looking for room takes a tenth of the time
    "figure.dpi": 100,
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
    "path.simplify": True,
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
    """Give matplotlib this style, whatever the user's own settings are.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 -- half a second
    except ImportError:
        raise MissingExtraError.for_use(
            "matplotlib", "drawing the figures", extra="reproduce"
        ) from None
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def panels(
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    height: float,
    top: float = 0.45,
    left: float = 0.62,
    share_x: bool = True,
    share_y: Literal["all", "row", "none"] = "all",
    gap: float = 0.12,
) -> tuple[Figure, Any]:
    """Return a figure of panels that share their axes; rows and columns are named at its edge.

    Sizes are in inches, so that panels are alike in all figures.

    Parameters
    ----------
    rows : names of the rows, drawn at the right; empty names for none
    columns : names of the columns, drawn at the top
    height : float
        Of one panel.
    top : float
        Room for the names of columns and a legend.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415

    bottom, right = 0.42, 0.22 if any(rows) else 0.08
    total = top + bottom + height * len(rows) + 0.16 * (len(rows) - 1)
    figure = Figure(figsize=(WIDTH, total))
    width = (WIDTH - left - right - gap * (len(columns) - 1)) / len(columns)
    grid = figure.subplots(
        len(rows),
        len(columns),
        squeeze=False,
        sharex="all" if share_x else "none",
        sharey=share_y,
        gridspec_kw={
            "left": left / WIDTH,
            "right": 1 - right / WIDTH,
            "bottom": bottom / total,
            "top": 1 - top / total,
            "wspace": gap / width,
            "hspace": 0.16 / height,
        },
    )
    for axes, name in zip(grid[0], columns, strict=True):
        axes.set_title(name, pad=4)
    for axes, name in zip(grid[:, -1], rows, strict=True):
        _name_row(axes, name)
    return figure, grid


def _name_row(axes: Axes, name: str) -> None:
    if name:
        axes.text(1.03, 0.5, name, transform=axes.transAxes, rotation=270, ha="left", va="center")


def top_legend(figure: Figure, axes: Axes, *, title: str = "", columns: int = 6) -> None:
    """Put the legend of one panel above all of them, in one line."""
    handles, labels = axes.get_legend_handles_labels()
    if title:
        from matplotlib.lines import Line2D  # noqa: PLC0415

        handles = [Line2D([], [], linestyle="none"), *handles]
        labels = [title, *labels]
    figure.legend(
        handles,
        labels,
        loc="upper center",
        ncols=columns,
        borderaxespad=0.15,
        handlelength=1.8,
        columnspacing=1.4,
        handletextpad=0.5,
    )
