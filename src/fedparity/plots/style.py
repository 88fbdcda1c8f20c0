"""How figures look: colors that differ in lightness too, a marker per group, quiet axes."""

from __future__ import annotations

import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

from fedparity import text
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import group_key
from fedparity.errors import MissingExtraError
from fedparity.laws.labels import Group
from fedparity.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "ACCENT",
    "BAND",
    "GRID",
    "INK",
    "MUTED",
    "PAPER",
    "REVIEW",
    "WIDTH",
    "Canvas",
    "Display",
    "GroupStyle",
    "Shown",
    "Units",
    "amount",
    "dress",
    "group_name",
    "group_style",
    "pointer",
    "score_limits",
    "score_units",
    "shortened",
    "span_from_zero",
    "styled",
]

_MOST = 30
_REFUSED = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Control characters, halves of pairs and the like: SVG cannot hold them, no font shows them."""


def shortened(name: str, most: int = _MOST) -> str:
    """Return a name on one line of at most ``most`` characters, cut in the middle.

    The end is kept because names of a series differ there.

    Examples
    --------
    >>> shortened("Hospital of the Holy Spirit, ward 12", 20)
    'Hospital of…ward 12'
    """
    line = "".join(" " if unicodedata.category(c) in _REFUSED else c for c in name)
    line = " ".join(line.split())
    if len(line) <= most:
        return line
    tail = (most - 1) * 2 // 5
    return f"{line[: most - 1 - tail].rstrip()}…{line[-tail:].lstrip()}"


def group_name(group: Group, most: int = _MOST) -> str:
    """Return a group's label as text; the parts of an intersection joined by ``&``.

    Examples
    --------
    >>> group_name(("F", True)), group_name("A")
    ('F & True', 'A')
    """
    name = " & ".join(map(str, group)) if isinstance(group, tuple) else str(group)
    return shortened(name, most)


def pointer(*path: str | int | Group) -> str:
    """Return the JSON pointer (RFC 6901) of a place in the result, as the ``gid`` of a mark.

    Examples
    --------
    >>> pointer("silos", 3, "n", ("F", "a/b"))
    'at:/silos/3/n/["F","a~1b"]'
    """
    steps = (part if isinstance(part, int) else group_key(part) for part in path)
    return f"at:{text.pointer(*steps)}"


def score_units(result: AuditResult) -> Units:
    """Return the units of an axis of scores."""
    curves = [curve.quantiles for curve in result.curves.groups]
    ends = [end for curve in curves for end in (curve[0], curve[-1])]
    return Units.for_values([*result.plan.score_range, *ends])


def score_limits(result: AuditResult, units: Units) -> tuple[float, float]:
    """Return the plan's score range where the curves fill it, else where the curves are.

    A public range may be far wider than the scores; a curve is then seen where it moves.
    """
    low, high = map(units.place, result.plan.score_range)
    curves = [curve.quantiles for curve in result.curves.groups]
    first = units.place(min(curve[0] for curve in curves))
    last = units.place(max(curve[-1] for curve in curves))
    if first == last:
        pad = 0.05 * abs(first) or 0.05
        return (low, high) if low < high else (first - pad, last + pad)
    if last - first >= 0.4 * (high - low):
        return min(low, first), max(high, last)
    pad = 0.04 * (last - first)
    return first - pad, last + pad


def span_from_zero(ax: Axes, places: Iterable[float | None]) -> None:
    """Let a horizontal axis show 0 and these places, with a little room beyond them."""
    shown = [0.0, *(place for place in places if place is not None)]
    low, high = min(shown), max(shown)
    if low == high:  # nothing but zeros: any range will do
        high = 1.0
    room = 0.04 * (high - low)
    ax.set_xlim(low - room if low < 0 else 0.0, high + room if high > 0 else 0.0)


def amount(value: float) -> str:
    """Return a number of records; a weight is cut to three digits.

    Examples
    --------
    >>> amount(17390), amount(1234.5)
    ('17,390', '1,234')
    """
    return f"{value:,}" if isinstance(value, int) else number(value)


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Units:
    """An axis in units of a power of ten, so that its numbers are short and can be drawn at all.

    Matplotlib does not draw ranges near the ends of the floats: at 1e-300 an axis collapses.

    Examples
    --------
    >>> units = Units.for_values([0.0, 2.5e-7])
    >>> units.label("disparity"), units.place(2.5e-7)
    ('disparity (×10⁻⁷)', 2.5)
    """

    exponent: int = 0

    @classmethod
    def for_values(cls, values: Iterable[float | None]) -> Units:
        """Return the units for an axis that shows these numbers: plain ones if they are short."""
        largest = max((abs(value) for value in values if value is not None), default=0.0)
        if largest == 0 or 1e-3 <= largest < 1e6:
            return cls()
        return cls(min(max(math.floor(math.log10(largest)), -323), 308))

    @property
    def size(self) -> float:
        """What one unit of the axis is."""
        return 10.0**self.exponent

    def place(self, value: float) -> float:
        """Return where on the axis a number stands."""
        return value / self.size

    def places(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return where on the axis numbers stand."""
        placed: npt.NDArray[np.float64] = np.asarray(values, dtype=np.float64) / self.size
        return placed

    def label(self, name: str) -> str:
        """Return the name of the axis with its unit."""
        if self.exponent == 0:
            return name
        return f"{name} (×10{str(self.exponent).translate(_SUPERSCRIPTS)})"


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


