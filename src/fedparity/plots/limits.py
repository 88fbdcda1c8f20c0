"""The range of an axis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fedparity.auditing.result import AuditResult
from fedparity.plots.units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["score_limits", "score_units", "span_from_zero"]


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
    held = [0.0, *(place for place in places if place is not None)]
    low, high = min(held), max(held)
    if low == high:  # nothing but zeros: any range will do
        high = 1.0
    room = 0.04 * (high - low)
    ax.set_xlim(low - room if low < 0 else 0.0, high + room if high > 0 else 0.0)
