"""Curves over k for several numbers of silos: error, reliability, error for what is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.experiments.montecarlo import StudyResult
from fedparity.experiments.reproduction.figures.axes import (
    level_axis,
    log_budget,
    log_levels,
    percent_axis,
)
from fedparity.experiments.reproduction.figures.style import (
    ESTIMATOR_NAMES,
    REGIME_NAMES,
    SILO_STYLES,
    panels,
    top_legend,
)
from fedparity.laws.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_budget", "draw_error", "draw_reliability"]


def draw_error(result: StudyResult) -> Figure:
    r"""Draw :math:`\mathrm{MAE}(k)` by number of silos and regime (`fig:compas-mae-k`)."""
    figure, grid = _curves(result, result.mae(), np.array(result.study.levels))
    for axes in grid.flat:
        level_axis(axes, result.study.levels)
        log_levels(axes)
    figure.supylabel(r"MAE$(k) = \mathrm{E}\,|\widehat{U}_2(k) - U_2|$", fontsize=7.5, x=0.005)
    _name_levels(grid)
    return figure


def draw_reliability(result: StudyResult) -> Figure:
    r"""Draw :math:`p_{\mathrm{ok}}(k)`, with the line of 95 % (`fig:compas-pok-k`)."""
    figure, grid = _curves(result, result.reliability(), np.array(result.study.levels))
    for axes in grid.flat:
        level_axis(axes, result.study.levels)
        axes.axhline(0.95, color="black", linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
        axes.set_ylim(-0.04, 1.06)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    grid[0, 0].text(
        max(result.study.levels) * 1.1, 0.93, "95 %", ha="right", va="top", fontsize=6.5
    )
    figure.supylabel(
        r"$p_{\mathrm{ok}}(k)$: share of draws within 1 % of $U_2$", fontsize=7.5, x=0.005
    )
    _name_levels(grid)
    return figure


def draw_budget(result: StudyResult) -> Figure:
    """Draw the mean relative error against the numbers sent (`fig:compas-budget`)."""
    budget = result.budget()
    figure, grid = _curves(result, result.mean_relative_error(), budget)
    for axes in grid.flat:
        log_budget(axes)
        percent_axis(axes)
    for axes in grid[-1]:
        axes.set_xlabel(r"numbers sent in all, $2d(k+1)$")
    figure.supylabel("mean relative error", fontsize=7.5, x=0.005)
    return figure


def _curves(
    result: StudyResult, values: FloatArray, across: npt.NDArray[np.int64]
) -> tuple[Figure, Any]:
    """Estimators down, regimes across, a line per number of silos."""
    study = result.study
    figure, grid = panels(
        [ESTIMATOR_NAMES[name] for name in result.estimators],
        [REGIME_NAMES[name] for name in study.regimes],
        height=1.35,
        top=0.5,
    )
    for row in range(grid.shape[0]):
        for column, axes in enumerate(grid[row]):
            for i, (silos, look) in enumerate(zip(study.silos, SILO_STYLES, strict=False)):
                x = across if across.ndim == 1 else across[i]
                axes.plot(x, values[column, i, row], label=f"{silos}", **look)
    top_legend(figure, grid[0, 0], title="silos $d$:", columns=len(study.silos) + 1)
    return figure, grid


def _name_levels(grid: Any) -> None:  # noqa: ANN401 -- an array of axes
    for axes in grid[-1]:
        axes.set_xlabel("$k$, numbers per group and silo")
