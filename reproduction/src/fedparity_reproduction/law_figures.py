"""The two groups' laws: densities, distribution and quantile functions with their barycenter."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import beta

import fedparity as fp
from fedparity_reproduction.datasets import Dataset
from fedparity_reproduction.estimators import FloatArray
from fedparity_reproduction.figure_style import CENTER, GROUPS, panels, power_axis, top_legend

__all__ = ["beta_kernel_density", "draw_density", "draw_laws", "samples_of"]

_POINTS = 300
_STEEP = 15.0
"""Times the mean density: a peak this high leaves nothing else to see on a linear axis."""


def draw_laws(dataset: Dataset, *, span: tuple[float, float], whole: bool = False) -> Figure:
    """Draw densities, cdfs and quantile functions (`fig:compas-plot`, `fig:original-compas-plot`).

    ``whole`` says that scores are whole numbers: then bars replace the density.
    """
    titles = ["Shares" if whole else "Densities", "Distribution functions", "Quantile functions"]
    figure, grid = panels([""], titles, height=1.8, share_x=False, share_y="none")
    left, middle, right = grid[0]
    samples = samples_of(dataset)
    if whole:
        _bars(left, samples)
    else:
        draw_density(left, samples, span)
    laws = {name: fp.Law.from_scores(scores) for name, scores in samples.items()}
    shares = fp.Weights({name: scores.size for name, scores in samples.items()})
    shown = [*zip(laws.items(), GROUPS, strict=True)]
    center = fp.theory.barycenter(laws, shares)
    for (name, law), look in (*shown, (("Wasserstein barycenter", center), CENTER)):
        levels, atoms = _steps(law)
        middle.plot(atoms, levels, label=name, **look)
        right.plot(levels, atoms, **look)
    middle.set_xlim(*span)
    middle.set_ylim(0, 1.01)
    right.set_xlim(0, 1)
    right.set_ylim(*span)
    left.set_xlabel("score $z$")
    middle.set_xlabel("score $z$")
    right.set_xlabel("level $u$")
    top_legend(figure, middle)
    return figure


def draw_density(axes: Axes, samples: dict[str, FloatArray], span: tuple[float, float]) -> None:
    """Draw the density of each group; on a log scale if one peak would hide the rest."""
    low, high = span
    at = np.linspace(low, high, _POINTS)
    densities = [
        beta_kernel_density((scores - low) / (high - low), (at - low) / (high - low))
        for scores in samples.values()
    ]
    peak, floor = max(density.max() for density in densities), 0.0
    if peak > _STEEP:
        power_axis(axes)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_title(f"{axes.get_title()}, log scale", pad=4)
        lowest = min(density.min() for density in densities)
        floor = 10 ** np.floor(np.log10(max(lowest, peak / 1e4))) / (high - low)
    for name, density, look in zip(samples, densities, GROUPS, strict=True):
        shown = np.maximum(density / (high - low), floor)
        axes.plot(at, shown, label=name, **look)
        axes.fill_between(at, shown, floor, color=look["color"], alpha=0.12, linewidth=0)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=floor)


def beta_kernel_density(scores: FloatArray, at: FloatArray) -> FloatArray:
    r"""Return a density on [0, 1] by beta kernels, which do not leak over the ends.

    At x it is the mean over the scores of the density of Beta(x/b + 1, (1-x)/b + 1), with
    :math:`b = \hat\sigma n^{-2/5}` (Chen, 1999).

    Examples
    --------
    >>> uniform = (np.arange(1000) + 0.5) / 1000
    >>> beta_kernel_density(uniform, np.array([0.0, 0.5])).round(2)
    array([1., 1.])
    """
    width = max(float(scores.std()), 1e-3) * scores.size ** (-0.4)
    inside = np.clip(scores, 1e-12, 1 - 1e-12)
    return np.array([beta.pdf(inside, x / width + 1, (1 - x) / width + 1).mean() for x in at])


def samples_of(dataset: Dataset) -> dict[str, FloatArray]:
    """Return the sorted scores of each group."""
    return {
        name: np.sort(dataset.scores[dataset.codes == code])
        for code, name in enumerate(dataset.group_names)
    }


def _bars(axes: Axes, samples: dict[str, FloatArray]) -> None:
    for i, (name, scores) in enumerate(samples.items()):
        color = GROUPS[i]["color"]
        values, counts = np.unique(scores, return_counts=True)
        axes.bar(
            values + (-0.2, 0.2)[i],
            counts / scores.size,
            width=0.4,
            color=(color, "white")[i],
            edgecolor=color,
            hatch=("", "/////")[i],
            linewidth=0.6,
            label=name,
        )
    axes.set_xticks(np.unique(np.concatenate(list(samples.values()))))
    axes.grid(visible=False, axis="x")


def _steps(law: fp.Law) -> tuple[FloatArray, FloatArray]:
    """Return the graph of a cdf: all corners of few atoms, five hundred points of many."""
    if len(law) <= 400:
        ends = np.concatenate(([0.0], np.repeat(law.cumulative, 2)[:-1]))
        return ends, np.repeat(law.atoms, 2)
    levels = np.linspace(0, 1, 501)[1:]
    return levels, law.quantile(levels)
