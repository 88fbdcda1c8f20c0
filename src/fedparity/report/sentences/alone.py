"""Whether any silo would have seen it alone."""

from __future__ import annotations

from collections.abc import Sequence

from fedparity.auditing.parts import SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.plots.headline import headline_of
from fedparity.report.numbers import counted, number, percent, told_apart
from fedparity.report.sentences.naming import is_summed, joined, short, symbol
from fedparity.report.verdicts import level_words

__all__ = [
    "CHANCE",
    "READING_SILOS",
    "above_alone",
    "comparable",
    "explain_alone",
    "explain_influence",
    "seen_alone",
    "summed_silos",
]

READING_SILOS = (
    "alone: the disparity inside the silo; influence: how much larger the disparity of all is "
    "than without it."
)
"""What stands below a table of silos."""
CHANCE = "What a silo shows alone counts chance too: the fewer its records, the more."


def comparable(result: AuditResult) -> tuple[SiloResult, ...]:
    """Return the silos that have two groups to compare."""
    return tuple(silo for silo in result.silos if silo.disparity is not None)


def above_alone(result: AuditResult) -> tuple[SiloResult, ...]:
    """Return the silos that alone show more than the review level; none without a level."""
    level = headline_of(result).level
    if level is None:
        return ()
    return tuple(silo for silo in comparable(result) if (_alone(result, silo) or 0.0) > level)


def seen_alone(result: AuditResult) -> str:
    """Return how many silos would have seen it without the others, in the headline's unit."""
    alone = comparable(result)
    if is_summed(result):
        return "Only sums over silos were seen, so what a silo would have seen alone is not known."
    if not alone:
        return (
            "No silo has two groups to compare, so none could have seen a disparity alone."
            if len(result.silos) > 1
            else "The silo has fewer than two groups to compare alone."
        )
    if len(result.silos_received) == 1:
        return "One silo was measured: what it sees alone is the whole."
    sentences = (_compared(result, alone), _largest(result, alone), CHANCE, _others(result, alone))
    return " ".join(filter(None, sentences))


def summed_silos(result: AuditResult) -> str:
    """Return whose sum was seen, in place of a table of silos; nothing where they were seen."""
    if not is_summed(result):
        return ""
    return f"Only their sums were seen: {joined(result.silos_received, most=20)}."


def _alone(result: AuditResult, silo: SiloResult) -> float | None:
    """What a silo sees, in the headline's unit."""
    seen: float | None = getattr(silo, headline_of(result).alone)
    return seen


def _in_unit(result: AuditResult, text: str) -> str:
    return text if headline_of(result).alone == "disparity" else f"{text} points"


def _compared(result: AuditResult, alone: Sequence[SiloResult]) -> str:
    """How many silos show more than the review level; without one, as much as all together."""
    shown = headline_of(result)
    if shown.level is None:
        whole = shown.found.corrected
        many = sum((_alone(result, silo) or 0.0) >= whole for silo in alone)
        what = f"as much as all silos together ({_in_unit(result, number(whole))})"
        return f"{_so_many(many, len(alone))} alone show{_s(many)} {what}."
    many = len(above_alone(result))
    return (
        f"{_so_many(many, len(alone))} alone show{_s(many)} more than the review level of "
        f"{level_words(result)}."
    )


def _largest(result: AuditResult, alone: Sequence[SiloResult]) -> str:
    shown = headline_of(result)
    most = max(alone, key=lambda silo: _alone(result, silo) or 0.0)
    value, whole = _alone(result, most) or 0.0, shown.found.corrected
    text = number(value) if shown.level is None else told_apart(value, shown.level)
    return (
        f"The most is {_in_unit(result, text)}, at {short(most.silo)}; all silos together have "
        f"{_in_unit(result, number(whole))}."
    )


def _others(result: AuditResult, alone: Sequence[SiloResult]) -> str:
    others = len(result.silos) - len(alone)
    if not others:
        return ""
    have = "has" if others == 1 else "have"
    return f"{counted(others, 'silo')} {have} fewer than two groups to compare."


def _so_many(count: int, of: int) -> str:
    if count == 0:
        return "No silo"
    return f"All {of:,} silos" if count == of and of > 1 else f"{count:,} of {counted(of, 'silo')}"


def _s(count: int) -> str:
    return "s" if count <= 1 else ""


def explain_alone(result: AuditResult) -> str:
    """Return how to read local against global."""
    return (
        f"Each silo's own disparity {symbol('G', result)}, from its own cells, with its "
        f"{percent(result.confidence)} interval; the interval counts sampling, not the error of the "
        "sketches. Silos can each be near parity while all together are not, and the other way "
        "round."
    )


def explain_influence(result: AuditResult) -> str:
    """Return what a silo's influence is."""
    return (
        f"Influence: {symbol('G', result)} of all silos minus {symbol('G', result)} without this "
        "one. It may be negative, and a silo without a disparity of its own can have a large one."
    )
