"""Rates of several groups compared: ratios, differences, and four fifths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, TypeAlias

import numpy as np

from fedparity.diagnostics.brackets import Bracket
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group

__all__ = [
    "FourFifths",
    "GroupRate",
    "Ratio",
    "compare_rates",
    "largest_group",
    "overall_state",
    "widest_gap",
]

FourFifths: TypeAlias = Literal[
    "below four fifths", "at least four fifths", "undetermined by the sketches"
]
"""Where a ratio to the highest rate lies, as far as the sketches tell."""

_ROUNDING = 1e-12
"""A ratio this near to four fifths is four fifths: quotients of rates round."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A ratio of two rates that are known up to intervals."""

    value: float | None
    """The estimate; ``None`` if it is one to zero."""
    lower: float
    upper: float | None
    """``None`` if there is no bound, as the other rate may be zero."""

    def __contains__(self, number: float) -> bool:
        return self.lower <= number and (self.upper is None or number <= self.upper)

    def to_dict(self) -> dict[str, float | None]:
        """Return the three numbers by name."""
        return {"value": self.value, "lower": self.lower, "upper": self.upper}


@dataclass(frozen=True, kw_only=True)
class GroupRate:
    """The rate of one group, next to those of the others."""

    group: Group
    rate: Bracket
    ratio_to_best: Ratio
    """To the highest rate of all groups, whichever it is: at most 1."""
    ratio_to_largest: Ratio
    """To the rate of the group with the most records."""
    difference_to_best: Bracket
    """Minus the highest rate of all groups: at most 0."""
    difference_to_largest: Bracket
    """Minus the rate of the group with the most records."""
    four_fifths: FourFifths
    """Where ``ratio_to_best`` lies."""

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name, as JSON holds them."""
        label = list(self.group) if isinstance(self.group, tuple) else self.group
        return {
            "group": label,
            "rate": self.rate.to_dict(),
            "ratio_to_best": self.ratio_to_best.to_dict(),
            "ratio_to_largest": self.ratio_to_largest.to_dict(),
            "difference_to_best": self.difference_to_best.to_dict(),
            "difference_to_largest": self.difference_to_largest.to_dict(),
            "four_fifths": self.four_fifths,
        }


def compare_rates(rates: Mapping[Group, Bracket], largest: Group) -> tuple[GroupRate, ...]:
    """Return each group's rate compared with the highest and with that of ``largest``.

    Every bound is attained by some rates inside their brackets.
    """
    compared = []
    for group, own in rates.items():
        best_other = _highest([rate for other, rate in rates.items() if other != group])
        to_best = _capped_ratio(own, best_other)
        compared.append(
            GroupRate(
                group=group,
                rate=own,
                ratio_to_best=to_best,
                ratio_to_largest=_ratio(own, rates[largest], same=group == largest),
                difference_to_best=_capped_difference(own, best_other),
                difference_to_largest=_difference(own, rates[largest], same=group == largest),
                four_fifths=_state(to_best),
            )
        )
    return tuple(compared)


def largest_group(federation: Federation) -> Group:
    """Return the group with the most records, the first of several."""
    return federation.groups[int(np.argmax(federation.count_table.sum(axis=0)))]


def widest_gap(rates: Mapping[Group, Bracket]) -> Bracket:
    """Return the highest rate minus the lowest: zero if all groups have the same."""
    brackets = list(rates.values())
    values = [bracket.value for bracket in brackets]
    apart = max(bracket.lower for bracket in brackets) - min(one.upper for one in brackets)
    farthest = max(one.upper - other.lower for one, other in permutations(brackets, 2))
    return Bracket(
        value=max(values) - min(values), lower=max(0.0, apart), upper=max(0.0, farthest)
    )


def overall_state(groups: tuple[GroupRate, ...]) -> FourFifths:
    """Return where the smallest ratio lies: below as soon as that of one group is."""
    states = {group.four_fifths for group in groups}
    for state in ("below four fifths", "undetermined by the sketches"):
        if state in states:
            return state
    return "at least four fifths"


def _highest(rates: list[Bracket]) -> Bracket:
    return Bracket(
        value=max(rate.value for rate in rates),
        lower=max(rate.lower for rate in rates),
        upper=max(rate.upper for rate in rates),
    )


def _capped_ratio(own: Bracket, other: Bracket) -> Ratio:
    """The ratio of p to the larger of p and q: p/q, but at most 1; undefined if both are 0."""
    best = max(own.value, other.value)
    return Ratio(
        value=own.value / best if best else None,
        lower=_quotient(own.lower, max(own.lower, other.upper), otherwise=0.0),
        upper=_quotient(own.upper, max(own.upper, other.lower), otherwise=1.0),
    )


def _ratio(own: Bracket, other: Bracket, *, same: bool) -> Ratio:
    """The ratio p/q: no upper bound if q can be 0."""
    if same:
        return Ratio(value=1.0 if own.value else None, lower=1.0, upper=1.0)
    return Ratio(
        value=own.value / other.value if other.value else None,
        lower=_quotient(own.lower, other.upper, otherwise=0.0),
        upper=own.upper / other.lower if other.lower else None,
    )


def _quotient(above: float, below: float, *, otherwise: float) -> float:
    return above / below if below else otherwise


def _difference(own: Bracket, other: Bracket, *, same: bool) -> Bracket:
    if same:
        return Bracket(value=0.0, lower=0.0, upper=0.0)
    return Bracket(
        value=own.value - other.value,
        lower=own.lower - other.upper,
        upper=own.upper - other.lower,
    )


def _capped_difference(own: Bracket, other: Bracket) -> Bracket:
    """The difference of p and the larger of p and q."""
    return Bracket(
        value=min(0.0, own.value - other.value),
        lower=min(0.0, own.lower - other.upper),
        upper=min(0.0, own.upper - other.lower),
    )


def _state(ratio: Ratio) -> FourFifths:
    if ratio.lower >= 0.8 - _ROUNDING:
        return "at least four fifths"
    if ratio.upper is not None and ratio.upper < 0.8 - _ROUNDING:
        return "below four fifths"
    return "undetermined by the sketches"
