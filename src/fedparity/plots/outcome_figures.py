"""ROC curves, calibration and error rates of groups, from the outcomes of a result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from fedparity.documents.outcome_parts import OutcomeResult, OutcomeThreshold
from fedparity.documents.result import AuditResult
from fedparity.errors import OptionError
from fedparity.laws.labels import Group
from fedparity.plots.group_curves import Line, draw_lines, name_in_key
from fedparity.plots.style import (
    GRID,
    MUTED,
    WIDTH,
    Canvas,
    Display,
    dress,
    group_name,
    group_style,
    pointer,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibrationDisplay", "OutcomeDisplay", "ROCDisplay", "RateDisplay"]

_NAMES: Final = {
    "tpr": "true positive rate",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
}


class OutcomeDisplay(Display):
    """A figure of the outcomes that one table of a result holds."""

    @classmethod
    def from_audit(
        cls,
        result: AuditResult,
        *,
        by: str | None = None,
        ax: Axes | None = None,
        width: float = WIDTH,
    ) -> Self:
        """Draw the figure of a result.

        Parameters
        ----------
        result : AuditResult
        by : str, optional
            The axis whose categories are drawn; the groups of the plan if absent.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if absent.
        width : float
            Of a new figure, in inches.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        OptionError
            If the result has no outcomes by this axis.
        """
        wanted = () if by is None else (by,)
        for place, table in enumerate(result.tables):
            if table.by == wanted and table.outcome is not None:
                at = ("tables", place, "outcome")
                return cls.from_outcome(table.outcome, at=at, ax=ax, width=width)
        raise OptionError(
            f"this result has no outcomes by {'its groups' if by is None else repr(by)}.",
            fix="audit a plan with an [outcome] table, and name one of its axes.",
        )

    @classmethod
    def from_outcome(
        cls,
        outcome: OutcomeResult,
        *,
        at: tuple[str | int, ...] = (),
        ax: Axes | None = None,
        width: float = WIDTH,
    ) -> Self:
        """Draw the figure of outcomes alone; ``at`` is where in a result they are."""
        with styled():
            return cls._draw_outcome(outcome, at, Canvas(ax, width))

    @classmethod
    def _draw(cls, result: AuditResult, canvas: Canvas) -> Self:
        return cls.from_audit(result, ax=canvas.ax, width=canvas.width)

    @classmethod
    @abstractmethod
    def _draw_outcome(
        cls, outcome: OutcomeResult, at: tuple[str | int, ...], canvas: Canvas
    ) -> Self:
        """Draw outcomes; the style of figures is in use."""


def _square(ax: Axes, across: str, up: str) -> None:
    """Axes from 0 to 1 both ways."""
    dress(ax, grid="both")
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.set_xlabel(across)
    ax.set_ylabel(up)


class ROCDisplay(OutcomeDisplay):
    """The true positive rate of each group at every false positive rate.

    The shade around a curve is where that of the silos' own records can be, whatever they are. The dotted
    diagonal is that of a score which says nothing. The key states the area under each curve.
    """

    @classmethod
    def _draw_outcome(
        cls, outcome: OutcomeResult, at: tuple[str | int, ...], canvas: Canvas
    ) -> Self:
        ax = canvas.axes(4.2)
        _square(ax, "false positive rate", "true positive rate")
        ax.plot([0, 1], [0, 1], ":", color=MUTED, linewidth=1.0, zorder=1.2)
        lines = []
        for position, row in enumerate(outcome.groups):
            style, curve = group_style(position), row.roc
            ax.fill_between(
                curve.false_positive,
                curve.lower,
                curve.upper,
                color=style.color,
                alpha=0.13,
                linewidth=0,
                zorder=1.4,
            )
            lines.append(
                Line(
                    name=f"{group_name(row.group, 22)}, {row.auc.value:.3f}",
                    at=pointer(*at, "groups", position, "roc", "true_positive"),
                    style=style,
                    x=np.array(curve.false_positive),
                    y=np.array(curve.true_positive),
                )
            )
        draw_lines(ax, lines)
        name_in_key(ax, lines, by_median=False)
        return cls(ax_=ax)


class CalibrationDisplay(OutcomeDisplay):
    """The share of positive outcomes in each public bin of the score, by group.

    Bars are intervals. Where scores are probabilities, the dotted diagonal is that of scores that
    come true as often as they say; a point stands at the mean score of its bin.
    """

    @classmethod
    def _draw_outcome(
        cls, outcome: OutcomeResult, at: tuple[str | int, ...], canvas: Canvas
    ) -> Self:
        if not outcome.calibration:
            raise OptionError(
                "this result has no public bins, so calibration was not measured.",
                fix="name bins in the [outcome] table of the plan.",
            )
        ax = canvas.axes(4.2)
        low, high = outcome.edges[0], outcome.edges[-1]
        _square(ax, "score", "share of positive outcomes")
        room = 0.02 * (high - low)
        ax.set_xlim(low - room, high + room)
        for edge in outcome.edges[1:-1]:
            ax.axvline(edge, color=GRID, linewidth=0.7, zorder=1.0)
        if all(each.ece is not None for each in outcome.calibration):
            ax.plot([0, 1], [0, 1], ":", color=MUTED, linewidth=1.0, zorder=1.2)
        lines = [
            _calibration_line(ax, outcome, position, at)
            for position in range(len(outcome.calibration))
        ]
        draw_lines(ax, lines)
        name_in_key(ax, lines, by_median=False)
        return cls(ax_=ax)


def _calibration_line(
    ax: Axes, outcome: OutcomeResult, position: int, at: tuple[str | int, ...]
) -> Line:
    """The points of one group; its intervals are drawn."""
    found, style = outcome.calibration[position], group_style(position)
    # Groups are shifted a little, so that their bars do not overlap.
    shift = 0.006 * (position - (len(outcome.calibration) - 1) / 2)
    shift *= outcome.edges[-1] - outcome.edges[0]
    x, y = [], []
    for each in found.bins:
        if each.rate is None or each.mean_score is None:
            continue
        x.append(each.mean_score.value + shift)
        y.append(each.rate.value)
        ax.plot(
            [x[-1], x[-1]], list(each.rate.interval), color=style.color, linewidth=1.2, zorder=2.0
        )
    return Line(
        name=group_name(found.group, 22),
        at=pointer(*at, "calibration", position, "bins"),
        style=style,
        x=np.array(x),
        y=np.array(y),
    )


class RateDisplay(OutcomeDisplay):
    """Error rates and predictive values of each group at a threshold, with their intervals.

    The thick bar is where the rate of the silos' own records can be; it is a point where they were
    counted. The thin one is the interval of the population's rate. The first threshold is drawn.
    """

    @classmethod
    def _draw_outcome(
        cls, outcome: OutcomeResult, at: tuple[str | int, ...], canvas: Canvas
    ) -> Self:
        if not outcome.thresholds:
            raise OptionError(
                "this result has no thresholds, so no error rates were measured.",
                fix="name thresholds in the plan.",
            )
        found = outcome.thresholds[0]
        many = len(outcome.groups)
        ax = canvas.axes(max(2.4, 0.75 + len(found.rates) * (0.18 * many + 0.22)))
        dress(ax)
        ax.set_xlim(-0.01, 1.01)
        lines = _rate_lines(ax, found, at, [row.group for row in outcome.groups])
        ax.set_yticks(range(len(found.rates)), [_NAMES[each.measure] for each in found.rates])
        ax.set_ylim(len(found.rates) - 0.45, -0.55)
        ax.set_xlabel(f"rate; a score of {found.score:g} or more is predicted positive")
        name_in_key(ax, lines, by_median=False)
        return cls(ax_=ax)


def _rate_lines(
    ax: Axes, found: OutcomeThreshold, at: tuple[str | int, ...], groups: Sequence[Group]
) -> list[Line]:
    step = 0.7 / max(len(groups), 1)
    lines = []
    for position, group in enumerate(groups):
        style = group_style(position)
        for row, rates in enumerate(found.rates):
            rate = rates.groups[position].rate
            if rate is None:
                continue
            y = row + step * (position - (len(groups) - 1) / 2)
            ax.plot(list(rate.interval), [y, y], color=style.color, linewidth=1.2, zorder=2.0)
            ax.plot([rate.lower, rate.upper], [y, y], color=style.color, linewidth=3.5, zorder=2.2)
            ax.plot(
                [rate.value],
                [y],
                style.marker,
                color=style.color,
                markersize=5,
                markeredgewidth=0,
                zorder=3,
                gid=pointer(*at, "thresholds", 0, "rates", row, "groups", position, "rate"),
            )
        lines.append(
            Line(
                name=group_name(group, 22),
                at="",
                style=style,
                x=np.zeros(0),
                y=np.zeros(0),
            )
        )
    return lines
