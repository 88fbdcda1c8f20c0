"""What to do next: it depends on the verdict, on what is missing, and on where the number comes from."""

from __future__ import annotations

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.plots.headline import has_noise, headline_of
from fedparity.report.sentences.answers import comparable, has_direction
from fedparity.report.sentences.naming import is_summed, joined, short
from fedparity.report.sentences.origins import larger_part

__all__ = ["next_steps"]

_NAMED = 2
"""Silos to start with; the table of silos has them all."""


def next_steps(result: AuditResult) -> tuple[str, ...]:
    """Return one or two sentences: whom to ask first, and what the verdict calls for."""
    step = {"above": _above, "below": _below, "inconclusive": _inconclusive, "none": _none}
    sentences = (_missing(result), step[result.disparity.verdict.answered](result))
    return tuple(filter(None, sentences))


def _missing(result: AuditResult) -> str:
    missing = result.silos_missing
    if not missing:
        return ""
    changes = ", which could change the verdict" * (
        result.disparity.verdict.answered != result.disparity.verdict.all
    )
    return f"Ask {joined(missing, most=_NAMED)} to answer{changes}."


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
        named = [silo for size, silo in sorted(influence, reverse=True)[:_NAMED] if size > 0]
        words = "It is mostly how the groups are spread over the silos"
        return f"{words}: start with {joined(named)}." if named else f"{words}."
    shown = headline_of(result)
    alone = sorted(comparable(result), key=lambda silo: -(shown.of_silo(silo) or 0.0))
    named = [silo.silo for silo in alone[:_NAMED]]
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


def _none(result: AuditResult) -> str:
    how = "with --review-level" if result.plan.simulated else "in the plan"
    return f"Agree on a review level in score points, and name it {how}."
