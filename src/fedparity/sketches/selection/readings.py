"""The numbers of a sketch, read off runs in order of score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.laws.sorting import sort_scores
from fedparity.sketches.exact_sums import LOWEST_EXPONENT
from fedparity.sketches.kinds import Kind
from fedparity.sketches.selection.means import BinMeans, means_between
from fedparity.sketches.selection.runs import CountedRuns, WeightedRuns
from fedparity.sketches.selection.targets import MassTargets, RankTargets

__all__ = [
    "counted_means",
    "counted_values",
    "sorted_values",
    "weighted_means",
    "weighted_values",
]


def sorted_values(
    scores: FloatArray, weights: FloatArray | None, *, levels: int, kind: Kind
) -> tuple[int | float, FloatArray]:
    """Return the total and the numbers of a group, by sorting: fastest for few records.

    Scores are finite, and weights, where given, are positive.
    """
    none, no_counts = np.zeros(0), np.zeros(0, dtype=np.int64)
    if weights is None:
        count = scores.size
        runs = CountedRuns(sort_scores(scores))
        targets = RankTargets.of(count, levels, kind)
        return count, counted_values(runs, targets, count=count, levels=levels, kind=kind)
    weighted = WeightedRuns.of(scores, weights, none, [], no_counts)
    wanted = MassTargets.of(scores.size, float(weights.sum()), levels, kind)
    return weighted_values(weighted, wanted, levels=levels, kind=kind)


def counted_values(
    runs: CountedRuns,
    targets: RankTargets,
    *,
    count: int,
    levels: int,
    kind: Kind,
) -> FloatArray:
    """Return the numbers of a group whose records count once each."""
    if kind == "quantile":
        return runs.quantiles(targets) + 0.0  # no negative zeros
    return counted_means(runs, targets, count=count, levels=levels).values


def counted_means(
    runs: CountedRuns,
    targets: RankTargets,
    *,
    count: int,
    levels: int,
    gap_moments: Sequence[int] | None = None,
) -> BinMeans:
    """Return the bin means of a group whose records count once each.

    ``gap_moments`` are the exact sums of the scores that were not kept, one for each bin.
    """
    cuts = runs.cuts(targets, count, levels)
    return means_between(runs, cuts, gap_moments or [0] * levels, count)


def weighted_values(
    runs: WeightedRuns,
    targets: MassTargets,
    *,
    levels: int,
    kind: Kind,
    gap_masses: Sequence[int] | None = None,
) -> tuple[float, FloatArray]:
    """Return the total weight and the numbers of a group with weights.

    ``gap_masses`` are the exact sums of weights of the records that were not kept.
    """
    if kind == "mean":
        means = weighted_means(runs, targets, levels=levels, gap_masses=gap_masses)
        return means.total / (1 << LOWEST_EXPONENT), means.values
    gap_masses = gap_masses or [0] * (targets.size + 1)
    total = runs.total() + sum(gap_masses)
    reached = [((2 * level - 1) * total, 2 * levels) for level in range(1, levels + 1)]
    cuts = runs.cuts(targets, reached, gap_masses)
    return total / (1 << LOWEST_EXPONENT), runs.scores[[cut.run for cut in cuts]] + 0.0


def weighted_means(
    runs: WeightedRuns,
    targets: MassTargets,
    *,
    levels: int,
    gap_masses: Sequence[int] | None = None,
    gap_moments: Sequence[int] | None = None,
) -> BinMeans:
    """Return the bin means of a group with weights.

    ``gap_masses`` and ``gap_moments`` are the exact sums of weights, and of weight times score,
    of the records that were not kept.
    """
    gap_masses = gap_masses or [0] * (targets.size + 1)
    total = runs.total() + sum(gap_masses)
    passed = [(edge * total + 1, levels) for edge in range(1, levels)]
    cuts = runs.cuts(targets, passed, gap_masses)
    return means_between(runs, cuts, gap_moments or [0] * levels, total)
