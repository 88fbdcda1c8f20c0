"""A plan in plain words, in 80 columns."""

from __future__ import annotations

from itertools import chain

from fedparity.documents.plan import Plan
from fedparity.modes.mode import Description, mode_of
from fedparity.text import counted, named, number, wrapped

__all__ = ["plan_text"]


def plan_text(plan: Plan, width: int = 80) -> str:
    """Return what the plan asks of each silo and of the auditor, as text."""
    described = mode_of(plan).describe()
    held_back = described.held_back
    sent = described.sent
    if plan.keys:
        sent = [*sent, f"signed: {counted(len(plan.keys), 'silo')} with a public key."]
    sections = {
        "Each silo will send": sent,
        "It will hold back": [*held_back[:-1], held_back[-1][:-1] + "."],
        "The auditor will compute": _computed(plan, described),
    }
    lines = wrapped(plan.title, width)
    for heading, sentences in sections.items():
        lines += ["", heading]
        lines += chain.from_iterable(wrapped(each, width, first="  - ") for each in sentences)
    return "\n".join([*lines, "", "Digest, which every message carries", f"  {plan.digest}"])


def _review_words(plan: Plan) -> str:
    """The review level with its unit."""
    level = number(plan.review_level or 0.0)
    if plan.review_unit == "squared":
        return f"a disparity G of {level}"
    unit = {
        "points": "score points",
        "share": "of the score range",
        "sd": "standard deviations of the score",
    }[plan.review_unit]
    return f"{level} {unit} between the two groups farthest apart"


def _computed(plan: Plan, described: Description) -> list[str]:
    order = "₁₂"[plan.order - 1]
    sentences = [
        (
            f"the disparity G{order} of all silos together ({described.estimator}), its interval, "
            f"{described.sources};"
        )
    ]
    if plan.trim:
        sentences.append(f"without a share of {number(plan.trim)} of the levels at each end;")
    if plan.review_level is None:
        sentences.append("no verdict: the plan names no review level;")
    else:
        sentences.append(
            f"a verdict: below or above the review level, {_review_words(plan)}, or inconclusive;"
        )
    if plan.silos is None:
        sentences.append("from whichever silos answer: the plan has no roster.")
    else:
        count = counted(len(plan.silos), "silo")
        sentences.append(f"from {count} ({named(list(plan.silos))}); missing ones are reported.")
    return sentences
