"""Sorting many scores, fast on every processor.

``np.sort`` of doubles is vectorised, but on some AVX-512 processors (AMD Zen 4) its
instructions are microcoded and it takes five times as long as without them. Spreading the
scores over 2^16 buckets with a radix sort, and finishing with a merge sort (which is linear on
almost sorted input), does not use them. Both give the same sorted array; which one is faster
here is measured once, on the first large array.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import perf_counter

import numpy as np
import numpy.typing as npt

from fedparity.laws.arrays import FloatArray

__all__ = ["sort_all", "sort_order", "sort_scores"]

_LARGE = 50_000
_BUCKETS = 1 << 16
_SAMPLE = 4_096
_BLOCK = 1 << 14


def sort_scores(scores: FloatArray) -> FloatArray:
    """Return the finite ``scores`` in increasing order."""
    spread = _spread_over_buckets(scores)
    if spread is None:
        return np.sort(scores)
    almost = scores[spread]
    almost.sort(kind="stable")
    return almost


def sort_order(scores: FloatArray) -> npt.NDArray[np.int64]:
    """Return positions that put the finite ``scores`` in increasing order, ties in any order."""
    spread = _spread_over_buckets(scores)
    if spread is None:
        return np.argsort(scores)
    return spread[np.argsort(scores[spread], kind="stable")]


def sort_all(arrays: list[FloatArray]) -> list[FloatArray]:
    """Sort several arrays, on several threads when they are large: sorting releases the GIL."""
    if len(arrays) < 2 or sum(array.size for array in arrays) < 2 * _LARGE:
        return [sort_scores(array) for array in arrays]
    _buckets_are_faster()  # measured before the threads start, not while they compete
    with ThreadPoolExecutor(max_workers=min(len(arrays), 8)) as pool:
        return list(pool.map(sort_scores, arrays))


def _spread_over_buckets(scores: FloatArray) -> npt.NDArray[np.int64] | None:
    """Return positions that almost sort ``scores``; None where a plain sort is better."""
    if scores.size < _LARGE or not _buckets_are_faster():
        return None
    return _bucket_order(scores)


def _bucket_order(scores: FloatArray) -> npt.NDArray[np.int64] | None:
    """Return positions in the order of a monotone map to 16-bit buckets, sorted by radix.

    None where few buckets would hold most of the scores, as under heavy tails.
    """
    sample = np.sort(scores[:: max(1, scores.size // _SAMPLE)])
    low, high = sample[sample.size // 1000], sample[-1 - sample.size // 1000]
    with np.errstate(over="ignore"):
        width = (high - low) / (_BUCKETS - 1)
        if not 0 < width < np.inf:
            return None
        distinct = np.unique(sample)
        if np.unique(_buckets(distinct, low, width)).size < distinct.size // 2:
            return None
        return np.argsort(_buckets(scores, low, width), kind="stable")


def _buckets(scores: FloatArray, low: float, width: float) -> npt.NDArray[np.uint16]:
    """The bucket of each score, block by block: fresh memory costs more than arithmetic."""
    buckets = np.empty(scores.size, dtype=np.uint16)
    for start in range(0, scores.size, _BLOCK):
        part = scores[start : start + _BLOCK] - low
        part /= width
        np.clip(part, 0, _BUCKETS - 1, out=part)
        buckets[start : start + _BLOCK] = part
    return buckets


@cache
def _buckets_are_faster() -> bool:
    trial = np.random.default_rng(0).random(_BUCKETS)
    by_buckets, plainly = [], []
    for _ in range(3):
        start = perf_counter()
        trial[_bucket_order(trial)].sort(kind="stable")
        by_buckets.append(perf_counter() - start)
        start = perf_counter()
        np.sort(trial)
        plainly.append(perf_counter() - start)
    return min(by_buckets) < min(plainly)
