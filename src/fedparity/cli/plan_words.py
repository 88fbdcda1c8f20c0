"""A plan in plain words, in 80 columns."""

from __future__ import annotations

from itertools import chain

from fedparity.cli.fitting import counted, number, wrapped
from fedparity.cli.privacy_words import privacy_held_back, privacy_sent
from fedparity.protocol.labels import group_words
from fedparity.protocol.plan import Plan

__all__ = ["group_words", "named", "plan_text"]

_NAMED = 8
"""Groups and silos that are named; of more, the rest is counted."""


def plan_text(plan: Plan, width: int = 80) -> str:
    """Return what the plan asks of each silo and of the auditor, as text."""
    sections = {
        "Each silo will send": _sent(plan),
        "It will hold back": _held_back(plan),
        "The auditor will compute": _computed(plan),
    }
    lines = wrapped(plan.title, width)
    for heading, sentences in sections.items():
        lines += ["", heading]
        lines += chain.from_iterable(wrapped(each, width, first="  - ") for each in sentences)
    return "\n".join([*lines, "", "Digest, which every message carries", f"  {plan.digest}"])


def named(names: list[str]) -> str:
    """Return names separated by commas, cut after a few."""
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED:,} more"


def _sent(plan: Plan) -> list[str]:
    if plan.privacy is not None:
        return privacy_sent(plan, named([group_words(group) for group in plan.groups]))
    values = {
        "quantile": "quantiles of its scores",
        "mean": "means of its scores between quantiles",
    }[plan.sketch]
    groups = named([group_words(group) for group in plan.groups])
    most = len(plan.groups) * (plan.levels + 1)
    lowest, highest = (number(end) for end in plan.score_range)
    sentences = [
        (
            f"for each of the {len(plan.groups)} groups ({groups}): how many records it has, and up "
            f"to {counted(plan.levels, 'number')}, the {values};"
        ),
        f"scores lie between {lowest} and {highest}; at most {most:,} numbers in all;",
        "how many rows it left out because they have no score, and the rules it applied;",
        "no record, no name, no other column.",
    ]
    if plan.keys:
        sentences.append(f"signed: {counted(len(plan.keys), 'silo')} with a public key.")
    return sentences


def _held_back(plan: Plan) -> list[str]:
    if plan.privacy is not None:
        return privacy_held_back(plan)
    rules, sentences = plan.disclosure, []
    if rules.minimum_cell > 1:
        sentences.append(f"a group with fewer than {counted(rules.minimum_cell, 'record')};")
    if rules.records_per_level:
        sentences.append(
            f"values beyond one per {counted(rules.records_per_level, 'record')}, and those "
            "with fewer than 5 records in a tail;"
        )
    if rules.rounding:
        step = rules.rounding * (plan.score_range[1] - plan.score_range[0])
        sentences.append(f"digits: values are rounded to steps of {number(step)};")
    if plan.totals:
        sentences.append(
            "a second group where the public total of a silo would give away a withheld one;"
        )
    if not sentences:
        return ["nothing: every disclosure rule is off."]
    return [*sentences[:-1], sentences[-1][:-1] + "."]


def _sources(plan: Plan) -> str:
    """What is found of the sources of a disparity, which a secure sum may not tell."""
    if plan.privacy is None or not plan.privacy.secure:
        return "what it comes from, and what each silo would see alone"
    if plan.privacy.dose == "split":
        return "but neither what it comes from nor anything of a single silo"
    terms = "" if plan.order == 2 else " (without V_mix and V_bar)"
    return f"what it comes from{terms}, but nothing of a single silo"


def _computed(plan: Plan) -> list[str]:
    order = "₁₂"[plan.order - 1]
    how = {"grid": "Algorithm 1 on the grid of levels", "exact": "exact integration"}
    if plan.privacy is not None:
        how = dict.fromkeys(how, "from histograms of public bins")
    sentences = [
        (
            f"the disparity G{order} of all silos together ({how[plan.estimator]}), its interval, "
            f"{_sources(plan)};"
        )
    ]
    if plan.trim:
        sentences.append(f"without a share of {number(plan.trim)} of the levels at each end;")
    if plan.review_level is None:
        sentences.append("no verdict: the plan names no review level;")
    else:
        level = number(plan.review_level)
        sentences.append(f"a verdict: below or above the review level {level}, or inconclusive;")
    if plan.silos is None:
        sentences.append("from whichever silos answer: the plan has no roster.")
    else:
        count = counted(len(plan.silos), "silo")
        sentences.append(f"from {count} ({named(list(plan.silos))}); missing ones are reported.")
    return sentences
