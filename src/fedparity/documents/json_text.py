"""The text of documents: strict JSON with one canonical form, and TOML with the line of each key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf, isfinite
from typing import Any, NoReturn

import numpy as np

from fedparity.errors import DocumentError, OptionError

__all__ = [
    "DEEPEST",
    "LARGEST",
    "LARGEST_INTEGER",
    "LARGEST_TOML",
    "MOST_ENTRIES",
    "SCHEMAS",
    "TomlSyntaxError",
    "canonical_bytes",
    "decode_object",
    "deepest_nesting",
    "digest_of",
    "is_digest",
    "key_lines",
    "number_text",
    "parse_toml",
    "schema",
]

_PREFIX = "sha256:"
_DIGITS = frozenset("0123456789abcdef")


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of some bytes, as ``sha256:`` and 64 hexadecimal digits.

    Examples
    --------
    >>> digest_of(b"")[:15]
    'sha256:e3b0c442'
    """
    from hashlib import sha256  # noqa: PLC0415 -- not at start

    return _PREFIX + sha256(data).hexdigest()


def is_digest(text: object) -> bool:
    """Return whether ``text`` has the form of a digest."""
    if not (isinstance(text, str) and text.startswith(_PREFIX)):
        return False
    digits = text.removeprefix(_PREFIX)
    return len(digits) == 64 and _DIGITS.issuperset(digits)


LARGEST_INTEGER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exactly."""


def canonical_bytes(document: object) -> bytes:
    r"""Return the canonical bytes of a document, as RFC 8785 defines them.

    No space between tokens; members sorted by the UTF-16 code units of their names; numbers as
    ECMAScript prints them; text in UTF-8, escaped only where JSON requires it. Two documents
    have the same bytes exactly when they are equal, so that bytes can be hashed and signed.

    Raises
    ------
    DocumentError
        If a number is not finite, a whole number is beyond :math:`2^{53} - 1`, a text has a lone
        surrogate, or a value has no JSON form.

    Examples
    --------
    >>> canonical_bytes({"b": [1.0, 1e-7, True], "a": None})
    b'{"a":null,"b":[1,1e-7,true]}'
    """
    try:
        return _text(document).encode()
    except UnicodeEncodeError:
        raise DocumentError.lone_surrogate() from None


def number_text(number: float) -> str:
    """Return a number as ECMAScript prints it (RFC 8785, section 3.2.2.3).

    Examples
    --------
    >>> [number_text(x) for x in (1e21, 1e20, 0.000001, 1.5e-7, -0.0)]
    ['1e+21', '100000000000000000000', '0.000001', '1.5e-7', '0']
    """
    if isinstance(number, int):
        if abs(number) > LARGEST_INTEGER:
            raise DocumentError.number_too_large()
        return str(number)
    text = repr(float(number))
    if "e" not in text and "n" not in text and text != "-0.0":  # ``repr`` differs by a final .0
        return text.removesuffix(".0")
    if not isfinite(number):
        raise DocumentError.not_a_number()
    sign = "-" if number < 0 else ""
    return sign + _laid_out(*_shortest(abs(number)))


def _shortest(number: float) -> tuple[str, int]:
    """The digits of the shortest decimal that reads back as ``number``, and the position of its point.

    ``repr`` finds those digits; 0.00123 gives ("123", -2), for 0.123 times ten to the -2.
    """
    mantissa, _, exponent = repr(float(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    point = len(whole) - leading + int(exponent or 0)
    return digits.rstrip("0") or "0", point


def _laid_out(digits: str, point: int) -> str:
    """The digits with a point or an exponent, where ECMAScript puts them."""
    size = len(digits)
    if digits == "0":
        return "0"
    if size <= point <= 21:
        return digits + "0" * (point - size)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    fraction = f".{digits[1:]}" if size > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


def _text(value: Any) -> str:  # noqa: ANN401 -- whatever a document holds
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted()(value)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, Mapping):
        return _object_text(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return _array_text(value)
    raise DocumentError.not_canonical(type(value))


@cache
def _quoted() -> Callable[[str], str]:
    """What quotes a text: JSON's own escapes, in the form that RFC 8785 requires."""
    from json.encoder import encode_basestring  # noqa: PLC0415 -- not at start

    return encode_basestring


