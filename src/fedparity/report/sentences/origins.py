"""Why: selection or within silos, the paper's terms with their limits; and what to do next."""

from __future__ import annotations

from typing import Literal

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult, has_noise, headline_of, symbol
from fedparity.laws.bounds import Bounds
from fedparity.report.sentences.answers import comparable, has_direction, noise_could_explain
from fedparity.report.sentences.naming import is_summed, joined, short
from fedparity.text import counted, number, percent, share_of, span

__all__ = [
    "LIMITS_OF_TERMS",
    "SHARES",
    "explain_attribution",
    "explain_decomposition",
    "in_percent",
    "larger_part",
    "next_steps",
    "shares",
    "stand_ins",
    "terms",
    "what_dominates",
    "why",
]

SHARES = "This splits the number; it does not explain causes."
LIMITS_OF_TERMS = (
    "No term sees which silo is which across groups: rename the silos of one group only, and all "
    "of them stay the same. So none of them is selection, and none is disparity inside silos."
)
_REASONS = {
    "selection": "how the groups are spread over the silos",
    "within": "how the groups score inside silos",
}
_ONLY_SUMS = "only sums over silos were seen"


def larger_part(result: AuditResult) -> Literal["selection", "within"] | None:
    """Return the larger part of the attribution; ``None`` if there is nothing to attribute."""
    parts = result.attribution
    if parts.selection is None or parts.within is None or max(parts.selection, parts.within) <= 0:
        return None
    return "selection" if parts.selection >= parts.within else "within"


def _nothing(result: AuditResult) -> str:
    if result.attribution.selection is None:
        return (
            "How much of it is selection between silos, and how much lies within them, is not known: "
            f"{_ONLY_SUMS}."
        )
    return "There is nothing to attribute."


def _is_undecided(result: AuditResult) -> bool:
    """Whether the intervals of the two parts overlap."""
    first, second = result.attribution.intervals.selection, result.attribution.intervals.within
    if first is None or second is None:
        return False
    return first.lower <= second.upper and second.lower <= first.upper


def what_dominates(result: AuditResult) -> str:
    """Return which part is larger, whether the two oppose each other, and whether that is open."""
    larger, parts = larger_part(result), result.attribution
    if larger is None or parts.selection is None or parts.within is None:
        return _nothing(result)
    if len(result.silos_received) == 1:
        return "With one silo there is no selection between silos to see."
    words = f"most of it is {_REASONS[larger]}"
    if min(parts.selection, parts.within) < 0:
        words = f"the two oppose each other, and the larger is {_REASONS[larger]}"
    if parts.selection == parts.within:
        words = "the two parts are equal"
    elif _is_undecided(result):
        words += "; but their intervals overlap, so which is larger is not certain"
    return f"{words[0].upper()}{words[1:]}."


def why(result: AuditResult) -> str:
    """Return the two parts of the attribution, which is larger, and what they are not."""
    if larger_part(result) is None:
        return _nothing(result)
    sentences = [_parts(result), what_dominates(result)]
    if noise_could_explain(result):
        sentences.append("Chance alone could explain the whole, and so its parts.")
    return " ".join([*sentences, SHARES])


def _parts(result: AuditResult) -> str:
    parts = result.attribution
    selection, within = (_part(value, result) for value in (parts.selection, parts.within))
    often = percent(result.confidence)
    return (
        f"Of {symbol('G', result)}, {selection} is selection between silos"
        f"{_ends(f'{often} interval ', parts.intervals.selection)} and {within} lies within silos"
        f"{_ends('', parts.intervals.within)}."
    )


def _ends(before: str, interval: Bounds | None) -> str:
    return "" if interval is None else f" ({before}{span(interval)})"


def _part(value: float | None, result: AuditResult) -> str:
    whole = result.disparity.value
    if value is None:
        return "an unknown part"
    return number(value) if whole <= 0 else f"{number(value)} ({share_of(value, whole)})"


def shares(result: AuditResult) -> tuple[str, str] | None:
    """Return both parts in percent of the disparity; ``None`` where they are not known, or it is zero."""
    parts, whole = result.attribution, result.disparity.value
    if parts.selection is None or parts.within is None or whole <= 0:
        return None
    return share_of(parts.selection, whole), share_of(parts.within, whole)


def in_percent(result: AuditResult) -> str:
    """Return where the disparity comes from in one line: both parts in percent, and what they are not."""
    found, parts = shares(result), result.attribution
    if found is None or len(result.silos_received) == 1:
        return what_dominates(result)
    spread, inside = found
    offset = "; a negative part offsets the other" * (
        min(parts.selection or 0.0, parts.within or 0.0) < 0
    )
    return (
        f"{spread} of the disparity is how the groups are spread over the silos, {inside} how they "
        f"score inside silos{offset}. {SHARES}"
    )


def stand_ins(result: AuditResult) -> str:
    """Return where a silo's pooled law replaced a missing group; nothing if nowhere."""
    cells = len(result.attribution.stand_ins)
    if not cells:
        return ""
    return f"Where a silo lacks a group ({counted(cells, 'cell')}), its pooled law stands in."


