"""Names of groups, silos and symbols as sentences use them."""

from __future__ import annotations

from collections.abc import Sequence

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.text import amount

__all__ = [
    "counted_in",
    "groups_words",
    "is_summed",
    "is_weighted",
    "joined",
    "records_words",
    "short",
    "silos_words",
]

_LONGEST = 60
"""Characters of a name inside a sentence; tables show it in full."""
_NAMED = 5
_GROUPS_NAMED = 3


def short(name: str) -> str:
    r"""Return a name on one line, cut if a sentence would drown in it.

    Examples
    --------
    >>> short("Saint\nMary"), len(short("x" * 200))
    ('Saint Mary', 60)
    """
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def joined(names: Sequence[str], most: int = _NAMED) -> str:
    """Return names as a sentence lists them, cut after ``most``.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"]), joined(list("abcdefg"), most=2)
    ('a', 'a, b and c', 'a, b and 5 more')
    """
    shown = [short(name) for name in names]
    if len(shown) > most:
        return f"{', '.join(shown[:most])} and {len(shown) - most:,} more"
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def groups_words(result: AuditResult) -> str:
    """Return ``groups A and B``; of many, the first two and how many more."""
    names = [group_words(each.group) for each in result.groups]
    most = _GROUPS_NAMED if len(names) <= _GROUPS_NAMED else 2
    return f"groups {joined(names, most)}"


def is_summed(result: AuditResult) -> bool:
    """Return whether only sums over silos were seen, and so nothing of a single silo."""
    return "secure" in str(result.guarantee.get("mode"))


def silos_words(result: AuditResult) -> str:
    """Return how many silos were measured, of how many: ``4 of 5 silos``, ``1 silo``."""
    received, missing = len(result.silos_received), len(result.silos_missing)
    count = f"{received:,} of {received + missing:,}" if missing else f"{received:,}"
    return f"{count} silo{'' if received + missing == 1 else 's'}"


def is_weighted(result: AuditResult) -> bool:
    """Return whether counts are weights; JSON writes a weight of 100.0 like a count of 100."""
    return isinstance(result.n, float) or any(
        warning.code == "weights" for warning in result.warnings
    )


def counted_in(result: AuditResult) -> str:
    """Return what counts are: ``records``, or ``weight``."""
    return "weight" if is_weighted(result) else "records"


def records_words(result: AuditResult) -> str:
    """Return how much was measured: ``17,390 records``, or ``a weight of 1,234.5``."""
    if is_weighted(result):
        return f"a weight of {amount(result.n)}"
    return f"{amount(result.n)} record{'' if result.n == 1 else 's'}"
