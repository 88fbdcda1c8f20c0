"""What is asked of the records beside ranks, and how it is read off exact sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.exact_sums import LOWEST_EXPONENT
from fedparity.sketches.kinds import Kind, check_kind
from fedparity.sketches.score_grid import ScoreGrid
from fedparity.sketches.selection.bucket_maps import Integers
from fedparity.sketches.selection.moments import Beside, Moments

__all__ = ["Asked"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Asked:
    """The kind of sketch, and the scores at which records are counted.

    Parameters
    ----------
    kind : "quantile", "mean" or "counts"
    thresholds : sequence of numbers
        A score equal to a threshold is above it. Where scores are counted at the points of a grid, a
        threshold is compared with the point that a score is.
    points : increasing array, for kind ``counts``

    Raises
    ------
    OptionError
        If the kind is unknown, or ``counts`` has no points.
    """

    kind: Kind = "quantile"
    thresholds: Sequence[float] = ()
    points: FloatArray | None = None

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if self.kind == "counts" and self.points is None:
            raise OptionError(
                "counts need the points at which records are counted.",
                fix="pass points=, an increasing array of scores.",
            )

    @property
    def key(self) -> tuple[object, ...]:
        """What two of them are compared by."""
        points = None if self.points is None else tuple(self.points.tolist())
        return self.kind, tuple(self.thresholds), points

    @cached_property
    def grid(self) -> ScoreGrid | None:
        """The grid whose points are counted, if they are."""
        return (
            ScoreGrid(self.points) if self.kind == "counts" and self.points is not None else None
        )

    def beside(self, *, sums: bool = False) -> Beside:
        """Return what is added up for it; with ``sums`` what chunks need to be put together, too."""
        means = self.kind == "mean"
        bounds = self.cuts if self.grid is None else self.grid.bounds
        return Beside(squares=means, sums=means and sums, bounds=bounds)

    @cached_property
    def cuts(self) -> FloatArray:
        """The thresholds, each once, in increasing order; none where all points are counted."""
        cuts = () if self.kind == "counts" else self.thresholds
        return np.unique(np.array(cuts, dtype=np.float64))

    def check(self, moments: Moments) -> None:
        """Raise if a score is none of the points.

        Raises
        ------
        ScoreError
            With the number of such records.
        """
        if self.grid is not None:
            self.grid.require(int(moments.counts[:, ::2].sum()), int(moments.counts.sum()))

    def counts(self, moments: Moments) -> list[npt.NDArray[Any]]:
        """Return for each group the records, or their weight, at each point."""
        if moments.weights is None:
            return [own[1::2].copy() for own in moments.counts]
        return [_floats(own[1::2]) for own in moments.between()]

    def records(self, moments: Moments) -> list[Integers | None]:
        """Return for each group how many records lie between thresholds, or at each point.

        None where there are neither.
        """
        if self.grid is None and not self.thresholds:
            return [None] * moments.groups
        return [own.copy() if self.grid is None else own[1::2].copy() for own in moments.counts]

    def above(self, moments: Moments) -> list[tuple[int | float, ...]]:
        """Return for each group the records, or their weight, at or above each threshold."""
        if self.grid is None:
            firsts = 1 + np.searchsorted(self.cuts, self.thresholds)
        else:
            firsts = 2 * np.searchsorted(self.grid.points, self.thresholds)
        whole = moments.weights is None
        sums = ([sum(own[first:]) for first in firsts.tolist()] for own in moments.between())
        return [tuple(own if whole else _floats(own).tolist()) for own in sums]


def _floats(weights: Sequence[int]) -> FloatArray:
    """Exact weights, in 2^-1074, correctly rounded."""
    return np.array([weight / (1 << LOWEST_EXPONENT) for weight in weights])
