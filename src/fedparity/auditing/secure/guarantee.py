"""What a secure sum guarantees, in words: what was seen, and what it does not protect against."""

from __future__ import annotations

from typing import Any

from fedparity.auditing.secure.measuring import Measured
from fedparity.auditing.secure.opening import SecureSum
from fedparity.auditing.stated_guarantee import stated_guarantee
from fedparity.diagnostics.warning import AuditWarning, WarningCode
from fedparity.errors.base import listed
from fedparity.protocol.labels import group_words
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import roster_of, secure_terms

__all__ = ["guarantee", "sum_warnings"]

ONLY_SUMS = (
    "only sums over silos are known: not what the disparity comes from, nor anything of a single "
    "silo; intervals are those of one sample of all of them."
)


def guarantee(plan: Plan, opened: SecureSum) -> dict[str, Any]:
    """Return the terms of the plan, what the auditor saw, and the limits of the protection."""
    silos = f"{len(opened.survivors)} of {len(roster_of(plan))} silos"
    kind = "noisy numbers" if secure_terms(plan).noisy else "numbers"
    return {
        **stated_guarantee(plan),
        "seen": f"{kind} of records by group and bin, added up over {silos}",
        "signed": bool(plan.keys),
    }


def sum_warnings(plan: Plan, opened: SecureSum, measured: Measured) -> tuple[AuditWarning, ...]:
    """Return a sentence for each thing that is missing, or could not be seen."""
    sentences: dict[WarningCode, str] = {
        "silos_dropped_out": _dropped_out(plan, opened),
        "rows_dropped": _rows(measured),
        "only_sums": ONLY_SUMS,
        "unsigned": _unsigned(plan),
    }
    return (
        *(
            AuditWarning(
                code="group_set_aside",
                text=f"group {group_words(each.group)} was set aside: {each.known}.",
            )
            for each in measured.summed.aside
        ),
        *(AuditWarning(code=code, text=text) for code, text in sentences.items() if text),
    )


def _dropped_out(plan: Plan, opened: SecureSum) -> str:
    if not opened.dropped:
        return ""
    named = listed(opened.dropped)
    return f"{len(opened.dropped):,} of {len(roster_of(plan)):,} silos dropped out: {named}."


def _rows(measured: Measured) -> str:
    rows = measured.summed.dropped
    return f"{rows:,} rows without a score were dropped: no bound counts them." if rows else ""


def _unsigned(plan: Plan) -> str:
    if plan.keys:
        return ""
    return (
        "the plan has no [keys], so nobody signed: whoever carried the messages could have put keys in "
        "between and read a silo's own numbers."
    )
