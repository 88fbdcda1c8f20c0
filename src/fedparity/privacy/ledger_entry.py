"""One line of the ledger: what a release was, and what it cost."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from fedparity.errors import LedgerError

__all__ = ["Entry", "parsed_entries"]


@dataclass(frozen=True)
class Entry:
    """One release: digests, a time and what it cost, never a value or a count."""

    plan: str
    """Digest of the plan."""
    silo: str
    release: str
    """Digest of what was released."""
    time: str
    """In UTC, to the second."""
    dataset: str | None = None
    """The data set whose budget it counts against; None for a release without noise."""
    epsilon: float | None = None
    """The privacy loss that it cost."""

    def to_json(self) -> str:
        """Return the entry's line; what is absent is left out."""
        return json.dumps({k: v for k, v in asdict(self).items() if v is not None})


_KNOWN = {field.name for field in fields(Entry)}
_NEEDED = _KNOWN - {"dataset", "epsilon"}


def parsed_entries(content: bytes, path: Path) -> tuple[Entry, ...]:
    """Return the entries of a ledger's bytes; an empty file has none.

    Raises
    ------
    LedgerError
        If a line is not an entry, or the last one was not written to its end.
    """
    lines = content.split(b"\n")
    if lines.pop():
        raise LedgerError.torn(path, len(lines) + 1)
    return tuple(_entry(line, path, number) for number, line in enumerate(lines, start=1))


def _entry(line: bytes, path: Path, number: int) -> Entry:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise LedgerError.unreadable(path, number) from None
    if not (isinstance(found, dict) and _NEEDED <= found.keys() <= _KNOWN):
        raise LedgerError.unreadable(path, number)
    epsilon = found.pop("epsilon", None)
    if not all(isinstance(value, str) for value in found.values()):
        raise LedgerError.unreadable(path, number)
    if (epsilon is None) != ("dataset" not in found) or not _is_loss(epsilon):
        raise LedgerError.unreadable(path, number)
    return Entry(**found, epsilon=epsilon)


def _is_loss(epsilon: object) -> bool:
    """Whether this is a privacy loss, or none; an entry that says -5 must not give budget back."""
    if epsilon is None:
        return True
    number = isinstance(epsilon, int | float) and not isinstance(epsilon, bool)
    return number and 0 < epsilon < math.inf  # type: ignore[operator]
