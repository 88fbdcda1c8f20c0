"""Columns of NumPy, Arrow, pandas and polars: how each library gives numbers and labels.

A class per library, since each stores numbers, missing entries and codes of labels in its own way.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from fedparity.errors import LabelError, ScoreError, TableError
from fedparity.errors.base import polars, pyarrow
from fedparity.errors.inputs import shortened
from fedparity.laws.labels import (
    Labels,
    array_labels,
    arrow_labels,
    category_labels,
    is_arrow_text,
    is_missing,
    object_labels,
    polars_labels,
)
from fedparity.laws.law import BoolArray
from fedparity.tables.groups import LabelType, as_texts, label_type

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = [
    "BLOCK_ROWS",
    "ArrowColumn",
    "Block",
    "Column",
    "Numbers",
    "NumpyColumn",
    "PandasColumn",
    "PolarsColumn",
    "as_column",
    "compiled",
    "few_labels",
]

BLOCK_ROWS = 1 << 20
"""Rows that are read at once: large enough to hide the cost of a task, small enough for memory."""


@dataclass(frozen=True, eq=False, slots=True)
class Numbers:
    """The numbers of a column.

    ``values`` is of a boolean, integer or floating type; where ``valid`` is False the entry is
    missing and its value means nothing. ``valid`` is None when no entry is missing. Either way a
    NaN may be among the values.
    """

    values: npt.NDArray[Any]
    valid: BoolArray | None = None


class Column(Protocol):
    """One column of a table, or some rows of it."""

    def __len__(self) -> int: ...

    def rows(self, start: int, stop: int) -> Column:
        """Return the column from row ``start`` to before row ``stop``, without a copy."""
        ...

    def numbers(self, name: str) -> Numbers:
        """Return its numbers, without a copy where they are float64.

        Raises
        ------
        ScoreError
            If they are not numbers; text that looks like numbers is refused too. ``name``
            says which column it is.
        """
        ...

    @property
    def coded(self) -> bool:
        """Whether its labels are numbers already, so that to read them again costs little."""
        ...

    @property
    def label_type(self) -> LabelType:
        """What its labels are: ``int`` or ``bool`` where the column says so, else ``str``."""
        ...

    def labels(self, name: str) -> Labels:
        """Return its labels.

        Raises
        ------
        LabelError
            If its entries cannot be labels.
        """
        ...

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Some rows of the selected columns."""

    length: int
    columns: Mapping[str, Column]


@dataclass(frozen=True, eq=False, slots=True)
class NumpyColumn:
    """A one-dimensional array; a masked array's masked entries are missing."""

    array: npt.NDArray[Any]

    @classmethod
    def from_values(cls, values: object, name: str) -> NumpyColumn:
        """Return the column of an array or a sequence.

        Raises
        ------
        TableError
            If it is not one-dimensional.
        """
        array = values if isinstance(values, np.ndarray) else _plain_array(values)
        if array.ndim != 1:
            kind = "a single value" if array.ndim == 0 else f"of shape {array.shape}"
            raise TableError(
                f"column {shortened(name)!r} must be one-dimensional, but it is {kind}.",
                fix="pass one entry per record.",
            )
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

    @property
    def label_type(self) -> LabelType:
        """What its labels are."""
        return label_type(self.array.dtype.kind)

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        if self.array.dtype.kind in "buif":
            return as_texts(array_labels(np.ma.getdata(self.array), self._valid()))
        if self.array.dtype.kind in "cmMV":
            raise LabelError.not_a_label(name, self.array.dtype)
        try:
            return as_texts(object_labels(self.array.tolist()))
        except (TypeError, UnicodeDecodeError):
            raise LabelError.not_a_label(name, self.array.dtype) from None

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


def _object_numbers(array: npt.NDArray[Any], name: str) -> Numbers:
    """Decimals, or whole numbers with None among them; a string that strayed in is refused."""
    objects = np.ma.getdata(array)
    if any(isinstance(value, str | bytes) for value in objects.flat):
        raise ScoreError.not_numeric(_what(name), "text")
    missing = np.fromiter((is_missing(value) for value in objects), bool, objects.size)
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


_EXACT_DIGITS = 15
_EXACT_POWER = 22
"""Whole numbers of 15 digits and powers of ten up to 10^22 are exact in a float64."""


@dataclass(frozen=True, eq=False, slots=True)
class ArrowColumn:
    """A chunked array."""

    array: pa.ChunkedArray

    @classmethod
    def from_array(cls, array: pa.Array | pa.ChunkedArray) -> ArrowColumn:
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

    @property
    def label_type(self) -> LabelType:
        """What its labels are; those of a dictionary are what the dictionary holds."""
        types = pyarrow("an Arrow column", "pyarrow.types")
        kind = self.array.type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if types.is_boolean(kind):
            return bool
        return int if types.is_integer(kind) else str

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        types = pyarrow("an Arrow column", "pyarrow.types")
        kind = self.array.type
        _refuse_unless_label(kind.value_type if types.is_dictionary(kind) else kind, name)
        if types.is_null(kind):
            return Labels(np.zeros(len(self), np.intp), (None,))
        if (few := few_labels(self.array)) is not None:
            return few
        try:
            labels = arrow_labels(self.array)
            if labels is None:
                numbers = self.numbers(name)
                labels = array_labels(numbers.values, numbers.valid)
            return as_texts(labels)
        except UnicodeDecodeError:
            raise LabelError.not_a_label(name, kind) from None

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


