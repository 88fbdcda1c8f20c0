"""The synthetic Beta example: its laws, coarse sketches against rho, and convergence in k."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedparity.experiments.montecarlo import ESTIMATORS, IntensityResult, StudyResult
from fedparity.experiments.reproduction.figures.axes import level_axis, percent_axis
from fedparity.experiments.reproduction.figures.laws import draw_density, samples_of
from fedparity.experiments.reproduction.figures.style import ESTIMATOR_NAMES, panels, top_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_coarse", "draw_convergence"]

_LOOKS = (
    {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    {"color": "#0072B2", "marker": "s", "linestyle": (0, (4, 1.2))},
    {"color": "#009E73", "marker": "^", "linestyle": (0, (1.5, 1))},
)
"""One per estimator."""


def draw_coarse(result: IntensityResult) -> Figure:
    r"""Draw the laws, and :math:`U_2(k)` for k = 1 and 2 against rho (`fig:synthetic-beta-1`)."""
    titles = ["Score densities", *(f"$k = {k}$" for k in result.levels)]
    figure, grid = panels(
        [""], titles, height=1.7, top=0.5, share_x=False, share_y="none", gap=0.55
    )
    draw_density(grid[0, 0], samples_of(result.dataset), (0.0, 1.0))
    grid[0, 0].set_xlabel("score $z$")
    grid[0, 0].legend(loc="upper left", fontsize=6.5, handlelength=1.4)
    grid[0, 0].set_ylim(top=grid[0, 0].get_ylim()[1] * 1.25)
    for column, axes in enumerate(grid[0, 1:]):
        axes.axhline(result.truth, color="black", linewidth=0.6)
        for i, name in enumerate(ESTIMATORS):
            draws = result.estimates[:, 0, 0, :, i, column]
            _band(axes, np.array(result.rhos), draws, i, ESTIMATOR_NAMES[name])
        axes.set_xlabel(r"$\rho$")
        axes.sharey(grid[0, 1])
    grid[0, 1].set_ylabel(r"$\widehat{U}_2(k)$")
    top_legend(figure, grid[0, 1])
    return figure


def draw_convergence(result: StudyResult, *, silos: int = 5) -> Figure:
    r"""Draw :math:`U_2(k)` and its error by k (`fig:synthetic-beta-u2-k`).

    Left without, right with selection. Above the mean estimates and the bands of 90 % of the
    draws; below the mean relative error, with the slope of 1/k.
    """
    study = result.study
    chosen = study.silos.index(silos) if silos in study.silos else 0
    names = {"random": "Independent allocation", "positive": rf"Selection, $\rho = {study.rho:g}$"}
    figure, grid = panels(
        ["", ""],
        [names.get(regime, regime) for regime in study.regimes],
        height=1.6,
        top=0.5,
        share_y="row",
    )
    levels = np.array(study.levels)
    for column in range(len(study.regimes)):
        above, below = grid[:, column]
        above.axhline(result.truth, color="black", linewidth=0.6)
        for i, name in enumerate(ESTIMATORS):
            draws = result.estimates[column, chosen, :, i]
            _band(above, levels, draws.T, i, ESTIMATOR_NAMES[name])
            errors = np.abs(draws - result.truth).mean(axis=0) / result.truth
            below.plot(levels, errors, **_LOOKS[i])
        above.plot(
            levels,
            result.centralised[0],
            color="black",
            linestyle=(0, (1, 1.2)),
            label="centralised, grid",
        )
        percent_axis(below)
        below.plot(levels, 1 / levels, color="#888888", linewidth=0.8)
        below.text(levels[-1], 1.15 / levels[-1], "$1/k$", ha="right", va="bottom", fontsize=7)
        level_axis(below, study.levels)
        below.set_xlabel("$k$, numbers per group and silo")
    grid[0, 0].set_ylabel(rf"$\widehat{{U}}_2(k)$, $d = {study.silos[chosen]}$")
    grid[1, 0].set_ylabel("mean relative error")
    top_legend(figure, grid[0, 0])
    return figure


def _band(axes: Axes, x: np.ndarray, draws: np.ndarray, look: int, name: str) -> None:
    """A mean over draws (columns) and the band of 90 % of them."""
    low, high = np.percentile(draws, [5, 95], axis=1)
    axes.fill_between(x, low, high, color=_LOOKS[look]["color"], alpha=0.18, linewidth=0)
    axes.plot(x, draws.mean(axis=1), label=name, **_LOOKS[look])
