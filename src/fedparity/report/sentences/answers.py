"""The first answers: is it above the review level, how large is it, how certain is that."""

from __future__ import annotations

from fedparity.auditing.parts import PairResult
from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import number, percent, span, stated, told_apart
from fedparity.report.sentences.naming import (
    group_words,
    groups_words,
    has_noise,
    is_summed,
    records_words,
    short,
    silos_words,
    symbol,
)
from fedparity.report.verdicts import verdict_words

__all__ = [
    "chance",
    "headline",
    "how_certain",
    "how_large",
    "noise_could_explain",
    "size",
    "widest_pair",
]


def headline(result: AuditResult) -> str:
    """Return the whole answer in one sentence."""
    found = result.disparity
    where = "In" if len(result.silos_received) == 1 else "Across"
    together = "" if len(result.silos_received) == 1 else " together"
    start = f"{where} {silos_words(result)}{together}, the scores of {groups_words(result)} "
    if found.review_level is None:
        return f"{start}have a disparity of {number(found.value)}. The plan names no review level."
    value = number(found.value) if found.level is None else told_apart(found.value, found.level)
    words = verdict_words(result)
    return f"{start}have a disparity of {value}: {words[0].lower()}{words[1:]}."


def size(result: AuditResult) -> str:
    """Return what was measured, and how, in one line."""
    plan = result.plan
    held = f"{plan.levels} levels, {plan.sketch} sketches"
    if plan.sketch == "histogram":
        held = f"histograms of {plan.levels} bins"
    return (
        f"{silos_words(result)}, {len(result.groups)} groups, {records_words(result)}; "
        f"{held}, {plan.estimator} estimator"
    )


def how_large(result: AuditResult) -> str:
    """Return the disparity in its unit, and in score points between the groups furthest apart."""
    squared = "squared " if result.plan.order == 2 else ""
    sentences = [
        (
            f"The disparity {symbol('G', result)} is {number(result.disparity.value)} {squared}score "
            "points; 0 means that all groups have the same distribution of scores."
        ),
        _pair_sentence(result, widest_pair(result)),
    ]
    if result.plan.trim > 0:
        share = percent(result.plan.trim)
        sentences.append(f"The lowest and the highest {share} of ranks are left out.")
    return " ".join(sentences)


def widest_pair(result: AuditResult) -> PairResult:
    """Return the two groups furthest apart; of equals the first."""
    return max(result.pairs, key=lambda pair: pair.wasserstein)


def _pair_sentence(result: AuditResult, pair: PairResult) -> str:
    first, second = (short(group_words(group)) for group in pair.groups)
    lowest, highest = result.plan.score_range
    mean = {1: "the mean", 2: "the root mean square"}[result.plan.order]
    apart = (
        f"at the same rank, their scores are {number(pair.wasserstein)} score points apart "
        f"({symbol('W', result)}, {mean} over ranks), or "
        f"{percent(pair.wasserstein / (highest - lowest))} of the score range"
    )
    if len(result.groups) == 2:
        start = f"Compare {first} and {second}:"
    else:
        start = f"The two groups furthest apart are {first} and {second}:"
    return f"{start} {apart}. {_means(pair, first, second)}"


def _means(pair: PairResult, first: str, second: str) -> str:
    if pair.mean_gap == 0:
        return f"The means of {first} and {second} are equal."
    side = "higher" if pair.mean_gap > 0 else "lower"
    return f"The mean of {first} is {number(abs(pair.mean_gap))} {side} than that of {second}."


def how_certain(result: AuditResult) -> str:
    """Return the interval, the interval with all errors, and what noise alone would do."""
    found = result.disparity
    missing = " and of all that is missing" if found.outer != found.certificate else ""
    low, high = found.combined
    if found.level is None:
        ends, compared = span(found.combined), "."
    else:
        ends = f"{told_apart(low, found.level)} to {told_apart(high, found.level)}"
        compared = f", which the verdict compares with {stated(found.level)}."
    return (
        f"The {percent(result.confidence)} interval is {span(found.interval)}; with the error of "
        f"{_reduced_by(result)}{missing} counted too, it is {ends}{compared} {chance(result)}"
    )


def _reduced_by(result: AuditResult) -> str:
    """What stands between the raw data and what was sent."""
    if has_noise(result):
        return "noise and bins"
    return "the bins" if is_summed(result) else "the sketches"


def noise_could_explain(result: AuditResult) -> bool:
    """Return whether noise alone shows as much more often than the intervals may miss."""
    return result.disparity.p_value > 1 - result.confidence


def chance(result: AuditResult) -> str:
    """Return what the p-value says."""
    often = percent(result.disparity.p_value)
    words = f"Sampling noise alone would show as much in {often} of samples (p-value)"
    return (
        f"{words}, so it could explain what was found."
        if noise_could_explain(result)
        else f"{words}."
    )
