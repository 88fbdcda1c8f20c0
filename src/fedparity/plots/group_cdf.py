"""Distribution functions of the groups, with their center."""

from __future__ import annotations

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

__all__ = ["GroupCDFDisplay"]


class GroupCDFDisplay(Display):
    """The share of each group that scores at or below a value, and the barycenter of the groups.

    The curves are those of the sketches of all silos together. What lies between the outermost
    groups is shaded: without disparity all curves are one. Where scores lie on a public grid, curves
    are steps.
    """

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, ax: Axes | None = None, width: float = WIDTH
    ) -> GroupCDFDisplay:
        """Draw the distribution functions of a result's groups.

        Parameters
        ----------
        result : AuditResult
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.
        """
        units, stepped = score_units(result), has_steps(result)
        lines = [*group_lines(result, units), center_line(result, units)]
        with canvas(ax, width, 0.5 * width + 0.2) as axes:
            dress(axes, grid="both")
            axes.set_xlim(*score_limits(result, units))
            axes.set_ylim(0, 1.02)
            axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
            shade_between(axes, lines[:-1], across=True, steps=stepped)
            draw_lines(axes, lines, steps="steps-post" if stepped else "default")
            name_lines(axes, lines, width=width - 0.9, steep=True)
            axes.set_xlabel(units.label("score"))
            axes.set_ylabel("share of group at or below")
        return cls(ax_=axes, figure_=axes.figure, x_units=units)  # type: ignore[arg-type]
