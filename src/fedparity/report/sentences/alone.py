"""Whether any silo would have seen it alone."""

from __future__ import annotations

from collections.abc import Sequence

from fedparity.auditing.parts import SiloResult
from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import counted, number, percent, span, stated, told_apart
from fedparity.report.sentences.naming import is_summed, short, symbol

__all__ = [
    "READING_SILOS",
    "above_alone",
    "comparable",
    "explain_alone",
    "explain_influence",
    "seen_alone",
]

READING_SILOS = (
    "alone: the disparity inside the silo; influence: how much larger the disparity of all is "
    "than without it."
)
"""What stands below a table of silos."""


def comparable(result: AuditResult) -> tuple[SiloResult, ...]:
    """Return the silos that have two groups to compare."""
    return tuple(silo for silo in result.silos if silo.disparity is not None)


def above_alone(result: AuditResult) -> tuple[tuple[SiloResult, ...], tuple[SiloResult, ...]]:
    """Return the silos that alone are above the review level, and those that only seem so.

    Of the first the whole interval is above it; of the second only the value.
    """
    level = result.disparity.level
    if level is None:
        return (), ()
    clear = [
        silo
        for silo in comparable(result)
        if silo.interval is not None and silo.interval.lower > level
    ]
    names = {silo.silo for silo in clear}
    seeming = [
        silo
        for silo in comparable(result)
        if silo.disparity is not None and silo.disparity > level and silo.silo not in names
    ]
    return tuple(clear), tuple(seeming)


def seen_alone(result: AuditResult) -> str:
    """Return how many silos would have seen the disparity without the others."""
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
    return " ".join(
        filter(None, (_compared(result, alone), _largest(result, alone), _others(result, alone)))
    )


def _compared(result: AuditResult, alone: Sequence[SiloResult]) -> str:
    """How many silos are above the review level; without one, as far apart as all together."""
    level = result.disparity.level
    if level is None:
        whole = result.disparity.value
        many = sum(1 for silo in alone if (silo.disparity or 0.0) >= whole)
        what = f"at least the disparity of all silos together ({number(whole)})"
        return f"{_so_many(many, len(alone))} show{_s(many)} {what} alone."
    clear, seeming = map(len, above_alone(result))
    words = f"above the review level {stated(level)}"
    if not clear and not seeming:
        return f"No silo alone is {words}{_reaching(result, level)}."
    first = f"{_so_many(clear, len(alone))} alone {_is(clear)} {words} with the whole interval"
    if not seeming:
        return f"{first}."
    if not clear:
        return f"{_so_many(seeming, len(alone))} alone {_is(seeming)} {words}, but not with the whole interval."
    return f"{first}; {counted(seeming, 'more silo')} only with the value."


def _reaching(result: AuditResult, level: float) -> str:
    """How many intervals do not exclude that the silo is above the level."""
    many = sum(
        1
        for silo in comparable(result)
        if silo.interval is not None and silo.interval.upper > level
    )
    return f", though the intervals of {many:,} reach beyond it" if many else ""


def _largest(result: AuditResult, alone: Sequence[SiloResult]) -> str:
    most = max(alone, key=lambda silo: silo.disparity or 0.0)
    value = most.disparity or 0.0
    level = result.disparity.level
    text = number(value) if level is None else told_apart(value, level)
    often = percent(result.confidence)
    interval = "" if most.interval is None else f" ({often} interval {span(most.interval)})"
    return f"The largest is {text}, at {short(most.silo)}{interval}; all silos together have {number(result.disparity.value)}."


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


def _is(count: int) -> str:
    return "is" if count <= 1 else "are"


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
