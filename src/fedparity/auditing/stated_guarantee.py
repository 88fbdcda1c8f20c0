"""What a result says of the protection: mode, terms, what the auditor saw, and what it leaves open."""

from __future__ import annotations

from typing import Any

from fedparity.protocol.plan import Plan
from fedparity.protocol.privacy_terms import PrivacyTerms
from fedparity.protocol.secure.checks import colluders_of

__all__ = ["stated_guarantee"]

_SEEN = {
    "dp": "a noisy histogram of each group in each silo",
    "secure": "numbers of records, added up over the silos",
    "secure+dp": "noisy numbers of records, added up over the silos",
}
_NOISE_LIMITS = (
    "changing a record, or its group, costs 2 epsilon; c records of one person cost c epsilon; "
    "a person in m silos loses up to m epsilon; other releases from the same records add up"
)
_SUM_LIMITS = (
    "an auditor together with {opening} of {silos} silos could see a silo's own {numbers}, with fewer "
    "of them the sum of the others; whatever the sum itself reveals; a second sum without a silo "
    "reveals that silo"
)
_UNSIGNED = (
    "nobody signed, so that whoever carried the messages could put keys in between and read a silo's "
    "own numbers"
)
_INPUT_LIMIT = "a silo that does not follow the plan is not found out"


def stated_guarantee(plan: Plan) -> dict[str, Any]:
    """Return the terms of a plan as a result states them; in a privacy mode with ``seen`` and ``limits``.

    Examples
    --------
    >>> plan = Plan(
    ...     title="Q4",
    ...     groups=("A", "B"),
    ...     score_range=(0, 1),
    ...     privacy={"mode": "dp", "epsilon": 1},
    ... )
    >>> stated_guarantee(plan)["seen"]
    'a noisy histogram of each group in each silo'
    """
    terms = plan.privacy
    if terms is None:
        return plan.guarantee
    return {**plan.guarantee, "seen": _SEEN[terms.mode], "limits": _limits(plan, terms)}


def _limits(plan: Plan, terms: PrivacyTerms) -> str:
    sentences = []
    if terms.noisy:
        sentences.append(_NOISE_LIMITS)
    if terms.secure:
        numbers = "noisy numbers" if terms.noisy else "numbers"
        silos = len(plan.silos or ())
        sentences.append(
            _SUM_LIMITS.format(opening=colluders_of(plan), silos=silos, numbers=numbers)
        )
        sentences += [] if plan.keys else [_UNSIGNED]
    if terms.dose == "split":
        sentences.append(f"epsilon holds if {terms.honest} silos of the sum add their noise")
    return "; ".join([*sentences, _INPUT_LIMIT])
