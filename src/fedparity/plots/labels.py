"""Names as figures show them: on one line, short, and never read as mathematics."""

from __future__ import annotations

import unicodedata

from fedparity.auditing.parts import group_key
from fedparity.laws.labels import Group

__all__ = ["group_name", "pointer", "shortened"]

_MOST = 30
_REFUSED = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Control characters, halves of pairs and the like: SVG cannot hold them, no font shows them."""


def shortened(name: str, most: int = _MOST) -> str:
    """Return a name on one line of at most ``most`` characters, cut in the middle.

    The end is kept because names of a series differ there.

    Examples
    --------
    >>> shortened("Hospital of the Holy Spirit, ward 12", 20)
    'Hospital of…ward 12'
    """
    line = "".join(" " if unicodedata.category(c) in _REFUSED else c for c in name)
    line = " ".join(line.split())
    if len(line) <= most:
        return line
    tail = (most - 1) * 2 // 5
    return f"{line[: most - 1 - tail].rstrip()}…{line[-tail:].lstrip()}"


def group_name(group: Group, most: int = _MOST) -> str:
    """Return a group's label as text; the parts of an intersection joined by ``&``.

    Examples
    --------
    >>> group_name(("F", True)), group_name("A")
    ('F & True', 'A')
    """
    text = " & ".join(map(str, group)) if isinstance(group, tuple) else str(group)
    return shortened(text, most)


def pointer(*path: str | int | Group) -> str:
    """Return the JSON pointer (RFC 6901) of a place in the result, as the ``gid`` of a mark.

    Examples
    --------
    >>> pointer("silos", 3, "n", ("F", "a/b"))
    'at:/silos/3/n/["F","a~1b"]'
    """
    keys = (group_key(part) if not isinstance(part, int) else str(part) for part in path)
    return "at:" + "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)
