"""Names of groups and silos that a plan and a message may hold."""

from __future__ import annotations

import unicodedata
from typing import TypeAlias

from fedparity.laws.labels import Group
from fedparity.protocol.canonical import LARGEST_INTEGER

__all__ = [
    "LONGEST_NAME",
    "Label",
    "as_group",
    "group_text",
    "group_words",
    "hidden_place",
    "is_name",
    "json_label",
    "typed_label",
]

Label: TypeAlias = str | int | bool
"""One label, or one part of an intersection."""

LONGEST_NAME = 200
_MOST_PARTS = 10
_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""Controls, formats (directions, zero widths, tags), private use, half characters, line ends."""
_BLANK = frozenset(
    chr(code)
    for codes in (
        (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0),
        (0x2065, 0x2800),
        range(0xFDD0, 0xFDF0),
        range(0xFE00, 0xFE10),
        range(0xFFF0, 0xFFF9),
        range(0x13430, 0x13460),
        range(0xE0000, 0xE1000),
        (plane + last for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)),
    )
    for code in codes
)
"""Others that show nothing: fillers, selectors of variants, and what Unicode keeps for such or for nobody.

Other unassigned characters are let through: which those are depends on the version of Python, and all
readers of a plan must agree.
"""
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_VIRAMA = 9
"""The combining class of signs after which a joiner is seen: scripts of India and their kin."""


def is_name(text: object) -> bool:
    r"""Return whether a text can name a silo or a group, or be a title.

    It has 1 to 200 characters, all of which can be seen, see :func:`hidden_place`.

    Examples
    --------
    >>> is_name("St. Mary's"), is_name(""), is_name("a\nb")
    (True, False, False)
    """
    if not (isinstance(text, str) and 0 < len(text) <= LONGEST_NAME):
        return False
    if text.isascii():
        return text.isprintable()
    return hidden_place(text) is None


def hidden_place(text: str) -> int | None:
    r"""Return where the first character stands that cannot be seen, or None if there is none.

    Such characters make two names look alike, or one text look like another: controls, marks of
    direction, zero widths, tags, fillers, selectors of variants, private ones, line ends. A joiner or
    non-joiner is let through where its script needs it and shows it: after a virama, and, the
    non-joiner, between two Arabic letters that would else be joined.

    Examples
    --------
    >>> hidden_place("St. Mary's"), hidden_place("a\u200bb"), hidden_place("\u202etxt")
    (None, 1, 0)
    >>> hidden_place("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")  # Persian
    """
    for place, character in enumerate(text):
        if character in _BLANK or unicodedata.category(character) in _HIDDEN:
            needed = character in (_JOINER, _NON_JOINER) and _is_needed(text, place)
            if not needed:
                return place
    return None


def _is_needed(text: str, place: int) -> bool:
    """Whether a joiner changes what is seen (RFC 5892, A.1 and A.2)."""
    before, after = text[max(0, place - 5) : place], text[place + 1 : place + 2]
    if before and unicodedata.combining(before[-1]) == _VIRAMA:
        return True
    letters = [c for c in before if not unicodedata.combining(c)]  # vowel signs may stand between
    if text[place] == _JOINER or not letters or not after:
        return False
    return _has_form(letters[-1], "INITIAL") and _has_form(after, "FINAL")


def _has_form(letter: str, form: str) -> bool:
    """Whether an Arabic letter is written in another way where it is joined to the next, or the last."""
    try:
        unicodedata.lookup(f"{unicodedata.name(letter, '')} {form} FORM")
    except KeyError:
        return False
    return True


def as_group(label: object) -> Group | None:
    """Return the label of a group as a plan keeps it, or None if it is not one.

    A text, a whole number or a boolean; or two to ten of them in a list or tuple, for an
    intersection, which becomes a tuple.

    Examples
    --------
    >>> as_group(["F", True]), as_group(0.5)
    (('F', True), None)
    """
    if isinstance(label, list | tuple):
        parts = tuple(_as_part(part) for part in label)
        return parts if 2 <= len(parts) <= _MOST_PARTS and None not in parts else None
    return _as_part(label)


def _as_part(label: object) -> Label | None:
    if isinstance(label, str):
        return str(label) if is_name(label) else None
    if type(label).__module__ == "numpy":  # a label taken from an array of them
        label = label.item() if hasattr(label, "item") else None
    if isinstance(label, bool):
        return label
    return label if isinstance(label, int) and abs(label) <= LARGEST_INTEGER else None


def group_text(group: Group) -> str | tuple[str, ...]:
    """Return the text that a table's labels are compared with, part by part.

    Examples
    --------
    >>> group_text("A"), group_text(3), group_text(("F", True))
    ('A', '3', ('F', 'true'))
    """
    if isinstance(group, tuple):
        return tuple(_part_text(part) for part in group)
    return _part_text(group)


def _part_text(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def json_label(group: Group) -> Label | list[Label]:
    """Return the group's label as JSON and TOML write it: a tuple becomes a list."""
    return list(group) if isinstance(group, tuple) else group


def typed_label(group: Group) -> object:
    """Return what two labels are compared by: their types too, since Python's True equals 1."""
    if isinstance(group, tuple):
        return tuple((type(part), part) for part in group)
    return type(group), group


def group_words(group: Group) -> str:
    """Return the label of a group as people read it, the parts of an intersection joined.

    Examples
    --------
    >>> group_words("A"), group_words(("F", "over 60"))
    ('A', 'F & over 60')
    """
    return " & ".join(map(str, group)) if isinstance(group, tuple) else str(group)
