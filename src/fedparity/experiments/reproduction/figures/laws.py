"""The two groups' laws: densities, cdfs and quantile functions with their barycenter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fedparity.experiments.datasets.dataset import Dataset
from fedparity.experiments.reproduction.figures.style import CENTER, GROUPS, panels, top_legend
from fedparity.functionals.barycenter import barycenter
from fedparity.laws.arrays import FloatArray
from fedparity.laws.law import Law
from fedparity.laws.weights import Weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["beta_kernel_density", "draw_density", "draw_laws", "samples_of"]

_POINTS = 300


def draw_laws(dataset: Dataset, *, span: tuple[float, float], whole: bool = False) -> Figure:
    """Draw densities, cdfs and quantile functions (`fig:compas-plot`, `fig:original-compas-plot`).

    ``whole`` says that scores are whole numbers: then bars replace the density.
    """
    figure, grid = panels(
        [""],
        ["Shares" if whole else "Densities", "Distribution functions", "Quantile functions"],
        height=1.7,
        top=0.5,
        share_x=False,
        share_y="none",
        gap=0.5,
    )
    left, middle, right = grid[0]
    samples = samples_of(dataset)
    if whole:
        _bars(left, samples)
    else:
        draw_density(left, samples, span)
    _cdfs_and_quantiles(middle, right, samples, span)
    left.set_xlabel("score $z$")
    middle.set_xlabel("score $z$")
    right.set_xlabel("level $u$")
    top_legend(figure, middle)
    return figure


def draw_density(axes: Axes, samples: dict[str, FloatArray], span: tuple[float, float]) -> None:
    """Draw the density of each group."""
    low, high = span
    at = np.linspace(low, high, _POINTS)
    for (name, scores), look in zip(samples.items(), GROUPS, strict=True):
        unit = beta_kernel_density((scores - low) / (high - low), (at - low) / (high - low))
        axes.plot(at, unit / (high - low), label=name, **look)
        axes.fill_between(at, unit / (high - low), color=look["color"], alpha=0.12, linewidth=0)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)


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
    logs, mirrored = np.log(inside), np.log1p(-inside)
    density = np.empty(at.size)
    for i, x in enumerate(at.tolist()):
        a, b = x / width, (1 - x) / width
        constant = math.lgamma(a + b + 2) - math.lgamma(a + 1) - math.lgamma(b + 1)
        density[i] = np.exp(constant + a * logs + b * mirrored).mean()
    return density


def samples_of(dataset: Dataset) -> dict[str, FloatArray]:
    """Return the sorted scores of each group."""
    return {
        str(name): np.sort(dataset.scores[dataset.codes == code])
        for code, name in enumerate(dataset.group_names)
    }


def _bars(axes: Axes, samples: dict[str, FloatArray]) -> None:
    offsets = (-0.2, 0.2)
    for (name, scores), look, offset in zip(samples.items(), GROUPS, offsets, strict=True):
        values, counts = np.unique(scores, return_counts=True)
        hatch = "" if offset < 0 else "/////"
        axes.bar(
            values + offset,
            counts / scores.size,
            width=0.4,
            color=look["color"] if offset < 0 else "white",
            edgecolor=look["color"],
            hatch=hatch,
            linewidth=0.6,
            label=name,
        )
    axes.set_xticks(np.unique(np.concatenate(list(samples.values()))))
    axes.grid(visible=False, axis="x")


def _cdfs_and_quantiles(
    middle: Axes, right: Axes, samples: dict[str, FloatArray], span: tuple[float, float]
) -> None:
    laws = {name: Law.from_scores(scores) for name, scores in samples.items()}
    shares = Weights({name: scores.size for name, scores in samples.items()})
    center = barycenter(laws, shares)
    shown = [(name, law, look) for (name, law), look in zip(laws.items(), GROUPS, strict=True)]
    for name, law, look in (*shown, ("Wasserstein barycenter", center, CENTER)):
        levels, atoms = _steps(law)
        middle.plot(atoms, levels, label=name, **look)
        right.plot(levels, atoms, **look)
    middle.set_xlim(*span)
    middle.set_ylim(0, 1.01)
    right.set_xlim(0, 1)
    right.set_ylim(*span)


def _steps(law: Law) -> tuple[FloatArray, FloatArray]:
    """The graph of a cdf as corners: all of few atoms, a thousand points of many."""
    if len(law) <= 400:
        ends = np.concatenate(([0.0], np.repeat(law.cumulative, 2)[:-1]))
        return ends, np.repeat(law.atoms, 2)
    levels = np.linspace(0, 1, 501)[1:]
    return levels, law.quantile(levels)
