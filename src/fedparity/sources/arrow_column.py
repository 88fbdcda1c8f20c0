"""Columns in Arrow's memory format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import LabelError, ScoreError
from fedparity.sources.columns import Labels, Numbers
from fedparity.sources.extras import polars, pyarrow
from fedparity.sources.few_texts import few_labels
from fedparity.sources.numpy_column import number_labels
from fedparity.sources.texts import label_texts

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = ["ArrowColumn"]

_EXACT_DIGITS = 15
_EXACT_POWER = 22
"""Whole numbers of 15 digits and powers of ten up to 10^22 are exact in a float64."""


@dataclass(frozen=True, eq=False, slots=True)
class ArrowColumn:
    """A chunked array."""

    array: pa.ChunkedArray

    @classmethod
    def of(cls, array: pa.Array | pa.ChunkedArray) -> ArrowColumn:
        """Return the column of an array, chunked or not."""
        pa = pyarrow("an Arrow column")
        return cls(array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array]))

    def __len__(self) -> int:
        return len(self.array)

    def rows(self, start: int, stop: int) -> ArrowColumn:
        """Return some of its rows, without a copy."""
        return ArrowColumn(self.array.slice(start, stop - start))

    def numbers(self, name: str) -> Numbers:
        """Return its numbers."""
        types = pyarrow("an Arrow column", "pyarrow.types")
        kind = self.array.type
        if types.is_decimal(kind):
            array = _decimals(self.array)
        elif types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind):
            array = self.array
        elif types.is_null(kind):
            return Numbers(np.zeros(len(self)), np.zeros(len(self), np.bool_))
        else:
            raise ScoreError.not_numeric(f"the numbers of column {name!r}", kind)
        return _plain_numbers(array)

    @property
    def coded(self) -> bool:
        """Whether its labels have codes, or are whole numbers."""
        types = pyarrow("an Arrow column", "pyarrow.types")
        kind = self.array.type
        return bool(types.is_dictionary(kind) or types.is_integer(kind) or types.is_boolean(kind))

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        types = pyarrow("an Arrow column", "pyarrow.types")
        kind = self.array.type
        if types.is_dictionary(kind):
            _refuse_unless_label(types, kind.value_type, name)
            return _dictionary_labels(self.array, name)
        _refuse_unless_label(types, kind, name)
        if types.is_null(kind):
            return Labels(np.zeros(len(self), np.intp), (None,))
        if _is_text(types, kind):
            return few_labels(self.array) or _dictionary_labels(
                self.array.dictionary_encode(), name
            )
        numbers = self.numbers(name)
        return number_labels(numbers.values, numbers.valid)

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        array = self.array
        if (
            str(array.type) == "string_view"
        ):  # slices of it from pyarrow up to 22 at least crash polars
            array = array.cast(pyarrow("a filter").large_string())
        return polars("a filter").Series(name, polars("a filter").from_arrow(array))  # type: ignore[no-any-return]


def _plain_numbers(array: pa.ChunkedArray) -> Numbers:
    if array.null_count == 0:
        return Numbers(array.to_numpy())
    pc = pyarrow("an Arrow column", "pyarrow.compute")
    zero = pyarrow("an Arrow column").scalar(0).cast(array.type)
    return Numbers(pc.fill_null(array, zero).to_numpy(), array.is_valid().to_numpy())


def _decimals(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """The nearest floats; Arrow's own cast is often off by one unit in the last place."""
    pa = pyarrow("an Arrow column")
    kind = array.type
    exact = kind.precision <= _EXACT_DIGITS and 0 <= kind.scale <= _EXACT_POWER
    if exact and pa.types.is_decimal128(kind):
        chunks = [_small_decimals(chunk) for chunk in array.chunks]
        return pa.chunked_array(chunks, pa.float64())
    return array.cast(pa.string()).cast(pa.float64())


def _small_decimals(chunk: pa.Array) -> pa.Array:
    """One division of two exact floats is rounded once, hence right."""
    pa = pyarrow("an Arrow column")
    words = np.frombuffer(chunk.buffers()[1], np.int64)[2 * chunk.offset :][: 2 * len(chunk)]
    values = words[::2] / 10.0**chunk.type.scale  # the high word repeats the sign
    mask = None if chunk.null_count == 0 else ~chunk.is_valid().to_numpy(zero_copy_only=False)
    return pa.array(values, pa.float64(), mask=mask)


def _dictionary_labels(array: pa.ChunkedArray, name: str) -> Labels:
    """Codes through the dictionary; chunks may each have their own."""
    whole = (
        array.unify_dictionaries().combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    )
    if isinstance(whole, pyarrow("an Arrow column").ChunkedArray):  # no chunk at all
        return Labels(np.zeros(0, np.intp), (None,))
    try:
        texts = label_texts(whole.dictionary.to_pylist())
    except UnicodeDecodeError:
        raise LabelError.not_a_label(name, array.type) from None
    return Labels(_codes(whole.indices, len(texts) - 1), texts)


def _codes(indices: pa.Array, missing: int) -> npt.NDArray[Any]:
    if indices.null_count == 0 and indices.type.bit_width < 64:
        return np.asarray(indices.to_numpy())
    pc = pyarrow("an Arrow column", "pyarrow.compute")
    wide = indices.cast(pyarrow("an Arrow column").int64())
    return np.asarray(pc.fill_null(wide, missing).to_numpy())


def _is_text(types: Any, kind: pa.DataType) -> bool:  # noqa: ANN401 -- a module
    named = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(kind) for test in named) or str(kind) in {"string_view", "binary_view"}


def _refuse_unless_label(types: Any, kind: pa.DataType, name: str) -> None:  # noqa: ANN401
    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    if not (_is_text(types, kind) or types.is_null(kind) or any(test(kind) for test in numeric)):
        raise LabelError.not_a_label(name, kind)
