"""The answers: what was measured, how large and how certain it is, who would have seen it alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult, has_noise, headline_of, symbol
from fedparity.documents.result_parts import FourFifths, SiloResult, TailResult, ThresholdResult
from fedparity.laws.bounds import Bounds
from fedparity.report.sentences.caveats import is_complete, set_aside_words
from fedparity.report.sentences.naming import (
    ALL,
    VERDICTS,
    compared_span,
    is_summed,
    joined,
    level_words,
    records_words,
    short,
    silos_words,
    verdict_words,
)
from fedparity.text import counted, number, percent, points, span, stated, told_apart

__all__ = [
    "CHANCE",
    "NO_RATES",
    "Rates",
    "above_alone",
    "chance",
    "comparable",
    "direction",
    "explain_alone",
    "explain_influence",
    "has_direction",
    "how_certain",
    "how_large",
    "in_means",
    "in_points",
    "level_share",
    "method",
    "noise_could_explain",
    "points_range",
    "rates_heading",
    "reading_rates",
    "reading_silos",
    "seen_alone",
    "set_aside_words",
    "size",
    "summed_silos",
    "verdict_for_all",
    "worse_off",
]


def size(result: AuditResult) -> str:
    """Return how many answered, and how much they have: ``4 of 5 silos answered, 17,390 records``."""
    many = f"{silos_words(result)} {'simulated' if result.plan.simulated else 'answered'}"
    return f"{many}, {len(result.groups)} groups, {records_words(result)}"


def method(result: AuditResult) -> str:
    """Return how the silos summarized their scores, and how the summaries are combined."""
    plan = result.plan
    sketches = {
        "counts": "counts at every score",
        "histogram": f"histograms of {plan.levels} bins",
        "mean": f"up to {counted(plan.levels, 'bin mean')} per group and silo",
        "quantile": f"up to {counted(plan.levels, 'quantile')} per group and silo",
    }[plan.sketch]
    return f"{sketches}, {plan.estimator} estimator"


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


def in_means(result: AuditResult) -> str:
    """Return the difference of the means, and the distance in standard deviations."""
    return " ".join(filter(None, (_means(result), _deviations(result))))


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
    return f"The distance is about {number(distance, 2)} standard deviations of the scores in a group."


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
    """The steps between the raw data and what was sent."""
    if has_noise(result):
        return "noise and bins"
    return "the bins" if is_summed(result) else "the sketches"


_OFTEN = 0.1
"""Chances below it are said as one in a number, those above it in percent."""


def noise_could_explain(result: AuditResult) -> bool:
    """Return whether noise alone shows as much more often than the intervals may miss."""
    return result.disparity.p_value > 1 - result.confidence


def chance(result: AuditResult) -> str:
    """Return what the p-value says."""
    p = result.disparity.p_value
    often = f"in {percent(p)} of samples"
    if 0 < p < _OFTEN:
        often = f"at most 1 time in {number(1 / p, 2)}"
    words = f"If the groups were alike, chance would give this much {often} (p <= {number(p)})"
    return (
        f"{words}: chance could explain what was found."
        if noise_could_explain(result)
        else f"{words}."
    )


_HALF = 0.5
"""Where differences of means are less than this share, groups differ in spread rather than level."""


def level_share(result: AuditResult) -> float:
    """Return how much of the distance of the worst pair is the difference of their means.

    Of two groups and order 2 it is the result's ``location_share``; of more groups that mixes all
    pairs, and the headline speaks of one.
    """
    worst = result.magnitudes.worst_pair
    pair = next(pair for pair in result.pairs if pair.groups == worst.groups)
    if pair.wasserstein == 0:
        return 0.0
    share: float = (abs(pair.mean_gap) / pair.wasserstein) ** result.plan.order
    return share


def has_direction(result: AuditResult) -> bool:
    """Return whether one of the two groups furthest apart is said to score higher than the other."""
    higher = result.magnitudes.worst_pair.higher
    is_level = higher is not None and level_share(result) >= _HALF
    return is_level and not noise_could_explain(result)


def in_points(result: AuditResult) -> str:
    """Return the headline: how far apart the groups are, which is higher, and the verdict."""
    sentence = direction(result)
    if result.disparity.review_level is None:
        level = (
            "no review level was given"
            if result.plan.simulated
            else "the plan names no review level"
        )
        return f"{sentence}; {level} to compare it with."
    words = verdict_words(result)
    return f"{sentence}: {words[0].lower()}{words[1:]}."


def direction(result: AuditResult) -> str:
    """Return how far apart the two groups furthest apart are, and which of them scores higher."""
    worst = result.magnitudes.worst_pair
    first, second = (short(group_words(group)) for group in worst.groups)
    points = _points(worst.corrected)
    scale = f"({number(100 * worst.share_of_range, 2)} % of the scale)"
    if noise_could_explain(result):
        return (
            f"The scores of {first} and {second} differ by {points} {scale}, no more than "
            "chance would give"
        )
    if worst.higher is None or not has_direction(result):
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


def worse_off(result: AuditResult) -> str:
    """Return who is worse off; nothing where the plan does not say which scores are good.

    A plan says it with its thresholds; without any, ``favorable = "above"`` is only the default.
    """
    worst, plan = result.magnitudes.worst_pair, result.plan
    if worst.higher is None or not has_direction(result):
        return ""
    if not plan.thresholds and plan.favorable == "above":
        return ""
    lower = next(group for group in worst.groups if group != worst.higher)
    good, worse = ("High", lower) if plan.favorable == "above" else ("Low", worst.higher)
    return f"{good} scores are favorable, so {short(group_words(worse))} is worse off."


def points_range(result: AuditResult) -> str:
    """Return the one range below the headline: what the verdict compares, with every error in it."""
    found, level = result.magnitudes.worst_pair.combined, headline_of(result).level
    words = span(found)
    if level is not None and result.disparity.review_unit != "squared":
        words = f"{told_apart(found.lower, level)} to {told_apart(found.upper, level)}"
    unit = result.disparity.review_unit
    other = ""
    if result.disparity.review_level is not None and unit != "points":
        other = f" ({compared_span(result, result.disparity.compared.answered)})"
    errors = "sampling, noise and summarizing" if has_noise(result) else "sampling and summarizing"
    pairs = "; it holds for all pairs of groups at once" if len(result.groups) > 2 else ""
    return (
        f"{percent(result.confidence)} range: {words} points{other} once {errors} are allowed "
        f"for{pairs}."
    )


def verdict_for_all(result: AuditResult) -> tuple[str, str] | None:
    """Return the shape and the words of the verdict if the missing data could be anything.

    ``None`` without a review level, and where nothing that is missing could change the range.
    """
    found = result.disparity
    if found.review_level is None or found.compared.all == found.compared.answered:
        return None
    verdict = VERDICTS[found.verdict.all]
    at = " at" if verdict.word == "inconclusive" else ""
    ends = compared_span(result, found.compared.all)
    words = f"{ALL}: {verdict.word}{at} {level_words(result)} (range {ends})."
    return verdict.shape, words


CHANCE = "What a silo shows alone counts chance too: the fewer its records, the more."


def comparable(result: AuditResult) -> tuple[SiloResult, ...]:
    """Return the silos that have two groups to compare."""
    return tuple(silo for silo in result.silos if silo.disparity is not None)


def above_alone(result: AuditResult) -> tuple[SiloResult, ...]:
    """Return the silos that alone show more than the review level; none without a level."""
    level = headline_of(result).level
    if level is None:
        return ()
    return tuple(silo for silo in comparable(result) if _alone(result, silo) > level)


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


def _alone(result: AuditResult, silo: SiloResult) -> float:
    """What a silo sees, in the headline's unit."""
    return headline_of(result).of_silo(silo) or 0.0


