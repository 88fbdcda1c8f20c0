"""What leaves a silo under a plan with noise, in plain words, in 80 columns; for its operator."""

from __future__ import annotations

from typing import Any

from fedparity.cli.fitting import counted, number, wrapped
from fedparity.cli.plan_words import group_words, named
from fedparity.protocol.labels import json_label
from fedparity.releasing.noisy import Preview
from fedparity.releasing.permit import Permit

__all__ = ["preview_summary", "preview_text", "spending_words"]


def preview_text(shown: Preview, permit: Permit, width: int = 80) -> str:
    """Return what would leave, how noisy it would be, and what it would cost; no number of the data."""
    plan, terms = shown.plan, shown.guarantee
    groups = named([group_words(group) for group in plan.groups])
    paragraphs = [
        f"{shown.silo}: what would leave under “{plan.title}”",
        (
            f"For each of the {len(plan.groups)} groups ({groups}), whether it has records or not: "
            f"{counted(plan.grid.bins, 'whole number')}, the numbers of its records in the bins of "
            "the plan, each with noise of its own."
        ),
        (
            f"Noise: {terms['mechanism']} of scale {number(terms['scale'], 6)} by {terms['library']}. "
            f"A bin is off by {number(shown.deviation)} on average (standard deviation), the count "
            f"of a group by {number(shown.count_deviation)}."
        ),
        (
            f"A group whose noisy count is below {plan.disclosure.minimum_cell} is withheld."
            if plan.disclosure.minimum_cell > 1
            else "No group is withheld."
        ),
        f"Cost: {spending_words(permit)}",
        (
            "The records were read and can be counted. No noise was drawn and nothing was "
            "spent: the numbers themselves are only seen when they are released."
        ),
    ]
    blocks = ["\n".join(wrapped(paragraph, width)) for paragraph in paragraphs]
    return "\n\n".join([*blocks, f"plan    {plan.digest}"])


def preview_summary(shown: Preview, permit: Permit) -> dict[str, Any]:
    """Return the same as JSON holds it."""
    return {
        "silo": shown.silo,
        "plan": shown.plan.digest,
        "kind": "histogram",
        "cells": [
            {"group": json_label(group), "levels": shown.plan.grid.bins}
            for group in shown.plan.groups
        ],
        "guarantee": dict(shown.guarantee),
        "noise_deviation": shown.deviation,
        "count_deviation": shown.count_deviation,
        "dataset": permit.dataset,
        "spent": permit.spent,
    }


def spending_words(permit: Permit) -> str:
    """Return what a release costs, and what the same records have cost so far."""
    terms = permit.plan.privacy
    epsilon = 0.0 if terms is None else terms.epsilon or 0.0
    budget = epsilon if terms is None else terms.budget or epsilon
    words = f"epsilon = {number(epsilon)}; the plan's budget for {permit.dataset_words} is {number(budget)}"
    if permit.ledger is None:
        return f"{words}. No ledger is asked, so nobody adds up what is spent."
    return f"{words}. So far {number(permit.spent)} is spent, by the ledger of this silo."
