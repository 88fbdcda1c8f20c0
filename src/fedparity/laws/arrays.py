"""Arrays of scores and masses: checked where a caller passes them, and sorted fast on every processor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import MagnitudeError, MassError, ScoreError

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "as_masses",
    "as_scores",
    "check_magnitude",
    "sort_all",
    "sort_order",
    "sort_scores",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_LARGEST_SCORE = 1e140
_LARGEST_TOTAL = 2**62


def as_scores(scores: object, what: str = "scores") -> FloatArray:
    """Return ``scores`` as a one-dimensional float64 array of finite numbers.

    The array may be the caller's own: copy it before writing to it.

    Raises
    ------
    ScoreError
        If they are not numbers, not one-dimensional, not finite, or none.
    """
    array = _numeric(scores, what)
    if array.ndim != 1:
        raise ScoreError.not_one_dimensional(what, array.shape)
    if array.size == 0:
        raise ScoreError.empty(what)
    finite = np.isfinite(array)
    if not finite.all():
        missing = int(np.count_nonzero(np.isnan(array)))
        infinite = array.size - int(np.count_nonzero(finite)) - missing
        raise ScoreError.not_finite(what, missing=missing, infinite=infinite, total=array.size)
    return array


def check_magnitude(scores: FloatArray, what: str) -> None:
    """Raise where squares of differences, or sums of them, would not fit a float.

    Raises
    ------
    MagnitudeError
        If a score is beyond ±1e140.
    """
    if max(float(scores.max()), -float(scores.min())) > _LARGEST_SCORE:
        raise MagnitudeError(
            f"a square of {what} is too large for a 64-bit float.",
            fix="rescale the scores (for example to [0, 1]) before measuring.",
        )


def as_masses(masses: object, what: str = "weights") -> npt.NDArray[Any]:
    """Return ``masses`` as int64 where they are whole numbers by type, else as float64.

    Whole numbers stay integers: their running sums are exact.

    Raises
    ------
    MassError
        If one is negative or not finite, or if all are zero.
    """
    array = np.asarray(masses)
    if array.dtype.kind in "bui" and array.ndim == 1:
        array = array.astype(np.int64)
    else:
        array = _numeric(masses, what)
        if array.ndim != 1:
            raise ScoreError.not_one_dimensional(what, array.shape)
        if bad := array.size - int(np.count_nonzero(np.isfinite(array))):
            raise MassError.not_finite(what, bad)
    if bad := int(np.count_nonzero(array < 0)):
        raise MassError.negative(what, bad)
    with np.errstate(over="ignore"):
        total = float(array.sum(dtype=np.float64))
    if total == 0:
        raise MassError.all_zero(what)
    if not total < (_LARGEST_TOTAL if array.dtype.kind == "i" else np.inf):
        raise MassError.too_large(what)
    return array


def _numeric(values: object, what: str) -> FloatArray:
    array: npt.NDArray[Any] = np.asarray(values)
    if array.dtype.kind == "O":  # decimals, nullable integers, or a string that strayed in
        if any(isinstance(value, str | bytes) for value in array.flat):
            raise ScoreError.not_numeric(what, "text")
        try:
            return array.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise ScoreError.not_numeric(what, array.dtype) from None
    if array.dtype.kind not in "buif":
        raise ScoreError.not_numeric(what, array.dtype)
    return array.astype(np.float64, copy=False)


_LARGE = 50_000
_BUCKETS = 1 << 16
_SAMPLE = 4_096
_BLOCK = 1 << 14


# np.sort of doubles is vectorized, but on some AVX-512 processors (AMD Zen 4) its instructions are
# microcoded, and it takes five times as long as without them. Spreading the scores over 2^16 buckets
# with a radix sort, and finishing with a merge sort (which is linear on almost sorted input), does not
# use them. Both give the same sorted array; which one is faster is measured once, on the first large
# array.


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
