"""How large a disparity is, in units that people can read, and what the review level says of it."""

from __future__ import annotations

from fedparity.auditing.result import AuditResult
from fedparity.diagnostics.assessment import Verdict
from fedparity.diagnostics.intervals import Interval
from fedparity.report.numbers import number, percent, span
from fedparity.report.sentences.answers import noise_could_explain
from fedparity.report.sentences.missing import set_aside_words
from fedparity.report.sentences.naming import group_words, short
from fedparity.report.verdicts import (
    ALL,
    ANSWERED,
    VERDICTS,
    compared_span,
    level_words,
    verdict_words,
)

__all__ = ["direction", "in_points", "points_range", "set_aside_words", "two_verdicts"]

_HALF = 0.5
"""Where differences of means are less than this share, groups differ in spread rather than level."""


def in_points(result: AuditResult) -> str:
    """Return the headline: how far apart the groups are, which is higher, and the verdict."""
    sentence = direction(result)
    if result.disparity.review_level is None:
        return f"{sentence}; the plan names no review level to compare it with."
    words = verdict_words(result)
    return f"{sentence}: {words[0].lower()}{words[1:]}."


def direction(result: AuditResult) -> str:
    """Return how far apart the two groups furthest apart are, and which of them scores higher."""
    worst = result.magnitudes.worst_pair
    first, second = (short(group_words(group)) for group in worst.groups)
    points = _points(worst.corrected)
    scale = f"({percent(worst.share_of_range)} of the scale)"
    if noise_could_explain(result):
        return (
            f"The scores of {first} and {second} differ by {points} {scale}, no more than "
            "sampling noise shows"
        )
    if worst.higher is None or result.magnitudes.location_share.value < _HALF:
        return (
            f"{first} and {second} differ in spread, not in level, by {points} {scale}"
            f"{_of_many(result)}"
        )
    higher = short(group_words(worst.higher))
    lower = second if higher == first else first
    return f"{higher} scores {points} higher than {lower} {scale}{_of_many(result)}"


def _points(value: float) -> str:
    text = number(value, 2)
    return f"{text} point{'' if text == '1' else 's'}"


def _of_many(result: AuditResult) -> str:
    """That these two are the worst, where there are others."""
    return ", the two groups furthest apart" if len(result.groups) > 2 else ""


def points_range(result: AuditResult) -> str:
    """Return the interval of the headline's number."""
    worst, often = result.magnitudes.worst_pair, percent(result.confidence)
    together = " for all pairs at once" if len(result.groups) > 2 else ""
    return f"{span(worst.interval)} points ({often} interval{together})."


def two_verdicts(result: AuditResult) -> tuple[tuple[str, str], ...]:
    """Return the shape and the words of both verdicts, each with whom it holds for and its range.

    None without a review level.
    """
    found = result.disparity
    if found.review_level is None:
        return ()
    return tuple(
        (
            VERDICTS[verdict].shape,
            _verdict_sentence(result, whom, verdict, ends),
        )
        for whom, verdict, ends in (
            (ANSWERED, found.verdict.answered, found.compared.answered),
            (ALL, found.verdict.all, found.compared.all),
        )
    )


def _verdict_sentence(result: AuditResult, whom: str, verdict: Verdict, ends: Interval) -> str:
    word = VERDICTS[verdict].word
    at = " at" if verdict == "inconclusive" else ""
    return f"{whom}: {word}{at} {level_words(result)} ({compared_span(result, ends)})."