def _refuse_unless_label(kind: pa.DataType, name: str) -> None:
    types = pyarrow("an Arrow column", "pyarrow.types")
    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    if not (is_arrow_text(kind) or types.is_null(kind) or any(test(kind) for test in numeric)):
        raise LabelError.not_a_label(name, kind)


@dataclass(frozen=True, eq=False, slots=True)
class PandasColumn:
    """A pandas Series; its index plays no part."""

    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> PandasColumn:
        """Return some of its rows, without a copy."""
        return PandasColumn(self.values.iloc[start:stop])

    def numbers(self, name: str) -> Numbers:
        """Return its numbers."""
        dtype = self.values.dtype
        if isinstance(dtype, np.dtype):
            return NumpyColumn(self.values.to_numpy()).numbers(name)
        if hasattr(dtype, "pyarrow_dtype"):
            return ArrowColumn.from_array(self.values.array.__arrow_array__()).numbers(name)
        if getattr(dtype, "kind", "O") not in "buif":
            raise ScoreError.not_numeric(f"the numbers of column {name!r}", dtype)
        if isinstance(getattr(dtype, "subtype", None), np.dtype):  # sparse
            return Numbers(np.asarray(self.values))
        values = self.values.to_numpy(np.float64, na_value=0.0)
        return Numbers(values, self.values.notna().to_numpy())

    @property
    def coded(self) -> bool:
        """Whether its labels have codes, or are whole numbers."""
        dtype = self.values.dtype
        whole = isinstance(dtype, np.dtype) and dtype.kind in "bui"
        return whole or hasattr(dtype, "categories")

    @property
    def label_type(self) -> LabelType:
        """What its labels are; those of a categorical column are what the categories are."""
        dtype = self.values.dtype
        dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
        return label_type(getattr(dtype, "kind", "O"))

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        dtype = self.values.dtype
        if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
            return ArrowColumn.from_array(self.values.array.__arrow_array__()).labels(name)
        if isinstance(dtype, np.dtype) and dtype.kind in "buif":
            return as_texts(array_labels(self.values.to_numpy(), None))
        if not hasattr(dtype, "categories") and getattr(dtype, "kind", "O") in "cmM":
            raise LabelError.not_a_label(name, dtype)
        try:
            if hasattr(dtype, "categories"):
                return as_texts(category_labels(self.values.cat.codes, self.values.cat.categories))
            return as_texts(category_labels(*self.values.factorize()))
        except (TypeError, UnicodeDecodeError):  # lists, dicts, bytes that are no text
            raise LabelError.not_a_label(name, dtype) from None

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        pl = polars("a filter")
        pyarrow("a filter on a pandas table")
        try:
            return pl.from_pandas(self.values.reset_index(drop=True)).alias(name)  # type: ignore[no-any-return]
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise TableError.failed(f"column {name!r}") from None


@dataclass(frozen=True, eq=False, slots=True)
class PolarsColumn:
    """A series."""

    values: pl.Series

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> PolarsColumn:
        """Return some of its rows, without a copy."""
        return PolarsColumn(self.values.slice(start, stop - start))

    def numbers(self, name: str) -> Numbers:
        """Return its numbers."""
        series, dtype = self.values, self.values.dtype
        if dtype.is_decimal():
            series = series.cast(polars("a polars column").Float64)
        elif dtype == polars("a polars column").Null:
            return Numbers(np.zeros(len(series)), np.zeros(len(series), np.bool_))
        elif not (dtype.is_numeric() or dtype == polars("a polars column").Boolean):
            raise ScoreError.not_numeric(f"the numbers of column {name!r}", dtype)
        if series.null_count() == 0:
            return Numbers(series.to_numpy())
        valid = series.is_not_null().to_numpy()
        return Numbers(series.fill_null(strategy="zero").to_numpy(), valid)

    @property
    def coded(self) -> bool:
        """Whether its labels have codes, or are whole numbers."""
        pl = polars("a polars column")
        dtype = self.values.dtype
        return bool(dtype.is_integer() or dtype in (pl.Boolean, pl.Categorical, pl.Enum))

    @property
    def label_type(self) -> LabelType:
        """What its labels are."""
        if self.values.dtype == polars("a polars column").Boolean:
            return bool
        return int if self.values.dtype.is_integer() else str

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        pl = polars("a polars column")
        dtype = self.values.dtype
        if dtype == pl.String and (few := _compiled_labels(self.values)) is not None:
            return few
        if (labels := polars_labels(self.values)) is not None:
            return as_texts(labels)
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise LabelError.not_a_label(name, dtype)
        numbers = self.numbers(name)
        return as_texts(array_labels(numbers.values, numbers.valid))

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        return self.values.alias(name)


