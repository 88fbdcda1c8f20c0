"""Quantile functions of the groups, with their center."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fedparity.auditing.result import AuditResult
from fedparity.plots.display import WIDTH, Display, canvas
from fedparity.plots.group_lines import (
    center_line,
    draw_lines,
    group_lines,
    has_steps,
    name_lines,
    shade_between,
)
from fedparity.plots.limits import score_limits, score_units
from fedparity.plots.style import dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GroupQuantileDisplay"]


class GroupQuantileDisplay(Display):
    """The score below which a share of each group lies, and the barycenter of the groups.

    At each level the barycenter is the weighted mean of the groups (order 1: a median). The
    disparity is how far, on average over the levels, the groups are from it. Where scores lie on a
    public grid, curves are steps.
    """

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> GroupQuantileDisplay:
        """Draw the quantile functions of a result's groups.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        units, stepped = score_units(result), has_steps(result)
        drawn = [*group_lines(result, units), center_line(result, units)]
        lines = [replace(line, x=line.y, y=line.x) for line in drawn]
        with canvas(ax, width, 0.5 * width + 0.2) as axes:
            dress(axes, grid="both")
            axes.set_xlim(0, 1)
            axes.set_ylim(*score_limits(result, units))
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
            shade_between(axes, lines[:-1], across=False, steps=stepped)
            draw_lines(axes, lines, steps="steps-pre" if stepped else "default")
            name_lines(axes, lines, width=width - 0.9, steep=False)
            axes.set_xlabel("share of group below")
            axes.set_ylabel(units.label("score"))
        return cls(ax_=axes, figure_=axes.figure, y_units=units)  # type: ignore[arg-type]