def _object_text(members: Mapping[str, object]) -> str:
    for name in members:
        if not isinstance(name, str):
            raise DocumentError.not_canonical(type(name))
    if "".join(members).isascii():  # then code points are in the order of code units
        names = sorted(members)
    else:
        names = sorted(members, key=lambda name: name.encode("utf-16-be"))
    pairs = (f"{_quoted()(name)}:{_text(members[name])}" for name in names)
    return "{" + ",".join(pairs) + "}"


def _array_text(items: Sequence[object]) -> str:
    if set(map(type, items)) == {float}:
        return f"[{_floats_text(items)}]"
    return "[" + ",".join(map(_text, items)) + "]"


def _floats_text(numbers: Sequence[Any]) -> str:
    """Many floats at once: where no exponent is needed, ``repr`` differs only by a final .0."""
    text = ",".join(map(repr, numbers)) + ","
    if "e" in text or "n" in text or "-0.0," in text:  # an exponent, inf or nan, a negative zero
        return ",".join(map(number_text, numbers))
    return text.replace(".0,", ",")[:-1]


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
    data: bytes,
    *,
    limit: int = LARGEST,
    deepest: int = DEEPEST,
    error: type[DocumentError] = DocumentError,
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
    deepest : int
        How deep lists and objects may nest.
    error : DocumentError or a subclass of it
        What is raised.

    Examples
    --------
    >>> decode_object(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    if len(data) > limit:
        raise error.too_large(limit)
    _check_structure(data, deepest, error)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise error.not_utf8(problem.start) from None
    document = _parsed(text, error)
    if "\\u" in text:
        _check_whole_characters(document, error)
    if not isinstance(document, dict):
        raise error(
            f"the document must be a JSON object, but it is of type {type(document).__name__}.",
            fix="send the file as it was written.",
        )
    return document


def _check_structure(data: bytes, deepest: int, error: type[DocumentError]) -> None:
    if data.count(b",") > MOST_ENTRIES:
        raise error.too_many("entries", MOST_ENTRIES)
    marks = data
    if b"\\" in data:  # what is left of a quote after this is not escaped
        marks = marks.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = marks.translate(None, _OTHERS)
    opened = marks.count(b"[") + marks.count(b"{")
    if opened > deepest and deepest_nesting(marks[:_MOST_MARKS]) > deepest:
        raise error.too_deep(deepest)
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

    kind: Any = error  # a class is hashable, but its type does not declare it
    try:
        document = _decoder(kind).decode(text)
    except json.JSONDecodeError as problem:
        raise error(
            f"the document is not JSON: line {problem.lineno}, column {problem.colno}: {problem.msg}.",
            fix="check that it is the file that fedparity wrote, unchanged: a message or a result, not a plan or a table.",
        ) from None
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


_SECURE = ("keys", "shares", "mask", "request", "consent", "unmask")
SCHEMAS = {
    "plan": "plan-1.json",
    "sketch": "sketch-1.json",
    "audit": "audit-1.json",
    "policy": "policy-1.json",
    "ledger": "ledger-1.json",
    **{f"secure-{step}": f"secure-{step}-1.json" for step in _SECURE},
}


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a ``plan``, a ``sketch`` or an ``audit``.

    Of a silo's own documents, too: its ``policy``, and one line of its ``ledger``.
    And of the messages of a secure sum: ``secure-keys``, ``secure-shares``, ``secure-mask``,
    ``secure-request``, ``secure-consent`` and ``secure-unmask``.

    A document that a schema refuses is not valid. One that it accepts may still be refused: a
    schema cannot say that values do not decrease, or that a digest is the plan's.

    Raises
    ------
    OptionError
        If there is no such document.

    Examples
    --------
    >>> schema("sketch")["properties"]["schema"]
    {'const': 'fedparity/sketch/1'}
    """
    import json  # noqa: PLC0415 -- not at start
    from importlib.resources import files  # noqa: PLC0415 -- not at start

    if name not in SCHEMAS:
        raise OptionError.unknown("schema", name, SCHEMAS)
    text = files("fedparity.documents").joinpath("schemas", SCHEMAS[name]).read_text("utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


LARGEST_TOML = 4 * 2**20
"""Bytes of a plan; a roster of ten thousand silos with keys takes one million."""
_DEEPEST = 8
_OPAQUE = (  # patterns are compiled where they are first used, not at start
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5}+)?'
    r"|'''(?:[^']++|'(?!''))*+(?:'{3,5}+)?"
    r'|"(?:[^"\\\n]++|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
)
"""Strings and comments, also those that are not closed; never backtracks."""
_LONG_KEY = r"(?:\.[ \t]*+[\w-]++[ \t]*+){4}"
_HEADER = r"[ \t]*+\[\[?+([^\[\]=]++)\]"
_KEY = r"[ \t]*+([^=\[\]{},]++)="
_PLACE = r" \(at (?:line (\d+), column \d+|end of document)\)$"


class TomlSyntaxError(Exception):
    """A text that is not TOML: the line, and what is wrong with it."""

    def __init__(self, line: int | None, problem: str) -> None:
        super().__init__(line, problem)
        self.line = line
        self.problem = problem


def parse_toml(text: str) -> dict[str, Any]:
    """Return the document of a TOML text, whatever the text, in time that grows with its length.

    The parser of the standard library recurses with the nesting, and takes time quadratic in
    the length of a dotted key; both are bounded before it runs.

    Raises
    ------
    TomlSyntaxError
        If it is not TOML, or nests too deep.
    """
    import tomllib  # noqa: PLC0415 -- not at start

    structure = _structure(text)
    brackets = re.sub(r"[^\[\]{}]++", "", structure).encode()
    if deepest_nesting(brackets) > _DEEPEST:
        raise TomlSyntaxError(None, f"it nests more than {_DEEPEST} deep")
    if long_key := re.search(_LONG_KEY, structure):
        line = text.count("\n", 0, long_key.start()) + 1
        raise TomlSyntaxError(line, "a key of more than four parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _located(error, text) from None
    except ValueError:  # an integer of thousands of digits
        raise TomlSyntaxError(None, "a number has thousands of digits") from None


def _located(error: Exception, text: str) -> TomlSyntaxError:
    message = str(error)
    place = re.search(_PLACE, message)
    if place is None:
        return TomlSyntaxError(None, message)
    line = int(place[1]) if place[1] else max(1, len(text.splitlines()))
    problem = message[: place.start()]
    return TomlSyntaxError(line, problem[:1].lower() + problem[1:])


def _structure(text: str) -> str:
    """The text with strings filled up and comments blanked; each character keeps its place."""

    def filled(match: re.Match[str]) -> str:
        filler = " " if match[0][0] == "#" else "S"
        return re.sub(r"[^\n]", filler, match[0])

    return re.sub(_OPAQUE, filled, text, flags=re.DOTALL)


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    r"""Return the line of each key and of each table's header in a TOML text, from 1.

    Examples
    --------
    >>> key_lines('a = 1\n[b]\n"c d" = 2\n')
    {('a',): 1, ('b',): 2, ('b', 'c d'): 3}
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    depth = start = 0
    for number, line in enumerate(_structure(text).split("\n"), start=1):
        if not line or line.isspace():
            pass
        elif depth == 0 and (header := re.match(_HEADER, line)):
            table = _path(text[start + header.start(1) : start + header.end(1)])
            lines.setdefault(table, number)
        else:
            if depth == 0 and (key := re.match(_KEY, line)):
                path = _path(text[start + key.start(1) : start + key.end(1)])
                lines.setdefault(table + path, number)
            depth += sum(map(line.count, "[{")) - sum(map(line.count, "]}"))
        start += len(line) + 1
    return lines


def _path(key: str) -> tuple[str, ...]:
    """The parts of a dotted key, some of them perhaps quoted."""
    import tomllib  # noqa: PLC0415 -- not at start

    if "'" not in key and '"' not in key:
        return tuple(part.strip() for part in key.split("."))
    try:
        node: Any = tomllib.loads(f"{key.strip()} = 0")
    except ValueError:
        return (key.strip(),)
    parts = []
    while isinstance(node, dict):
        (name,) = node
        parts.append(name)
        node = node[name]
    return tuple(parts)