WIDTH = 7.0
"""Inches; a page shows a drawing at any size."""


@dataclass(frozen=True)
class Canvas:
    """Where a display is drawn: on a caller's axes, or on those of a new figure."""

    ax: Axes | None
    width: float
    """Of a new figure, in inches."""

    def axes(self, height: float) -> Axes:
        """Return the axes to draw on; a new figure has this height, in inches.

        A new figure is not one of pyplot's, so it is freed with its display.
        """
        if self.ax is not None:
            return self.ax
        from matplotlib.figure import Figure  # noqa: PLC0415 -- heavy

        return Figure(figsize=(self.width, height), layout="constrained").add_subplot()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Shown:
    """A figure, and where its axes are; a notebook shows it."""

    ax_: Axes
    """The axes that were drawn on."""
    x_units: Units = Units()
    """What one unit of the horizontal axis stands for."""
    y_units: Units = Units()
    panels: tuple[Axes, ...] = ()
    """Axes inside those that were drawn on, if these were divided."""

    @property
    def figure_(self) -> Figure:
        """The figure of the axes, or the part of a figure that holds them."""
        return self.ax_.figure  # type: ignore[return-value]

    @property
    def axes_(self) -> tuple[Axes, ...]:
        """All axes that were drawn on: the panels, if there are any."""
        return self.panels or (self.ax_,)

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, Any]]:
        """The figure in a notebook: as SVG, and as PNG for notebooks that are not trusted."""
        from fedparity.plots.svg import picture, png  # noqa: PLC0415 -- they draw displays

        alt = (type(self).__doc__ or "").partition("\n")[0]
        image, width, height = png(self)
        shown = {
            "image/png": image,
            "image/svg+xml": picture(self, alt=alt, name=f"fp-{id(self):x}"),
            "text/plain": repr(self),
        }
        return shown, {"image/png": {"width": width, "height": height, "alt": alt}}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Display(Shown, ABC):
    """A figure of a result: numbers of the result in their places, and nothing computed."""

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> Self:
        """Draw the figure of a result.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        with styled():
            return cls._draw(result, Canvas(ax, width))

    @classmethod
    @abstractmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        """Draw a result; the style of figures is in use."""

    @classmethod
    def from_scores(
        cls,
        scores: object,
        *,
        sensitive_features: object,
        silos: object = None,
        sample_weight: object = None,
        ax: Axes | None = None,
        width: float = WIDTH,
        **options: Any,  # noqa: ANN401 -- those of fedparity.audit
    ) -> Self:
        """Draw the figure of the scores of one table: what an audit of them would find.

        Parameters
        ----------
        scores : array of numbers
        sensitive_features : array of labels, or a frame or mapping of several columns
        silos : array of names, optional
            Of the silo of each record; all are of one if absent.
        sample_weight : array of numbers, optional
        ax, width
            As in :meth:`from_audit`.
        **options
            Those of :func:`fedparity.audit`, such as ``score_range`` and ``review_level``.

        Raises
        ------
        InputError
            If the arrays do not fit together, or there are fewer than two groups.
        MissingExtraError
            If matplotlib is not installed.
        """
        from fedparity.engines.in_process import audit_scores  # noqa: PLC0415 -- see pyproject.toml

        result = audit_scores(
            scores,
            sensitive_features=sensitive_features,
            silos=silos,
            sample_weight=sample_weight,
            **options,
        )
        return cls.from_audit(result, ax=ax, width=width)
