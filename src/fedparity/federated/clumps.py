r"""Scores that lie in clumps, with nobody between them.

The bin that holds the end of one clump and the beginning of the next has its mean where no record is, and two
straight lines run from clump to clump (:mod:`fedparity.federated.reconstruction`). The mean square tells that it is not so:
no such lines hold so much variance. Redraws of the lines scatter too little, since the disparity of clumps grows
with the first power of the noise and that of lines with its square. So redraws come from laws in which such
bins are torn apart; :doc:`/decisions/0009-intervals` has the figures.
"""

from __future__ import annotations

import numpy as np

from fedparity.federated.reconstruction import BinShapes, CellLayout
from fedparity.laws.law import FloatArray

__all__ = ["torn_shapes"]

_TEARS = 3
"""Bins of one cell that are torn apart, at most."""
_SUBBINS = 8
"""Bins of equal mass into which every bin of a cell with a torn one is cut."""


def torn_shapes(
    shapes: BinShapes, layout: CellLayout, missing: FloatArray
) -> tuple[BinShapes, CellLayout]:
    """Return shapes in which inner bins of cells are torn apart, by as much variance as is missing.

    A torn bin has its records at two scores, one on either side, and its mean as before. The bins beside it
    shrink around their means where they would reach beyond.

    Parameters
    ----------
    missing : array
        The variance inside the bins of each cell that its shapes do not hold.
    """
    means = shapes.means()
    torn = (missing > 0) & (layout.levels > 2)
    cuts = np.repeat(np.where(torn, _SUBBINS, 1), layout.levels)
    first = np.cumsum(cuts) - cuts
    bins = np.repeat(np.arange(means.size), cuts)
    place = (np.arange(bins.size) - first[bins]) / cuts[bins]
    cut = shapes.at(bins)
    left, half, right = (cut.quantile(place + part / cuts[bins]) for part in (0.0, 0.5, 1.0))
    corner = (cut.corner - place) * cuts[bins]
    inside = (corner > 0) & (corner < 1)
    middle, corner = np.where(inside, cut.middle, half), np.where(inside, corner, 0.5)
    for cell in np.flatnonzero(torn).tolist():
        start, levels = int(layout.starts[cell]), int(layout.levels[cell])
        own = shapes.at(np.arange(start, start + levels))
        for bin_, low, high in _tears(own, float(missing[cell])):
            at = int(first[start + bin_])
            mean = float(means[start + bin_])
            below = min(int((high - mean) / (high - low) * _SUBBINS), _SUBBINS - 1)
            rest = mean * _SUBBINS - below * low - (_SUBBINS - 1 - below) * high
            rest = min(max(rest, low), high)
            values = np.repeat((low, rest, high), (below, 1, _SUBBINS - 1 - below))
            for end in (left, middle, right):
                end[at : at + _SUBBINS] = values
            for beside, edge in ((-1, low), (1, high)):
                near = float(means[start + bin_ + beside])
                rows = slice(at + beside * _SUBBINS, at + (beside + 1) * _SUBBINS)
                reach = float((right if beside < 0 else left)[rows][min(beside, 0)]) - near
                share = min(1.0, (edge - near) / reach) if reach else 1.0
                for end in (left, middle, right):
                    end[rows] = near + share * (end[rows] - near)
    sizes = np.where(torn, _SUBBINS, 1) * layout.levels
    return BinShapes(left, middle, right, corner), CellLayout.of(sizes)


def _tears(shapes: BinShapes, missing: float) -> list[tuple[int, float, float]]:
    """The bins of one cell to tear apart, and the two scores of each: the widest first."""
    means, levels = shapes.means(), shapes.left.size
    variances = shapes.around(means).square_integral()
    below, above = np.diff(means)[:-1], np.diff(means)[1:]
    widest = np.argsort(-(below * above - variances[1:-1]), kind="stable") + 1
    found: list[tuple[int, float, float]] = []
    for bin_ in widest[: _TEARS * 2].tolist():
        room = below[bin_ - 1] * above[bin_ - 1]
        gained = min(missing * levels, room - variances[bin_])
        if gained <= 0 or len(found) == _TEARS:
            break
        if any(abs(bin_ - other) <= 2 for other, _, _ in found):
            continue
        share, mean = np.sqrt((variances[bin_] + gained) / room), means[bin_]
        low, high = mean - share * below[bin_ - 1], mean + share * above[bin_ - 1]
        if low < mean < high:
            found.append((bin_, float(low), float(high)))
            missing -= gained / levels
    return found
