"""From the labels of records to the codes of groups; the text by which two labels are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from threading import Lock
from typing import Any, Protocol, TypeAlias

import numpy as np

from fedparity.errors import LabelError
from fedparity.errors.base import listed
from fedparity.errors.inputs import look_alike, nearest, shortened
from fedparity.laws.labels import Group, Labels, intersect, is_missing
from fedparity.laws.law import BoolArray
from fedparity.sketches.records import Codes, Faults, Relabeling

__all__ = [
    "Discovery",
    "Key",
    "LabelType",
    "Listing",
    "Parts",
    "Scheme",
    "as_texts",
    "encode",
    "label_text",
    "label_type",
    "typed_text",
]

Key: TypeAlias = tuple[str | None, ...]
"""The texts of one record's labels, one per column."""

_NONE = -1
_SHORT = 16
_MOST_UNLISTED = 1_000
_MOST_GROUPS = 1_000_000
_MISSING_NAMES = "missing", "unknown", "without outcome"
_BOOLEANS = {"true": ("true", "True", "TRUE"), "false": ("false", "False", "FALSE")}


class Scheme(Protocol):
    """Which group a record with certain labels belongs to."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The labels that codes stand for."""
        ...

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        """The type of the codes."""
        ...

    def known(self, key: Key) -> int:
        """Return the code of a key, or -1 if it has none yet."""
        ...

    def admit(self, key: Key, count: int, faults: Faults) -> int:
        """Return a code for a key that ``count`` records have, or count them as faults: -1."""
        ...

    def relabeling(self, key: Key) -> Relabeling | None:
        """Return which group of another name a key counts as, and why; None if it keeps its name."""
        ...


def encode(
    scheme: Scheme, columns: Sequence[Labels], keep: BoolArray | None, faults: Faults
) -> tuple[Codes, BoolArray | None]:
    """Return the code of each row, and which rows have one (None: all that passed the filter).

    Only labels of rows that passed the filter are admitted or counted: a filter, a dictionary shared with
    other rows or an unused category must not add a group.
    """
    codes, keys = intersect(columns)
    table = np.array([scheme.known(key) for key in keys] or [0], np.int64)
    renamed = {place: new for place, key in enumerate(keys) if (new := scheme.relabeling(key))}
    if renamed:
        counts = np.bincount(codes if keep is None else codes[keep], minlength=table.size)
        for place, new in renamed.items():
            if counts[place]:
                faults.rows.relabeled[new] += int(counts[place])
    if np.array_equal(table, np.arange(table.size)):
        return codes.astype(scheme.dtype, copy=False), None
    none = np.iinfo(scheme.dtype).max  # rarely a code; if it is, its rows are counted
    found = _looked_up(np.where(table < 0, none, table).astype(scheme.dtype), codes)
    if table.min() >= 0 or found.size == 0 or found.max() < none:
        return found, None
    counts = np.bincount(codes if keep is None else codes[keep], minlength=table.size)
    for position in np.flatnonzero((table < 0) & (counts > 0)):
        table[position] = scheme.admit(keys[position], int(counts[position]), faults)
    coded = (table >= 0) | (counts == 0)
    found = np.maximum(table, 0).astype(scheme.dtype).take(codes)
    return found, None if coded.all() else coded.take(codes)


def _looked_up(table: Codes, codes: Codes) -> Codes:
    """Take the entries of a table; a short one by comparisons of bytes, which are much faster."""
    if table.size > _SHORT or table.dtype != np.uint8:
        return table.take(codes)
    small = codes.astype(np.uint8)
    found = np.zeros(small.size, np.uint8)
    for position, entry in enumerate(table):
        if entry:
            found += (small == position).view(np.uint8) * entry
    return found


