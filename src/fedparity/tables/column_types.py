"""Columns that are NumPy arrays or plain Python sequences."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import LabelError, ScoreError, TableError
from fedparity.errors.extras import polars, pyarrow
from fedparity.tables.columns import (
    BoolArray,
    Column,
    Labels,
    Numbers,
    compiled,
    few_labels,
    label_text,
    label_texts,
)

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = [
    "ArrowColumn",
    "NumpyColumn",
    "PandasColumn",
    "PolarsColumn",
    "as_column",
    "number_labels",
]

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
            return ArrowColumn.of(self.values.array.__arrow_array__()).numbers(name)
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

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        dtype = self.values.dtype
        if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
            return ArrowColumn.of(self.values.array.__arrow_array__()).labels(name)
        if hasattr(dtype, "categories"):
            return _coded(self.values.cat.codes.to_numpy(), self.values.cat.categories)
        if isinstance(dtype, np.dtype) and dtype.kind in "buif":
            return number_labels(self.values.to_numpy(), None)
        if getattr(dtype, "kind", "O") in "cmM":
            raise LabelError.not_a_label(name, dtype)
        try:
            return _coded(*self.values.factorize())
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


def _coded(codes: Any, categories: Any) -> Labels:  # noqa: ANN401 -- pandas has no types here
    texts = label_texts(categories.tolist())
    if codes.size and codes.min() < 0:
        codes = np.where(codes < 0, len(texts) - 1, codes.astype(np.intp))
    return Labels(codes, texts)


_FIRST_ROWS, _FEW_TEXTS = 1_000, 8


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

    def labels(self, name: str) -> Labels:
        """Return its labels."""
        pl = polars("a polars column")
        dtype = self.values.dtype
        if dtype == pl.String:
            return (
                _compiled_labels(self.values)
                or _few_labels(self.values)
                or _text_labels(self.values)
            )
        if dtype in (pl.Categorical, pl.Enum):
            return _category_labels(self.values)
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise LabelError.not_a_label(name, dtype)
        numbers = self.numbers(name)
        return number_labels(numbers.values, numbers.valid)

    def series(self, name: str) -> pl.Series:
        """Return it as a polars series, for a filter."""
        return self.values.alias(name)


def _compiled_labels(series: pl.Series) -> Labels | None:
    """Compare the views that polars keeps of short texts, where compiled loops are at hand."""
    if not compiled() or find_spec("pyarrow") is None:
        return None
    views = series.to_arrow(compat_level=polars("a polars column").CompatLevel.newest())
    return few_labels(pyarrow("a polars column").chunked_array([views]))


def _few_labels(series: pl.Series) -> Labels | None:
    """Compare with each of the texts that the first rows show; None if they are not all.

    For a handful of groups that is several times faster than a dictionary of the texts.
    """
    texts = series.head(_FIRST_ROWS).drop_nulls().unique().sort().to_list()
    if len(texts) > _FEW_TEXTS:
        return None
    missing = series.null_count()
    codes = np.zeros(len(series), np.uint8)
    for code, text in enumerate(texts, start=1):
        equal = series == text
        equal = equal.fill_null(value=False) if missing else equal
        codes += equal.to_numpy().view(np.uint8) * np.uint8(code)
    if np.count_nonzero(codes) + missing < len(series):
        return None
    return Labels(codes, (None, *(text or None for text in texts)))


def _text_labels(series: pl.Series) -> Labels:
    distinct = series.drop_nulls().unique().sort()
    codes = series.cast(polars("a polars column").Enum(distinct)).to_physical()
    return _polars_coded(codes, [text or None for text in distinct.to_list()])


def _category_labels(series: pl.Series) -> Labels:
    """Codes are the physical values; only categories that are met have a text."""
    few = _met_labels(series, series.head(_FIRST_ROWS).drop_nulls().unique())
    if not few.codes.size or int(few.codes.max()) < len(few.texts) - 1:
        met = np.array([text is not None for text in few.texts])
        if met[:-1].all() or met.take(few.codes).all():  # the first rows show all of them
            return few
    return _met_labels(series, series.drop_nulls().unique())


def _met_labels(series: pl.Series, met: pl.Series) -> Labels:
    pl = polars("a polars column")
    texts: list[str | None] = [None]
    for code, text in zip(met.to_physical().to_list(), met.cast(pl.String).to_list(), strict=True):
        texts += [None] * (code + 1 - len(texts))
        texts[code] = text or None
    return _polars_coded(series.to_physical(), texts)


def _polars_coded(codes: pl.Series, texts: list[str | None]) -> Labels:
    if codes.null_count():
        codes = codes.cast(polars("a polars column").Int64).fill_null(len(texts))
    return Labels(codes.to_numpy(), (*texts, None))


def as_column(values: object, name: str) -> Column:
    """Return the column of a series of pandas or polars, an Arrow array, an array or a sequence.

    Raises
    ------
    TableError
        If it is not one-dimensional.
    """
    if isinstance(values, np.ndarray | list | tuple):
        return NumpyColumn.of(values, name)
    from narwhals import Series, from_native  # noqa: PLC0415 -- only where a series is given

    series = from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, Series):
        if type(values).__module__.partition(".")[0] == "pyarrow":  # an array in one chunk
            return ArrowColumn.of(values)
        return NumpyColumn.of(values, name)
    native = series.to_native()
    if series.implementation.is_polars():
        return PolarsColumn(native)
    if series.implementation.is_pyarrow():
        return ArrowColumn.of(native)
    return PandasColumn(series.to_pandas())
