"""A verdict is a word with a shape, never a color alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fedparity.auditing.result import AuditResult
from fedparity.diagnostics.assessment import Verdict
from fedparity.report.numbers import stated

__all__ = ["VERDICTS", "Mark", "mark_of", "verdict_line", "verdict_words"]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """How a verdict is shown."""

    word: str
    """One word, lower case: for a badge, a table, a class name."""
    shape: str
    """One character that differs from the others in any color and in none."""
    phrase: str
    """Capitalized; followed by the review level, if there is one."""


VERDICTS: Final[Mapping[Verdict, Mark]] = {
    "above": Mark(word="above", shape="▲", phrase="Above the review level"),
    "below": Mark(word="below", shape="▼", phrase="Below the review level"),
    "inconclusive": Mark(
        word="inconclusive", shape="◆", phrase="Inconclusive at the review level"
    ),
    "none": Mark(word="none", shape="–", phrase="No review level"),
}


def mark_of(result: AuditResult) -> Mark:
    """Return the word and the shape of a result's verdict."""
    return VERDICTS[result.disparity.verdict]


def verdict_words(result: AuditResult) -> str:
    """Return the verdict with the level it compares with: ``Above the review level 0.02``."""
    phrase, level = mark_of(result).phrase, result.disparity.review_level
    if result.disparity.verdict == "none" or level is None:
        return VERDICTS["none"].phrase
    return f"{phrase} {stated(level)}"


def verdict_line(result: AuditResult) -> str:
    """Return shape and words: ``▲ Above the review level 0.02``."""
    return f"{mark_of(result).shape} {verdict_words(result)}"
