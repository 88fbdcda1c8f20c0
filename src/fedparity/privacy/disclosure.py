"""The parameters of the disclosure rules: what a plan says may not leave a silo."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fedparity.errors import OptionError
from fedparity.laws.labels import Group
from fedparity.sketches.kinds import Kind
from fedparity.text import counted

__all__ = [
    "Decision",
    "Disclosure",
    "Withheld",
    "allowed_levels",
    "complementary_cells",
    "decide",
    "default_rounding",
    "smallest_cell",
    "tail_levels",
    "whole_effective",
]

_MOST_RECORDS = 10**12
"""More than any silo holds, as in a cell's count."""
_COARSEST = 0.1


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """The rules that a silo's sketches obey before they leave; valid once built.

    The rules are public and travel with the plan; what they did to a silo's data is not.

    Parameters
    ----------
    minimum_cell : int, default 11
        A cell with fewer records is withheld; 1 turns the rule off.
    records_per_level : int, default 10
        The k of a cell of n records is cut to n // ``records_per_level``, and further if fewer
        than five records would lie in a tail; 0 turns both rules off.
    rounding : float, optional
        Values are rounded to multiples of this share of the score range; 0 turns the rule off. A
        plan states the default of its sketch, see :func:`default_rounding`.

    Raises
    ------
    OptionError
        If a number of records is not a whole number, or the share is not between 0 and 0.1.

    Examples
    --------
    >>> Disclosure(minimum_cell=20, rounding=0.01).to_dict()
    {'minimum_cell': 20, 'records_per_level': 10, 'rounding': 0.01}
    """

    minimum_cell: int = 11
    records_per_level: int = 10
    rounding: float | None = None

    def __post_init__(self) -> None:
        settled = {
            "minimum_cell": _whole("minimum_cell", self.minimum_cell, least=1),
            "records_per_level": _whole("records_per_level", self.records_per_level, least=0),
            "rounding": None if self.rounding is None else _share(self.rounding),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @classmethod
    def off(cls) -> Disclosure:
        """Return no rule at all, for data that do not leave the building."""
        return cls(minimum_cell=1, records_per_level=0, rounding=0.0)

    def to_dict(self) -> dict[str, int | float | None]:
        """Return the rules as a plan's ``[disclosure]`` table holds them."""
        return {
            "minimum_cell": self.minimum_cell,
            "records_per_level": self.records_per_level,
            "rounding": self.rounding,
        }


def default_rounding(sketch: Kind, *, stepped: bool) -> float:
    """Return the rounding of a sketch where the rules state none, as a share of the score range.

    A mean gives away more of a record than a quantile does to whoever knows all others, so it is
    rounded more. Quantiles of scores on a public grid are points of it, and stay there; counts at
    its points are protected by merging.

    Examples
    --------
    >>> default_rounding("mean", stepped=True), default_rounding("quantile", stepped=False)
    (0.005, 0.001)
    """
    if sketch == "mean":
        return 0.005
    return 0.0 if stepped or sketch == "counts" else 0.001


def _whole(name: str, value: object, *, least: int) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and least <= value <= _MOST_RECORDS):  # type: ignore[operator]
        raise OptionError(
            f"{name} must be a whole number of records of at least {least}, not {value!r}.",
            fix=f"set {name} to 10 or so, or to {least} to turn the rule off.",
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def _share(value: object) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not (number and not isinstance(value, bool) and 0 <= value <= _COARSEST):  # type: ignore[operator]
        raise OptionError(
            f"rounding must be a share of the score range from 0 to {_COARSEST}, not {value!r}.",
            fix="set rounding to 0.001 or so, or to 0 to turn the rule off.",
        )
    return abs(float(value))  # type: ignore[arg-type]  # -0.0 is 0


TAIL = 5
"""Records that lie at or beyond the lowest value, and at or beyond the highest, at least."""


def allowed_levels(
    records: int, levels: int, disclosure: Disclosure, *, kind: Kind = "quantile"
) -> int:
    r"""Return the k of a cell of n records, or 0 if the cell is withheld.

    It is the largest :math:`k' \le k` with :math:`k' \le \lfloor n / m \rfloor`, where m is
    ``records_per_level``, and with five records in each tail. ``minimum_cell`` decides whether a
    cell leaves, m only how finely: where :math:`n < m` one value is sent, if the tails allow it.
    How many counts a cell of kind ``counts`` sends is known once they are merged; until then k stands.

    Examples
    --------
    >>> allowed_levels(423, 100, Disclosure()), allowed_levels(10, 100, Disclosure())
    (42, 0)
    """
    if records < smallest_cell(disclosure, kind=kind):
        return 0
    if kind == "counts" or not disclosure.records_per_level:
        return levels if records else 0
    most = min(records // disclosure.records_per_level, tail_levels(records, kind=kind))
    return min(levels, max(most, 1))


def tail_levels(records: int, *, kind: Kind = "quantile") -> int:
    r"""Return the largest k that leaves five records in each tail, 0 if none does.

    The lowest of k quantiles has rank :math:`r_1 = \lceil n/(2k) \rceil`, so that many records
    are at most as large; the highest has rank :math:`r_k = n - \lfloor n/(2k) \rfloor`, so
    :math:`\lfloor n/(2k) \rfloor + 1` are at least as large. Both are at least 5 if and only if
    :math:`n > 8k`. An outer bin mean averages n/k records.
    """
    return (records - 1) // (2 * (TAIL - 1)) if kind == "quantile" else records // TAIL


def smallest_cell(disclosure: Disclosure, *, kind: Kind = "quantile") -> int:
    """Return the number of records from which a cell is sent: all smaller ones are withheld.

    It is ``minimum_cell``, or the smallest number that leaves five records in the tails of a
    single value where that is larger; counts have no tails.

    Examples
    --------
    >>> smallest_cell(Disclosure()), smallest_cell(Disclosure(minimum_cell=3))
    (11, 9)
    """
    if kind == "counts" or not disclosure.records_per_level:
        return disclosure.minimum_cell
    return max(disclosure.minimum_cell, 2 * TAIL - 1 if kind == "quantile" else TAIL)


# Complementary suppression: what must be withheld as well when a total is public.
#
# If one cell of a silo is withheld and the silo's number of records is public, the cell's count is
# the total minus the others. So more cells are withheld, the smallest first, until somebody who
# knows the total, the other counts, the rule and this order could still believe every number
# below the minimum of each small cell. Then the withheld cells are not told apart: which of them is the
# small one would narrow it down again.


def complementary_cells(records: Mapping[Group, int], minimum: int) -> tuple[Group, ...]:
    r"""Return the cells to withhold besides those of fewer than ``minimum`` records.

    Let m be the minimum, S the number of records in s small cells and j others, and c the
    smallest count that is still sent. Someone who knows that the others have at least m and
    at most c records can exclude no number from 0 to m - 1 for a small cell if and only if

    .. math:: j m + (m - 1) \le S \le j c + (s - 1)(m - 1).

    Cells are added until this holds and :math:`S \ge m`, or none is left. That a further cell had
    to be added says a little too; whoever takes it into account still cannot recover a
    small count (tested by enumeration).

    Examples
    --------
    >>> complementary_cells({"a": 3, "b": 40, "c": 500}, 11)
    ('b',)
    """
    small = [group for group, count in records.items() if count < minimum]
    if minimum == 1 or not small:
        return ()
    rest = sorted(
        (group for group, count in records.items() if count >= minimum), key=records.__getitem__
    )
    hidden = sum(records[group] for group in small)
    for added, group in enumerate(rest):
        least = max(minimum, (added + 1) * minimum - 1)
        most = added * records[group] + (len(small) - 1) * (minimum - 1)
        if least <= hidden <= most:
            return tuple(rest[:added])
        hidden += records[group]
    return tuple(rest)


Withheld: TypeAlias = Literal["small", "complementary"]
"""``small``: fewer records than a cell needs; ``complementary``: withheld, small or not."""

_EXTRA = "withheld as well: the public total would give away a smaller cell"
_ROUNDING = 1e-9
"""Eleven records of weight 0.1 amount to 10.999999999999998 in floats."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What one cell may send."""

    levels: int
    """The k of its sketch; 0 if nothing is sent."""
    withheld: Withheld | None
    """What the message says of a cell that is withheld."""
    reasons: tuple[str, ...]
    """The rules that changed something, for the operator; they stay in the building."""


def decide(
    records: Mapping[Group, int],
    *,
    levels: int,
    disclosure: Disclosure,
    kind: Kind = "quantile",
    public_total: int | None = None,
    effective: Mapping[Group, float] | None = None,
) -> dict[Group, Decision]:
    r"""Return what each cell of a silo may send, from its number of records alone.

    No value is looked at, so that the decision itself says nothing about scores. A cell without
    records is treated like any small one: their absence is not to be seen either.

    Parameters
    ----------
    records : mapping of group to int
        Number of records of each group of the plan (of positive weight); 0 where there is none.
    levels : int
        The k that the plan requests.
    public_total : int, optional
        The silo's number of records if it is public; a single withheld cell could then be
        recovered, see :mod:`fedparity.privacy.disclosure`.
    effective : mapping of group to float, optional
        For weighted records: how many equally weighted ones they amount to,
        :math:`W^2 / \sum_i w_i^2`, or, stricter, W over the largest weight, with which the rule of
        five records in each tail holds for weighted quantiles too. The rules then count the
        smaller of the two numbers, and a withheld cell is never called small: what is small is
        not its weight.

    Examples
    --------
    >>> decisions = decide({"a": 423, "b": 7}, levels=100, disclosure=Disclosure())
    >>> decisions["a"].levels, decisions["a"].reasons
    (42, ('42 values instead of 100 (one per 10 records)',))
    >>> decisions["b"].withheld, decisions["b"].reasons
    ('small', ('fewer than 11 records',))
    """
    counted = {group: _counted(number, group, effective) for group, number in records.items()}
    minimum = smallest_cell(disclosure, kind=kind)
    extra = () if public_total is None else complementary_cells(counted, minimum)
    none_sent = all(number < minimum or group in extra for group, number in counted.items())
    nameless = bool(extra) or effective is not None or (public_total is not None and none_sent)
    decisions = {}
    for group, number in counted.items():
        if number < minimum and minimum > 1:
            reason = _too_few(number, records[group], minimum, disclosure)
            named: Withheld = "complementary" if nameless else "small"
            decisions[group] = Decision(levels=0, withheld=named, reasons=(reason,))
        elif group in extra:
            decisions[group] = Decision(levels=0, withheld="complementary", reasons=(_EXTRA,))
        else:
            decisions[group] = _sent(number, levels, disclosure, kind)
    return decisions


def _counted(number: int, group: Group, effective: Mapping[Group, float] | None) -> int:
    """The records that the rules count: no more than their weights amount to."""
    if effective is None:
        return number
    return min(number, whole_effective(effective.get(group, 0.0)))


def whole_effective(effective: float) -> int:
    """Return how many whole records weights amount to, whatever their sums in floats lost."""
    return math.floor(effective * (1 + _ROUNDING))


def _too_few(number: int, records: int, minimum: int, disclosure: Disclosure) -> str:
    if number < disclosure.minimum_cell <= records:
        return f"the weights amount to fewer than {disclosure.minimum_cell} records"
    if number < disclosure.minimum_cell:
        return f"fewer than {disclosure.minimum_cell} records"
    return f"fewer than {minimum} records: no value leaves {TAIL} in each tail"


def _sent(number: int, levels: int, disclosure: Disclosure, kind: Kind) -> Decision:
    allowed = allowed_levels(number, levels, disclosure, kind=kind)
    if not number or allowed == levels:
        return Decision(levels=allowed, withheld=None, reasons=())
    per_level = disclosure.records_per_level
    by_level = allowed == max(number // per_level, 1)
    rule = f"one per {per_level} records" if by_level else f"{TAIL} records beyond each end"
    reason = f"{counted(allowed, 'value')} instead of {levels} ({rule})"
    return Decision(levels=allowed, withheld=None, reasons=(reason,))
