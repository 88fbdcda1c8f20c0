"""What is wanted of a group, and the buckets that must be kept to find it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.kinds import Kind
from fedparity.sketches.levels import ranks
from fedparity.sketches.selection.bucket_maps import Integers

__all__ = ["MassTargets", "Narrowed", "RankTargets", "Targets"]

_EPSILON = 2.0**-52


class Narrowed(NamedTuple):
    """One group's buckets after a count."""

    kept: npt.NDArray[np.bool_]
    """Buckets that hold something wanted."""
    gaps: Integers
    """For the others: after how many of the targets they lie."""
    targets: Targets
    """The same targets, counted among the kept records only."""


@dataclass(frozen=True, eq=False)
class RankTargets:
    """Ranks among records that count once each.

    Parameters
    ----------
    ranks : increasing array of int64
        Wanted ranks, from 1, among the records that are still in question.
    """

    ranks: Integers

    @classmethod
    def of(cls, count: int, levels: int, kind: Kind) -> RankTargets:
        r"""Return the ranks of the quantiles, or of the records that the edges of bins cut.

        Edge :math:`l` of k bins is cut through the record of rank
        :math:`\lfloor n l / k \rfloor + 1`, or lies just before it.
        """
        if kind == "quantile":
            return cls(ranks(count, levels).astype(np.int64))
        edges = [count * edge // levels + 1 for edge in range(1, levels)]
        return cls(np.array(edges, dtype=np.int64))

    @property
    def size(self) -> int:
        """How many there are."""
        return self.ranks.size

    def narrow(self, counts: Integers, _: FloatArray | None) -> Narrowed:
        """Return the buckets to keep, given the counts of all."""
        running = np.cumsum(counts)
        places = np.searchsorted(running, self.ranks, side="left")
        kept = np.zeros(counts.size, dtype=bool)
        kept[places] = True
        skipped_before = np.cumsum(np.where(kept, 0, counts))
        return Narrowed(
            kept,
            np.searchsorted(places, np.arange(counts.size), side="left"),
            RankTargets(self.ranks - skipped_before[places]),
        )


@dataclass(frozen=True, eq=False)
class MassTargets:
    """Positions in the running weight, known up to the rounding of sums of floats.

    Parameters
    ----------
    masses : increasing array
        Wanted running weights among the records that are still in question.
    slack : float
        How far those, and the running weight of buckets, may be from their exact values.
    above, upto : arrays of int64
        The rank of the record that each target falls on is above the one, and at most the
        other, among the records that are still in question. Ranks are whole numbers, so that
        a target never strays over records that are no longer in question.
    """

    masses: FloatArray
    slack: float
    above: Integers
    upto: Integers

    @classmethod
    def of(cls, count: int, total: float, levels: int, kind: Kind) -> MassTargets:
        """Return the targets of ``levels`` numbers of a group with this many records."""
        steps = (
            2 * np.arange(1, levels + 1) - 1 if kind == "quantile" else 2 * np.arange(1, levels)
        )
        return cls(
            steps / (2 * levels) * total,
            4 * (count + 64) * _EPSILON * total,
            np.zeros(steps.size, dtype=np.int64),
            np.full(steps.size, count),
        )

    @property
    def size(self) -> int:
        """How many there are."""
        return self.masses.size

    def between(self, counts: Integers, weights: FloatArray) -> tuple[Integers, Integers]:
        """Return the first and the last bucket, or run, that may hold each target."""
        ranks_, running = np.cumsum(counts), np.cumsum(weights)
        slack = self.slack + 4 * (counts.size + 64) * _EPSILON * float(running[-1])
        lowest = np.searchsorted(ranks_, self.above, side="right")
        highest = np.searchsorted(ranks_, self.upto, side="left")
        first = np.searchsorted(running, self.masses - slack, side="left")
        last = np.searchsorted(running, self.masses + slack, side="right")
        return np.clip(first, lowest, highest), np.clip(last, lowest, highest)

    def narrow(self, counts: Integers, masses: FloatArray | None) -> Narrowed:
        """Return the buckets to keep: all that may hold a target, given rounding."""
        weights = np.zeros(counts.size) if masses is None else masses
        first, last = self.between(counts, weights)
        steps = np.zeros(counts.size + 1, dtype=np.int64)
        np.add.at(steps, first, 1)
        np.add.at(steps, last + 1, -1)
        kept = (np.cumsum(steps[:-1]) > 0) & (counts > 0)
        skipped = np.cumsum(np.where(kept, 0.0, weights))
        still = np.where(kept, counts, 0)
        ranks_ = np.cumsum(still)
        rounding = 4 * counts.size * _EPSILON * float(np.sum(weights))
        return Narrowed(
            kept,
            np.searchsorted(last, np.arange(counts.size), side="left"),
            MassTargets(
                self.masses - skipped[first],
                self.slack + rounding,
                ranks_[first] - still[first],
                ranks_[last],
            ),
        )


Targets = RankTargets | MassTargets
