r"""A certificate from exact counts in bins: what the raw data's disparity cannot leave.

Proof. A record of a bin lies between its two edges, or at one of its points, at most half the way between
the lowest and the highest of them from their middle: the counts are those of records at the middles, known
up to that error, which is none where a bin is one point. The rest is the certificate of
counts at scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from fedparity.diagnostics.certificate import Certificate, certify
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.privacy.histograms import Grid
from fedparity.sketches.cell import Cell

__all__ = ["certify_grid", "federation_of_bins"]


def certify_grid(
    counts: npt.NDArray[np.int64],
    grid: Grid,
    *,
    order: int = 2,
    trim: float = 0.0,
    unseen: Sequence[float] | None = None,
    unseen_total: float | None = None,
) -> Certificate:
    """Return an interval that the disparity of the raw data cannot leave, given exact counts.

    Parameters
    ----------
    counts : array, groups by bins
    unseen : sequence of numbers, optional
        At most so many further records of each group; ``math.inf`` where there is no limit.
    unseen_total : float, optional
        At most so many further records of all groups together.

    Examples
    --------
    >>> grid = Grid.of((0.0, 1.0), bins=4)
    >>> found = certify_grid(np.array([[8, 0, 0, 0], [0, 0, 0, 8]]), grid)
    >>> round(found.lower, 6), round(found.upper, 6)
    (0.0625, 0.25)
    """
    return certify(
        federation_of_bins(counts, grid, range(len(counts))),
        score_range=(grid.low, grid.high),
        order=order,
        trim=trim,
        unseen=None if unseen is None else dict(enumerate(unseen)),
        unseen_total=unseen_total,
    )


def federation_of_bins(
    counts: npt.NDArray[np.int64], grid: Grid, groups: Iterable[Group]
) -> Federation:
    """Return the records of each group at the middles of their bins, known up to their widths."""
    names = tuple(groups)
    cells = {("", group): _cell(row, grid) for group, row in zip(names, counts, strict=True)}
    return Federation.from_cells(cells, groups=names, score_range=(grid.low, grid.high))


def _cell(counts: npt.NDArray[np.int64], grid: Grid) -> Cell:
    """The records of one group at the middles of their bins."""
    held = counts > 0
    low, high = grid.lowest[held], grid.highest[held]
    middles = low + (high - low) / 2
    return Cell(
        count=int(counts.sum()),
        values=middles,
        kind="counts",
        masses=counts[held],
        value_error=np.maximum(middles - low, high - middles),
    )
