"""Codes of a handful of texts in Arrow's memory, without a dictionary, in compiled loops."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedparity.sources.columns import Labels
from fedparity.sources.extras import pyarrow

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["compiled", "few_labels"]

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
    from fedparity.sources import compiled_texts  # noqa: PLC0415 -- imports numba

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
    from fedparity.sources import compiled_texts  # noqa: PLC0415 -- imports numba

    loops: Any = compiled_texts
    views = np.frombuffer(chunk.buffers()[1], np.uint64).reshape(-1, 2)
    inline = (len(text).to_bytes(4, "little") + text.ljust(_INLINE, b"\0") for text in known)
    words = np.frombuffer(b"".join(inline), np.uint64).reshape(-1, 2)
    found: int = loops.code_views(views[chunk.offset : chunk.offset + len(chunk)], words, codes)
    return found
