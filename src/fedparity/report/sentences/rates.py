"""Rates at a threshold or above a quantile: what they are of, and how to read them."""

from __future__ import annotations

from typing import TypeAlias

from fedparity.auditing.parts import TailResult, ThresholdResult
from fedparity.auditing.result import AuditResult
from fedparity.diagnostics.intervals import Interval
from fedparity.report.numbers import number, percent, percents, span, stated
from fedparity.report.sentences.missing import is_complete
from fedparity.report.verdicts import ALL

__all__ = ["NO_RATES", "Rates", "rates_heading", "reading_rates"]

Rates: TypeAlias = ThresholdResult | TailResult
NO_RATES = (
    "No rates were asked for: name thresholds in the plan, or at the audit, to compare the shares "
    "of the groups on the favorable side."
)
_EXACT = 1e-11
"""Rates that the records leave open by less are known."""


def rates_heading(rates: Rates) -> str:
    """Return what the rates are shares of: ``Share with a score below 5``."""
    if isinstance(rates, ThresholdResult):
        side = {"above": "of at least", "below": "below"}[rates.favorable]
        return f"Share with a score {side} {stated(rates.threshold)}"
    name = "the median" if rates.level == 0.5 else f"the quantile of level {stated(rates.level)}"
    cutoff = Interval(rates.cutoff.lower, rates.cutoff.upper)
    where = number(rates.cutoff.value) if cutoff.lower == cutoff.upper else span(cutoff)
    return f"Share above {name} of all records, {where}"


def reading_rates(rates: Rates, result: AuditResult) -> str:
    """Return the widest gap, the answer, what the intervals count, and whom they hold for."""
    gap, often = rates.widest_gap, percent(rates.confidence)
    sentences = (
        f"The widest gap is {percent(gap.value)} ({often} interval {percents(gap.interval)}).",
        f"The smallest ratio to the highest rate is {_answer(rates.four_fifths)}.",
        _for_all(rates, result),
        "Intervals count sampling and what the sketches leave open.",
        _known(rates),
    )
    return " ".join(filter(None, sentences))


def _answer(four_fifths: str) -> str:
    """The answer inside a sentence."""
    undetermined = "undetermined: its interval holds four fifths"
    return undetermined if four_fifths == "undetermined" else four_fifths


def _for_all(rates: Rates, result: AuditResult) -> str:
    return "" if is_complete(result) else f"{ALL}: {rates.all}."


def _known(rates: Rates) -> str:
    """How far the rates of the records themselves are known."""
    widest = max(each.rate.upper - each.rate.lower for each in rates.groups)
    known = "exactly" if widest <= _EXACT else f"up to {percent(widest)}"
    return f"The rates of the records themselves are known {known}."
