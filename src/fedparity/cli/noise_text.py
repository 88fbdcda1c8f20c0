"""What leaves a silo under a plan with noise, in plain words, in 80 columns; for its operator."""

from __future__ import annotations

from typing import Any

from fedparity.cli.fitting import counted, number, wrapped
from fedparity.cli.plan_words import group_words, named
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.spending import Spending
from fedparity.protocol.labels import json_label
from fedparity.releasing.noisy import Preview

__all__ = ["preview_summary", "preview_text", "spending_words"]


def preview_text(
    shown: Preview, spending: Spending, ledger: Ledger | None, width: int = 80
) -> str:
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
        f"Cost: {spending_words(shown.silo, spending, ledger)}",
        (
            "The records were read and can be counted. No noise was drawn and nothing was "
            "spent: the numbers themselves are only seen when they are released."
        ),
    ]
    blocks = ["\n".join(wrapped(paragraph, width)) for paragraph in paragraphs]
    return "\n\n".join([*blocks, f"plan    {plan.digest}"])


def preview_summary(shown: Preview, spending: Spending, ledger: Ledger | None) -> dict[str, Any]:
    """Return the same as JSON holds it."""
    spent = 0.0 if ledger is None else ledger.spent(shown.silo, spending.dataset)
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
        "dataset": spending.dataset,
        "spent": spent,
    }


def spending_words(silo: str, spending: Spending, ledger: Ledger | None) -> str:
    """Return what a release costs, and what the silo has spent so far."""
    words = (
        f"epsilon = {number(spending.epsilon)} of the budget {number(spending.budget)} for the "
        f"data set “{spending.dataset}”"
    )
    if ledger is None:
        return f"{words}; no ledger is asked, so nobody adds up what is spent."
    spent, whole = ledger.spent(silo, spending.dataset), ledger.spent(silo)
    return (
        f"{words}, of which {number(spent)} is spent; on all data sets together this silo has "
        f"spent {number(whole)}."
    )
