"""Axes that several figures have: numbers of levels, shares, powers of ten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["level_axis", "log_budget", "log_levels", "percent_axis"]

_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def level_axis(axes: Axes, levels: Sequence[int]) -> None:
    """Give an axis of numbers of levels k a log scale with plain numbers."""
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415

    shown = [k for k in _SHOWN if min(levels) <= k <= max(levels)]
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    axes.set_xlim(min(levels) * 0.88, max(levels) * 1.14)


def log_budget(axes: Axes) -> None:
    """Give the horizontal axis a log scale with powers of ten only."""
    from matplotlib.ticker import NullLocator  # noqa: PLC0415

    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())


def log_levels(axes: Axes) -> None:
    """Give the vertical axis a log scale with powers of ten only."""
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=7))
    axes.yaxis.set_minor_locator(NullLocator())


def percent_axis(axes: Axes) -> None:
    """Write the vertical axis of a relative error in percent, on a log scale."""
    log_levels(axes)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
