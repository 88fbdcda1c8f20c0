"""Strict JSON: bytes from anywhere to a document, in bounded time and memory."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any, NoReturn

import numpy as np

from fedparity.errors import DocumentError
from fedparity.protocol.canonical import LARGEST_INTEGER, number_text

__all__ = ["DEEPEST", "LARGEST", "MOST_ENTRIES", "decode_object", "deepest_nesting"]

LARGEST = 64 * 2**20
"""Bytes of a document; a message of two million values fits."""
DEEPEST = 8
"""Levels of nesting; a message has four."""
MOST_ENTRIES = 4_000_000
"""Commas of a document, and so nearly its entries."""
_MOST_MARKS = 4_000_000
"""Quotes and brackets of a document: each text and list costs far more memory than bytes."""

_MARKS = b'"[]{}'
_OTHERS = bytes(byte for byte in range(256) if byte not in _MARKS)
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
_CHUNK = 1 << 20
_CONTAINERS = frozenset((dict, list))
_SAFE_DIGITS = len(str(LARGEST_INTEGER)) - 1
_LONGEST_INTEGER = len("-") + 21
"""Characters of the longest number that is written without a point or an exponent."""


def decode_object(
    data: bytes, *, limit: int = LARGEST, error: type[DocumentError] = DocumentError
) -> dict[str, Any]:
    """Return the JSON object that ``data`` holds.

    Size, nesting and number of entries are checked before anything is built, each in one pass.
    Stricter than JSON: no field twice, no NaN or infinity, no half character, no number beyond
    the floats, and no whole number beyond :math:`2^{53} - 1` but those that a float is written as.

    Parameters
    ----------
    data : bytes
    limit : int
        Most bytes accepted.
    error : DocumentError or a subclass of it
        What is raised.

    Examples
    --------
    >>> decode_object(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    if len(data) > limit:
        raise error.too_large(limit)
    _check_structure(data, error)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise error.not_utf8(problem.start) from None
    document = _parsed(text, error)
    if "\\u" in text:
        _check_whole_characters(document, error)
    if not isinstance(document, dict):
        raise error.not_an_object(document)
    return document


def _check_structure(data: bytes, error: type[DocumentError]) -> None:
    if data.count(b",") > MOST_ENTRIES:
        raise error.too_many("entries", MOST_ENTRIES)
    marks = data
    if b"\\" in data:  # what is left of a quote after this is not escaped
        marks = marks.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = marks.translate(None, _OTHERS)
    opened = marks.count(b"[") + marks.count(b"{")
    if opened > DEEPEST and deepest_nesting(marks[:_MOST_MARKS]) > DEEPEST:
        raise error.too_deep(DEEPEST)
    if len(marks) > _MOST_MARKS:
        raise error.too_many("texts and lists", _MOST_MARKS // 2)


def deepest_nesting(marks: bytes) -> int:
    r"""Return how deep brackets nest in a text of which only ``"[]{}`` are left.

    Brackets between quotes do not count. Chunk by chunk and without recursion, so that neither
    a long text nor a deep one costs more than its length.

    Examples
    --------
    >>> deepest_nesting(b'[{}"[[["[]]')
    2
    """
    deepest = depth = quotes = 0
    for start in range(0, len(marks), _CHUNK):
        chunk = np.frombuffer(marks[start : start + _CHUNK], dtype=np.uint8)
        before = quotes + np.cumsum(chunk == ord('"'))
        steps = np.where(before % 2 == 0, _STEPS[chunk], 0)
        depths = depth + np.cumsum(steps)
        deepest = max(deepest, int(depths.max()))
        depth, quotes = int(depths[-1]), int(before[-1])
    return deepest


def _parsed(text: str, error: type[DocumentError]) -> Any:  # noqa: ANN401 -- a document
    import json  # noqa: PLC0415 -- not at start

    kind: Any = error  # a class can be hashed, but its type does not say so
    try:
        document = _decoder(kind).decode(text)
    except json.JSONDecodeError as problem:
        raise error.not_json(_problem(problem)) from None
    except RecursionError:  # pragma: no cover -- the nesting was counted before
        raise error.too_deep(DEEPEST) from None
    _check_finite(document, error)
    return document


@cache
def _decoder(error: Any) -> Any:  # noqa: ANN401 -- a class of errors; json is imported late
    """The decoder of the standard library, made stricter."""
    from json import JSONDecoder  # noqa: PLC0415 -- not at start

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            raise error.duplicate_field(_repeated(pairs))
        return members

    def whole(digits: str) -> int | float:
        if len(digits) <= _SAFE_DIGITS:
            return int(digits)
        if len(digits) <= _LONGEST_INTEGER:
            number: int | float = int(digits)
            if abs(number) > LARGEST_INTEGER:
                number = float(number)
            if number_text(number) == digits:  # a float so large is written without a point
                return number
        raise error.number_too_large()

    def constant(_: str) -> NoReturn:
        raise error.not_a_number()

    return JSONDecoder(object_pairs_hook=unique, parse_int=whole, parse_constant=constant)


def _check_finite(document: object, error: type[DocumentError]) -> None:
    """Raise where a number such as 1e999 became an infinity; list by list, which is fast."""
    pending = [document]
    while pending:
        node = pending.pop()
        items = list(node.values()) if isinstance(node, dict) else node
        if isinstance(items, list):
            if inf in items or -inf in items:
                raise error.number_too_large()
            if not _CONTAINERS.isdisjoint(map(type, items)):
                pending += [item for item in items if type(item) in _CONTAINERS]
        elif items in (inf, -inf):
            raise error.number_too_large()


def _problem(problem: Any) -> str:  # noqa: ANN401 -- json is imported late
    return f"line {problem.lineno}, column {problem.colno}: {problem.msg}"


def _repeated(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            return name
        seen.add(name)
    return ""  # pragma: no cover -- only called where one is repeated


def _check_whole_characters(document: object, error: type[DocumentError]) -> None:
    """Raise where an escape wrote half a character; unescaped ones are not UTF-8."""
    import json  # noqa: PLC0415 -- not at start

    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise error.lone_surrogate() from None
