"""What each number and verdict is called, in the words of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult, has_noise, symbol
from fedparity.laws.bounds import Bounds
from fedparity.text import amount, percent, percents, span, stated, told_apart

__all__ = [
    "ALL",
    "ANSWERED",
    "VERDICTS",
    "Mark",
    "compared_span",
    "counted_in",
    "given_words",
    "groups_words",
    "is_summed",
    "is_weighted",
    "joined",
    "level_words",
    "mark_of",
    "records_words",
    "short",
    "silos_words",
    "verdict_line",
    "verdict_reason",
    "verdict_words",
    "verdicts_differ",
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


def given_words(result: AuditResult) -> str:
    """Return what the certificate takes as given, for a table."""
    return "given noise and bins" if has_noise(result) else "given what was sent"


ANSWERED: Final = "Among the silos that answered"
ALL: Final = "If the missing data could be anything"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """How a verdict is shown."""

    word: str
    """One word, lower case: for a badge, a table, a class name."""
    shape: str
    """One character that differs from the others in any color and in none."""
    phrase: str
    """Capitalized; followed by the review level, if the plan has one."""


VERDICTS: Final[Mapping[str, Mark]] = {
    "above": Mark(word="above", shape="▲", phrase="Above the review level"),
    "below": Mark(word="below", shape="▼", phrase="Below the review level"),
    "inconclusive": Mark(
        word="inconclusive", shape="◆", phrase="Inconclusive at the review level"
    ),
    "none": Mark(word="none", shape="–", phrase="No review level"),
}


def mark_of(result: AuditResult) -> Mark:
    """Return the word and the shape of a result's verdict among the silos that answered."""
    return VERDICTS[result.disparity.verdict.answered]


def verdicts_differ(result: AuditResult) -> bool:
    """Return whether the verdict for all is another than that among the silos that answered."""
    found = result.disparity.verdict
    return found.answered != found.all


def level_words(result: AuditResult) -> str:
    """Return the review level in its unit: ``0.5 points``, ``5 % of the scale``."""
    level = result.disparity.review_level
    if level is None:
        return VERDICTS["none"].phrase.lower()
    return {
        "points": f"{stated(level)} point{'' if level == 1 else 's'}",
        "share": f"{stated(100 * level)} % of the scale",
        "sd": f"{stated(level)} standard deviation{'' if level == 1 else 's'}",
        "squared": f"{stated(level)} for {symbol('G', result)}",
    }[result.disparity.review_unit]


def compared_span(result: AuditResult, ends: Bounds) -> str:
    """Return a range of the number compared in its unit, its ends told apart from the level."""
    level, unit = result.disparity.review_level, result.disparity.review_unit
    if unit == "share":
        return f"{percents(ends)} of the scale"
    words = {"points": " points", "sd": " standard deviations", "squared": ""}[unit]
    if level is None:
        return f"{span(ends)}{words}"
    return f"{told_apart(ends.lower, level)} to {told_apart(ends.upper, level)}{words}"


def verdict_words(result: AuditResult) -> str:
    """Return the verdict with the level it compares with: ``Above the review level of 0.5 points``.

    Where it is another for all, it says among whom it holds.
    """
    if result.disparity.review_level is None:
        return VERDICTS["none"].phrase
    among = f" {ANSWERED[0].lower()}{ANSWERED[1:]}" if verdicts_differ(result) else ""
    return f"{mark_of(result).phrase} of {level_words(result)}{among}"


def verdict_reason(result: AuditResult) -> str:
    """Return the verdict with what it rests on: ``Clearly above: the whole 95 % range is above 0.5 points``."""
    level, often = level_words(result), f"{percent(result.confidence)} range"
    return {
        "above": f"Clearly above: the whole {often} is above {level}",
        "below": f"Clearly below: the whole {often} is at most {level}",
        "inconclusive": f"Inconclusive: the {often} is on both sides of {level}",
        "none": VERDICTS["none"].phrase,
    }[result.disparity.verdict.answered]


def verdict_line(result: AuditResult) -> str:
    """Return shape and words: ``▲ Above the review level of 0.5 points``."""
    return f"{mark_of(result).shape} {verdict_words(result)}"
