"""The figures of the sheet, drawn for the width they get on paper."""

from __future__ import annotations

from dataclasses import dataclass

from fedparity.auditing.result import AuditResult
from fedparity.report.sentences.naming import groups_words

__all__ = ["SheetFigure", "sheet_figures"]

_INK = "#1f2933"
_WHOLE, _HALF = 9.2, 4.5
"""Inches of a figure as wide as the sheet, and of one beside another; drawn larger than they are
shown, so that their letters are as small as those around them."""


@dataclass(frozen=True, kw_only=True)
class SheetFigure:
    """A drawing and what stands below it."""

    svg: str
    caption: str


def sheet_figures(result: AuditResult) -> tuple[SheetFigure, SheetFigure, SheetFigure]:
    """Return a figure as wide as the sheet, and two that stand side by side.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    from fedparity import plots  # noqa: PLC0415 -- matplotlib is not light

    def figure(display: plots.Display, name: str, caption: str) -> SheetFigure:
        drawn = plots.drawing(display, alt=caption, name=name)
        # WeasyPrint does not hand the page's color to a drawing
        return SheetFigure(
            svg=drawn.svg.replace("<svg", f'<svg color="{_INK}"', 1), caption=caption
        )

    if result.attribution.selection is None:  # a secure sum does not tell the parts
        last = figure(
            plots.GroupQuantileDisplay.from_audit(result, width=_HALF),
            "quantiles",
            f"Scores of {groups_words(result)} at each rank.",
        )
    else:
        parts = plots.AttributionDisplay.from_audit(result, width=_HALF)
        parts.ax_.locator_params(axis="x", nbins=3)  # the words beside the bars leave little room
        last = figure(
            parts,
            "attribution",
            "Selection between silos and within silos: shares of a measure, not causes.",
        )
    return (
        figure(
            plots.UncertaintyDisplay.from_audit(result, width=_WHOLE),
            "uncertainty",
            "The headline with its errors, and the review level if there is one.",
        ),
        figure(
            plots.GroupCDFDisplay.from_audit(result, width=_HALF),
            "cdf",
            f"Share of {groups_words(result)} at or below each score.",
        ),
        last,
    )
