"""The silo's own policy: what may leave, whatever a plan requests.

A plan is written by the auditor, so a plan that could switch a rule off would protect nobody from the
auditor. The policy belongs to the silo. Without a file of its own a silo has the default one: the default
rules of a plan are the floors, and what is weaker needs an override by name, which the ledger records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from fedparity.errors import OptionError, RuleError
from fedparity.errors.base import listed
from fedparity.privacy.disclosure import Disclosure, default_rounding

__all__ = [
    "MODES",
    "RULES",
    "Mode",
    "Policy",
    "Refusal",
    "effective_rounding",
    "threshold_count",
]

Mode: TypeAlias = Literal["none", "dp", "secure", "secure+dp"]
MODES: tuple[Mode, ...] = get_args(Mode)
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

_NOISY = "dp", "secure+dp"
_SECURE = "secure", "secure+dp"


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
        if mode in _NOISY:
            found += self._noise_refusals(privacy)
        else:
            found += self._cell_refusals(plan, mode)
        if mode == "none":
            found += self._sketch_refusals(plan)
        if mode in _SECURE:
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
