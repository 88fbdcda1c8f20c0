"""What a plan's privacy mode asks for, in plain words."""

from __future__ import annotations

from fedparity.cli.fitting import counted, number
from fedparity.cli.secure_mask_text import unprotected
from fedparity.protocol.plan import Plan
from fedparity.protocol.privacy_terms import PrivacyTerms

__all__ = ["privacy_held_back", "privacy_sent"]


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
