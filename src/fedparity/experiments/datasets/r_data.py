"""Data frames in R's own format (``.rda``), as ``save()`` writes them.

Only what a data frame needs: lists, numbers, texts, factors and the names of columns. The
format is R Internals, section 1.8: items in big-endian order, each after a word of flags.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.errors import TableError
from fedparity.experiments.datasets.table import Table, read_file

__all__ = ["read_r_data"]

_SYMBOL, _PAIRS, _TEXT, _LOGICAL, _INTEGER, _REAL, _TEXTS, _LIST = 1, 2, 9, 10, 13, 14, 16, 19
_ALTERNATIVE, _NIL, _REFERENCE = 238, 254, 255
_ATTRIBUTES, _TAG = 0x200, 0x400
_MISSING = -(2**31)
_BROKEN = (ValueError, KeyError, IndexError, TypeError, RecursionError, EOFError, struct.error)


def read_r_data(path: Path, *, wanted: Collection[str]) -> Table:
    """Return the ``wanted`` columns of the data frame in a file of R.

    Factors and texts become texts, logical values ``TRUE`` and ``FALSE``, numbers numbers.

    Raises
    ------
    TableError
        If the file holds anything but one data frame, or lacks a column.
    """
    content, digest = read_file(path)
    try:
        frames = _Reader(_unpacked(content)).variables()
        (columns,) = frames.values()
        if len({column.size for column in columns.values()}) != 1:
            raise ValueError
    except (*_BROKEN, AttributeError, OSError):
        raise TableError.corrupt(path, "RData") from None
    for name in wanted:
        if name not in columns:
            raise TableError.missing_column(name, list(columns), what=repr(path.name))
    return Table(path.name, digest, {name: columns[name] for name in wanted})


def _unpacked(content: bytes) -> bytes:
    import bz2  # noqa: PLC0415 -- of these three, a file needs one
    import gzip  # noqa: PLC0415
    import lzma  # noqa: PLC0415

    for magic, module in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7zXZ", lzma)):
        if content.startswith(magic):
            try:
                return module.decompress(content)  # type: ignore[no-any-return]
            except lzma.LZMAError:
                raise ValueError from None
    return content


class _Reader:
    """Reads items one after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0
        self._symbols: list[str] = []

    def variables(self) -> dict[str, dict[str, npt.NDArray[Any]]]:
        """The data frames of the file by name."""
        magic = self._take(7)
        if magic not in (b"RDX2\nX\n", b"RDX3\nX\n"):
            raise ValueError
        self._take(12)  # the version of the format, of R, and the oldest R that reads it
        if magic[3:4] == b"3":
            self._take(self._word())  # the encoding: texts say theirs
        found: dict[str, dict[str, npt.NDArray[Any]]] = self._item()
        return found

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._content):
            raise ValueError
        taken, self._at = self._content[self._at : end], end
        return taken

    def _word(self) -> int:
        (word,) = struct.unpack(">i", self._take(4))
        return int(word)

    def _item(self) -> Any:  # noqa: ANN401 -- whatever R has saved
        flags = self._word()
        code = flags & 0xFF
        special = {
            _NIL: lambda _: {},
            _REFERENCE: self._reference,
            _SYMBOL: self._symbol,
            _PAIRS: self._pairs,
            _TEXT: self._text,
            _ALTERNATIVE: self._alternative,
        }
        if code in special:
            return special[code](flags)
        return self._vector(code, has_attributes=bool(flags & _ATTRIBUTES))

    def _reference(self, flags: int) -> str:
        """A symbol that was there before."""
        return self._symbols[((flags & 0xFFFFFFFF) >> 8 or self._word()) - 1]

    def _symbol(self, _: int) -> str:
        name: str = self._item()
        self._symbols.append(name)
        return name

    def _pairs(self, flags: int) -> dict[str, Any]:
        """A linked list with names: a loop, because it may be long."""
        pairs: dict[str, Any] = {}
        while flags & 0xFF == _PAIRS:
            if flags & _ATTRIBUTES:
                self._item()
            tag = self._item() if flags & _TAG else str(len(pairs))
            pairs[tag] = self._item()
            flags = self._word()
        if flags & 0xFF != _NIL:
            raise ValueError
        return pairs

    def _text(self, _: int) -> str | None:
        size = self._word()
        return None if size == -1 else self._take(size).decode("utf-8")

    def _vector(self, code: int, *, has_attributes: bool) -> Any:  # noqa: ANN401
        size = self._word()
        values: Any
        if code == _REAL:
            values = np.frombuffer(self._take(8 * size), ">f8").astype(np.float64)
        elif code in (_LOGICAL, _INTEGER):
            values = np.frombuffer(self._take(4 * size), ">i4").astype(np.int64)
        elif code in (_TEXTS, _LIST):
            values = [self._item() for _ in range(size)]
        else:
            raise ValueError
        return _dressed(code, values, self._item() if has_attributes else {})

    def _alternative(self, _: int) -> Any:  # noqa: ANN401
        """A vector that R keeps in short form: a sequence, or a wrapped vector."""
        kind = next(iter(self._item().values()))
        state = self._item()
        attributes = self._item()
        if kind == "compact_intseq":
            size, first, step = state.tolist()
            return (first + step * np.arange(int(size))).astype(np.int64)
        if str(kind).startswith("wrap_"):
            values = next(iter(state.values())) if isinstance(state, dict) else state[0]
            return _dressed(_INTEGER, values, attributes) if attributes else values
        raise ValueError


def _dressed(code: int, values: Any, attributes: dict[str, Any]) -> Any:  # noqa: ANN401
    """A vector as its attributes say: a factor as texts, a data frame as columns by name."""
    if "levels" in attributes:
        levels = np.array(["NA", *map(str, attributes["levels"])])
        return levels[np.where(values == _MISSING, 0, values)]
    if code == _LOGICAL:
        return np.array(["FALSE", "TRUE"])[values]
    if code == _LIST and "names" in attributes:
        return dict(zip(map(str, attributes["names"]), values, strict=True))
    if code == _TEXTS:
        return np.array(values)
    return values
