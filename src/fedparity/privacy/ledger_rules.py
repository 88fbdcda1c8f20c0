"""What the ledger refuses: a second view of the same records, and more noise than the budget allows.

Two releases of the same records reveal by their difference what neither shows. So the first release of
a data set is the only one, unless the operator gives a reason; and the losses of releases with noise add
up, whatever the titles of their plans (sequential composition).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from fedparity.errors import BudgetError, LedgerError, RuleError
from fedparity.errors.base import listed
from fedparity.privacy.ledger_entries import Entry, View
from fedparity.privacy.policy import Policy

__all__ = ["allowed", "check_approvals", "earlier", "replaced", "revealed_together", "spent"]

_ROUNDING = 1e-9
"""Ten releases at 0.1 are within a budget of 1."""
_YEAR = 365


def allowed(entries: Sequence[Entry], new: Entry, policy: Policy, path: object) -> bool:
    """Return whether a release is new; False if the very same one is on record and not voided.

    Where ``new.release`` is empty, the answer is the one that an early look can give: before
    noise is drawn and, without noise, before the records are read.

    Raises
    ------
    LedgerError
        If another release under this plan is on record; or one of the same records under another
        plan, and no reason is given; or one on another grid.
    BudgetError
        If it costs more than is left for the data set.
    """
    if _same_plan(entries, new, path):
        return False
    before = earlier(entries, new)
    own = (new.plan, new.silo)
    others = [entry for entry in before if (entry.plan, entry.silo) != own]
    if others:
        _check_grid(others, new, policy)
        _check_reason(others, new)
    if new.epsilon is not None:
        _check_budget(entries, before, new, policy, path)
    return True


def earlier(entries: Iterable[Entry], new: Entry) -> list[Entry]:
    """Return the releases of the same records and an overlapping period, voided ones too."""
    return [
        entry
        for entry in entries
        if entry.entry == "release" and _same_records(entry, new) and _overlap(entry, new)
    ]


def spent(entries: Iterable[Entry], new: Entry) -> float:
    """Return what all releases from the same records have cost together, voided ones too."""
    return math.fsum(entry.epsilon or 0.0 for entry in earlier(entries, new))


def check_approvals(entries: Iterable[Entry], plan: str, policy: Policy) -> None:
    """Raise unless the number of people that the policy requires have approved a plan.

    Raises
    ------
    RuleError
        Then.
    """
    if not policy.needed:
        return
    found = {
        entry.by
        for entry in entries
        if entry.entry == "approval" and entry.plan == plan and entry.by in policy.people
    }
    if len(found) < policy.needed:
        missing = [name for name in policy.people if name not in found]
        raise RuleError(
            f"{policy.name} asks for the approval of {policy.needed} of its people, and "
            f"{len(found)} approved plan {plan}.",
            fix=f"let {' or '.join(missing)} run fedparity approve PLAN --by NAME --because TEXT.",
        )


def revealed_together(old: View, new: View) -> list[str]:
    """Return what two releases of the same records disclose that neither discloses alone, one clause each.

    Examples
    --------
    >>> old = {"mode": "none", "groups": ["A", "B"], "thresholds": [], "levels": 5, "sketch": "mean"}
    >>> new = old | {"groups": [["A", "old"], ["A", "young"], ["B", "old"], ["B", "young"]]}
    >>> revealed_together(old, new)[0]
    "the groups are nested: the count and the scores of one part of 'A', withheld or not, are those of 'A' less the other parts"
    """
    if (old["mode"] in ("none", "secure")) != (new["mode"] in ("none", "secure")):
        return ["the release without noise tells exactly what the noise of the other hides"]
    found = []
    if old["mode"].startswith("secure") and new["mode"].startswith("secure"):
        found.append("the data of a silo that only one of the two sums has, by their difference")
    nested = _nested(old["groups"], new["groups"])
    if nested is not None:
        found.append(
            "the groups are nested: the count and the scores of one part of "
            f"{nested!r}, withheld or not, are those of {nested!r} less the other parts"
        )
    elif old["groups"] != new["groups"]:
        found.append("groups that overlap give the counts of their differences by subtraction")
    if old.get("axes") != new.get("axes"):
        found.append(
            "tables by other axes of the same people give the counts of withheld intersections by "
            "subtraction"
        )
    if old.get("outcome") != new.get("outcome"):
        found.append("the outcomes of one release and the counts of the other, by subtraction")
    if old["thresholds"] != new["thresholds"]:
        between = sorted({*old["thresholds"], *new["thresholds"]})
        scores = ", ".join(f"{score:g}" for score in between)
        found.append(f"the thresholds {scores} together give the counts between them")
    if (old["sketch"], old["levels"]) != (new["sketch"], new["levels"]):
        found.append("the scores at the ranks of both, and means of what lies between them")
    found.append("a record that was added or removed in between, by the difference of the two")
    return found


def replaced(entries: Sequence[Entry], new: Entry) -> str | None:
    """Return the voided message that a new one of the same plan and silo replaces, or None."""
    made, standing = _under_plan(entries, new)
    return made[-1].message if made and not standing else None


def _under_plan(entries: Sequence[Entry], new: Entry) -> tuple[list[Entry], list[Entry]]:
    """The releases of a silo under one plan, and those of them that were not voided.

    A masked vector stays whatever is said of it: two sums with and without it differ by it.
    """
    made = [
        entry
        for entry in entries
        if entry.silo == new.silo and entry.plan == new.plan and entry.entry == "release"
    ]
    if not made or (new.view is not None and new.view["mode"].startswith("secure")):
        return made, made
    voided = {entry.release for entry in entries if entry.entry == "void"}
    return made, [entry for entry in made if entry.release not in voided]


def _same_plan(entries: Sequence[Entry], new: Entry, path: object) -> bool:
    """Whether the release is on record; raise if another one is under this plan."""
    standing = _under_plan(entries, new)[1]
    if not standing:
        if new.release and new.replaces != replaced(entries, new):
            raise LedgerError(
                f"the last release of silo {new.silo!r} under plan {new.plan} was voided meanwhile.",
                fix="run the command again: the new message has to name the one that it replaces.",
            )
        return False
    last = standing[-1]
    early = not new.release
    if last.release == new.release or (early and not last.noisy and new.view["mode"] == "none"):  # type: ignore[index]
        return True
    where = "handed to the program that asked for it" if last.file is None else last.file
    fix = f"send that message again; it was written to {where}."
    if last.file is None:
        fix = "send that message again, from wherever the program that asked for it keeps it."
    if new.view is not None and new.view["mode"] in ("none", "dp"):
        fix += (
            " If it is wrong, run fedparity ledger void "
            f"{(last.message or '')[:19]} --because TEXT, and make a new one: the auditor is told."
        )
    raise LedgerError(
        f"silo {new.silo!r} already made another release under plan {new.plan} on {last.time}; "
        "the difference of two releases can reveal a single record.",
        fix=f"{fix} The ledger is {path}.",
    )


def _same_records(entry: Entry, new: Entry) -> bool:
    if entry.table is not None and entry.table == new.table:
        return True
    if entry.dataset is None or new.dataset is None:  # all tables of a silo
        return entry.silo == new.silo
    return entry.dataset == new.dataset


def _overlap(entry: Entry, new: Entry) -> bool:
    """Whether two releases may be of the same time: a period counts where the silo confirms it."""
    if not (entry.in_period and new.in_period and entry.view and new.view):
        return True
    if entry.view["period"] is None or new.view["period"] is None:
        return True
    (first, last), (begin, end) = entry.view["period"], new.view["period"]
    return bool(first <= end and begin <= last)  # ISO dates sort as texts


def _check_grid(others: Sequence[Entry], new: Entry, policy: Policy) -> None:
    if new.noisy or policy.other_grids:
        return
    for entry in others:
        if not entry.noisy and entry.view and new.view and entry.view["grid"] != new.view["grid"]:
            raise LedgerError(
                f"these records were released on {entry.time} on another grid of scores (range, step, "
                "rounding or bins); two grids together undo the rounding of each.",
                fix="ask for a plan with the score_range, score_step, rounding and bins of “"
                f"{entry.view['title']}”; only a policy with other_grids = true allows another one.",
            )


def _check_reason(others: Sequence[Entry], new: Entry) -> None:
    if new.because:
        return
    last = others[-1]
    views = [entry.view for entry in others if entry.view is not None]
    clauses = dict.fromkeys(
        clause for view in views for clause in revealed_together(view, new.view or {})
    )
    titles = listed([f"{view['title']}" for view in views], most=3)
    unconfirmed = new.view is not None and new.view["period"] is not None and not new.in_period
    hint = (
        " The plan's period counts only if you confirm with --in-period that the rows are limited "
        "to it."
        if unconfirmed
        else ""
    )
    raise LedgerError(
        f"{len(others)} release{'' if len(others) == 1 else 's'} of the same records left before, "
        f"under {titles}, the last on {last.time}. Together with this one they tell: "
        f"{'; '.join(clauses)}.",
        fix="send nothing; or, if that is acceptable, say why with --again-because TEXT "
        f"(again_because= in Python), which the ledger keeps.{hint}",
    )


def _check_budget(
    entries: Sequence[Entry], before: Sequence[Entry], new: Entry, policy: Policy, path: object
) -> None:
    epsilon = new.epsilon or 0.0
    used = math.fsum(entry.epsilon or 0.0 for entry in before)
    # The smallest budget that any plan stated: a later plan cannot make it larger.
    budget = min([entry.budget for entry in before if entry.budget], default=math.inf)
    budget = min(budget, new.budget or epsilon)
    if used + epsilon > budget * (1 + _ROUNDING):
        raise BudgetError(
            f"these records have cost epsilon = {used:g}; this release would cost {epsilon:g} "
            f"more, beyond {budget:g}, the smallest budget that a plan has stated for them.",
            fix="send the file of the first release again, or agree on a smaller epsilon; the "
            f"releases are on record in {path}.",
        )
    year = math.fsum(
        entry.epsilon or 0.0
        for entry in entries
        if entry.entry == "release"
        and _same_records(entry, new)
        and entry.within_days(new.time, _YEAR)
    )
    if year + epsilon > policy.epsilon_per_year * (1 + _ROUNDING):
        raise BudgetError(
            f"these records have cost epsilon = {year:g} in the last {_YEAR} days; this release "
            f"would cost {epsilon:g} more, beyond the {policy.epsilon_per_year:g} of {policy.name}.",
            fix="wait until older releases are more than a year old, or change the policy.",
        )


def _nested(old: Sequence[object], new: Sequence[object]) -> object | None:
    """A label of one plan that is divided by the labels of the other, or None."""
    for coarse, fine in ((old, new), (new, old)):
        for label in coarse:
            parts = label if isinstance(label, list) else [label]
            for other in fine:
                if isinstance(other, list) and len(other) > len(parts) and _within(parts, other):
                    return label
    return None


def _within(parts: Sequence[object], other: Sequence[object]) -> bool:
    return all(part in other for part in parts)
