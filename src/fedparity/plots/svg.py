"""A display as inline SVG: small, the same bytes for the same input, and with a description."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedparity.plots.display import Display
from fedparity.plots.style import styled
from fedparity.plots.svg_rewriting import rewritten
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["AxisBox", "Drawing", "drawing"]


@dataclass(frozen=True)
class AxisBox:
    """Where a pair of axes lies in a drawing, and which numbers of the result stand there."""

    x0: float
    """The left end, in the units of the drawing."""
    x1: float
    v0: float
    """The number at ``x0``."""
    v1: float
    y0: float
    """The lower end; a drawing counts downwards, so it is the larger one."""
    y1: float
    w0: float
    """The number at ``y0``."""
    w1: float
    scale: Literal["linear"] = "linear"


@dataclass(frozen=True)
class Drawing:
    """A drawing for a page: the text of an ``svg`` element, and where its axes are."""

    svg: str
    axes: tuple[AxisBox, ...]


def drawing(display: Display, *, alt: str, name: str) -> Drawing:
    """Return a display as an ``svg`` element that a page can hold.

    It has no prolog, metadata, style sheet or ``style`` attribute (a strict content policy refuses
    those); text is text in the page's font, and what has the color of ink has that of the page's
    text. A mark that stands for a number of the result says which by ``data-path``, a JSON
    pointer.

    Parameters
    ----------
    display : Display
    alt : str
        What the drawing shows, for those who do not see it.
    name : str
        Begins every ``id`` in the drawing: another one for each drawing of a page.
    """
    held = io.BytesIO()
    with styled(svg_fonttype="none"), warnings.catch_warnings():
        # the page's font draws the letters; that matplotlib's has not all of them is no matter
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        _print(display.figure_, held)
    boxes = tuple(_box(ax, display.x_units, display.y_units) for ax in display.axes_)
    return Drawing(svg=rewritten(held.getvalue(), alt=alt, name=name), axes=boxes)


def _print(figure: Figure, held: io.BytesIO) -> None:
    """Draw a figure once, without its background; ``savefig`` draws twice to place the axes."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 -- heavy

    canvas, dots, seen = figure.canvas, figure.dpi, figure.patch.get_visible()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.patch.set_visible(False)
    try:
        FigureCanvasSVG(figure).print_svg(held, metadata=nothing)  # type: ignore[no-untyped-call]
    finally:
        figure.patch.set_visible(seen)
        figure.set_canvas(canvas)
        figure.set_dpi(dots)


def _box(ax: Axes, x_units: Units, y_units: Units) -> AxisBox:
    """Where the axes are; SVG counts downwards, in points."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError  # axes that were drawn have a figure
    across, down = (72 * inches for inches in figure.get_size_inches())
    place = ax.get_window_extent().transformed(figure.transFigure.inverted())
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    return AxisBox(
        x0=round(float(across * place.x0), 2),
        x1=round(float(across * place.x1), 2),
        v0=float(left) * x_units.size,
        v1=float(right) * x_units.size,
        y0=round(float(down * (1 - place.y0)), 2),
        y1=round(float(down * (1 - place.y1)), 2),
        w0=float(low) * y_units.size,
        w1=float(high) * y_units.size,
    )
