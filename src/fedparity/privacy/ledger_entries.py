"""One line of the ledger: what a release was and what it cost, chained to the line before it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from fedparity.errors import LedgerError

__all__ = ["Entry", "EntryKind", "View", "line_digest", "parsed_entries"]

EntryKind: TypeAlias = Literal["begin", "release", "void", "approval", "torn"]
View: TypeAlias = Mapping[str, Any]
"""What a plan requests of the records, as far as two releases are compared by it; all of it is public."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One event: digests, names, a time, what it cost and how many rows there were; no value of a record.

    Which fields there are depends on the kind: ``begin`` has none that it needs, ``release`` a plan,
    silo, release and view, ``void`` a release and a reason, ``approval`` a plan, a person and a
    reason, ``torn`` the text of a line that was not written to its end.
    """

    entry: EntryKind
    time: str
    """In UTC, to the second."""
    previous: str | None = None
    """The digest of the line before; None in the first."""
    plan: str | None = None
    silo: str | None = None
    dataset: str | None = None
    """Its name in the silo's policy; None if all tables of the silo form one data set."""
    table: str | None = None
    """The path or address that was read, without a password; None for records in memory."""
    release: str | None = None
    """The digest of what was released, without its signature and the version of the software."""
    message: str | None = None
    """The digest that the auditor sees."""
    replaces: str | None = None
    """The voided message that this one replaces."""
    view: View | None = None
    in_period: bool | None = None
    """Whether the operator said that the rows are those of the plan's period."""
    epsilon: float | None = None
    budget: float | None = None
    """What the plan allowed for all releases of the data set together."""
    file: str | None = None
    """Where the message was written; None where it was handed to a caller."""
    staged: str | None = None
    """The complete file that became it; it is there only after a crash."""
    because: str | None = None
    weaker: Sequence[str] = ()
    """Rules of the policy that were overridden."""
    reading: Mapping[str, Any] | None = None
    """How the table was read: its columns, filter, map and group for other labels, where they were given."""
    rows: Mapping[str, Any] | None = None
    """The numbers of rows read, filtered and relabeled; None in a privacy mode, whose exact numbers are not recorded."""
    by: str | None = None
    text: str | None = None

    def to_json(self) -> str:
        """Return the entry's line; what is absent is left out."""
        stated = {each.name: getattr(self, each.name) for each in fields(self)}
        kept = {name: value for name, value in stated.items() if value not in (None, ())}
        return json.dumps(kept)

    @property
    def noisy(self) -> bool:
        """Whether noise was added."""
        return self.epsilon is not None

    def within_days(self, now: str, days: int) -> bool:
        """Whether it is at most this many days old."""
        return (datetime.fromisoformat(now) - datetime.fromisoformat(self.time)).days < days


def line_digest(line: bytes) -> str:
    """Return the digest of a line without its end, which the next line holds."""
    return f"sha256:{sha256(line).hexdigest()}"


class _Chain(NamedTuple):
    """Lines that were found to be one chain, with their entries."""

    content: bytes = b""
    entries: tuple[Entry, ...] = ()
    head: str | None = None
    """The digest of the last line, which the next one has to hold."""


_MOST_CHAINS = 8
_chains: dict[Path, _Chain] = {}
"""A cache of the ledgers that this process validated, the one least recently used first."""


def parsed_entries(content: bytes, path: Path) -> tuple[Entry, ...]:
    """Return the entries of all lines that were written to their end, found to be one chain.

    A process that releases many messages reads its ledger before each. Lines that are byte for byte those
    that it validated before are not validated again; all others are, and so are all lines after a change.

    Raises
    ------
    LedgerError
        If a line is not an entry, or does not continue the chain.
    """
    known = _chains.pop(path, _Chain())
    if not content.startswith(known.content):
        known = _Chain()
    complete = content[: content.rfind(b"\n") + 1]
    if len(complete) > len(known.content):
        known = _extended(known, complete, path)
    _chains[path] = known
    while len(_chains) > _MOST_CHAINS:
        del _chains[next(iter(_chains))]
    return known.entries