class Listing:
    """The groups of a plan: other labels are faults, unless one group takes them all.

    Parameters
    ----------
    groups : sequence of labels
        Compared by their text; tuples, with one part per column, if there are several columns.
    columns : sequence of str
        The columns that hold the labels.
    mapping : mapping of str to str
        Texts that are read as another one; the key ``""`` is a missing label.
    other : str, optional
        The group (with several columns: the part) that takes every text the plan does not list.

    Raises
    ------
    LabelError
        If two groups have the same text, or another number of parts than there are columns, or if
        labels are sent to a group that is not listed.

    Examples
    --------
    >>> listing = Listing(("A", "B"), ["race"], mapping={"AFR": "A"})
    >>> [listing.known(key) for key in (("A",), ("AFR",), ("C",), (None,))]
    [0, 0, -1, -1]
    """

    def __init__(
        self,
        groups: Sequence[Group],
        columns: Sequence[str],
        *,
        mapping: Mapping[str, str] | None = None,
        other: str | None = None,
    ) -> None:
        self.groups: tuple[Group, ...] = tuple(groups)
        self.dtype = _smallest(len(self.groups))
        self._columns = tuple(columns)
        self._codes: dict[Key, int] = _codes_by_key(self.groups, self._columns)
        self._mapping = dict(mapping or {})
        self.parts = [Parts([key[i] or "" for key in self._codes]) for i in range(len(columns))]
        self._other = None if other is None else label_text(other)
        self._unlisted: set[str] = set()
        self._lock = Lock()
        self._refuse_unlisted_targets(other)

    def known(self, key: Key) -> int:
        """Return the code of a key, or -1 if it has none."""
        return self._codes.get(self._resolved(key), _NONE)

    def admit(self, key: Key, count: int, faults: Faults) -> int:
        """Return a code for a key, or count its records as faults."""
        resolved = self._resolved(key)
        if None in resolved:
            faults.missing_labels += count
            return _NONE
        text = _shown(key) or ""
        with self._lock:
            self._unlisted.add(text)
            if len(self._unlisted) > _MOST_UNLISTED:
                raise LabelError.too_many(self._columns, _MOST_UNLISTED)
        faults.unlisted[text] += count
        return _NONE

    def relabeling(self, key: Key) -> Relabeling | None:
        """Return which group of another name a key counts as, and why; None if it keeps its name."""
        resolved = self._resolved(key)
        if resolved == key or resolved not in self._codes:
            return None
        group = self.groups[self._codes[resolved]]
        if any((part or "") in self._mapping for part in key):
            return Relabeling(_shown(key), group, "map")
        if None in key:
            return Relabeling(_shown(key), group, "missing")
        listed = all(parts.reads(part) for parts, part in zip(self.parts, key, strict=True))
        return Relabeling(_shown(key), group, "spelling" if listed else "other")

    @property
    def keys(self) -> tuple[Key, ...]:
        """The texts of each group, one per column."""
        return tuple(self._codes)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text that labels are compared with."""
        return tuple(dict.fromkeys(text for parts in self.parts for text in parts.texts))

    def _resolved(self, key: Key) -> Key:
        mapped = (self._mapping.get(part or "", part) for part in key)
        return tuple(
            parts.resolve(part, self._other)
            for parts, part in zip(self.parts, mapped, strict=True)
        )

    def _refuse_unlisted_targets(self, other: str | None) -> None:
        known = set(self.texts)
        if other is not None and self._other not in known:
            raise LabelError(
                f"the group {other!r}, named to take all other labels, is not among {listed(self.texts)}.",
                fix="name one of the plan's groups, or add it to the plan.",
            )
        for target in self._mapping.values():
            if target not in known and all(
                parts.resolve(target) not in known for parts in self.parts
            ):
                near = nearest(target, self.texts)
                raise LabelError(
                    f"labels are mapped to {shortened(target)!r}, which is not among {listed(self.texts)}.",
                    fix=f"map them to {near[0]!r}?"
                    if near
                    else "map them to one of the plan's groups.",
                )


def _shown(key: Key) -> str | None:
    """The labels of a record on one line; None if all of them are missing."""
    return " & ".join(part or "" for part in key) if any(key) else None


class Parts:
    """The texts that a plan lists for one column, and what else is read as one of them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        self.read_as = {text: text for text in self.texts}
        for name, spellings in _BOOLEANS.items():
            listed = [text for text in self.texts if text.casefold() == name]
            if len(listed) == 1:  # pandas writes True to a CSV file, Arrow says true
                self.read_as.update(dict.fromkeys(spellings, listed[0]))
        folded = {text.casefold(): text for text in self.texts}
        names = [folded[name] for name in _MISSING_NAMES if name in folded]
        self.missing = names[0] if names else None

    def reads(self, text: str | None) -> bool:
        """Return whether a text is one that the plan lists, or another spelling of it."""
        return text in self.read_as

    def resolve(self, text: str | None, other: str | None = None) -> str | None:
        """Return the text that another is read as; itself if it is read as none, None if it is missing."""
        if text is None:
            return self.missing
        if other is None or other not in self.read_as or text in self.read_as:
            return self.read_as.get(text, text)
        # A label that differs only by case or spaces must not vanish among the others unseen.
        return other if look_alike(text, self.texts) is None else text


