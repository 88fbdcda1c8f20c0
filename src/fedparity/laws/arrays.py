"""From what a caller passes to checked arrays: scores and masses that need no second look."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import MagnitudeError, MassError, ScoreError

__all__ = ["BoolArray", "FloatArray", "IntArray", "as_masses", "as_scores", "check_magnitude"]

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

    IntArray stay integers: their running sums are exact.

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
