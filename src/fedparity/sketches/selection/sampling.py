"""A sample of the scores, which chooses the first map: a matter of speed, never of result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.records import ArrayRecords, Records
from fedparity.sketches.selection.bucket_maps import BucketMap, Integers, choose_map
from fedparity.sketches.selection.state import Bounds

__all__ = ["first_map", "score_sample"]

_SAMPLE = 1 << 15
_FEW = 1 << 15
"""So few records are all kept, and sorted."""
_MOST_BUCKETS = 1 << 17
"""Buckets of all groups: their counts should stay in a core's cache."""


@dataclass(frozen=True)
class _OneBucket:
    """The map of all scores to one bucket."""

    width: int = 1

    def buckets(self, scores: FloatArray) -> Integers:
        return np.zeros(scores.size, dtype=np.int64)


def score_sample(records: Records, bounds: Bounds) -> FloatArray:
    """Return some scores, sorted: from all over where that is cheap, else the first ones."""
    if isinstance(records, ArrayRecords):
        scores = records.scores
    else:
        scores = next((task().scores for task in records.batches()), np.zeros(0))
    if scores.size > _SAMPLE:
        random = np.random.default_rng(scores.size)  # the same sample every time
        scores = scores[random.integers(0, scores.size, _SAMPLE)]
    return np.sort(scores[bounds.inside(scores)])


def first_map(sample: FloatArray, records: Records, levels_hint: int) -> BucketMap:
    """Return a map whose buckets hold a small share of the records each."""
    rows = records.rows
    if not sample.size or (rows is not None and rows <= _FEW):
        return _OneBucket()
    most = _MOST_BUCKETS // max(1, len(records.groups))
    wanted = (1 << 16) if levels_hint > 200 else (1 << 15)
    if rows is not None:
        wanted = min(wanted, rows // 64)
    return choose_map(sample, int(max(64, min(wanted, most))))
