"""How figures look: colors that differ in lightness too, a marker per group, quiet axes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from fedparity.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "ACCENT",
    "BAND",
    "GRID",
    "INK",
    "MUTED",
    "PAPER",
    "REVIEW",
    "GroupStyle",
    "dress",
    "group_style",
    "styled",
]

INK: Final = "#1f2933"
"""Text and marks; an inline drawing has the color of the page's text instead."""
MUTED: Final = "#52606d"
"""Text that explains; its contrast with white is 6.5."""
GRID: Final = "#e4e7eb"
BAND: Final = "#eef1f4"
PAPER: Final = "#ffffff"
ACCENT: Final = "#6b3fa0"
"""All silos together."""
REVIEW: Final = "#8a4b08"
"""The plan's review level."""

_STYLE: Any = {  # the names are checked by matplotlib
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": INK,
    "text.parse_math": False,  # a name may hold a dollar sign
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.7,
    "axes.formatter.useoffset": True,
    "axes.unicode_minus": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "hatch.linewidth": 0.6,
    "hatch.color": MUTED,
    "path.simplify": True,
    "path.simplify_threshold": 0.05,
}


@dataclass(frozen=True)
class GroupStyle:
    """What tells a group's marks apart: by color, in gray by lightness, dashes and marker."""

    color: str
    text: str
    """The color of its name: the same, or darker."""
    dashes: tuple[float, ...]
    """Lengths on and off; empty for a full line."""
    marker: str

    @property
    def line(self) -> tuple[float, tuple[float, ...]] | Literal["-"]:
        """The line style as matplotlib takes it."""
        return (0.0, self.dashes) if self.dashes else "-"


# After Okabe and Ito. Their yellow, orange and sky blue are darkened: every color has a contrast of 3
# with white, neighbors differ in lightness as well, and the text of each has a contrast of 4.5.
_COLORS: Final = (
    *("#00558c", "#d55e00", "#a2427c", "#c58500", "#5b3a00"),
    *("#009e73", "#333333", "#3d97d0", "#76790a", "#cc79a7"),
)
_TEXTS: Final = (
    *("#00558c", "#b84f00", "#a2427c", "#8a5f00", "#5b3a00"),
    *("#006b4e", "#333333", "#1b6c9e", "#65680a", "#9b4575"),
)
_DASHES: Final[tuple[tuple[float, ...], ...]] = ((), (6.0, 1.8), (2.0, 1.4), (7.0, 1.6, 1.6, 1.6))
_MARKERS: Final = "osD^vPX<>p"


def group_style(position: int) -> GroupStyle:
    """Return the style of the group at a position of the result's groups.

    No two of the first twenty are equal, and the first two differ in color, lightness and marker.

    Examples
    --------
    >>> group_style(0)
    GroupStyle(color='#00558c', text='#00558c', dashes=(), marker='o')
    """
    round_trip, place = divmod(position, len(_COLORS))
    half = place // 5
    return GroupStyle(
        color=_COLORS[place],
        text=_TEXTS[place],
        dashes=_DASHES[(2 * round_trip + half) % len(_DASHES)],
        marker=_MARKERS[place],
    )


@contextmanager
def styled(**more: str) -> Iterator[None]:
    """Use the style of figures inside the block; nothing outside it changes.

    Parameters
    ----------
    **more : str
        Further settings of matplotlib's, ``_`` for the dot.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context  # noqa: PLC0415 -- matplotlib is heavy and optional
    except ImportError:
        raise MissingExtraError.for_use("matplotlib", "a plot", "report") from None
    with rc_context(_STYLE | {name.replace("_", "."): value for name, value in more.items()}):
        yield


def dress(ax: Axes, *, grid: str = "x") -> None:
    """Give axes, also a caller's own, the quiet look: no frame, a grid along ``grid``."""
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(MUTED)
    ax.spines["bottom"].set_linewidth(0.7)
    ax.tick_params(length=0, colors=MUTED, labelsize=9.0, pad=4)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(visible=True, axis=grid, color=GRID, linewidth=0.7, clip_on=False)  # type: ignore[arg-type]
    _few_ticks(ax)


def _few_ticks(ax: Axes) -> None:
    """Room between the numbers of an axis, also where they are long."""
    from matplotlib.ticker import AutoLocator  # noqa: PLC0415 -- heavy

    for axis in (ax.xaxis, ax.yaxis):
        locator = axis.get_major_locator()
        if isinstance(locator, AutoLocator):
            locator.set_params(nbins=6)
