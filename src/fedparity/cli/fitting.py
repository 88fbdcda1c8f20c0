"""Text fitted to columns of a terminal, where some characters take two and some none."""

from __future__ import annotations

import unicodedata

from fedparity.report.numbers import counted, number

__all__ = ["counted", "cut", "left", "number", "right", "width_of", "wrapped"]


def width_of(text: str) -> int:
    """Return how many columns a text takes.

    Examples
    --------
    >>> width_of("Aurora"), width_of("東京"), width_of("e\u0301")
    (6, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Return the text, or its beginning and an ellipsis where it does not fit.

    Examples
    --------
    >>> cut("Bayside", 7), cut("Bayside", 5)
    ('Bayside', 'Bays…')
    """
    if width_of(text) <= width:
        return text
    return _beginning(text, width - 1) + "…"


def _beginning(text: str, width: int) -> str:
    taken = 0
    for position, character in enumerate(text):
        taken += _columns(character)
        if taken > width:
            return text[:position]
    return text


def left(text: str, width: int) -> str:
    """Return the text in exactly so many columns, from the left."""
    fitted = cut(text, width)
    return fitted + " " * (width - width_of(fitted))


def right(text: str, width: int) -> str:
    """Return the text in exactly so many columns, to the right."""
    fitted = cut(text, width)
    return " " * (width - width_of(fitted)) + fitted


def wrapped(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Return the text on lines of at most ``width`` columns, broken at spaces where there are.

    ``first`` stands before the first line, ``rest`` (as many spaces if absent) before others.

    Examples
    --------
    >>> wrapped("two silos sent nothing", 12, first="! ")
    ['! two silos', '  sent', '  nothing']
    """
    rest = " " * width_of(first) if rest is None else rest
    lines, line, empty = [], first, True
    for word in _pieces(text, width - max(width_of(first), width_of(rest))):
        if not empty and width_of(line) + 1 + width_of(word) > width:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line]


def _pieces(text: str, width: int) -> list[str]:
    """The words of a text, those longer than a line cut into several."""
    pieces = []
    for word in text.split():
        remaining = word
        while width_of(remaining) > width:
            head = _beginning(remaining, width)
            pieces.append(head)
            remaining = remaining[len(head) :]
        pieces.append(remaining)
    return pieces
