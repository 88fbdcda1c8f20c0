"""Columns that are NumPy arrays or plain Python sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import LabelError, ScoreError, TableError
from fedparity.sources.columns import BoolArray, Labels, Numbers
from fedparity.sources.extras import polars
from fedparity.sources.texts import label_text, label_texts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NumpyColumn", "number_labels"]

_SMALL_RANGE = 4096
"""Whole numbers that span no more than this are their own codes, without a sort."""


@dataclass(frozen=True, eq=False, slots=True)
class NumpyColumn:
    """A one-dimensional array; a masked array's masked entries are missing."""

    array: npt.NDArray[Any]

    @classmethod
    def of(cls, values: object, name: str) -> NumpyColumn:
        """Return the column of an array or a sequence.

        Raises
        ------
        TableError
            If it is not one-dimensional.
        """
        array = values if isinstance(values, np.ndarray) else _plain_array(values)
        if array.ndim != 1:
            kind = "a single value" if array.ndim == 0 else f"of shape {array.shape}"
            raise TableError.not_a_column(name, kind)
        return cls(array)

    def __len__(self) -> int:
        return int(self.array.shape[0])

    def rows(self, start: int, stop: int) -> NumpyColumn:
        """Return some of its rows, without a copy."""
        return NumpyColumn(self.array[start:stop])

    def numbers(self, name: str) -> Numbers:
        """Return its numbers."""
        if self.array.dtype.kind == "O":
            return _object_numbers(self.array, name)
        if self.array.dtype.kind not in "buif":
            raise ScoreError.not_numeric(_what(name), self.array.dtype)
        return Numbers(np.ma.getdata(self.array), self._valid())

    @property
    def coded(self) -> bool:
        """Whether its labels are whole numbers."""
        return self.array.dtype.kind in "bui"

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        if self.array.dtype.kind in "buif":
            return number_labels(np.ma.getdata(self.array), self._valid())
        if self.array.dtype.kind in "cmMV":
            raise LabelError.not_a_label(name, self.array.dtype)
        return _object_labels(self.array, name)

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        values = self.array.tolist() if self.array.dtype.kind in "OT" else self.array
        pl = polars("a filter")
        try:
            series = pl.Series(name, values, strict=False)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise TableError.failed(f"column {name!r}") from None
        return series  # type: ignore[no-any-return]

    def _valid(self) -> BoolArray | None:
        mask = np.ma.getmask(self.array)
        return None if mask is np.ma.nomask else np.logical_not(mask)


def number_labels(values: npt.NDArray[Any], valid: BoolArray | None) -> Labels:
    """Return the labels of booleans, whole numbers or floats."""
    if values.dtype.kind == "b":
        return _with_missing(values.view(np.uint8), ("false", "true"), valid)
    if values.dtype.kind == "f":
        finite = np.isfinite(values)
        whole = np.where(finite, values, 0).astype(np.int64)
        if np.array_equal(whole[finite], values[finite]) and not np.isinf(values).any():
            return number_labels(whole, finite if valid is None else finite & valid)
        return _sorted_labels(values, valid)
    if values.size == 0:
        return Labels(np.zeros(0, np.intp), (None,))
    lowest, highest = int(values.min()), int(values.max())
    if highest - lowest >= _SMALL_RANGE:
        return _sorted_labels(values, valid)
    texts = tuple(str(number) for number in range(lowest, highest + 1))
    return _with_missing(_above(values, lowest), texts, valid)


def _above(values: npt.NDArray[Any], lowest: int) -> npt.NDArray[Any]:
    """How far whole numbers lie above the lowest, in as few bytes as they have."""
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    native = values.astype(values.dtype.newbyteorder("="), copy=False).view(unsigned)
    if lowest != 0:  # unsigned differences wrap around, so negative numbers are no problem
        native = np.subtract(native, unsigned.type(lowest % (1 << 8 * unsigned.itemsize)))
    return native.view(np.int64) if unsigned.itemsize == 8 else native


def _sorted_labels(values: npt.NDArray[Any], valid: BoolArray | None) -> Labels:
    distinct, codes = np.unique(values, return_inverse=True)
    return _with_missing(codes, tuple(map(label_text, distinct.tolist())), valid)


def _with_missing(
    codes: npt.NDArray[Any], texts: tuple[str | None, ...], valid: BoolArray | None
) -> Labels:
    if valid is None:
        return Labels(codes, texts)
    return Labels(np.where(valid, codes.astype(np.intp), len(texts)), (*texts, None))


def _object_labels(array: npt.NDArray[Any], name: str) -> Labels:
    """Look every object up in a dictionary: without another library there is no faster way."""
    known = _FirstSeen()
    try:
        codes = np.fromiter(map(known.__getitem__, array.tolist()), np.intp, array.size)
        texts = label_texts(known)
    except (TypeError, UnicodeDecodeError):
        raise LabelError.not_a_label(name, array.dtype) from None
    codes[codes < 0] = len(known)
    return Labels(codes, texts)


class _FirstSeen(dict[Any, int]):
    """Numbers objects as they are first met; the missing ones are -1 and not kept."""

    def __missing__(self, label: object) -> int:
        if isinstance(label, list | dict | set):
            raise TypeError
        if label_text(label) is None:
            return -1
        self[label] = code = len(self)
        return code


def _object_numbers(array: npt.NDArray[Any], name: str) -> Numbers:
    """Decimals, or whole numbers with None among them; a string that strayed in is refused."""
    objects = np.ma.getdata(array)
    if any(isinstance(value, str | bytes) for value in objects.flat):
        raise ScoreError.not_numeric(_what(name), "text")
    missing = np.fromiter((label_text(value) is None for value in objects), bool, objects.size)
    try:
        values = np.where(missing, 0.0, objects).astype(np.float64)
    except (TypeError, ValueError):
        raise ScoreError.not_numeric(_what(name), array.dtype) from None
    masked = np.ma.getmask(array)
    valid = ~missing if masked is np.ma.nomask else ~(missing | masked)
    return Numbers(values, valid)


def _plain_array(values: object) -> npt.NDArray[Any]:
    """A sequence as an array; one of text or of mixed types as an array of objects."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of several lengths
        return np.empty((0, 0))
    return array if array.dtype.kind in "buif" else np.asarray(values, dtype=object)


def _what(name: str) -> str:
    return f"the numbers of column {name!r}"
