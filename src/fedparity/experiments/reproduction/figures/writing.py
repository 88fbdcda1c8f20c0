"""Figures written as SVG and PDF, byte for byte the same each time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from fedparity.experiments.reproduction.figures.style import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "figure_files"]

FORMATS = ("svg", "pdf")
_COORDINATES = re.compile(rb' (?:d|x|y)="[^"]*"')
"""Paths and places; scales of letters stay as they are."""
_LONG = re.compile(rb"-?\d+\.\d{3,}")


def figure_files(draw: Callable[[], Figure]) -> dict[str, bytes]:
    """Return a figure in each format; nothing in it tells when or where it was made.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> sorted(figure_files(lambda: Figure(figsize=(1, 1))))
    ['pdf', 'svg']
    """
    with style():
        figure = draw()
        return {kind: _written(figure, kind) for kind in FORMATS}


def _written(figure: Figure, kind: str) -> bytes:
    out = io.BytesIO()
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(out, format=kind, metadata=dates[kind])
    return _rounded(out.getvalue()) if kind == "svg" else out.getvalue()


def _rounded(svg: bytes) -> bytes:
    """Coordinates to a hundredth of a point: a third of the size, nothing to be seen."""
    return _COORDINATES.sub(lambda found: _LONG.sub(_short, found[0]), svg)


def _short(found: re.Match[bytes]) -> bytes:
    return f"{float(found[0]):.2f}".rstrip("0").rstrip(".").encode()
