"""Means of bins, and what they leave inside: from whole numbers, rounded once, at the end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.exact_sums import LOWEST_EXPONENT, exact_integer
from fedparity.sketches.selection.runs import Cut, Runs

__all__ = ["BinMeans", "inside_step_law", "means_between"]


@dataclass(frozen=True, eq=False)
class BinMeans:
    """The exact means of k bins of equal mass."""

    moments: Sequence[int]
    """k times the sum of mass times score of each bin; over the mass and 2^1074, its mean."""
    total: int
    """The mass N of all records."""

    @property
    def values(self) -> FloatArray:
        """The means, correctly rounded."""
        unit = self.total << LOWEST_EXPONENT
        return np.array([moment / unit for moment in self.moments]) + 0.0  # no negative zeros

    def inside(self, squares: int) -> float:
        r"""Return the variance inside the bins, correctly rounded.

        .. math:: \frac{1}{N} \sum_i w_i x_i^2 - \frac{1}{k} \sum_\ell m_\ell^2

        Parameters
        ----------
        squares : int
            The sum of mass times squared score, in 2^-2148 times the unit of masses.

        Returns
        -------
        float
            Infinite if no float is so large, of which scores below 1e154 in size are far.
        """
        levels = len(self.moments)
        between = sum(moment * moment for moment in self.moments)
        unit = levels * self.total**2 << 2 * LOWEST_EXPONENT
        return _quotient(levels * self.total * squares - between, unit)


def inside_step_law(means: FloatArray, *, total: int, first: int, second: int) -> float:
    r"""Return the variance that approximate means leave out, correctly rounded; 0 if none is left.

    It is taken around their own mean :math:`\bar m`, so that it does not change when all scores move:

    .. math:: \frac{1}{N} \sum_i w_i (x_i - \bar m)^2 - \frac{1}{k} \sum_\ell (m_\ell - \bar m)^2

    For exact bin means it is what :meth:`BinMeans.inside` returns.

    Parameters
    ----------
    total : int
        The mass N.
    first, second : int
        The sums of mass times score, in 2^-1074 times the unit of masses, and of mass times
        squared score, in 2^-2148 times that unit.
    """
    levels = means.size
    wholes = [exact_integer(mean) for mean in means.tolist()]
    center, between = sum(wholes), sum(whole * whole for whole in wholes)
    # All of it times k² N: x̄ and m̄ are first / N and center / k.
    whole = levels * (levels * second - 2 * center * first - between * total)
    whole += 2 * center * center * total
    return _quotient(max(0, whole), levels**2 * total << 2 * LOWEST_EXPONENT)


def _quotient(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf


def means_between(
    runs: Runs, cuts: Sequence[Cut], gap_moments: Sequence[int], total: int
) -> BinMeans:
    r"""Return the mean of :math:`Q` over each of k bins.

    In units of 1/k, the run with mass :math:`m` and mass :math:`b` before it covers
    :math:`[kb, k(b+m)]`, and bin :math:`\ell` covers :math:`[N(\ell-1), N\ell]`. Runs that no
    edge cuts lie in one bin with all their mass; those that an edge cuts are shared out.

    Parameters
    ----------
    cuts : k - 1 of them
        The run that each edge falls into.
    gap_moments : k whole numbers
        Sums of mass times score of the records in each bin that were not kept.
    total : int
        The mass N of all records.
    """
    levels = len(cuts) + 1
    cut_indices = np.array([cut.run for cut in cuts], dtype=np.int64)
    rows = np.searchsorted(cut_indices, np.arange(runs.scores.size), side="left")
    rows[cut_indices] = -1
    moments = [
        levels * (kept + gap)
        for kept, gap in zip(runs.moments(rows, levels), gap_moments, strict=True)
    ]
    for index, edges in groupby(enumerate(cuts, start=1), key=lambda edge: edge[1].run):
        _share_out(runs, index, list(edges), moments, total)
    return BinMeans(moments, total)


def _share_out(
    runs: Runs, index: int, edges: Sequence[tuple[int, Cut]], moments: list[int], total: int
) -> None:
    """Add the parts of one run to the bins between the edges that cut it."""
    levels, score = len(moments), exact_integer(runs.scores[index])
    start = levels * edges[0][1].before
    end = start + levels * runs.mass(index)
    stops = [*(total * edge for edge, _ in edges), end]
    for bin_, stop in enumerate(stops, start=edges[0][0] - 1):
        moments[bin_] += (stop - start) * score
        start = stop