def _compared(result: AuditResult, alone: Sequence[SiloResult]) -> str:
    """How many silos show more than the review level; without one, as much as all together."""
    shown = headline_of(result)
    if shown.level is None:
        whole = shown.found.corrected
        many = sum(_alone(result, silo) >= whole for silo in alone)
        what = f"as much as all silos together ({number(whole)}{shown.in_points})"
        return f"{_count_of(many, len(alone))} alone show{_s(many)} {what}."
    many = len(above_alone(result))
    return (
        f"{_count_of(many, len(alone))} alone show{_s(many)} more than the review level of "
        f"{level_words(result)}."
    )


def _largest(result: AuditResult, alone: Sequence[SiloResult]) -> str:
    shown = headline_of(result)
    most = max(alone, key=lambda silo: _alone(result, silo))
    value, whole = _alone(result, most), shown.found.corrected
    text = number(value) if shown.level is None else told_apart(value, shown.level)
    return (
        f"The most is {text}{shown.in_points}, at {short(most.silo)}; all silos together have "
        f"{number(whole)}{shown.in_points}."
    )


def _others(result: AuditResult, alone: Sequence[SiloResult]) -> str:
    others = len(result.silos) - len(alone)
    if not others:
        return ""
    have = "has" if others == 1 else "have"
    return f"{counted(others, 'silo')} {have} fewer than two groups to compare."


