"""What the disclosure rules decide for each cell, before its sketch is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fedparity.laws.labels import Group
from fedparity.privacy.coarsening import TAIL, allowed_levels, smallest_cell
from fedparity.privacy.complementary import complementary_cells
from fedparity.privacy.disclosure import Disclosure
from fedparity.sketches.kinds import Kind

__all__ = ["Decision", "Withheld", "decide", "whole_effective"]

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
        The k that the plan asks for.
    public_total : int, optional
        The silo's number of records if it is public; a single withheld cell could then be
        recovered, see :mod:`fedparity.privacy.complementary`.
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
    (42, ('k cut from 100 to 42: 10 records per level',))
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
    rule = f"{per_level} records per level" if by_level else f"{TAIL} records in each tail"
    reason = f"k cut from {levels} to {allowed}: {rule}"
    return Decision(levels=allowed, withheld=None, reasons=(reason,))
