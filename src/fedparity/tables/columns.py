"""Columns: what every source gives, whatever library holds it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.errors.extras import pyarrow
from fedparity.laws.arrays import BoolArray
from fedparity.laws.label_codes import Labels
from fedparity.laws.labels import is_missing

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = [
    "BLOCK_ROWS",
    "Block",
    "Column",
    "LabelType",
    "Numbers",
    "as_texts",
    "compiled",
    "few_labels",
    "label_text",
    "label_type",
    "typed_text",
]

LabelType: TypeAlias = type[bool] | type[int] | type[str]
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


_LARGEST_WHOLE = 2.0**63


def label_text(label: object) -> str | None:
    """Return the text of a label, or None if it is missing.

    The same label must have one text in a CSV file, where everything is text, and in a frame,
    where a column of whole numbers becomes floats as soon as one is missing.

    Examples
    --------
    >>> [label_text(label) for label in ("A", "01", 3, 3.0, 0.5, True, None, float("nan"), "")]
    ['A', '01', '3', '3', '0.5', 'true', None, None, None]
    """
    if isinstance(label, str):
        return str(label) or None
    if is_missing(label):
        return None
    if isinstance(label, bool | np.bool_):
        return "true" if label else "false"
    if isinstance(label, bytes):
        return label.decode("utf-8") or None
    if isinstance(label, float | np.floating | Decimal):
        return _number_text(label)
    return str(label)


def label_type(kind: str) -> LabelType:
    """Return what the labels of a column are whose entries are of this kind, in NumPy's letters.

    Examples
    --------
    >>> label_type("u"), label_type("f")
    (<class 'int'>, <class 'str'>)
    """
    return {"b": bool, "i": int, "u": int}.get(kind, str)


def typed_text(text: str, kind: LabelType) -> bool | int | str:
    """Return the label of this type that has this text: the inverse of :func:`label_text`."""
    if kind is bool:
        return text == label_text(label=True)
    return kind(text)


def as_texts(labels: Labels) -> Labels:
    """Return the same labels as texts."""
    return Labels(labels.codes, tuple(map(label_text, labels.distinct)))


def _number_text(label: float | np.floating | Decimal) -> str:
    number = float(label)
    if number.is_integer() and abs(number) < _LARGEST_WHOLE:
        return str(int(number))
    return repr(number)


_FIRST_ROWS, _FEW_TEXTS = 1_000, 8
_INLINE = 12
"""Bytes that a view of a text holds itself; a longer text is elsewhere."""
_KERNEL = "fedparity.sketches.selection.numba_kernel"


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