def _count_of(count: int, of: int) -> str:
    if count == 0:
        return "No silo"
    return f"All {of:,} silos" if count == of and of > 1 else f"{count:,} of {counted(of, 'silo')}"


def _s(count: int) -> str:
    return "s" if count <= 1 else ""


def explain_alone(result: AuditResult) -> str:
    """Return how to read local against global."""
    shown = headline_of(result)
    what = (
        f"Each silo's own disparity {shown.symbol}, from its own cells, with its "
        f"{percent(result.confidence)} interval; the interval counts sampling, not the error of the "
        "sketches."
    )
    if not shown.has_intervals:
        what = (
            f"Each silo's own distance {shown.symbol} of the two groups furthest apart inside it, in "
            f"score points, from its own cells. {CHANCE}"
        )
    return f"{what} Silos can each be near parity while all together are not, and the other way round."


def reading_silos(result: AuditResult) -> str:
    """Return the sentences below a table of silos."""
    shown, whole = headline_of(result), symbol("G", result)
    alone = "the disparity inside the silo"
    if shown.in_points:
        alone = "score points between the two groups furthest apart inside the silo"
    return (
        f"{shown.symbol} alone: {alone}; influence: change in the overall disparity ({whole}) when "
        "this silo is included."
    )


def explain_influence(result: AuditResult) -> str:
    """Return what a silo's influence is."""
    return (
        f"Influence: change in the overall disparity ({symbol('G', result)}) when this silo is "
        "included. It may be negative, and a silo without a disparity of its own can have a large one."
    )


Rates: TypeAlias = ThresholdResult | TailResult
NO_RATES = (
    "There are no rates: name thresholds in the plan, or at the audit, to compare the shares of the "
    "groups on the favorable side."
)
_EXACT = 1e-11
"""Rates that the records leave open by less are known."""


def rates_heading(rates: Rates) -> str:
    """Return what the rates are shares of: ``Share with a score below 5``."""
    if isinstance(rates, ThresholdResult):
        side = {"above": "of at least", "below": "below"}[rates.favorable]
        return f"Share with a score {side} {stated(rates.score)}"
    name = "the median" if rates.level == 0.5 else f"the quantile of level {stated(rates.level)}"
    cutoff = Bounds(rates.cutoff.lower, rates.cutoff.upper)
    where = number(rates.cutoff.value) if cutoff.lower == cutoff.upper else span(cutoff)
    return f"Share above {name} of all records, {where}"


def reading_rates(rates: Rates, result: AuditResult) -> str:
    """Return the widest gap, the answer, what the intervals count, and to whom they apply."""
    gap, often = rates.widest_gap, percent(rates.confidence)
    sentences = (
        (
            f"Widest gap: {points(gap.value)} percentage points ({often} range "
            f"{points(gap.interval.lower)} to {points(gap.interval.upper)})."
        ),
        f"The smallest ratio to the highest rate {_answer(rates.answer)}.",
        _for_all(rates, result),
        "The ranges allow for sampling and summarizing.",
        _known(rates),
    )
    return " ".join(filter(None, sentences))


def _answer(four_fifths: FourFifths) -> str:
    """The answer inside a sentence."""
    if four_fifths == "undetermined":
        return "cannot be told from four fifths by this summary"
    return f"is {four_fifths}"


def _for_all(rates: Rates, result: AuditResult) -> str:
    return "" if is_complete(result) else f"{ALL}: it {_answer(rates.all)}."


def _known(rates: Rates) -> str:
    """How far the rates of the records themselves are known."""
    widest = max(each.rate.upper - each.rate.lower for each in rates.groups)
    known = "exactly" if widest <= _EXACT else f"up to {points(widest)} percentage points"
    return f"The rates of the records themselves are known {known}."
