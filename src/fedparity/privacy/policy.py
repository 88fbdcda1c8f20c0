"""The silo's own policy: what may leave, whatever a plan requests.

A plan is written by the auditor, so a plan that could switch a rule off would protect nobody from the
auditor. The policy belongs to the silo. Without a file of its own a silo has the default one: the default
rules of a plan are the floors, and what is weaker needs an override by name, which the ledger records.

Two releases of the same records reveal by their difference what neither shows. So the first release of
a data set is the only one, unless the operator gives a reason; and the losses of releases with noise add
up, whatever the titles of their plans (sequential composition).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from fedparity.errors import BudgetError, LedgerError, OptionError, RuleError
from fedparity.errors.base import listed
from fedparity.privacy.disclosure import (
    MODES,
    NOISY_MODES,
    SECURE_MODES,
    Disclosure,
    default_rounding,
)
from fedparity.privacy.ledger import Entry, View

__all__ = [
    "RULES",
    "Policy",
    "Refusal",
    "allowed",
    "check_approvals",
    "earlier",
    "effective_rounding",
    "replaced",
    "revealed_together",
    "spent",
    "threshold_count",
]


RULES = (
    "minimum_cell",
    "records_per_level",
    "rounding",
    "levels",
    "thresholds",
    "mode",
    "epsilon",
    "keys",
    "silos",
)
"""The rules that a release can be weaker than, by name, where the policy allows overrides."""


class Refusal(NamedTuple):
    """Why a plan is refused: the rule, what the plan says and what the rule requires."""

    rule: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a silo allows; the defaults are those of a silo without a policy.

    Parameters
    ----------
    minimum_cell, records_per_level : int
        Smallest numbers that a plan's ``[disclosure]`` may state. The first is also the number of
        records between two thresholds.
    rounding : mapping of sketch to float
        Smallest rounding of ``mean`` and ``quantile``, as a share of the score range.
    levels, thresholds : int
        Largest numbers of them in a plan.
    modes : sequence of str
        Modes that a plan may have; ``none`` is a plan without ``[privacy]``.
    epsilon_per_release, epsilon_per_year : float
        Largest privacy loss of one release, and of all from one data set in 365 days. A loss of 1 is
        the usual meaning of a strong guarantee; four of them in a year stay below 5, from where on
        a guarantee is called weak.
    datasets : mapping of name to patterns
        Which tables belong to which data set; if empty, all tables of a silo form one data set.
    auditors, silos : mapping of name to str
        Public keys: plans must be signed by one of these auditors, if there is any; secure sums are
        made with these silos.
    without_keys, unknown_silos : bool
        Whether secure sums may be made under plans without ``[keys]``, and with silos whose key is
        not among ``silos``.
    people : sequence of str, needed : int
        Who may approve a plan, and how many of them must.
    overrides : bool
        Whether a release may be weaker than a rule that is named on the command line.
    other_grids : bool
        Whether one data set may be released on two grids of scores; the difference of two
        grids undoes rounding.
    without_ledger : bool
        Whether a message may be made that no ledger knows of, for simulations.
    page : bool
        Whether the page that sketches in a browser may be used.
    ledger : Path, optional
        The ledger of this silo; must_exist : bool, whether it has to be there.

    Examples
    --------
    >>> policy = Policy(minimum_cell=20)
    >>> plan = {
    ...     "sketch": "mean",
    ...     "score_range": [0, 1],
    ...     "score_step": None,
    ...     "levels": 100,
    ...     "thresholds": [],
    ...     "privacy": None,
    ...     "disclosure": {"minimum_cell": 11, "records_per_level": 10, "rounding": 0.005},
    ... }
    >>> [refusal.rule for refusal in policy.refusals(plan)]
    ['minimum_cell']
    """

    minimum_cell: int = Disclosure().minimum_cell
    records_per_level: int = Disclosure().records_per_level
    rounding: Mapping[str, float] = field(
        default_factory=lambda: {
            "mean": default_rounding("mean", stepped=False),
            "quantile": default_rounding("quantile", stepped=False),
        }
    )
    levels: int = 1000
    thresholds: int = 20
    modes: Sequence[str] = MODES
    epsilon_per_release: float = 1.0
    epsilon_per_year: float = 4.0
    datasets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    auditors: Mapping[str, str] = field(default_factory=dict)
    silos: Mapping[str, str] = field(default_factory=dict)
    without_keys: bool = False
    unknown_silos: bool = False
    people: Sequence[str] = ()
    needed: int = 0
    overrides: bool = True
    other_grids: bool = False
    without_ledger: bool = True
    page: bool = True
    ledger: Path | None = None
    must_exist: bool = False
    path: Path | None = None
    """The file it was read from; None for the default one."""

    @property
    def name(self) -> str:
        """How errors call it."""
        return "the default policy" if self.path is None else f"the policy {self.path}"

    def refusals(self, plan: Mapping[str, Any]) -> tuple[Refusal, ...]:
        """Return every rule that a plan is weaker than; ``plan`` is what ``Plan.to_dict`` returns.

        Noise protects each record by itself, so in the modes with noise epsilon replaces the rules
        on cells, levels and digits.
        """
        privacy = plan["privacy"] or {"mode": "none"}
        mode = privacy["mode"]
        found = [] if mode in self.modes else [self._mode_refusal(mode)]
        if mode in NOISY_MODES:
            found += self._noise_refusals(privacy)
        else:
            found += self._cell_refusals(plan, mode)
        if mode == "none":
            found += self._sketch_refusals(plan)
        if mode in SECURE_MODES:
            found += self._roster_refusals(plan)
        return tuple(found)

    def check(self, plan: Mapping[str, Any], allow_weaker: Iterable[str] = ()) -> tuple[str, ...]:
        """Raise if a plan is weaker than a rule that is not overridden; return the rules that are.

        Raises
        ------
        RuleError
            If a rule refuses the plan, or may not be overridden.
        OptionError
            If a name is not that of a rule.
        """
        named = tuple(dict.fromkeys(allow_weaker))
        for rule in named:
            if rule not in RULES:
                raise OptionError.unknown("rule to allow weaker", rule, RULES)
        refused = self.refusals(plan)
        left = [refusal for refusal in refused if refusal.rule not in named or not self.overrides]
        if left:
            texts = "; ".join(refusal.text for refusal in left)
            raise RuleError(f"{self.name} does not allow this plan: {texts}.", fix=self._fix(left))
        return tuple(rule for rule in named if any(rule == each.rule for each in refused))

    def dataset_of(self, tables: Sequence[str], named: str | None) -> str | None:
        """Return the data set of a silo's tables; None if all tables form one data set.

        Parameters
        ----------
        tables : sequence of str
            The absolute paths of all files, or the address of a database and its table; none where
            records are in memory.
        named : str or None
            What the operator calls it.

        Raises
        ------
        RuleError
            If the policy has no such data set, or does not say which one a table is.
        """
        if named is not None and named not in self.datasets:
            known = f"one of {listed(self.datasets)}" if self.datasets else "no name"
            raise RuleError(
                f"{self.name} knows no data set {named!r}: only the silo's policy names data sets.",
                fix=f"give {known}, or add it to [datasets] of the policy (fedparity policy new).",
            )
        if not self.datasets:
            return None
        matched = {self._matching(table) for table in tables}
        if named is not None and matched <= {None, named}:
            return named
        if named is None and len(matched) == 1 and None not in matched:
            return matched.pop()
        which = "which data set this table is" if named is None else f"that it is {named!r}"
        raise RuleError(
            f"{self.name} does not say {which}.",
            fix="add the path of the table, or its database and name, to [datasets] of the policy; "
            "or name its data set with --dataset (dataset= in Python), if it has no pattern there.",
        )

    def _matching(self, table: str) -> str | None:
        for name, patterns in self.datasets.items():
            for pattern in patterns:
                if fnmatchcase(table, pattern) or table.startswith(f"{pattern}#"):
                    return name
        return None

    def _mode_refusal(self, mode: str) -> Refusal:
        words = "it requests no [privacy]" if mode == "none" else f"its mode is {mode!r}"
        return Refusal("mode", f"{words}, allowed is {' or '.join(self.modes)} (rule mode)")

    def _noise_refusals(self, privacy: Mapping[str, Any]) -> list[Refusal]:
        return _above("epsilon", privacy["epsilon"], self.epsilon_per_release)

    def _cell_refusals(self, plan: Mapping[str, Any], mode: str) -> list[Refusal]:
        rules = plan["disclosure"]
        found = _below("minimum_cell", rules["minimum_cell"], self.minimum_cell)
        if mode == "none":
            found += _below(
                "records_per_level", rules["records_per_level"], self.records_per_level
            )
        return [*found, *_above("thresholds", threshold_count(plan), self.thresholds)]

    def _sketch_refusals(self, plan: Mapping[str, Any]) -> list[Refusal]:
        kind = plan["sketch"]
        if kind == "counts":  # at public points; small ones are merged
            return []
        found = _below("rounding", effective_rounding(plan), self.rounding[kind])
        return [*found, *_above("levels", plan["levels"], self.levels)]

    def _roster_refusals(self, plan: Mapping[str, Any]) -> list[Refusal]:
        keys, silos = plan["keys"], plan["silos"] or ()
        found = []
        if not keys and not self.without_keys:
            text = (
                "it has no [keys], so the carrier of the messages could pose as every other silo"
            )
            found.append(Refusal("keys", f"{text} (rule keys)"))
        unknown = [
            silo for silo in silos if silo not in keys or keys[silo] != self.silos.get(silo)
        ]
        if unknown and not self.unknown_silos:
            text = f"the keys of {listed(unknown, most=3)} are not those of [silos] in the policy"
            found.append(Refusal("silos", f"{text} (rule silos)"))
        return found

    def _fix(self, left: Sequence[Refusal]) -> str:
        ask = "ask the auditor for a plan that obeys the rules"
        if not self.overrides:
            return f"{ask}; {self.name} allows no override."
        options = " ".join(f"--allow-weaker {refusal.rule}" for refusal in left)
        return f"{ask}, or pass {options}, which the ledger records."


def threshold_count(plan: Mapping[str, Any]) -> int:
    """Return at how many scores a plan counts; the bins of an outcome are counted like thresholds."""
    bins = (plan.get("outcome") or {}).get("bins", ())
    return len({*plan["thresholds"], *bins})


def effective_rounding(plan: Mapping[str, Any]) -> float:
    """Return the rounding of a plan as a share of the range; scores on a coarse grid are rounded already."""
    rounding: float = plan["disclosure"]["rounding"] or 0.0
    if plan["sketch"] != "quantile" or plan["score_step"] is None:
        return rounding
    lowest, highest = plan["score_range"]
    share: float = plan["score_step"] / (highest - lowest)
    return max(rounding, share * (1 + 1e-9))


def _below(rule: str, value: float, floor: float) -> list[Refusal]:
    text = f"{rule} is {value:g}, the least is {floor:g}"
    return [Refusal(rule, text)] if value < floor else []


def _above(rule: str, value: float, most: float) -> list[Refusal]:
    text = f"{rule} is {value:g}, the most is {most:g}"
    return [Refusal(rule, text)] if value > most else []


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
