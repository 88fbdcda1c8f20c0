"""Labels of groups and silos: their order, which are missing, and the integer codes that represent them.

Metrics, federations and tables all read labels here. A column of categories, of a dictionary or of
whole numbers has codes already, which are used as they are; anything else goes through a Python
dictionary.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from fedparity.errors import GroupError, ScoreError
from fedparity.errors.base import polars, pyarrow
from fedparity.laws.law import BoolArray

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = [
    "Group",
    "Labels",
    "Silo",
    "array_labels",
    "arrow_labels",
    "canonical_order",
    "category_labels",
    "check_aligned",
    "encode_labels",
    "intersect",
    "is_arrow_text",
    "is_missing",
    "object_labels",
    "polars_labels",
]

Group: TypeAlias = Any
"""A group's label: a string, number or boolean, or a tuple of them for an intersection.

Any hashable object can be a label. The type is not ``Hashable``, because a ``dict[str, Law]`` is not a
``Mapping[Hashable, Law]`` to a type checker.
"""

Silo: TypeAlias = Any
"""A silo's label, usually its name; any hashable object."""

Label = TypeVar("Label", bound=Hashable)


def canonical_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the distinct labels in an order that does not depend on the order of the input.

    Sums over groups and silos run in this order, so that the same data give the same bits
    whatever the order of rows, files or messages.

    Examples
    --------
    >>> canonical_order(["b", "a", "b"])
    ('a', 'b')
    >>> canonical_order([2, "a", 10])
    (2, 10, 'a')
    """
    distinct = set(labels)
    by_type: dict[str, list[Label]] = {}
    for label in distinct:
        by_type.setdefault(type(label).__name__, []).append(label)
    ordered: list[Label] = []
    for name in sorted(by_type):
        try:
            ordered += sorted(by_type[name])  # type: ignore[type-var]
        except TypeError:
            ordered += sorted(by_type[name], key=repr)
    return tuple(ordered)


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, NaT or pandas.NA, or a tuple that holds one of them."""
    if isinstance(label, tuple):
        return any(map(is_missing, label))
    try:
        return label is None or bool(label != label)  # noqa: PLR0124 -- NaN and NaT do
    except (TypeError, ValueError):  # pandas.NA does not know, and an array has many answers
        return True


_SMALL_RANGE = 4096
"""Whole numbers that span no more than this are their own codes, without a sort."""
_SMALL_PRODUCT = 1 << 20
"""Up to this number of combinations, a table of all of them is cheaper than a sort."""
_FIRST_ROWS, _FEW_TEXTS = 1_000, 8


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """The labels of a column: for each row the position of its label in ``distinct``.

    A missing label is None there (or another missing value). Some of them may belong to no
    row. Codes are of a signed type, or of an unsigned one of less than 64 bits.
    """

    codes: npt.NDArray[Any]
    distinct: tuple[Any, ...]


def encode_labels(labels: object) -> tuple[tuple[Group, ...], npt.NDArray[np.int64]]:
    """Return the distinct labels in canonical order, and the position of each record's label.

    ``labels`` is a sequence, array or Series of labels, or a frame, mapping or two-dimensional
    array of several columns, whose rows then become tuples.

    Raises
    ------
    GroupError
        If a label is missing (None, NaN, NaT).
    ScoreError
        If columns have different lengths, or different pandas indexes.

    Examples
    --------
    >>> encode_labels(["b", "a", "b"])
    (('a', 'b'), array([1, 0, 1]))
    >>> encode_labels({"sex": ["f", "m"], "old": [True, False]})[0]
    (('f', True), ('m', False))
    """
    columns = _columns(labels)
    coded = {name: _column_labels(column) for name, column in columns.items()}
    first = next(iter(coded))
    for name, column in coded.items():
        if column.codes.size != coded[first].codes.size:
            raise ScoreError.lengths_differ(
                f"labels of {name!r}",
                column.codes.size,
                f"those of {first!r}",
                coded[first].codes.size,
            )
    check_aligned(columns)
    codes, keys = intersect(list(coded.values()))
    values = [key[0] for key in keys] if len(coded) == 1 else keys
    counts = np.bincount(codes, minlength=len(values)).tolist()
    met = {code: values[code] for code, count in enumerate(counts) if count}
    if missing := sum(counts[code] for code, label in met.items() if is_missing(label)):
        raise GroupError(
            f"every record needs a group, but {missing} of {codes.size} labels are missing.",
            fix="give those records a label of their own, such as 'unknown', or drop them.",
        )
    groups = canonical_order(met.values())
    position = {group: place for place, group in enumerate(groups)}
    table = np.zeros(len(values), dtype=np.int64)
    table[list(met)] = [position[label] for label in met.values()]
    return groups, table.take(codes)


