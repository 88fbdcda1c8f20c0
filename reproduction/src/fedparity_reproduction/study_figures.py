"""Figures of a study: errors, reliability, and what they cost, for three estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from fedparity_reproduction.estimators import ESTIMATORS, FloatArray, IntArray
from fedparity_reproduction.figure_style import (
    ESTIMATOR_NAMES,
    ESTIMATOR_STYLES,
    REGIME_NAMES,
    REGIME_STYLES,
    SILO_STYLES,
    label_levels,
    level_axis,
    panels,
    percent_axis,
    power_axis,
    top_legend,
)
from fedparity_reproduction.law_figures import draw_density, samples_of
from fedparity_reproduction.studies import IntensityResult, StudyResult

__all__ = [
    "draw_boxes",
    "draw_budget",
    "draw_centralized",
    "draw_coarse",
    "draw_convergence",
    "draw_error",
    "draw_heat_map",
    "draw_intensity",
    "draw_reliability",
]

_HEIGHT = 1.5
_DOTS = 8
"""Draws shown as dots, of each strength of selection; lines are the medians of all."""


def draw_error(result: StudyResult) -> Figure:
    r"""Draw :math:`\mathrm{MAE}(k)` by number of silos and regime (`fig:compas-mae-k`)."""
    figure, grid = _curves(result, result.mean_absolute_error(), np.array(result.study.levels))
    for axes in grid.flat:
        level_axis(axes, result.study.levels)
        power_axis(axes)
    label_levels(grid)
    figure.supylabel(r"MAE$(k) = \mathrm{E}\,|\widehat{U}_2(k) - U_2|$")
    return figure


def draw_reliability(result: StudyResult) -> Figure:
    r"""Draw :math:`p_{\mathrm{ok}}(k)`, with the line of 95 % (`fig:compas-pok-k`)."""
    figure, grid = _curves(result, result.reliability(), np.array(result.study.levels))
    for axes in grid.flat:
        level_axis(axes, result.study.levels)
        axes.axhline(0.95, color="black", linewidth=0.7, linestyle=(0, (3, 2)), zorder=1)
        axes.set_ylim(-0.04, 1.06)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 0.95])  # the line's label stands at the axis
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    label_levels(grid)
    figure.supylabel(r"$p_{\mathrm{ok}}(k)$: share of draws within 1 % of $U_2$")
    return figure


def draw_budget(result: StudyResult) -> Figure:
    """Draw the mean relative error against the numbers sent (`fig:compas-budget`)."""
    figure, grid = _curves(result, result.mean_absolute_error() / result.truth, result.budget())
    for axes in grid.flat:
        axes.set_xscale("log")
        axes.xaxis.minorticks_off()
        percent_axis(axes)
    for axes in grid[-1]:
        axes.set_xlabel(r"numbers sent in all, $2d(k+1)$")
    figure.supylabel("mean relative error")
    return figure


def draw_boxes(result: StudyResult, *, silos: int = 5) -> Figure:
    r"""Draw the distribution of :math:`\widehat U_2(k)` for each k (`fig:compas-box-k`).

    The dashed line is :math:`U_2`, the band 1 % around it. Whiskers reach the 5th and the 95th
    percentile; dots are the extremes.
    """
    study = result.study
    place = study.silos.index(silos)
    figure, grid = _panels(result, share_y="row")
    for row in range(grid.shape[0]):
        for column, axes in enumerate(grid[row]):
            _boxes(axes, result.estimates[column, place, :, row], result.truth)
            axes.set_xticks(range(len(study.levels)), [str(k) for k in study.levels])
            axes.tick_params("x", labelsize=5.5)
            axes.grid(visible=False, axis="x")
        shown = result.estimates[:, place, :, row]
        low = min(shown.min(), 0.98 * result.truth)
        high = max(shown.max(), 1.02 * result.truth)
        margin = 0.05 * (high - low)
        grid[row, 0].set_ylim(low - margin, high + margin)
    label_levels(grid)
    figure.supylabel(rf"$\widehat{{U}}_2(k)$, $d = {silos}$ silos")
    return figure


def _boxes(axes: Axes, draws: FloatArray, truth: float) -> None:
    """Draw one box per column of draws, in few strokes: a figure has ninety of them."""
    at = np.arange(draws.shape[1])
    low, first, median, third, high = np.percentile(draws, [5, 25, 50, 75, 95], axis=0)
    axes.axhspan(0.99 * truth, 1.01 * truth, color="#DDEAF3", linewidth=0, zorder=0)
    axes.axhline(truth, color="black", linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.vlines(at, low, high, color="#444444", linewidth=0.7)
    box: dict[str, Any] = {"color": "#7FB3D5", "edgecolor": "#1F4E70", "linewidth": 0.6}
    axes.bar(at, third - first, bottom=first, width=0.62, zorder=2, **box)
    axes.hlines(median, at - 0.31, at + 0.31, color="#0B2C44", linewidth=1.1, zorder=3)
    for extreme in (draws.min(axis=0), draws.max(axis=0)):
        axes.plot(at, extreme, ".", color="#444444", markersize=1.8)


def draw_centralized(result: StudyResult, *, silos: tuple[int, ...] = (5, 50)) -> Figure:
    r"""Draw centralized :math:`U_2(k)` and federated estimates (`fig:compas-central-vs-fed`).

    Lines are means over allocations, bands hold 90 % of them; the thin line is :math:`U_2`.
    """
    study = result.study
    figure, grid = _panels(result, share_y="row")
    for row in range(grid.shape[0]):
        for column, axes in enumerate(grid[row]):
            axes.axhline(result.truth, color="black", linewidth=0.6)
            for i, number in enumerate(study.silos):
                if number in silos:
                    draws = result.estimates[column, i, :, row]
                    label = f"federated, $d = {number}$"
                    _band(axes, study.levels, draws, label, SILO_STYLES[i])
            _pooled(axes, study.levels, result.centralized[row])
            level_axis(axes, study.levels)
    label_levels(grid)
    figure.supylabel(r"$U_2(k)$ and $\widehat{U}_2(k)$")
    top_legend(figure, grid[0, 0])
    return figure


def draw_heat_map(result: StudyResult) -> Figure:
    """Draw k95 by regime and number of silos, for each estimator (`fig:compas-k95-heatmap`).

    Dark cells need many numbers; where no k of the study suffices, the cell says so.
    """
    study, found = result.study, result.k95()
    low, high = min(study.levels), max(study.levels)
    figure, grid = panels([""], list(ESTIMATOR_NAMES.values()), height=1.1)
    for column, axes in enumerate(grid[0]):
        values = found[:, :, column]
        drawn = np.where(values > 0, values, 2 * high)
        axes.imshow(drawn, cmap="Blues", norm=LogNorm(0.6 * low, 2 * high), aspect="auto")
        for (row, place), value in np.ndenumerate(values):
            axes.text(
                place,
                row,
                f"{value}" if value else f">{high}",
                ha="center",
                va="center",
                color="white" if drawn[row, place] > 45 / 200 * high else "black",
            )
        axes.set_xticks(range(len(study.silos)), [str(d) for d in study.silos])
        names = [REGIME_NAMES[regime].split()[0] for regime in study.regimes]
        axes.set_yticks(range(len(study.regimes)), names)
        axes.set_xlabel("silos $d$")
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
    return figure


def draw_intensity(result: IntensityResult) -> Figure:
    """Draw the relative error against the realized dependence (`fig:compas-error-vs-corr`).

    One row per k, one column per estimator. Dots are allocations, a line joins the medians of
    each strength of selection; dashed lines are those of more silos.
    """
    study = result.study
    errors = np.abs(result.estimates - result.truth) / result.truth
    names = list(ESTIMATOR_NAMES.values())
    figure, grid = panels([f"$k = {k}$" for k in study.levels], names, height=1.75)
    for row in range(grid.shape[0]):
        for column, axes in enumerate(grid[row]):
            _clouds(axes, result, errors[..., column, row])
            percent_axis(axes)
            axes.set_xlim(left=-0.02)
    grid[0, 0].set_ylim(max(np.percentile(errors, 2), 1e-5), errors.max() * 1.4)
    for axes in grid[-1]:
        axes.set_xlabel(r"$|\mathrm{cor}(Z, A)|$ (Spearman)")
    figure.supylabel("relative error")
    top_legend(figure, grid[0, 0])
    return figure


def _clouds(axes: Axes, result: IntensityResult, errors: FloatArray) -> None:
    """Draw dots and medians of errors: strengths by regimes by numbers of silos by draws."""
    dependence = np.abs(result.spearman)
    for i, regime in enumerate(result.study.regimes):
        look = REGIME_STYLES[regime]
        for j, silos in enumerate(result.study.silos):
            axes.plot(
                dependence[:, i, j, :_DOTS].ravel(),
                errors[:, i, j, :_DOTS].ravel(),
                linestyle="none",
                markersize=1.8,
                alpha=0.35,
                **look,
            )
            axes.plot(
                np.median(dependence[:, i, j], axis=1),
                np.median(errors[:, i, j], axis=1),
                linestyle=("-", (0, (3, 1.5)))[j % 2],
                markersize=3,
                label=f"{REGIME_NAMES[regime]}, $d = {silos}$",
                zorder=3,
                **look,
            )


# -- the synthetic example -----------------------------------------------------------------------


def draw_coarse(result: IntensityResult) -> Figure:
    r"""Draw the laws, and :math:`U_2(k)` for k = 1 and 2 against rho (`fig:synthetic-beta-1`)."""
    titles = ["Score densities", *(f"$k = {k}$" for k in result.study.levels)]
    figure, grid = panels([""], titles, height=1.8, share_x=False, share_y="none")
    draw_density(grid[0, 0], samples_of(result.study.dataset), (0.0, 1.0))
    grid[0, 0].set_xlabel("score $z$")
    for column, axes in enumerate(grid[0, 1:]):
        axes.axhline(result.truth, color="black", linewidth=0.6)
        for i, name in enumerate(ESTIMATORS):
            draws = result.estimates[:, 0, 0, :, i, column]
            _band(axes, result.rhos, draws.T, ESTIMATOR_NAMES[name], ESTIMATOR_STYLES[i])
        axes.set_xlabel(r"$\rho$")
        axes.sharey(grid[0, 1])
    grid[0, 1].set_ylabel(r"$\widehat{U}_2(k)$")
    top_legend(figure, *grid[0, :2])
    return figure


def draw_convergence(result: StudyResult) -> Figure:
    r"""Draw :math:`U_2(k)` and its error by k (`fig:synthetic-beta-u2-k`).

    Left without, right with selection. Above the mean estimates and the bands of 90 % of the
    draws; below the mean relative error, with the slope of 1/k.
    """
    study = result.study
    names = {"random": "Independent allocation", "positive": rf"Selection, $\rho = {study.rho:g}$"}
    titles = [names[regime] for regime in study.regimes]
    figure, grid = panels(["", ""], titles, height=1.75, share_y="row")
    levels = np.array(study.levels)
    for column in range(len(study.regimes)):
        above, below = grid[:, column]
        above.axhline(result.truth, color="black", linewidth=0.6)
        for i, name in enumerate(ESTIMATORS):
            draws = result.estimates[column, 0, :, i]
            _band(above, levels, draws, ESTIMATOR_NAMES[name], ESTIMATOR_STYLES[i])
            errors = np.abs(draws - result.truth).mean(axis=0) / result.truth
            below.plot(levels, errors, **ESTIMATOR_STYLES[i])
        _pooled(above, levels, result.centralized[0])
        percent_axis(below)
        below.plot(levels, 1 / levels, color="#888888", linewidth=0.8, label="slope of $1/k$")
        level_axis(below, study.levels)
    label_levels(grid)
    grid[0, 0].set_ylabel(rf"$\widehat{{U}}_2(k)$, $d = {study.silos[0]}$")
    grid[1, 0].set_ylabel("mean relative error")
    top_legend(figure, *grid[:, 0])
    return figure


# -- what several figures have in common ---------------------------------------------------------


def _panels(result: StudyResult, **options: Any) -> tuple[Figure, Any]:  # noqa: ANN401
    """Return panels with estimators down and regimes across."""
    regimes = [REGIME_NAMES[name] for name in result.study.regimes]
    return panels(list(ESTIMATOR_NAMES.values()), regimes, height=_HEIGHT, **options)


def _curves(result: StudyResult, values: FloatArray, across: IntArray) -> tuple[Figure, Any]:
    """Draw a line per number of silos; ``across`` are its places, or those of each line."""
    figure, grid = _panels(result)
    for row in range(grid.shape[0]):
        for column, axes in enumerate(grid[row]):
            for i, silos in enumerate(result.study.silos):
                x = across if across.ndim == 1 else across[i]
                axes.plot(x, values[column, i, row], label=f"{silos}", **SILO_STYLES[i])
    top_legend(figure, grid[0, 0], title="silos $d$:")
    return figure, grid


def _band(axes: Axes, x: Any, draws: FloatArray, label: str, look: Any) -> None:  # noqa: ANN401
    """Draw a mean over draws (rows) and the band of 90 % of them."""
    low, high = np.percentile(draws, [5, 95], axis=0)
    axes.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)
    axes.plot(x, draws.mean(axis=0), label=label, **look)


def _pooled(axes: Axes, levels: Any, values: FloatArray) -> None:  # noqa: ANN401
    """Draw the discretization of all records in one silo."""
    look: dict[str, Any] = {"color": "black", "linestyle": (0, (4, 1.5)), "zorder": 3}
    axes.plot(levels, values, label="centralized $U_2(k)$", **look)
