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
    "is_name",
    "json_label",
    "typed_label",
]

Label: TypeAlias = str | int | bool
"""One label, or one part of an intersection."""

LONGEST_NAME = 200
_MOST_PARTS = 10
_UNSEEN = ("Cc", "Cs", "Zl", "Zp")
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text around them: a name could look like another."""


def is_name(text: object) -> bool:
    r"""Return whether a text can name a silo or a group, or be a title.

    It has 1 to 200 characters, no control characters or line breaks, and no half characters.

    Examples
    --------
    >>> is_name("St. Mary's"), is_name(""), is_name("a\nb")
    (True, False, False)
    """
    if not (isinstance(text, str) and 0 < len(text) <= LONGEST_NAME):
        return False
    if text.isascii():
        return text.isprintable()
    return not any(unicodedata.category(c) in _UNSEEN or c in _TURNING for c in text)


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