def _extended(known: _Chain, content: bytes, path: Path) -> _Chain:
    """The chain of all lines of a content that starts with the lines known."""
    entries, previous = list(known.entries), known.head
    lines = content[len(known.content) :].split(b"\n")[:-1]
    for number, line in enumerate(lines, start=len(entries) + 1):
        entry = _entry(line)
        if entry is None:
            raise LedgerError.unreadable(path, number, "is not an entry of a ledger")
        if entry.previous != previous:
            reason = "does not continue the line before it: a line was changed or is missing"
            raise LedgerError.unreadable(path, number, reason)
        entries.append(entry)
        previous = line_digest(line)
    return _Chain(content, tuple(entries), previous)


def _entry(line: bytes) -> Entry | None:
    try:
        found = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("entry") not in get_args(EntryKind):
        return None
    needed = _NEEDED[found["entry"]]
    if not needed <= found.keys() <= needed | _OPTIONAL[found["entry"]]:
        return None
    if not all(_FIELDS[name](value) for name, value in found.items()):
        return None
    if ("epsilon" in found) != ("budget" in found):
        return None
    return Entry(**found)


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_loss(value: object) -> bool:
    """Whether this is a privacy loss; an entry that says -5 must not give budget back."""
    return _is_number(value) and value > 0  # type: ignore[operator]


def _is_view(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() - _TABLES_VIEW.keys() == _VIEW.keys()
        and all({**_VIEW, **_TABLES_VIEW}[name](held) for name, held in value.items())
    )


def _is_reading(value: object) -> bool:
    return isinstance(value, dict) and all(
        name in _READING and _READING[name](entry) for name, entry in value.items()
    )


def _is_rows(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {*_ROWS, "relabeled"}
        and all(_is_count(value[name]) for name in _ROWS)
        and _list_of(_is_relabeling)(value["relabeled"])
    )


def _is_relabeling(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"label", "group", "reason", "rows"}
        and (value["label"] is None or isinstance(value["label"], str))
        and _is_label(value["group"])
        and value["reason"] in _REASONS
        and _is_count(value["rows"])
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_map(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_period(value: object) -> bool:
    if value is None:
        return True
    try:
        first, last = (date.fromisoformat(day) for day in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return False
    return first <= last


def _list_of(check: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_label(value: object) -> bool:
    return isinstance(value, str | int) or (
        isinstance(value, list) and all(isinstance(part, str | int) for part in value)
    )


_VIEW: Mapping[str, Callable[[object], bool]] = {
    "title": _is_text,
    "mode": _is_text,
    "sketch": _is_text,
    "groups": _list_of(_is_label),
    "levels": _is_number,
    "thresholds": _list_of(_is_number),
    "grid": _list_of(lambda value: value is None or _is_number(value)),
    "period": _is_period,
}
_TABLES_VIEW: Mapping[str, Callable[[Any], bool]] = {
    "axes": lambda value: isinstance(value, list),
    "outcome": lambda value: isinstance(value, dict),
}
"""What is there of plans with axes or an outcome alone."""
_READING: Mapping[str, Callable[[object], bool]] = {
    **dict.fromkeys(("score", "weight", "where", "other", "missing"), _is_text),
    "group": _list_of(_is_text),
    "map": _is_map,
}
_ROWS = "read", "filtered", "without_score", "weightless"
_REASONS = "map", "other", "missing", "spelling"
_FIELDS: Mapping[str, Callable[[object], bool]] = {
    **{each.name: _is_text for each in fields(Entry)},
    "time": _is_time,
    "view": _is_view,
    "in_period": lambda value: isinstance(value, bool),
    "epsilon": _is_loss,
    "budget": _is_loss,
    "weaker": _list_of(_is_text),
    "reading": _is_reading,
    "rows": _is_rows,
}
_ALWAYS = frozenset({"entry", "time"})
_NEEDED: Mapping[str, frozenset[str]] = {
    "begin": _ALWAYS,
    "release": _ALWAYS | {"previous", "plan", "silo", "release", "message", "view"},
    "void": _ALWAYS | {"previous", "release", "because"},
    "approval": _ALWAYS | {"previous", "plan", "by", "because"},
    "torn": _ALWAYS | {"previous", "text"},
}
_OPTIONAL: Mapping[str, frozenset[str]] = {
    "begin": frozenset({"because", "previous"}),
    "release": frozenset(
        {
            "dataset",
            "table",
            "replaces",
            "in_period",
            "epsilon",
            "budget",
            "file",
            "staged",
            "because",
            "weaker",
            "reading",
            "rows",
        }
    ),
    "void": frozenset(),
    "approval": frozenset(),
    "torn": frozenset(),
}