def check_aligned(columns: Mapping[str, object]) -> None:
    """Raise if pandas columns have different indexes: rows are matched by position.

    Raises
    ------
    ScoreError
        If the rows of two of them are named differently, or in another order.
    """
    first: tuple[str, Any] | None = None
    for name, column in columns.items():
        parts: Iterable[Any] = column.values() if isinstance(column, Mapping) else (column,)
        for index in (part.index for part in parts if hasattr(part, "iloc")):
            first = first or (name, index)
            if index is first[1] or index.equals(first[1]):
                continue
            raise ScoreError(
                f"{name} and {first[0]} have different pandas indexes, so their rows may not belong "
                "together.",
                fix="bring both into one order by their index (.reindex, .loc), or drop the indexes "
                "(.reset_index(drop=True)) if the rows are in the same order already.",
            )


def intersect(columns: Sequence[Labels]) -> tuple[npt.NDArray[Any], list[tuple[Any, ...]]]:
    """Return for each row the position of its key, and the keys: tuples of one label per column.

    Of several columns, only the combinations that occur have a key.

    Examples
    --------
    >>> sex = Labels(np.array([0, 1, 1]), ("f", "m"))
    >>> old = Labels(np.array([1, 0, 0]), ("false", "true"))
    >>> intersect([sex, old])
    (array([0, 1, 1], dtype=int32), [('f', 'true'), ('m', 'false')])
    """
    codes: npt.NDArray[Any] = columns[0].codes
    keys: list[tuple[Any, ...]] = [(value,) for value in columns[0].distinct]
    for column in columns[1:]:
        most = len(keys) * len(column.distinct)
        combined: npt.NDArray[Any] = codes.astype(np.int32 if most < 1 << 31 else np.int64)
        combined *= len(column.distinct)
        combined += column.codes.astype(combined.dtype, copy=False)
        met, codes = _renumber(combined, most)
        pairs = (divmod(code, len(column.distinct)) for code in met.tolist())
        keys = [(*keys[first], column.distinct[second]) for first, second in pairs]
    return codes, keys


