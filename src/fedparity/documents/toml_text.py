"""TOML text: parsed within bounds, and where in it each key stands."""

from __future__ import annotations

import re
from typing import Any

from fedparity.documents.json_text import deepest_nesting

__all__ = ["LARGEST", "TomlSyntaxError", "key_lines", "parse_toml"]

LARGEST = 4 * 2**20
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
