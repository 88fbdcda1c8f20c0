"""From what a caller passes to checked arrays: scores and masses that need no second look."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import MassError, ScoreError

__all__ = ["FloatArray", "as_masses", "as_scores"]

FloatArray = npt.NDArray[np.float64]


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


def as_masses(masses: object, what: str = "weights") -> npt.NDArray[Any]:
    """Return ``masses`` as int64 where they are whole numbers by type, else as float64.

    Integers stay integers: their running sums are exact.

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
    if not array.any():
        raise MassError.all_zero(what)
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
