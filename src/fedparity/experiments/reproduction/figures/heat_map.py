"""The smallest k that is reliable, as a heat map with its numbers."""

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
    from matplotlib.figure import Figure

__all__ = ["draw_heat_map"]


def draw_heat_map(result: StudyResult) -> Figure:
    """Draw k95 by regime and number of silos, for each estimator (`fig:compas-k95-heatmap`).

    Dark cells need many numbers; where no k of the study suffices, the cell says so.
    """
    from matplotlib.colors import LogNorm  # noqa: PLC0415

    study, found = result.study, result.k95()
    low, high = min(study.levels), max(study.levels)
    figure, grid = panels(
        [""],
        [ESTIMATOR_NAMES[name] for name in result.estimators],
        height=1.05,
        left=0.78,
        top=0.3,
    )
    for column, axes in enumerate(grid[0]):
        values = found[:, :, column]
        drawn = np.where(values > 0, values, 2 * high)
        axes.imshow(drawn, cmap="Blues", norm=LogNorm(0.6 * low, 2 * high), aspect="auto")
        for (row, place), value in np.ndenumerate(values):
            dark = drawn[row, place] > 45 / 200 * high
            axes.text(
                place,
                row,
                f"{value}" if value else f">{high}",
                ha="center",
                va="center",
                color="white" if dark else "black",
                fontsize=7.5,
            )
        axes.set_xticks(range(len(study.silos)), [str(d) for d in study.silos])
        axes.set_yticks(
            range(len(study.regimes)), [REGIME_NAMES[r].split()[0] for r in study.regimes]
        )
        axes.set_xlabel("silos $d$")
        axes.tick_params(length=0)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure
