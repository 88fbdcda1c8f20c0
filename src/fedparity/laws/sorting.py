"""Sorting many scores, fast on every processor.

``np.sort`` of doubles is vectorised, but on some AVX-512 processors (AMD Zen 4) its
instructions are microcoded and it takes five times as long as without them. Spreading the
scores over 2^16 buckets with a radix sort, and finishing with a merge sort (which is linear on
almost sorted input), does not use them. Both give the same sorted array; which one is faster
here is measured once, on the first large array.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import perf_counter

import numpy as np

from fedparity.laws.arrays import FloatArray

__all__ = ["sort_all", "sort_scores"]

_LARGE = 50_000
_BUCKETS = 1 << 16
_SAMPLE = 4_096


def sort_scores(scores: FloatArray) -> FloatArray:
    """Return the finite ``scores`` in increasing order."""
    if scores.size < _LARGE or not _buckets_are_faster():
        return np.sort(scores)
    return _sort_by_buckets(scores)


def sort_all(arrays: list[FloatArray]) -> list[FloatArray]:
    """Sort several arrays, on several threads when they are large: sorting releases the GIL."""
    if len(arrays) < 2 or sum(array.size for array in arrays) < 2 * _LARGE:
        return [sort_scores(array) for array in arrays]
    _buckets_are_faster()  # measured before the threads start, not while they compete
    with ThreadPoolExecutor(max_workers=min(len(arrays), 8)) as pool:
        return list(pool.map(sort_scores, arrays))


def _sort_by_buckets(scores: FloatArray) -> FloatArray:
    """Sort by a monotone map to 16-bit buckets, then merge what is out of place."""
    sample = np.sort(scores[:: max(1, scores.size // _SAMPLE)])
    low, high = sample[sample.size // 1000], sample[-1 - sample.size // 1000]
    with np.errstate(over="ignore"):
        width = (high - low) / (_BUCKETS - 1)
    if not 0 < width < np.inf or _crowded(sample, low, width):
        return np.sort(scores)
    with np.errstate(over="ignore"):
        buckets = (scores - low) / width
    np.clip(buckets, 0, _BUCKETS - 1, out=buckets)
    spread = scores[np.argsort(buckets.astype(np.uint16), kind="stable")]
    spread.sort(kind="stable")
    return spread


def _crowded(sample: FloatArray, low: float, width: float) -> bool:
    """Whether few buckets would hold most of the distinct scores, as under heavy tails."""
    distinct = np.unique(sample)
    used = np.unique(np.clip((distinct - low) / width, 0, _BUCKETS - 1).astype(np.uint16))
    return used.size < distinct.size // 2


@cache
def _buckets_are_faster() -> bool:
    trial = np.random.default_rng(0).random(_BUCKETS)
    return _best_time(_sort_by_buckets, trial) < _best_time(np.sort, trial)


def _best_time(sort: Callable[[FloatArray], FloatArray], trial: FloatArray) -> float:
    times = []
    for _ in range(3):
        start = perf_counter()
        sort(trial)
        times.append(perf_counter() - start)
    return min(times)
