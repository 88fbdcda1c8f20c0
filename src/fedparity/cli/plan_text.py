"""A plan in plain words, in 80 columns."""

from __future__ import annotations

from itertools import chain

from fedparity.documents.fields import group_words
from fedparity.documents.plan import Plan
from fedparity.documents.privacy_terms import PrivacyTerms
from fedparity.privacy.count_merging import run_minimum
from fedparity.text import counted, number, wrapped

__all__ = [
    "group_words",
    "named",
    "plan_text",
    "privacy_held_back",
    "privacy_sent",
]


def privacy_sent(plan: Plan, groups: str) -> list[str]:
    """Return what each silo sends in the plan's privacy mode."""
    terms = plan.privacy
    if terms is None:
        return []
    lowest, highest = (number(end) for end in plan.score_range)
    sentences = [
        (
            f"for each of the {len(plan.groups)} groups ({groups}): how many of its scores lie in "
            f"each of {counted(plan.grid.bins, 'bin')} from {lowest} to {highest}, {_how(terms)};"
        ),
        *_met(plan),
        *_left_out(terms),
        f"no record, no name, no other column{'' if terms.mode == 'secure' else ', no exact number'}.",
    ]
    if plan.keys:
        sentences.append(f"signed: {counted(len(plan.keys), 'silo')} with a public key.")
    return sentences


def privacy_held_back(plan: Plan) -> list[str]:
    """Return what the plan's privacy mode keeps from whom."""
    terms = plan.privacy
    if terms is None:
        return []
    sentences = []
    if terms.secure:
        from fedparity.cli.secure_commands import unprotected  # noqa: PLC0415 -- secure sums only

        sentences.append(
            f"its own histogram: the auditor sees sums over silos, opened by {terms.threshold} of "
            f"{counted(len(plan.silos or ()), 'silo')}. {unprotected(plan).rstrip('.')};"
        )
    if terms.epsilon is not None:
        sentences.append(
            f"single records: adding or removing one changes no outcome's probability by more "
            f"than a factor e^{number(terms.epsilon)} (epsilon = {number(terms.epsilon)});"
        )
        sentences.append(
            f"more than the budget of {number(terms.budget or terms.epsilon)} for all releases "
            "from the same data;"
        )
    if plan.disclosure.minimum_cell > 1 and not terms.secure:
        sentences.append(
            f"a group whose noisy count is below {counted(plan.disclosure.minimum_cell, 'record')};"
        )
    return [*sentences[:-1], sentences[-1][:-1] + "."]


def _met(plan: Plan) -> list[str]:
    if not plan.thresholds:
        return []
    scores = ", ".join(number(threshold) for threshold in plan.thresholds)
    return [f"no bin has scores on both sides of {scores} ({plan.favorable} is good);"]


def _left_out(terms: PrivacyTerms) -> list[str]:
    if terms.noisy:
        return []
    return ["how many rows it left out because they have no score, masked likewise;"]


def _how(terms: PrivacyTerms) -> str:
    if terms.mode == "dp":
        return "with noise added"
    masked = "masked so that only sums over silos can be read"
    if terms.dose == "split":
        return f"with a share of noise ({terms.honest} silos make one dose), {masked}"
    return f"with noise added, {masked}" if terms.noisy else masked


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
    groups = named([group_words(group) for group in plan.groups])
    most = len(plan.groups) * (_numbers_of(plan) + 1)
    sentences = [
        f"for each of the {len(plan.groups)} groups ({groups}): {_told(plan)};",
        *_threshold_words(plan),
        f"scores lie {_where(plan)}; at most {most:,} numbers in all;",
        *_period_words(plan),
        "how many rows it left out because they have no score, and the rules it applied;",
        "no record, no name, no other column.",
    ]
    if plan.keys:
        sentences.append(f"signed: {counted(len(plan.keys), 'silo')} with a public key.")
    return sentences


def _told(plan: Plan) -> str:
    """What a silo says of one group."""
    records = "how many records it has"
    match plan.sketch:
        case "counts":
            return (
                f"{records}, and how many at each of the {plan.most_values:,} scores there can be"
            )
        case "mean":
            values = counted(plan.levels, "number")
            return (
                f"{records}, and up to {values}, the means of its scores between quantiles, and the "
                "mean square of what these leave out"
            )
        case _:
            values = counted(plan.levels, "number")
            return f"{records}, and up to {values}, the quantiles of its scores"


def _numbers_of(plan: Plan) -> int:
    """How many numbers a silo says of one group besides its count."""
    own = {"counts": 2 * plan.most_values, "mean": plan.levels + 1}
    return own.get(plan.sketch, plan.levels) + len(plan.thresholds)


def _threshold_words(plan: Plan) -> list[str]:
    if not plan.thresholds:
        return []
    scores = named([number(threshold) for threshold in plan.thresholds])
    return [f"how many of its records lie at or above {scores} ({plan.favorable} is good);"]


def _period_words(plan: Plan) -> list[str]:
    if plan.period is None:
        return []
    return [f"of records from {plan.period[0]} to {plan.period[1]}, which the silo selects;"]


def _where(plan: Plan) -> str:
    lowest, highest = (number(end) for end in plan.score_range)
    between = f"between {lowest} and {highest}"
    return between if plan.score_step is None else f"{between}, in steps of {plan.score_step:g}"


def _held_back(plan: Plan) -> list[str]:
    if plan.privacy is not None:
        return privacy_held_back(plan)
    rules, sentences = plan.disclosure, []
    if rules.minimum_cell > 1:
        sentences.append(f"a group with fewer than {counted(rules.minimum_cell, 'record')};")
    if plan.sketch == "counts" and run_minimum(rules) > 1:
        sentences.append(
            f"counts of fewer than {counted(run_minimum(rules), 'record')}: neighbouring scores are "
            "counted together;"
        )
    elif rules.records_per_level and plan.sketch != "counts":
        sentences.append(
            f"values beyond one per {counted(rules.records_per_level, 'record')}, and those "
            "with fewer than 5 records in a tail;"
        )
    if plan.thresholds and rules.minimum_cell > 1:
        sentences.append(
            f"a threshold with fewer than {counted(rules.minimum_cell, 'record')} beside it;"
        )
    if plan.rounding:
        step = plan.rounding * (plan.score_range[1] - plan.score_range[0])
        sentences.append(f"digits: values are rounded to steps of {number(step)};")
    if plan.totals:
        sentences.append(
            "a second group where the public total of a silo would give away a withheld one;"
        )
    if not sentences:
        return ["nothing: every disclosure rule is off."]
    return [*sentences[:-1], sentences[-1][:-1] + "."]


def _sources(plan: Plan) -> str:
    """What is found of the sources of a disparity, which sums over silos do not tell."""
    if plan.privacy is None or not plan.privacy.secure:
        return "what it comes from, and what each silo would see alone"
    return "but neither what it comes from nor anything of a single silo"


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
        sentences.append(
            f"a verdict: below or above the review level, {_review_words(plan)}, or inconclusive;"
        )
    if plan.silos is None:
        sentences.append("from whichever silos answer: the plan has no roster.")
    else:
        count = counted(len(plan.silos), "silo")
        sentences.append(f"from {count} ({named(list(plan.silos))}); missing ones are reported.")
    return sentences
