"""Error against how strongly silos select by score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedparity.experiments.montecarlo import ESTIMATORS, IntensityResult
from fedparity.experiments.reproduction.figures.axes import percent_axis
from fedparity.experiments.reproduction.figures.style import (
    ESTIMATOR_NAMES,
    REGIME_NAMES,
    REGIME_STYLES,
    panels,
    top_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fedparity.laws.arrays import FloatArray

__all__ = ["draw_intensity"]

_DOTS = 8
"""Draws shown as dots, of each strength; lines are the medians of all."""


def draw_intensity(result: IntensityResult) -> Figure:
    """Draw the relative error against the realised dependence (`fig:compas-error-vs-corr`).

    One row per k, one column per estimator. Dots are allocations, a line joins the medians of
    each strength of selection; dashed lines are those of more silos.
    """
    figure, grid = panels(
        [f"$k = {k}$" for k in result.levels],
        [ESTIMATOR_NAMES[name] for name in ESTIMATORS],
        height=1.6,
        top=0.5,
    )
    errors = np.abs(result.estimates - result.truth) / result.truth
    dependence = np.abs(result.spearman)
    for row in range(grid.shape[0]):
        for column, axes in enumerate(grid[row]):
            _clouds(axes, result, dependence, errors[..., column, row])
            percent_axis(axes)
            axes.set_xlim(left=-0.02)
    low = np.percentile(errors, 2)
    grid[0, 0].set_ylim(max(low, 1e-5), errors.max() * 1.4)
    for axes in grid[-1]:
        axes.set_xlabel(r"$|\mathrm{cor}(Z, A)|$ (Spearman)")
    figure.supylabel("relative error", fontsize=7.5, x=0.005)
    top_legend(figure, grid[0, 0])
    return figure


def _clouds(
    axes: Axes, result: IntensityResult, dependence: FloatArray, errors: FloatArray
) -> None:
    """Dots and medians: strengths by regimes by numbers of silos by draws."""
    dashes = ("-", (0, (3, 1.5)), (0, (1, 1)))
    for i, regime in enumerate(result.regimes):
        look = REGIME_STYLES[regime]
        for j, silos in enumerate(result.silos):
            axes.plot(
                dependence[:, i, j, :_DOTS].ravel(),
                errors[:, i, j, :_DOTS].ravel(),
                linestyle="none",
                marker=look["marker"],
                color=look["color"],
                markersize=1.8,
                alpha=0.35,
            )
            axes.plot(
                np.median(dependence[:, i, j], axis=1),
                np.median(errors[:, i, j], axis=1),
                color=look["color"],
                linestyle=dashes[j % len(dashes)],
                marker=look["marker"],
                markersize=3,
                label=f"{REGIME_NAMES[regime]}, $d = {silos}$",
                zorder=3,
            )
