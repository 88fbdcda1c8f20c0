"""The two passes in NumPy: the reference, and what runs where numba is not installed."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray, IntArray
from fedparity.sketches.records import Batch
from fedparity.sketches.selection.accumulators import KEEP, Bag, Bounds, Rules, Tally, taken
from fedparity.sketches.selection.bucket_maps import BucketMap, LinearMap
from fedparity.sketches.selection.moments import Moments

__all__ = ["NumpyKernel", "gather_places", "tally_places"]

_BLOCK = 1 << 16
"""Rows at once: large enough that threads seldom wait for each other, small enough for a cache."""


_FEW_GROUPS = 8
"""More groups than these need larger blocks, so that each has enough records in one."""


class NumpyKernel:
    """Counting and gathering, block by block."""

    name = "numpy"
    windows = False

    def __init__(self) -> None:
        self._local = threading.local()

    def count(self, chosen: BucketMap, batch: Batch, bounds: Bounds, tally: Tally) -> None:
        """Count the records of a batch by bucket; those that may not be counted, by reason."""
        for block in _blocks(batch):
            tally_places(self._places(chosen, block, bounds, tally), block, tally)

    def gather(
        self,
        chosen: BucketMap,
        batch: Batch,
        bounds: Bounds,
        rules: Rules,
        bag: Bag,
    ) -> None:
        """Keep the records of a batch, or add them to sums, as the rules say."""
        for block in _blocks(batch):
            gather_places(self._places(chosen, block, bounds, None), block, rules, bag)

    def add_up(self, batch: Batch, moments: Moments) -> None:
        """Add the records of a batch, all of which count, to exact sums."""
        for block in _blocks(batch, _BLOCK * max(1, moments.groups // _FEW_GROUPS)):
            moments.add(block)

    def sort(self, scores: FloatArray) -> None:
        """Put finite scores in increasing order, where they are."""
        scores.sort()

    def _places(
        self, chosen: BucketMap, block: Batch, bounds: Bounds, tally: Tally | None
    ) -> IntArray:
        """The bucket of each record, counted group by group; -1 for those left out."""
        if bounds.allow(block.scores):
            places = self._buckets(chosen, block.scores)
            allowed = None
        else:
            allowed = bounds.inside(block.scores)
            places = chosen.buckets(np.where(allowed, block.scores, 0.0))
        starts = self._room().starts[: places.size]
        np.multiply(block.codes, chosen.width, out=starts, dtype=np.int64)
        places += starts
        if allowed is not None:
            places[~allowed] = -1
            if tally is not None:
                counted = ~allowed if block.weights is None else ~allowed & (block.weights > 0)
                tally.leave_out(block.scores[counted], bounds)
        if block.weights is not None:
            places[block.weights == 0] = -1  # nobody counts here
        return places

    def _buckets(self, chosen: BucketMap, scores: FloatArray) -> IntArray:
        if not isinstance(chosen, LinearMap):
            return chosen.buckets(scores)
        room = self._room()
        return chosen.buckets_in(scores, room.floats[: scores.size], room.places[: scores.size])

    def _room(self) -> _Room:
        """Memory for one block, kept by each thread."""
        if not hasattr(self._local, "room"):
            self._local.room = _Room()
        room: _Room = self._local.room
        return room


class _Room:
    """Arrays that are written again for every block."""

    def __init__(self) -> None:
        self.floats = np.empty(_BLOCK)
        self.places = np.empty(_BLOCK, dtype=np.int64)
        self.starts = np.empty(_BLOCK, dtype=np.int64)


def tally_places(places: IntArray, block: Batch, tally: Tally) -> None:
    """Count records by place; -1 is the last place."""
    np.add.at(tally.counts, places, 1)
    if block.weights is not None and tally.masses is not None:
        np.add.at(tally.masses, places, block.weights)


def gather_places(places: IntArray, block: Batch, rules: Rules, bag: Bag) -> None:
    """Keep records, count those equal to a candidate, and add the others to their sums."""
    slots = rules.slots[places]
    kept = np.flatnonzero(slots <= KEEP)
    if kept.size:
        if rules.candidates.size:
            kept = _without_equal(kept, slots[kept], block, rules.candidates, bag)
        bag.kept.append(taken(block, kept))
    if bag.values is not None or bag.weights is not None:
        summed = np.flatnonzero(slots >= 0)
        if summed.size:
            rest = taken(block, summed)
            bag.add_sums(slots[summed].astype(np.int64), rest.scores, rest.weights)


def _without_equal(
    kept: IntArray,
    slots: npt.NDArray[np.int32],
    block: Batch,
    candidates: FloatArray,
    bag: Bag,
) -> IntArray:
    """Count the records that equal the candidate of their bucket; return the others."""
    position = KEEP - 1 - slots.astype(np.int64)
    has_one = position >= 0
    equal = has_one & (candidates[np.where(has_one, position, 0)] == block.scores[kept])
    np.add.at(bag.equal, position[equal], 1)
    if bag.weights is not None and block.weights is not None:
        first = bag.weights.limbs.shape[0] - candidates.size
        bag.weights.add(first + position[equal], block.weights[kept[equal]])
    rest: IntArray = kept[~equal]
    return rest


def _blocks(batch: Batch, rows: int = _BLOCK) -> Iterator[Batch]:
    for start in range(0, batch.scores.size, rows):
        yield taken(batch, slice(start, start + rows))
