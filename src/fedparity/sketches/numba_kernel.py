"""The passes compiled by numba: the same bits as NumPy's, several times faster."""

from __future__ import annotations

import threading
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.laws.law import FloatArray
from fedparity.sketches import compiled as typed_by_numba
from fedparity.sketches.accumulators import Bag, Bounds, Moments, Rules, Tally
from fedparity.sketches.exact_sums import ExactSums
from fedparity.sketches.passes import NumpyKernel
from fedparity.sketches.records import Batch
from fedparity.sketches.stages import BucketMap, KeyMap, LinearMap

__all__ = ["NumbaKernel"]

Scratch: TypeAlias = tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]

compiled: Any = typed_by_numba
_NO_FIRST, _NO_SHIFTS = np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.uint8)
_MANY = 4096
"""Scores from which sorting by digits is faster than NumPy's sort."""
_MANY_GROUPS = 256
"""Groups from which the words of their squares would not stay in a cache."""
_NO_LIMBS = np.zeros((0, 1), dtype=np.int64)


class NumbaKernel:
    """Counting and gathering in compiled loops that hold no lock."""

    name = "numba"
    windows = True

    def __init__(self) -> None:
        self._plain = NumpyKernel()
        self._local = threading.local()

    def count(self, chosen: BucketMap, batch: Batch, bounds: Bounds, tally: Tally) -> None:
        """Count the records of a batch by bucket; those that may not be counted, by reason."""
        if not isinstance(chosen, LinearMap | KeyMap):
            self._plain.count(chosen, batch, bounds, tally)
            return
        common = _arguments(chosen, bounds, batch)
        counts = tally.recently(batch.scores.size)
        before = counts[-1]
        if batch.weights is None:
            compiled.count(*common, counts, self._scratch()[0])
        else:
            weighted = (_fixed(batch.weights), counts, tally.masses)
            compiled.count_weighted(*common, *weighted, self._scratch()[0])
        if counts[-1] != before and not bounds.allow(batch.scores):
            outside = ~bounds.inside(batch.scores)
            if batch.weights is not None:
                outside &= batch.weights > 0
            tally.leave_out(batch.scores[outside], bounds)

    def gather(
        self,
        chosen: BucketMap,
        batch: Batch,
        bounds: Bounds,
        rules: Rules,
        bag: Bag,
    ) -> None:
        """Keep the records of a batch, or add them to sums, as the rules say."""
        if not isinstance(chosen, LinearMap | KeyMap):
            self._plain.gather(chosen, batch, bounds, rules, bag)
            return
        common = _arguments(chosen, bounds, batch)
        told = (rules.hits, rules.kept, rules.slots, rules.candidates, bag.equal)
        rows = batch.scores.size
        out: tuple[Any, ...] = (np.empty(rows), np.empty(rows, dtype=batch.codes.dtype))
        if batch.weights is None:
            windows = (rules.low, rules.high, bag.sides)
            sums = _limbs(bag.values, rows)
            kept = compiled.gather(*common, *told, windows, sums, self._scratch(), out)
        else:
            out = (*out, np.empty(rows))
            own = _fixed(batch.weights)
            weights = (own, own.view(np.int64))
            limbs = (_limbs(bag.weights, rows), _limbs(bag.products, 3 * rows))
            kept = compiled.gather_weighted(*common, *weights, *told, *limbs, self._scratch(), out)
        if kept:
            bag.kept.append(Batch(*(column[:kept].copy() for column in out)))

    def add_up(self, batch: Batch, moments: Moments) -> None:
        """Add the records of a batch, all of which count, to exact sums."""
        if moments.groups > _MANY_GROUPS:
            self._plain.add_up(batch, moments)
            return
        rows = batch.scores.size
        scores, codes = _fixed(batch.scores), _fixed(batch.codes)
        bits = scores.view(np.int64)
        extra = moments.extra
        if batch.weights is None or moments.weights is None:
            if extra.squares:
                compiled.add_squares(bits, codes, moments.squares.in_words())
            if extra.sums:
                compiled.add_scores(bits, codes, _limbs(moments.sums.in_limbs(), rows))
            if extra.bounds.size:
                compiled.count_between(scores, codes, extra.bounds, moments.counts)
            return
        weights = _fixed(batch.weights).view(np.int64)
        compiled.add_squares(weights, codes, moments.weight_squares.in_words())
        if extra.squares:
            compiled.add_weighted_squares(bits, codes, weights, moments.squares.in_words())
        if extra.sums:
            limbs = _limbs(moments.sums.in_limbs(products=True), 3 * rows)
            compiled.add_products(bits, codes, weights, limbs)
        limbs = _limbs(moments.weights.in_limbs(), rows)
        if extra.bounds.size:
            compiled.add_between(scores, codes, weights, extra.bounds, moments.counts, limbs)
        else:
            compiled.add_scores(weights, codes, limbs)

    def sort(self, scores: FloatArray) -> None:
        """Put finite scores in increasing order, where they are: many of them by their digits."""
        if scores.size < _MANY:
            scores.sort()
        else:
            compiled.sort(scores.view(np.uint64), np.empty(scores.size, dtype=np.uint64))

    def _scratch(self) -> Scratch:
        """Room for the places of a block and for the hits among them, one for each thread."""
        if not hasattr(self._local, "scratch"):
            places = np.empty(compiled.BLOCK, dtype=np.uint32)
            self._local.scratch = places, np.empty(compiled.BLOCK, dtype=np.int64)
        scratch: Scratch = self._local.scratch
        return scratch


def _arguments(chosen: LinearMap | KeyMap, bounds: Bounds, batch: Batch) -> tuple[Any, ...]:
    width = np.uint32(chosen.width)
    if isinstance(chosen, LinearMap):
        top = chosen.inner + 1.0
        map_ = (True, chosen.low, chosen.scale, top, _NO_FIRST, _NO_SHIFTS, width)
    else:
        map_ = (False, 0.0, 0.0, 0.0, chosen.first, chosen.shifts, width)
    limits = (bounds.low, bounds.high)
    scores = _fixed(batch.scores)
    return map_, limits, scores, scores.view(np.int64), _fixed(batch.codes)


def _fixed(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that cannot be written: columns of Arrow are such, and one type compiles once."""
    view = column.view()
    view.flags.writeable = False
    return view


def _limbs(sums: ExactSums | None, terms: int) -> npt.NDArray[np.int64]:
    if sums is None:
        return _NO_LIMBS
    sums.reserve(terms)
    return sums.limbs
