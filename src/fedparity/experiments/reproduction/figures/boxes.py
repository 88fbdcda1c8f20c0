"""Box plots of the estimates over many allocations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedparity.experiments.montecarlo import StudyResult
from fedparity.experiments.reproduction.figures.style import (
    ESTIMATOR_NAMES,
    REGIME_NAMES,
    panels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fedparity.laws.arrays import FloatArray

__all__ = ["draw_boxes"]


def draw_boxes(result: StudyResult, *, silos: int = 5) -> Figure:
    r"""Draw the distribution of :math:`\widehat U_2(k)` for each k (`fig:compas-box-k`).

    The dashed line is :math:`U_2`, the band 1 % around it. Whiskers reach the 5th and the 95th
    percentile; dots are the extremes.
    """
    study = result.study
    chosen = study.silos.index(silos) if silos in study.silos else 0
    figure, grid = panels(
        [ESTIMATOR_NAMES[name] for name in result.estimators],
        [REGIME_NAMES[name] for name in study.regimes],
        height=1.35,
        top=0.3,
        share_y="row",
    )
    for row in range(grid.shape[0]):
        for column, axes in enumerate(grid[row]):
            _boxes(axes, result.estimates[column, chosen, :, row], result.truth)
            axes.set_xticks(range(len(study.levels)), [str(k) for k in study.levels])
            axes.tick_params("x", labelsize=6)
            axes.grid(visible=False, axis="x")
        grid[row, 0].set_ylim(*_limits(result.estimates[:, chosen, :, row], result.truth))
    for axes in grid[-1]:
        axes.set_xlabel("$k$, numbers per group and silo")
    figure.supylabel(
        rf"$\widehat{{U}}_2(k)$, $d = {study.silos[chosen]}$ silos", fontsize=7.5, x=0.005
    )
    return figure


def _boxes(axes: Axes, draws: FloatArray, truth: float) -> None:
    """One box per column of draws, in few strokes: a figure has ninety of them."""
    at = np.arange(draws.shape[1])
    low, first, median, third, high = np.percentile(draws, [5, 25, 50, 75, 95], axis=0)
    axes.axhspan(0.99 * truth, 1.01 * truth, color="#DDEAF3", linewidth=0, zorder=0)
    axes.axhline(truth, color="black", linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.vlines(at, low, high, color="#444444", linewidth=0.7)
    axes.bar(
        at,
        third - first,
        bottom=first,
        width=0.62,
        color="#7FB3D5",
        edgecolor="#1F4E70",
        linewidth=0.6,
        zorder=2,
    )
    axes.hlines(median, at - 0.31, at + 0.31, color="#0B2C44", linewidth=1.1, zorder=3)
    for extreme in (draws.min(axis=0), draws.max(axis=0)):
        axes.plot(at, extreme, ".", color="#444444", markersize=1.8)


def _limits(shown: FloatArray, truth: float) -> tuple[float, float]:
    low, high = min(shown.min(), 0.98 * truth), max(shown.max(), 1.02 * truth)
    margin = 0.05 * (high - low)
    return float(low - margin), float(high + margin)