def explain_attribution(result: AuditResult) -> str:
    """Return how selection and within are made, and how to read them."""
    sentences = (
        (
            "Two what-ifs are computed from the same sketches: every group spread over the silos as "
            "the whole population is (no selection), and every group with its silo's pooled law "
            "inside each silo (local parity)."
        ),
        (
            "Each part is the average of what its change takes away, made first or made last "
            f"(Shapley values), so the two add up to {symbol('G', result)}."
        ),
        "A negative part means that it offsets the other.",
        stand_ins(result),
        "Both describe the cells that were released. " + SHARES,
    )
    return " ".join(filter(None, sentences))


def terms(result: AuditResult) -> str:
    """Return the terms of the decomposition and the bounds that follow, in one sentence."""
    found, measure = result.decomposition, symbol("G", result)
    if found.v_mix is None or found.v_bar is None or found.lower is None or found.upper is None:
        return f"V_mix and V_bar are not known: {_ONLY_SUMS}."
    bounds = f"{number(found.lower)} ≤ {measure} ≤ {number(found.upper)}"
    mixing, central = number(found.v_mix), number(found.v_bar)
    if found.remainder is None:
        return f"V_mix {mixing}, V_bar {central}, so {bounds} (triangle inequality)."
    rest = number(found.remainder)
    return f"V_mix {mixing} + V_bar {central} + R {rest} = {measure}, so {bounds}."


def explain_decomposition(result: AuditResult) -> str:
    """Return what V_mix, V_bar and R are, and what they cannot show."""
    if result.decomposition.v_mix is None:
        return terms(result)
    meaning = (
        "V_mix is the mixture discrepancy: how far each group's mixture of silos is from its "
        "transport center. V_bar is the disparity of these centers, around the barycenter of the mixtures."
    )
    if result.plan.order == 1:
        last = (
            "For order 1 the two do not add up; the triangle inequality bounds "
            f"{symbol('G', result)} by their difference and their sum."
        )
    else:
        last = (
            "R is the interaction of the two; it may be negative, and is at most 2√(V_mix · V_bar) "
            "in size."
        )
    return f"{terms(result)} {meaning} {last} {LIMITS_OF_TERMS}"


_START_WITH = 2
"""Silos to start with; the table of silos has them all."""


def next_steps(result: AuditResult) -> tuple[str, ...]:
    """Return one or two sentences: where to start, and what the verdict calls for."""
    step = {"above": _above, "below": _below, "inconclusive": _inconclusive, "none": _no_level}
    sentences = (_ask_missing(result), step[result.disparity.verdict.answered](result))
    return tuple(filter(None, sentences))


def _ask_missing(result: AuditResult) -> str:
    missing = result.silos_missing
    if not missing:
        return ""
    changes = ", which could change the verdict" * (
        result.disparity.verdict.answered != result.disparity.verdict.all
    )
    return f"Ask {joined(missing, most=_START_WITH)} to answer{changes}."


def _above(result: AuditResult) -> str:
    worst = result.magnitudes.worst_pair
    start = "Review why the groups differ in spread."
    if has_direction(result) and worst.higher is not None:
        start = f"Review why {short(group_words(worst.higher))} scores higher."
    return f"{start} {_where_to_start(result)}"


def _where_to_start(result: AuditResult) -> str:
    """The silos to look at first, by what makes most of the number."""
    part = larger_part(result)
    if is_summed(result) or part is None:
        return "This audit saw only the sum of the silos: each has to look at its own scores."
    if part == "selection":
        influence = [
            (each.influence, each.silo) for each in result.attribution.silos if each.influence
        ]
        named = [silo for size, silo in sorted(influence, reverse=True)[:_START_WITH] if size > 0]
        words = "It is mostly how the groups are spread over the silos"
        return f"{words}: start with {joined(named)}." if named else f"{words}."
    shown = headline_of(result)
    alone = sorted(comparable(result), key=lambda silo: -(shown.of_silo(silo) or 0.0))
    named = [silo.silo for silo in alone[:_START_WITH]]
    words = "It is mostly how the groups score inside silos"
    return f"{words}: start with {joined(named)}." if named else f"{words}."


def _below(_: AuditResult) -> str:
    return (
        "Keep this result and measure again next period; errors and outcomes need a measure of "
        "their own."
    )


def _inconclusive(result: AuditResult) -> str:
    shown = headline_of(result)
    narrower = "More records, or more values per group and silo, make the range narrower"
    if shown.level is not None:
        if shown.found.interval.lower <= shown.level < shown.found.interval.upper:
            narrower = "More records make the range narrower"
        elif has_noise(result):
            narrower = "Less noise (a larger epsilon) or more records make the range narrower"
        else:
            narrower = "More values per group and silo make the range narrower"
    return f"{narrower}; fedparity plan size says how many are enough."


def _no_level(result: AuditResult) -> str:
    how = "with --review-level" if result.plan.simulated else "in the plan"
    return f"Agree on a review level in score points, and name it {how}."
