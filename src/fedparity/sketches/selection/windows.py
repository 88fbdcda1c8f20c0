"""Windows: the part of a kept bucket in which its wanted rank almost surely lies.

A bucket of a continuous law is filled evenly, so that a rank inside it tells where to look: within
five standard deviations of its expected place. Records below and above are counted, not kept.
Where a window turns out to miss its rank, everything is gathered again without windows; hence they
save time and memory, and never change a result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.selection.bucket_maps import Integers, LinearMap
from fedparity.sketches.selection.stages import FirstBuckets, Stage
from fedparity.sketches.selection.state import KEEP, window_slot
from fedparity.sketches.selection.targets import RankTargets, Targets
from fedparity.sketches.selection.tuning import Tuning

__all__ = ["Windows", "choose_windows", "within_windows"]

_DEVIATIONS = 5.0


@dataclass(frozen=True, eq=False)
class Windows:
    """Bounds of scores that are kept in some buckets."""

    places: Integers
    """Their buckets, in increasing order."""
    low: FloatArray
    high: FloatArray


def choose_windows(
    stage: Stage, sample: FloatArray, tuning: Tuning
) -> tuple[Stage, Windows] | None:
    """Return a stage that keeps only windows of its buckets; None where they would not help."""
    buckets = stage.buckets
    if not isinstance(buckets, FirstBuckets) or not isinstance(buckets.chosen, LinearMap):
        return None
    if np.count_nonzero(np.diff(sample) == 0) > tuning.ties * sample.size:
        return None
    found = [
        _of_group(stage, buckets.chosen, group, tuning.window)
        for group in range(len(stage.targets))
    ]
    places, low, high = (np.concatenate(column) for column in zip(*found, strict=True))
    slots = stage.slots.copy()
    slots[places] = [window_slot(position) for position in range(places.size)]
    return replace(stage, slots=slots), Windows(places, low, high)


def _of_group(
    stage: Stage, chosen: LinearMap, group: int, least: int
) -> tuple[Integers, FloatArray, FloatArray]:
    """Buckets of one group, and the bounds of their windows."""
    targets = stage.targets[group]
    if not isinstance(targets, RankTargets):
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    kept, owners, inside = _located(stage, group, targets)
    owner, first = np.unique(owners, return_index=True)
    last = np.append(first[1:], owners.size) - 1
    places = kept[owner]
    counts = stage.counts[places]
    low = (inside[first] - 0.5) / counts
    high = (inside[last] - 0.5) / counts
    margin = _DEVIATIONS * np.sqrt(np.maximum(low * (1 - low), high * (1 - high)) / counts)
    margin += 4 / counts
    bucket = places - stage.buckets.starts[group]
    even = (counts >= least) & (bucket >= 1) & (bucket <= chosen.inner)
    even &= stage.slots[places] == KEEP
    edge = chosen.low + (bucket - 1) / chosen.scale
    with np.errstate(over="ignore"):  # a window that ends beyond the floats is open
        ends = edge + (low - margin) / chosen.scale, edge + (high + margin) / chosen.scale
    return places[even], ends[0][even], ends[1][even]


def _located(
    stage: Stage, group: int, targets: RankTargets
) -> tuple[Integers, Integers, Integers]:
    """The kept buckets of a group, which of them holds each rank, and the rank inside it."""
    start, stop = stage.buckets.starts[group : group + 2]
    kept = start + np.flatnonzero(stage.slots[start:stop] <= KEEP)
    running = np.cumsum(stage.counts[kept])
    owners = np.searchsorted(running, targets.ranks, side="left")
    return kept, owners, targets.ranks - (running[owners] - stage.counts[kept[owners]])


def within_windows(
    stage: Stage, windows: Windows, below: Integers, above: Integers
) -> Stage | None:
    """Return the stage with ranks counted among the records in windows; None if one is missed."""
    outside = np.zeros((2, stage.counts.size), dtype=np.int64)
    outside[:, windows.places] = below, above
    narrowed: list[Targets | None] = []
    for group, targets in enumerate(stage.targets):
        if not isinstance(targets, RankTargets):
            narrowed.append(targets)
            continue
        kept, owners, inside = _located(stage, group, targets)
        under, over = outside[:, kept]
        left = stage.counts[kept] - under - over
        inside -= under[owners]
        if ((inside < 1) | (inside > left[owners])).any():
            return None
        narrowed.append(RankTargets((np.cumsum(left) - left)[owners] + inside))
    return replace(stage, targets=tuple(narrowed))
