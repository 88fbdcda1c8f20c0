"""A verdict is a word with a shape, never a color alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fedparity.documents.result import AuditResult
from fedparity.laws.bounds import Bounds
from fedparity.plots.headline import symbol
from fedparity.text import percent, percents, span, stated, told_apart

__all__ = [
    "ALL",
    "ANSWERED",
    "VERDICTS",
    "Mark",
    "compared_span",
    "level_words",
    "mark_of",
    "verdict_line",
    "verdict_reason",
    "verdict_words",
    "verdicts_differ",
]

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
    """Capitalized; followed by the review level, if there is one."""


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