def _renumber(codes: npt.NDArray[Any], most: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The codes that occur, and the position of each among them."""
    if most > _SMALL_PRODUCT:
        met, positions = np.unique(codes, return_inverse=True)
        return met, positions
    met = np.flatnonzero(np.bincount(codes, minlength=most))
    table = np.zeros(most, np.int32)
    table[met] = np.arange(met.size)
    return met, table.take(codes)


def _columns(labels: object) -> Mapping[str, object]:
    """The columns of a frame, mapping or two-dimensional array; anything else is one column."""
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        return {str(place): labels[:, place] for place in range(labels.shape[1])}
    if not isinstance(labels, Mapping | Sequence | np.ndarray):
        from narwhals import DataFrame, from_native  # noqa: PLC0415 -- only where a frame is given

        frame = from_native(labels, eager_only=True, pass_through=True)
        if isinstance(frame, DataFrame):
            labels = {name: frame[name].to_native() for name in frame.columns}
    if isinstance(labels, Mapping):
        return labels or {"": ()}
    return {"": labels}


def _column_labels(column: object) -> Labels:
    library = type(column).__module__.partition(".")[0]
    found: Labels | None = None
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "buif" and column.ndim == 1 and not np.ma.isMA(column):
            return array_labels(column, None)
    elif library == "pyarrow":
        found = arrow_labels(column)
    elif library == "polars":
        found = polars_labels(column)
    elif library == "pandas":
        found = _pandas_labels(column)
    if found is not None:
        return found
    plain = _plain(column)
    if plain and isinstance(plain[0], list):  # rows of several labels
        plain = [row[0] if len(row) == 1 else tuple(row) for row in plain]
    return object_labels(plain)


def _plain(column: object) -> list[Any]:
    """The values of an array, Series or sequence as plain Python objects."""
    for name in ("to_pylist", "to_list", "tolist"):  # Arrow; pandas, polars; NumPy
        convert = getattr(column, name, None)
        if convert is not None:
            return list(convert())
    return list(column)  # type: ignore[call-overload, no-any-return]


def object_labels(objects: Sequence[Any]) -> Labels:
    """Look every object up in a dictionary, the fastest way without another library."""
    known = _FirstSeen()
    codes = np.fromiter(map(known.__getitem__, objects), np.intp, len(objects))
    codes[codes < 0] = len(known)
    return Labels(codes, (*known, None))


class _FirstSeen(dict[Any, int]):
    """Numbers objects as they are first seen; missing ones are -1, and are not stored."""

    def __missing__(self, label: object) -> int:
        if is_missing(label):
            return -1
        self[label] = code = len(self)
        return code


def array_labels(values: npt.NDArray[Any], valid: BoolArray | None) -> Labels:
    """Return the labels of booleans, whole numbers or floats; those not ``valid`` are missing."""
    if values.dtype.kind == "b":
        return _with_missing(values.view(np.uint8), (False, True), valid)
    if values.dtype.kind == "f":
        finite = np.isfinite(values)
        whole = np.where(finite, values, 0).astype(np.int64)
        if np.array_equal(whole[finite], values[finite]) and not np.isinf(values).any():
            labels = array_labels(whole, finite if valid is None else finite & valid)
            numbers = (None if label is None else float(label) for label in labels.distinct)
            return Labels(labels.codes, tuple(numbers))
        return _sorted_labels(values, valid)
    if values.size == 0:
        return Labels(np.zeros(0, np.intp), (None,))
    lowest, highest = int(values.min()), int(values.max())
    if highest - lowest >= _SMALL_RANGE:
        return _sorted_labels(values, valid)
    return _with_missing(_above(values, lowest), tuple(range(lowest, highest + 1)), valid)


def _above(values: npt.NDArray[Any], lowest: int) -> npt.NDArray[Any]:
    """How far whole numbers lie above the lowest, in as few bytes as they have."""
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    native = values.astype(values.dtype.newbyteorder("="), copy=False).view(unsigned)
    if lowest != 0:  # unsigned differences wrap around, so negative numbers are no problem
        native = np.subtract(native, unsigned.type(lowest % (1 << 8 * unsigned.itemsize)))
    return native.view(np.int64) if unsigned.itemsize == 8 else native


def _sorted_labels(values: npt.NDArray[Any], valid: BoolArray | None) -> Labels:
    distinct, codes = np.unique(values, return_inverse=True)
    return _with_missing(codes, tuple(distinct.tolist()), valid)


def _with_missing(
    codes: npt.NDArray[Any], values: tuple[Any, ...], valid: BoolArray | None
) -> Labels:
    if valid is None:
        return Labels(codes, values)
    return Labels(np.where(valid, codes.astype(np.intp), len(values)), (*values, None))


def _pandas_labels(series: Any) -> Labels | None:  # noqa: ANN401 -- pandas is optional
    """The labels of a Series, Categorical or Index where that is faster than a dictionary."""
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return category_labels(getattr(series, "cat", series).codes, dtype.categories)
    if isinstance(dtype, np.dtype) and dtype.kind in "bui":
        return array_labels(series.to_numpy(), None)
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        return arrow_labels(series.array.__arrow_array__())
    return None


def category_labels(codes: Any, categories: Any) -> Labels:  # noqa: ANN401 -- pandas is optional
    """Return the labels of codes of pandas; a negative code is a missing label."""
    numbers: npt.NDArray[Any] = np.asarray(codes)
    values = (*categories.tolist(), None)
    if numbers.size and numbers.min() < 0:
        numbers = np.where(numbers < 0, len(values) - 1, numbers.astype(np.intp))
    return Labels(numbers, values)


def arrow_labels(array: Any) -> Labels | None:  # noqa: ANN401 -- pyarrow is optional
    """Return the labels of an Arrow array of text, of a dictionary or of whole numbers, else None."""
    pa = pyarrow("an Arrow column")
    kind = array.type
    if not isinstance(array, pa.ChunkedArray):
        array = pa.chunked_array([array])
    if pa.types.is_dictionary(kind):
        return _dictionary_labels(array)
    if is_arrow_text(kind):
        return _dictionary_labels(array.dictionary_encode())
    if (pa.types.is_integer(kind) or pa.types.is_boolean(kind)) and array.null_count == 0:
        return array_labels(array.to_numpy(), None)
    return None


def is_arrow_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of text, or of bytes that may be text."""
    texts = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}
    return str(kind) in texts


