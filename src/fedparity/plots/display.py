"""What all displays share: the axes they drew on, and how to show themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fedparity.plots.style import styled
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["WIDTH", "Display", "canvas"]

WIDTH = 7.0
"""Inches; a page shows a drawing at any size."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Display:
    """A figure of a result: numbers of the result in their places, and nothing computed."""

    ax_: Axes
    """The axes that were drawn on."""
    figure_: Figure
    x_units: Units = field(default_factory=Units)
    """What one unit of the horizontal axis stands for."""
    y_units: Units = field(default_factory=Units)

    @property
    def axes_(self) -> tuple[Axes, ...]:
        """All axes that were drawn on."""
        return (self.ax_,)

    def _repr_svg_(self) -> str:
        """The figure in a notebook."""
        from fedparity.plots.svg import drawing  # noqa: PLC0415 -- it draws displays

        return drawing(self, alt=type(self).__name__, name=f"fp-{id(self):x}").svg

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


@contextmanager
def canvas(ax: Axes | None, width: float, height: float) -> Iterator[Axes]:
    """Yield the axes to draw on, the caller's or those of a new figure, in our style.

    A new figure belongs to nobody: it is not one of pyplot's, so it is freed with its display.
    """
    with styled():
        if ax is None:
            from matplotlib.figure import Figure  # noqa: PLC0415 -- heavy

            figure = Figure(figsize=(width, height), layout="constrained")
            ax = figure.add_subplot()
        yield ax
