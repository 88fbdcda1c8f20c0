"""The passes over all records: count buckets, count parts of buckets, gather what is kept."""

from __future__ import annotations

import numpy as np

from fedparity.errors import RecordsError
from fedparity.laws.arrays import FloatArray
from fedparity.sketches.records import Batch
from fedparity.sketches.selection.moments import Moments
from fedparity.sketches.selection.numpy_kernel import gather_places, tally_places
from fedparity.sketches.selection.run import Run
from fedparity.sketches.selection.stages import FirstBuckets, SplitBuckets, Stage
from fedparity.sketches.selection.state import SKIP, Bag, Rules, Tally
from fedparity.sketches.selection.windows import Windows

__all__ = ["count_all", "count_parts", "gather"]


def count_all(run: Run, buckets: FirstBuckets) -> tuple[Tally, Moments]:
    """Count all records by bucket, and the rows that were left out by reason; add them up."""
    size = int(buckets.starts[-1])

    def make() -> tuple[Tally, Moments]:
        return run.tally(size), run.moments()

    def work(state: tuple[Tally, Moments], batch: Batch) -> None:
        tally, moments = state
        if batch.faults is not None:
            tally.faults.add(batch.faults)
        if batch.scores.size:
            run.kernel.count(buckets.chosen, batch, run.bounds, tally)
        if moments.needed:
            run.kernel.add_up(run.bounds.allowed(batch), moments)

    (tally, moments), *others = run.deal(make, work, "counting")
    tally.settle()
    for other_tally, other_moments in others:
        tally.add(other_tally)
        moments.merge(other_moments)
    return tally, moments


def count_parts(run: Run, first: Stage, last: Stage, parts: SplitBuckets) -> tuple[Tally, Bag]:
    """Count the parts of the buckets that the last stage keeps, and sum what it does not."""

    def make() -> tuple[Tally, Bag]:
        return run.tally(int(parts.first[-1])), run.bag()

    steps, rules = _Steps(run, first, last), Rules(last.slots)

    def work(state: tuple[Tally, Bag], batch: Batch) -> None:
        tally, bag = state
        kept = steps.kept(batch, rules, bag)
        tally_places(parts.places(kept), kept, tally)

    (tally, bag), *others = run.deal(make, work, "counting again")
    for other_tally, other_bag in others:
        tally.add(other_tally)
        bag.add(other_bag)
    _check_unchanged(int(tally.counts[:-1].sum()), last)
    return tally, bag


def gather(
    run: Run, first: Stage, last: Stage, candidates: FloatArray, windows: Windows | None = None
) -> Bag:
    """Keep the records that the last stage keeps, and sum the others."""
    limits = () if windows is None else (windows.low, windows.high)
    steps, rules = _Steps(run, first, last), Rules(last.slots, candidates, *limits)

    def work(bag: Bag, batch: Batch) -> None:
        kept = steps.kept(batch, rules, bag)
        if kept.scores.size:
            bag.kept.append(kept)

    bag, *others = run.deal(lambda: run.bag(candidates.size, rules.low.size), work, "collecting")
    for other in others:
        bag.add(other)
    found = sum(batch.scores.size for batch in bag.kept)
    found += int(bag.equal.sum()) + int(bag.sides[::2].sum())
    _check_unchanged(found, last)
    return bag


class _Steps:
    """The way of a batch from the first stage to the last."""

    def __init__(self, run: Run, first: Stage, last: Stage) -> None:
        self._run, self._last = run, last
        self._coarse = Rules(np.minimum(first.slots, SKIP))  # what is not kept was summed before
        self._chosen = first.buckets.chosen if isinstance(first.buckets, FirstBuckets) else None
        self._one_stage = first.buckets is last.buckets

    def kept(self, batch: Batch, rules: Rules, bag: Bag) -> Batch:
        """Return what the last stage keeps; sum, or count, what it does not."""
        if not batch.scores.size or self._chosen is None:
            return batch
        own = bag.with_same_sums()
        if self._one_stage:
            self._run.kernel.gather(self._chosen, batch, self._run.bounds, rules, own)
            return own.concatenated()
        coarse = Bag()
        self._run.kernel.gather(self._chosen, batch, self._run.bounds, self._coarse, coarse)
        kept = coarse.concatenated()
        gather_places(self._last.buckets.places(kept), kept, rules, own)
        return own.concatenated()


def _check_unchanged(found: int, stage: Stage) -> None:
    if found != stage.volume:
        raise RecordsError.changed()
