"""A plan in plain words, in 80 columns."""

from __future__ import annotations

from itertools import chain

from fedparity.cli.output import named
from fedparity.documents.fields import group_words
from fedparity.documents.plan import Plan
from fedparity.documents.privacy_terms import PrivacyTerms
from fedparity.modes.secure.round_checks import colluders_of, secure_terms
from fedparity.privacy.count_merging import run_minimum
from fedparity.text import counted, number, wrapped

__all__ = ["plan_text", "unprotected"]


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


def _sent(plan: Plan) -> list[str]:
    groups = named([group_words(group) for group in plan.groups])
    if plan.privacy is not None:
        sentences = _privacy_sent(plan, plan.privacy, groups)
    else:
        sentences = _sketch_sent(plan, groups)
    if plan.keys:
        sentences.append(f"signed: {counted(len(plan.keys), 'silo')} with a public key.")
    return sentences


def _sketch_sent(plan: Plan, groups: str) -> list[str]:
    match plan.sketch:
        case "counts":
            values, numbers = (
                f"how many at each of the {plan.most_values:,} scores there can be",
                2 * plan.most_values,
            )
        case "mean":
            values, numbers = (
                (
                    f"up to {counted(plan.levels, 'number')}, the means of its scores between quantiles, "
                    "and the mean square of what these leave out"
                ),
                plan.levels + 1,
            )
        case _:
            values, numbers = (
                f"up to {counted(plan.levels, 'number')}, the quantiles of its scores",
                plan.levels,
            )
    sentences = [
        f"for each of the {len(plan.groups)} groups ({groups}): how many records it has, and {values};"
    ]
    if plan.thresholds:
        scores = named([number(threshold) for threshold in plan.thresholds])
        sentences.append(
            f"how many of its records lie at or above {scores} ({plan.favorable} is good);"
        )
    lowest, highest = (number(end) for end in plan.score_range)
    step = "" if plan.score_step is None else f", in steps of {plan.score_step:g}"
    most = len(plan.groups) * (numbers + len(plan.thresholds) + 1)
    sentences.append(
        f"scores lie between {lowest} and {highest}{step}; at most {most:,} numbers in all;"
    )
    if plan.period is not None:
        sentences.append(
            f"of records from {plan.period[0]} to {plan.period[1]}, which the silo selects;"
        )
    return [
        *sentences,
        "how many rows it left out because they have no score, and the rules it applied;",
        "no record, no name, no other column.",
    ]


def _held_back(plan: Plan) -> list[str]:
    if plan.privacy is not None:
        sentences = _privacy_held_back(plan, plan.privacy)
    else:
        sentences = _sketch_held_back(plan)
    return [*sentences[:-1], sentences[-1][:-1] + "."]


def _sketch_held_back(plan: Plan) -> list[str]:
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
    return sentences or ["nothing: every disclosure rule is off."]


def _privacy_sent(plan: Plan, terms: PrivacyTerms, groups: str) -> list[str]:
    """What each silo sends in the plan's privacy mode."""
    lowest, highest = (number(end) for end in plan.score_range)
    sentences = [
        (
            f"for each of the {len(plan.groups)} groups ({groups}): how many of its scores lie in "
            f"each of {counted(plan.grid.bins, 'bin')} from {lowest} to {highest}, "
            f"{_protection(terms)};"
        )
    ]
    if plan.thresholds:
        scores = ", ".join(number(threshold) for threshold in plan.thresholds)
        sentences.append(
            f"no bin has scores on both sides of {scores} ({plan.favorable} is good);"
        )
    if not terms.noisy:
        sentences.append("how many rows it left out because they have no score, masked likewise;")
    exact = "" if terms.mode == "secure" else ", no exact number"
    return [*sentences, f"no record, no name, no other column{exact}."]


def _protection(terms: PrivacyTerms) -> str:
    if terms.mode == "dp":
        return "with noise added"
    masked = "masked so that only sums over silos can be read"
    if terms.dose == "split":
        return f"with a share of noise ({terms.honest} silos make one dose), {masked}"
    return f"with noise added, {masked}" if terms.noisy else masked


def _privacy_held_back(plan: Plan, terms: PrivacyTerms) -> list[str]:
    """What the plan's privacy mode keeps from whom."""
    sentences = []
    if terms.secure:
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
    return sentences


def unprotected(plan: Plan) -> str:
    """Return who could see more than the sum."""
    terms, opening = secure_terms(plan), colluders_of(plan)
    own = "own numbers, with their noise" if terms.dose == "full" else "own numbers"
    words = (
        f"Not protected: {opening} or more of the other silos together with the auditor could see "
        f"this silo's {own}; fewer of them, the sum of the silos that do not join in."
    )
    if plan.keys:
        return words
    return (
        f"{words} The plan has no [keys]: whoever carries the messages could put keys in between and "
        f"see this silo's {own}, without any other silo."
    )


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
    if plan.privacy is None or not plan.privacy.secure:
        more = "what it comes from, and what each silo would see alone"
    else:
        more = "but neither what it comes from nor anything of a single silo"
    how = {"grid": "Algorithm 1 on the grid of levels", "exact": "exact integration"}
    if plan.privacy is not None:
        how = dict.fromkeys(how, "from histograms of public bins")
    sentences = [
        (
            f"the disparity G{order} of all silos together ({how[plan.estimator]}), its interval, "
            f"{more};"
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