def _dictionary_labels(array: pa.ChunkedArray) -> Labels:
    """Codes through the dictionary; chunks may each have their own."""
    if array.num_chunks == 0:
        return Labels(np.zeros(0, np.intp), (None,))
    whole: Any = (
        array.unify_dictionaries().combine_chunks() if array.num_chunks > 1 else array.chunk(0)
    )
    values = (*whole.dictionary.to_pylist(), None)
    indices = whole.indices
    if indices.null_count == 0 and indices.type.bit_width < 64:
        return Labels(np.asarray(indices.to_numpy()), values)
    wide = indices.cast(pyarrow("an Arrow column").int64())
    filled = pyarrow("an Arrow column", "pyarrow.compute").fill_null(wide, len(values) - 1)
    return Labels(np.asarray(filled.to_numpy()), values)


def polars_labels(series: Any) -> Labels | None:  # noqa: ANN401 -- polars is optional
    """Return the labels of a polars series of text, categories or whole numbers, else None."""
    pl = polars("a polars column")
    dtype = series.dtype
    if dtype == pl.String:
        return _few_labels(series) or _text_labels(series)
    if dtype in (pl.Categorical, pl.Enum):
        return _category_labels(series)
    if (dtype.is_integer() or dtype == pl.Boolean) and series.null_count() == 0:
        return array_labels(series.to_numpy(), None)
    return None


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
    return Labels(codes, (None, *texts))


def _text_labels(series: pl.Series) -> Labels:
    distinct = series.drop_nulls().unique().sort()
    codes = series.cast(polars("a polars column").Enum(distinct)).to_physical()
    return _polars_coded(codes, distinct.to_list())


def _category_labels(series: pl.Series) -> Labels:
    """Codes are the physical values; only categories that occur have a text."""
    few = _occurring_labels(series, series.head(_FIRST_ROWS).drop_nulls().unique())
    if not few.codes.size or int(few.codes.max()) < len(few.distinct) - 1:
        occurring = np.array([text is not None for text in few.distinct])
        if occurring[:-1].all() or occurring.take(few.codes).all():  # the first rows show them all
            return few
    return _occurring_labels(series, series.drop_nulls().unique())


def _occurring_labels(series: pl.Series, distinct: pl.Series) -> Labels:
    pl = polars("a polars column")
    texts: list[str | None] = [None]
    codes = distinct.to_physical().to_list()
    for code, text in zip(codes, distinct.cast(pl.String).to_list(), strict=True):
        texts += [None] * (code + 1 - len(texts))
        texts[code] = text
    return _polars_coded(series.to_physical(), texts)


def _polars_coded(codes: pl.Series, texts: list[str | None]) -> Labels:
    if codes.null_count():
        codes = codes.cast(polars("a polars column").Int64).fill_null(len(texts))
    return Labels(codes.to_numpy(), (*texts, None))
