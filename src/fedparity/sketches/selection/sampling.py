"""A sample of the scores, which chooses the first map: a matter of speed, never of result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.sketches.records import ArrayRecords, HeldRecords, Records
from fedparity.sketches.selection.bucket_maps import BucketMap, Integers, choose_map
from fedparity.sketches.selection.state import Bounds
from fedparity.sketches.selection.tuning import Tuning

__all__ = ["OneBucket", "first_map", "score_sample"]

_COARSE, _FINE = 1 << 14, 1 << 17
_MANY_LEVELS = 200
"""More levels than this are worth finer buckets."""


@dataclass(frozen=True)
class OneBucket:
    """The map of all scores to one bucket."""

    width: int = 1

    def buckets(self, scores: FloatArray) -> Integers:
        """Return the only one, for each score."""
        return np.zeros(scores.size, dtype=np.int64)


def score_sample(records: Records, bounds: Bounds, tuning: Tuning) -> FloatArray:
    """Return some scores, sorted: from all over where that is cheap, else the first ones."""
    if isinstance(records, ArrayRecords):
        scores = records.scores
    elif isinstance(records, HeldRecords):
        scores = records.sample(tuning.sample)
    else:
        scores = next((task().scores for task in records.batches()), np.zeros(0))
    if scores.size > tuning.sample:
        random = np.random.default_rng(scores.size)  # the same sample every time
        places = np.arange(tuning.sample) + random.random(tuning.sample)
        scores = scores[(places * (scores.size / tuning.sample)).astype(np.int64)]
    return np.sort(scores[bounds.inside(scores)])


def first_map(sample: FloatArray, records: Records, levels_hint: int, tuning: Tuning) -> BucketMap:
    """Return a map whose buckets hold a small share of the records each."""
    rows = records.rows
    if not sample.size or (rows is not None and rows <= tuning.few):
        return OneBucket()
    most = tuning.buckets // max(1, len(records.groups))
    wanted = _FINE if levels_hint > _MANY_LEVELS else _COARSE
    if rows is not None:
        wanted = min(wanted, rows // 32)
    return choose_map(sample, int(max(64, min(wanted, most))))
