"""The kinds of sketch and their defaults; the grid of levels, the exact ranks and masses on it, and the grid of scores that are counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fedparity.errors import OptionError, ScoreError
from fedparity.laws.law import FloatArray, IntArray

__all__ = [
    "DEFAULT_ESTIMATOR",
    "DEFAULT_LEVELS",
    "DEFAULT_SKETCH",
    "Kind",
    "MassTargets",
    "Narrowed",
    "RankTargets",
    "ScoreGrid",
    "Targets",
    "check_kind",
    "check_levels",
    "default_kind",
    "midpoints",
    "ranks",
]

Kind: TypeAlias = Literal["quantile", "mean", "counts"]
"""What the numbers are: ``quantile`` values Q(u_l), the ``mean`` of Q over each bin, or the
``counts`` of records at the points of a public grid."""


def check_kind(kind: str) -> None:
    """Raise unless ``kind`` is one of :data:`Kind`."""
    if kind not in get_args(Kind):
        raise OptionError.unknown("kind", kind, get_args(Kind))


DEFAULT_SKETCH: Final = "mean"
"""Bin means, with the mean square of what they leave out."""
DEFAULT_ESTIMATOR: Final = "exact"
"""Mixtures are integrated exactly."""
DEFAULT_LEVELS: Final = 100
"""The k of a sketch, at most."""


def default_kind(scores: FloatArray, levels: int) -> Kind:
    """Return ``counts`` where no more than ``levels`` scores are different, else the default.

    Examples
    --------
    >>> default_kind(np.array([1.0, 2.0, 2.0, 1.0]), 100), default_kind(np.arange(9.0), 8)
    ('counts', 'mean')
    """
    few = np.unique(scores[: 64 * levels]).size <= levels and np.unique(scores).size <= levels
    return "counts" if few else DEFAULT_SKETCH


def check_levels(levels: object) -> int:
    """Return ``levels`` as an int, or raise unless it is a whole number of at least one."""
    if isinstance(levels, bool) or not isinstance(levels, int | np.integer) or levels < 1:
        raise OptionError(
            f"levels must be a whole number of at least 1, not {levels!r}.",
            fix="pass levels=100, or any k >= 1.",
        )
    return int(levels)


def midpoints(levels: int, *, trim: float = 0.0) -> FloatArray:
    r"""Return the grid :math:`u_\ell = (\ell - \frac{1}{2})/k` (paper, `eq:u-grid`).

    With ``trim`` the grid covers :math:`[\varepsilon, 1-\varepsilon]` (`rem:trimmed`):
    :math:`u_\ell = \varepsilon + (\ell - \frac{1}{2})(1 - 2\varepsilon)/k`.

    Examples
    --------
    >>> midpoints(2)
    array([0.25, 0.75])
    """
    odd = 2 * np.arange(1, check_levels(levels) + 1, dtype=np.int64) - 1
    return trim + (1 - 2 * trim) * (odd / (2 * levels))


def ranks(count: int, levels: int) -> npt.NDArray[Any]:
    r"""Return :math:`\lceil n u_\ell \rceil`, the rank of each level among ``count`` records.

    In whole numbers: :math:`\lceil n (2\ell - 1) / (2k) \rceil`. In floats n·u = 55 can become
    55.00000000000001 and the rank one too high.

    Examples
    --------
    >>> ranks(100, 10)
    array([ 5, 15, 25, 35, 45, 55, 65, 75, 85, 95])
    """
    odd = 2 * np.arange(1, check_levels(levels) + 1, dtype=np.int64) - 1
    if count > np.iinfo(np.int64).max // (2 * levels):  # beyond int64: whole numbers of any size
        return np.array([-(-count * step // (2 * levels)) for step in odd.tolist()], dtype=object)
    return -(-count * odd // (2 * levels))


_NEAR = 1e-9
"""A score counts as a point of the grid if it is within this share of a step from it."""


@dataclass(frozen=True, eq=False)
class ScoreGrid:
    """The scores there can be, in increasing order.

    Decimal numbers that were added up, or read from text, may miss a point by the rounding of
    floats: a score counts as the point that it is nearest to, up to a billionth of a step.

    Examples
    --------
    >>> grid = ScoreGrid(np.array([0.1, 0.2, 0.3]))
    >>> grid.places(np.array([0.1 + 0.2, 0.1, 0.25]))
    array([5, 1, 4])
    """

    points: FloatArray

    @cached_property
    def bounds(self) -> FloatArray:
        """Scores between which those lie that are a point: at odd places, from 1."""
        step = float(np.diff(self.points).min()) if self.points.size > 1 else 0.0
        bounds = np.empty(2 * self.points.size)
        bounds[::2] = self.points - _NEAR * step
        bounds[1::2] = np.nextafter(self.points + _NEAR * step, np.inf)
        return bounds

    def places(self, scores: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the place of each score: 2i + 1 for point i, and even if it is no point."""
        return np.searchsorted(self.bounds, scores, side="right")

    def require(self, off: int, total: int) -> None:
        """Raise if some of the scores are no point.

        Raises
        ------
        ScoreError
            With their number, and not with a score.
        """
        if off:
            raise ScoreError(
                f"scores must be points of the plan's grid, but {off} of {total} are not.",
                fix="round the scores to the plan's score_step as 64-bit floats, or agree on a plan with "
                "another score_step, or without one.",
            )


_EPSILON = 2.0**-52


class Narrowed(NamedTuple):
    """One group's buckets after a count."""

    kept: npt.NDArray[np.bool_]
    """Buckets that contain a target."""
    gaps: IntArray
    """For the other buckets: the number of targets below them."""
    targets: Targets
    """The same targets, relative to the kept records only."""


@dataclass(frozen=True, eq=False)
class RankTargets:
    """Ranks among records that count once each.

    Parameters
    ----------
    ranks : increasing array of int64
        Requested ranks, from 1, among the remaining records.
    """

    ranks: IntArray

    @classmethod
    def from_count(cls, count: int, levels: int, kind: Kind) -> RankTargets:
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

    def narrow(self, counts: IntArray, _: FloatArray | None) -> Narrowed:
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
    """Positions in the cumulative weight, known up to the rounding of sums of floats.

    Parameters
    ----------
    masses : increasing array
        Requested cumulative weights among the remaining records.
    slack : float
        An upper bound of the rounding errors of these, and of the cumulative weights of buckets.
    above, upto : arrays of int64
        The rank of the record that each target falls on is above the one, and at most the
        other, among the remaining records. Ranks are whole numbers, so that
        a target never moves to records that were excluded before.
    """

    masses: FloatArray
    slack: float
    above: IntArray
    upto: IntArray

    @classmethod
    def from_mass(cls, count: int, total: float, levels: int, kind: Kind) -> MassTargets:
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

    def between(self, counts: IntArray, weights: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the first and the last bucket, or run, that may hold each target."""
        ranks_, running = np.cumsum(counts), np.cumsum(weights)
        slack = self.slack + 4 * (counts.size + 64) * _EPSILON * float(running[-1])
        lowest = np.searchsorted(ranks_, self.above, side="right")
        highest = np.searchsorted(ranks_, self.upto, side="left")
        first = np.searchsorted(running, self.masses - slack, side="left")
        last = np.searchsorted(running, self.masses + slack, side="right")
        return np.clip(first, lowest, highest), np.clip(last, lowest, highest)

    def narrow(self, counts: IntArray, masses: FloatArray | None) -> Narrowed:
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