def _compiled_labels(series: pl.Series) -> Labels | None:
    """Compare polars' inline views of short texts, if compiled loops are available."""
    if not compiled() or find_spec("pyarrow") is None:
        return None
    views = series.to_arrow(compat_level=polars("a polars column").CompatLevel.newest())
    return few_labels(pyarrow("a polars column").chunked_array([views]))


def as_column(values: object, name: str) -> Column:
    """Return the column of a series of pandas or polars, an Arrow array, an array or a sequence.

    Raises
    ------
    TableError
        If it is not one-dimensional.
    """
    if isinstance(values, np.ndarray | list | tuple):
        return NumpyColumn.from_values(values, name)
    from narwhals import Series, from_native  # noqa: PLC0415 -- only where a series is given

    series = from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, Series):
        if type(values).__module__.partition(".")[0] == "pyarrow":  # an array in one chunk
            return ArrowColumn.from_array(values)
        return NumpyColumn.from_values(values, name)
    native = series.to_native()
    if series.implementation.is_polars():
        return PolarsColumn(native)
    if series.implementation.is_pyarrow():
        return ArrowColumn.from_array(native)
    return PandasColumn(series.to_pandas())


_FIRST_ROWS, _FEW_TEXTS = 1_000, 8
_INLINE = 12
"""Bytes that a view of a text holds itself; a longer text is elsewhere."""
_KERNEL = "fedparity.sketches.numba_kernel"


def compiled() -> bool:
    """Whether the loops can be had at little cost."""
    return _KERNEL in sys.modules and sys.byteorder == "little"


def few_labels(array: pa.ChunkedArray) -> Labels | None:
    """Compare texts with each of those that the first rows show; None if they are not all.

    For a handful of texts that is several times faster than a dictionary, if numba is loaded
    already. Otherwise None too: to load it for this alone does not pay.

    Parameters
    ----------
    array : chunked array of strings, or of views of strings
    """
    views = str(array.type) == "string_view"
    if not compiled() or not (views or str(array.type) in {"string", "large_string"}):
        return None
    first = array.slice(0, _FIRST_ROWS).to_pylist()
    texts = sorted(text for text in set(first) if text is not None)
    raw = [text.encode() for text in texts]
    if len(raw) > _FEW_TEXTS or (views and any(len(text) > _INLINE for text in raw)):
        return None
    codes = np.empty(len(array), np.uint8)
    start = 0
    for chunk in filter(len, array.chunks):
        own = codes[start : start + len(chunk)]
        start += len(chunk)
        unknown = (_code_views if views else _code_texts)(chunk, raw, own)
        if chunk.null_count:
            own[~chunk.is_valid().to_numpy(zero_copy_only=False)] = 0
            unknown = own.size - int(np.count_nonzero(own))
        if unknown > chunk.null_count:
            return None
    return Labels(codes, (None, *(text or None for text in texts)))


def _code_texts(chunk: pa.Array, known: list[bytes], codes: npt.NDArray[np.uint8]) -> int:
    from fedparity.tables import compiled_texts  # noqa: PLC0415 -- imports numba

    loops: Any = compiled_texts
    _, ends, data = chunk.buffers()
    wide = pyarrow("an Arrow column").types.is_large_string(chunk.type)
    positions = np.frombuffer(ends, np.int64 if wide else np.int32)
    positions = positions[chunk.offset : chunk.offset + len(chunk) + 1]
    raw = np.frombuffer(data or b"", np.uint8)
    words = np.ndarray(max(0, raw.size - 7), np.uint64, raw, strides=(1,))
    lengths = np.array([len(text) for text in known], np.int64)
    masks = np.array([(1 << 8 * min(len(text), 8)) - 1 for text in known], np.uint64)
    most = max(map(len, known), default=0) // 8 + 1
    padded = b"".join(text.ljust(8 * most, b"\0")[: 8 * most] for text in known)
    inner = np.frombuffer(padded, np.uint64).reshape(len(known), most)
    tails = np.frombuffer(b"".join(text.rjust(8, b"\0")[-8:] for text in known), np.uint64)
    found: int = loops.code_texts(positions, raw, words, lengths, masks, inner, tails, codes)
    return found


def _code_views(chunk: pa.Array, known: list[bytes], codes: npt.NDArray[np.uint8]) -> int:
    from fedparity.tables import compiled_texts  # noqa: PLC0415 -- imports numba

    loops: Any = compiled_texts
    views = np.frombuffer(chunk.buffers()[1], np.uint64).reshape(-1, 2)
    inline = (len(text).to_bytes(4, "little") + text.ljust(_INLINE, b"\0") for text in known)
    words = np.frombuffer(b"".join(inline), np.uint64).reshape(-1, 2)
    found: int = loops.code_views(views[chunk.offset : chunk.offset + len(chunk)], words, codes)
    return found