class Discovery:
    """Groups in order of appearance: a label gets its code when it first appears.

    Groups are texts, or tuples of them. :attr:`groups` grows during a scan and is complete after
    it; its order depends on which thread was first, so sort the groups before reporting them.

    Examples
    --------
    >>> seen = Discovery(["race"])
    >>> [seen.admit((text,), 1, Faults()) for text in ("B", "A", "B")], seen.groups
    ([0, 1, 0], ('B', 'A'))
    """

    dtype = np.uint32

    def __init__(
        self, columns: Sequence[str], *, mapping: Mapping[str, str] | None = None
    ) -> None:
        self._columns = tuple(columns)
        self._mapping = dict(mapping or {})
        self._codes: dict[Key, int] = {}
        self._lock = Lock()

    @property
    def groups(self) -> tuple[Group, ...]:
        """The labels that codes stand for."""
        with self._lock:
            keys = tuple(self._codes)
        return keys if len(self._columns) > 1 else tuple(key[0] for key in keys)

    def known(self, key: Key) -> int:
        """Return the code of a key, or -1 if it has none."""
        return self._codes.get(self._resolved(key), _NONE)

    def admit(self, key: Key, count: int, faults: Faults) -> int:
        """Return a code for a key, or count its records as faults."""
        resolved = self._resolved(key)
        if None in resolved:
            faults.missing_labels += count
            return _NONE
        with self._lock:
            if len(self._codes) >= _MOST_GROUPS and resolved not in self._codes:
                raise LabelError(
                    f"{listed(self._columns)} holds more than {_MOST_GROUPS:,} different labels.",
                    fix="name the column of the groups, not one that differs in every record.",
                )
            return self._codes.setdefault(resolved, len(self._codes))

    def relabeling(self, key: Key) -> Relabeling | None:
        """Return which group of another name a key counts as; only a mapping gives one."""
        if not self._mapping or (resolved := self._resolved(key)) == key or None in resolved:
            return None
        return Relabeling(_shown(key), resolved if len(resolved) > 1 else resolved[0], "map")

    def _resolved(self, key: Key) -> Key:
        return tuple(self._mapping.get(part or "", part) for part in key)


def _codes_by_key(groups: Sequence[Group], columns: Sequence[str]) -> dict[Key, int]:
    codes: dict[Key, int] = {}
    for code, group in enumerate(groups):
        key = _group_key(group, columns)
        if key in codes:
            raise LabelError(
                f"the groups {groups[codes[key]]!r} and {group!r} have the same text, by which labels are compared.",
                fix="list each group once.",
            )
        codes[key] = code
    return codes


def _group_key(group: Group, columns: Sequence[str]) -> Key:
    parts = group if isinstance(group, tuple | list) else (group,)
    if len(parts) != len(columns):
        raise LabelError(
            f"the group {group!r} does not have one part for each of the {len(columns)} group "
            f"columns, {listed(columns)}.",
            fix="name as many group columns as the plan's groups have parts, in the same order.",
        )
    key = tuple(label_text(part) for part in parts)
    if None in key:
        raise LabelError(
            f"the group {group!r} has no text to compare labels with.",
            fix="name the group of records without a label 'unknown' or 'missing'.",
        )
    return key


def _smallest(groups: int) -> type[np.unsignedinteger[Any]]:
    return next(
        kind for kind in (np.uint8, np.uint16, np.uint32) if groups <= np.iinfo(kind).max + 1
    )


LabelType: TypeAlias = type[bool] | type[int] | type[str]


_LARGEST_WHOLE = 2.0**63


def label_text(label: object) -> str | None:
    """Return the text of a label, or None if it is missing.

    The same label must have one text in a CSV file, where everything is text, and in a frame,
    where a column of whole numbers becomes floats as soon as one is missing.

    Examples
    --------
    >>> [label_text(label) for label in ("A", "01", 3, 3.0, 0.5, True, None, float("nan"), "")]
    ['A', '01', '3', '3', '0.5', 'true', None, None, None]
    """
    if isinstance(label, str):
        return str(label) or None
    if is_missing(label):
        return None
    if isinstance(label, bool | np.bool_):
        return "true" if label else "false"
    if isinstance(label, bytes):
        return label.decode("utf-8") or None
    if isinstance(label, float | np.floating | Decimal):
        return _number_text(label)
    return str(label)


def label_type(kind: str) -> LabelType:
    """Return what the labels of a column are whose entries are of this kind, in NumPy's letters.

    Examples
    --------
    >>> label_type("u"), label_type("f")
    (<class 'int'>, <class 'str'>)
    """
    return {"b": bool, "i": int, "u": int}.get(kind, str)


def typed_text(text: str, kind: LabelType) -> bool | int | str:
    """Return the label of this type that has this text: the inverse of :func:`label_text`."""
    if kind is bool:
        return text == label_text(label=True)
    return kind(text)


def as_texts(labels: Labels) -> Labels:
    """Return the same labels as texts."""
    return Labels(labels.codes, tuple(map(label_text, labels.distinct)))


def _number_text(label: float | np.floating | Decimal) -> str:
    number = float(label)
    if number.is_integer() and abs(number) < _LARGEST_WHOLE:
        return str(int(number))
    return repr(number)
