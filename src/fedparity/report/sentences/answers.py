"""The next answers: what was measured, how large it is, how certain that is."""

from __future__ import annotations

from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import number, percent, span, stated, told_apart
from fedparity.report.sentences.naming import (
    group_words,
    has_noise,
    is_summed,
    records_words,
    short,
    silos_words,
    symbol,
)

__all__ = [
    "chance",
    "how_certain",
    "how_large",
    "noise_could_explain",
    "size",
]


def size(result: AuditResult) -> str:
    """Return what was measured, and how, in one line."""
    plan = result.plan
    held = f"{plan.levels} levels, {plan.sketch} sketches"
    if plan.sketch == "counts":
        held = "counts at every score"
    elif plan.sketch == "histogram":
        held = f"histograms of {plan.levels} bins"
    return (
        f"{silos_words(result)}, {len(result.groups)} groups, {records_words(result)}; "
        f"{held}, {plan.estimator} estimator"
    )


def how_large(result: AuditResult) -> str:
    """Return how far apart the two groups furthest apart are, and what it takes to be alike."""
    sentences = (
        _apart(result),
        _deviations(result),
        _means(result),
        _moved(result),
        _trim(result),
    )
    return " ".join(filter(None, sentences))


def _apart(result: AuditResult) -> str:
    worst = result.magnitudes.worst_pair
    first, second = (short(group_words(group)) for group in worst.groups)
    mean = {1: "the mean", 2: "the root mean square"}[result.plan.order]
    start = f"The scores of {first} and {second}"
    if len(result.groups) > 2:
        start = f"The two groups furthest apart are {first} and {second}: their scores"
    return (
        f"{start} at the same rank are {number(worst.corrected)} points apart "
        f"({symbol('W', result)}, {mean} over ranks, without what noise adds on average)."
    )


def _deviations(result: AuditResult) -> str:
    """The distance in standard deviations; nothing where scores do not vary inside groups."""
    distance = result.magnitudes.standardized.distance.value
    if distance is None:
        return ""
    return f"That is about {number(distance, 2)} standard deviations of the scores in a group."


def _means(result: AuditResult) -> str:
    worst = result.magnitudes.worst_pair.groups
    gap = next(pair.mean_gap for pair in result.pairs if pair.groups == worst)
    first, second = (short(group_words(group)) for group in worst)
    if gap == 0:
        return f"The means of {first} and {second} are equal."
    side = "higher" if gap > 0 else "lower"
    return f"The mean of {first} is {number(abs(gap))} {side} than that of {second}."


def _moved(result: AuditResult) -> str:
    moved = number(result.magnitudes.points.corrected)
    mean = {1: "on average", 2: "in the root mean square"}[result.plan.order]
    return f"For all groups to be alike, scores would have to move by {moved} points {mean}."


def _trim(result: AuditResult) -> str:
    if result.plan.trim == 0:
        return ""
    return f"The lowest and the highest {percent(result.plan.trim)} of ranks are left out."


def how_certain(result: AuditResult) -> str:
    """Return the disparity as the paper defines it, its ranges, and what noise alone would do."""
    found, measure = result.disparity, symbol("G", result)
    squared = "squared " if result.plan.order == 2 else ""
    low, high = found.combined
    if found.level is None:
        ends, compared = span(found.combined), "."
    else:
        ends = f"{told_apart(low, found.level)} to {told_apart(high, found.level)}"
        compared = f", which the verdict compares with {stated(found.level)}."
    return (
        f"The disparity {measure} is {number(found.corrected)} {squared}score points, and "
        f"{number(found.value)} with what sampling and sketches add on average; 0 means that all "
        f"groups have the same distribution of scores. The {percent(result.confidence)} interval is "
        f"{span(found.interval)}; with the guaranteed error of {_reduced_by(result)} it is "
        f"{ends}{compared} {chance(result)}"
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
