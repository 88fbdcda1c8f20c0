"""What fields of plans, messages and results may hold: names, labels of groups, numbers, keys."""

from __future__ import annotations

import binascii
import math
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias, TypeVar

from fedparity.documents.json_text import LARGEST_INTEGER
from fedparity.laws.labels import Group

__all__ = [
    "KEY_BYTES",
    "LONGEST_NAME",
    "SIGNATURE_BYTES",
    "FrozenMapping",
    "Label",
    "as_group",
    "as_increasing",
    "as_number",
    "as_whole",
    "decode_base64",
    "encode_base64",
    "group_text",
    "group_words",
    "height_of",
    "hidden_place",
    "is_name",
    "is_weak",
    "json_label",
    "typed_label",
]

Value = TypeVar("Value", covariant=True)  # noqa: PLC0105


class FrozenMapping(Mapping[str, Value]):
    """A mapping that can be hashed and pickled, and has no method that changes it.

    Examples
    --------
    >>> FrozenMapping({"a": 1})
    {'a': 1}
    """

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Value]) -> None:
        self._members = dict(members)

    def __getitem__(self, name: str) -> Value:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __hash__(self) -> int:
        return hash(frozenset(self._members.items()))

    def __repr__(self) -> str:
        return repr(self._members)


def encode_base64(data: bytes) -> str:
    """Return the base64 text of some bytes.

    Examples
    --------
    >>> encode_base64(b"key")
    'a2V5'
    """
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def decode_base64(text: str, size: int) -> bytes | None:
    """Return the ``size`` bytes that ``text`` stands for, or None if it does not.

    Only the one text that :func:`encode_base64` writes is accepted, so that nobody can change a
    signature's text and keep its meaning.
    """
    if len(text) > 2 * size + 4:
        return None
    try:
        data = binascii.a2b_base64(text.encode("ascii"))
    except ValueError:  # not ASCII, or not base64
        return None
    return data if len(data) == size and encode_base64(data) == text else None


Label: TypeAlias = str | int | bool
"""One label, or one part of an intersection."""

KEY_BYTES = 32
SIGNATURE_BYTES = 64
"""Of Ed25519."""
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
    r"""Return the position of the first invisible character, or None.

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
    letters = [
        c for c in before if not unicodedata.combining(c)
    ]  # vowel signs may be between them
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
    """Return the label of a group in the form that a plan uses, or None if it is not valid.

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


def as_number(value: object) -> float | None:
    """Return a finite number as a float without a negative zero, or None if it is not one."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return None
    return float(value) + 0.0 if math.isfinite(value) else None


def as_increasing(value: object, most: int) -> tuple[float, ...] | None:
    """Return the numbers of a list of at most ``most``, or None unless they increase.

    Examples
    --------
    >>> as_increasing([1, 2.5], most=20), as_increasing([2.5, 1], most=20)
    ((1.0, 2.5), None)
    """
    numbers = [as_number(item) for item in value] if isinstance(value, list | tuple) else [None]
    found = tuple(number for number in numbers if number is not None)
    increasing = all(low < high for low, high in pairwise(found))
    return found if len(found) == len(numbers) <= most and increasing else None


def as_whole(value: object, least: int, most: int) -> int | None:
    """Return a whole number between two bounds as an int, or None if it is not one."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and least <= value <= most else None  # type: ignore[operator,return-value]


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


# Ed25519 public keys under which anybody can sign, found without a library.
#
# A public key is a point (x, y) of the curve :math:`-x^2 + y^2 = 1 + d x^2 y^2` modulo
# :math:`p = 2^{255} - 19`. If 8 times the point is the neutral element, a signature can be made without
# a private key. Doubling a point gives :math:`y_2 = (x^2 + y^2) / (1 - d x^2 y^2)`, and the points are
#
# - (0, 1) and (0, -1), of order 1 and 2;
# - those whose double is (0, -1), with y = 0;
# - those whose double has y = 0: :math:`x^2 = -y^2`, hence :math:`d y^4 + 2 y^2 = 1`.
#
# There are no others, as the whole group has 8 times a prime number of points.

_PRIME = 2**255 - 19
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME


def height_of(key: bytes) -> int:
    """Return the y of a public key, which it shares with the opposite point alone."""
    return int.from_bytes(key, "little") % 2**255


def is_weak(key: bytes) -> bool:
    """Return whether a public key is of small order, or not written as keys are.

    Examples
    --------
    >>> is_weak(bytes(32)), is_weak(bytes([1]) + bytes(31)), is_weak(bytes([5]) + bytes(31))
    (True, True, False)
    """
    y = height_of(key)
    return y >= _PRIME or y * (y * y - 1) * (_D * y**4 + 2 * y * y - 1) % _PRIME == 0
