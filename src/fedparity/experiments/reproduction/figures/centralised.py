"""What discretisation costs by itself, and what federation adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedparity.experiments.montecarlo import StudyResult
from fedparity.experiments.reproduction.figures.axes import level_axis
from fedparity.experiments.reproduction.figures.style import (
    ESTIMATOR_NAMES,
    REGIME_NAMES,
    SILO_STYLES,
    panels,
    top_legend,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_centralised"]


def draw_centralised(result: StudyResult, *, silos: tuple[int, ...] = (5, 50)) -> Figure:
    r"""Draw centralised :math:`U_2(k)` and federated estimates (`fig:compas-central-vs-fed`).

    Lines are means over allocations, bands hold 90 % of them; the thin line is :math:`U_2`.
    """
    study = result.study
    chosen = [i for i, d in enumerate(study.silos) if d in silos] or [0]
    figure, grid = panels(
        [ESTIMATOR_NAMES[name] for name in result.estimators],
        [REGIME_NAMES[name] for name in study.regimes],
        height=1.35,
        top=0.5,
        share_y="row",
    )
    for row in range(grid.shape[0]):
        for column, axes in enumerate(grid[row]):
            axes.axhline(result.truth, color="black", linewidth=0.6)
            for i in chosen:
                draws = result.estimates[column, i, :, row]
                look = SILO_STYLES[i % len(SILO_STYLES)]
                low, high = np.percentile(draws, [5, 95], axis=0)
                axes.fill_between(
                    study.levels, low, high, color=look["color"], alpha=0.22, linewidth=0
                )
                label = f"federated, $d = {study.silos[i]}$"
                axes.plot(study.levels, draws.mean(axis=0), label=label, **look)
            axes.plot(
                study.levels,
                result.centralised[row],
                color="black",
                linestyle=(0, (4, 1.5)),
                label="centralised $U_2(k)$",
                zorder=3,
            )
            level_axis(axes, study.levels)
    for axes in grid[-1]:
        axes.set_xlabel("$k$, numbers per group and silo")
    figure.supylabel(r"$U_2(k)$ and $\widehat{U}_2(k)$", fontsize=7.5, x=0.005)
    top_legend(figure, grid[0, 0])
    return figure
