"""What a secure sum guarantees, in words: what was seen, and what it does not protect against."""

from __future__ import annotations

from typing import Any

from fedparity.auditing.secure.measuring import Measured
from fedparity.auditing.secure.opening import SecureSum
from fedparity.auditing.stated_guarantee import stated_guarantee
from fedparity.diagnostics.warning import AuditWarning, WarningCode
from fedparity.errors.base import listed
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import roster_of, secure_terms

__all__ = ["guarantee", "sum_warnings"]


def guarantee(plan: Plan, opened: SecureSum) -> dict[str, Any]:
    """Return the terms of the plan, what the auditor saw, and the limits of the protection."""
    stated = stated_guarantee(plan)
    kind = "noisy sums" if secure_terms(plan).noisy else "sums"
    silos = f"{len(opened.survivors)} of {len(roster_of(plan))} silos"
    limits = stated["limits"]
    if not plan.keys:
        limits += "; whoever carried the messages could replace keys, as nobody signed them"
    return {
        **stated,
        "seen": f"{kind} over {silos}; nothing of a single silo",
        "signed": bool(plan.keys),
        "limits": limits,
    }


def sum_warnings(plan: Plan, opened: SecureSum, measured: Measured) -> tuple[AuditWarning, ...]:
    """Return a sentence for each thing that is missing, or could not be seen."""
    sentences: dict[WarningCode, str] = {
        "silos_dropped_out": _dropped_out(plan, opened),
        "lacking_groups": _lacking(plan, measured),
        "rows_dropped": _rows(measured),
        "not_summed": _not_summed(measured),
        "silos_not_seen": (
            "the silos were not seen one by one: intervals are those of one sample of all of them."
        ),
        "unsigned": _unsigned(plan),
    }
    return tuple(AuditWarning(code=code, text=text) for code, text in sentences.items() if text)


def _dropped_out(plan: Plan, opened: SecureSum) -> str:
    if not opened.dropped:
        return ""
    named = listed(opened.dropped)
    return f"{len(opened.dropped):,} of {len(roster_of(plan)):,} silos dropped out: {named}."


def _lacking(plan: Plan, measured: Measured) -> str:
    lacking = {
        group: number
        for group, number in zip(plan.groups, measured.summed.lacking, strict=False)
        if number
    }
    if not lacking:
        return ""
    words = ", ".join(f"{number:,} without {group!r}" for group, number in lacking.items())
    return (
        f"some silos lack a group ({words}): their pooled law stood in for it in the attribution."
    )


def _rows(measured: Measured) -> str:
    rows = measured.summed.dropped
    return f"{rows:,} rows without a score were dropped: no bound counts them." if rows else ""


def _not_summed(measured: Measured) -> str:
    if measured.attribution is None:
        return (
            "with a split dose of noise only histograms are summed: the decomposition and the "
            "attribution are not known."
        )
    if measured.decomposition is None:
        return "for order 1 no sum gives the transport centers: the decomposition is not known."
    return ""


def _unsigned(plan: Plan) -> str:
    if plan.keys:
        return ""
    return (
        "the plan has no [keys], so nobody signed: whoever carried the messages could have replaced "
        "keys and read a silo's numbers."
    )
