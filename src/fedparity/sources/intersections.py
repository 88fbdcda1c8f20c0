"""Several columns of labels as one: the intersections of their groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fedparity.sources.columns import Labels

__all__ = ["Key", "intersect"]

Key: TypeAlias = tuple[str | None, ...]
"""The texts of one record's labels, one per column."""

_SMALL_PRODUCT = 1 << 20
"""Up to so many combinations, a table of all of them is cheaper than a sort."""


def intersect(columns: Sequence[Labels]) -> tuple[npt.NDArray[Any], list[Key]]:
    """Return for each row the position of its key, and the keys.

    Of several columns, only the combinations that occur have a key.

    Examples
    --------
    >>> sex = Labels(np.array([0, 1, 1]), ("f", "m"))
    >>> old = Labels(np.array([1, 0, 0]), ("false", "true"))
    >>> intersect([sex, old])
    (array([0, 1, 1], dtype=int32), [('f', 'true'), ('m', 'false')])
    """
    codes: npt.NDArray[Any] = columns[0].codes
    keys: list[Key] = [(text,) for text in columns[0].texts]
    for column in columns[1:]:
        most = len(keys) * len(column.texts)
        combined: npt.NDArray[Any] = codes.astype(np.int32 if most < 1 << 31 else np.int64)
        combined *= len(column.texts)
        combined += column.codes.astype(combined.dtype, copy=False)
        met, codes = _renumber(combined, most)
        pairs = (divmod(code, len(column.texts)) for code in met.tolist())
        keys = [(*keys[first], column.texts[second]) for first, second in pairs]
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
