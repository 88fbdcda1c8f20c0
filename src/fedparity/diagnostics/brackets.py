"""A number known up to an interval, and shares of a law known up to its envelope."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from fedparity.diagnostics.envelopes import Envelope, group_envelopes
from fedparity.diagnostics.knowledge import (
    checked_range,
    checked_unseen,
)
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.laws.mixture import mixture
from fedparity.laws.weights import Weights

__all__ = [
    "Bracket",
    "Known",
    "Tail",
    "bracketed_quantile",
    "bracketed_share",
    "known_laws",
    "pooled_law",
    "share",
]

Tail: TypeAlias = Literal[">=", ">", "<"]
"""Which side of a threshold."""

_ROUNDING = 1e-12
"""Bounds from sums of fractions are moved outwards by this; sums of whole numbers are exact."""
_EXACT = 2.0**53
_WITHOUT_LIMIT = 1e300
"""Records next to which no others count."""


@dataclass(frozen=True, kw_only=True)
class Bracket:
    """An estimate from sketches, and bounds that the raw data's number cannot leave."""

    value: float
    lower: float
    upper: float

    def __contains__(self, number: float) -> bool:
        return self.lower <= number <= self.upper

    def to_dict(self) -> dict[str, float]:
        """Return the three numbers by name."""
        return {"value": self.value, "lower": self.lower, "upper": self.upper}


class Known(NamedTuple):
    """What sketches say of one law: an estimate, and an envelope around the truth."""

    law: Law
    envelope: Envelope

    @property
    def slack(self) -> float:
        """How far sums may be from the truth: not at all if they are of whole numbers."""
        if all(law.weights.dtype.kind == "i" for law in self.envelope):
            return 0.0
        return _ROUNDING + max(map(len, self.envelope)) * float(np.finfo(np.float64).eps)


def known_laws(
    federation: Federation,
    estimates: Mapping[Group, Law],
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None,
) -> dict[Group, Known]:
    """Return what the sketches say of each group's law, with options checked.

    Of a group with records without limit that nobody described, only the range is known.
    """
    bounds = checked_range(federation, score_range)
    extra = checked_unseen(federation, unseen)
    if federation.kind == "mean":  # a mean is the float of a sum, which a threshold can tell
        errors = federation.value_errors + _ROUNDING * max(map(abs, bounds))
        federation = replace(federation, value_errors=errors)
    limited = np.where(np.isfinite(extra), extra, 0.0)
    envelopes = group_envelopes(federation, bounds, limited)
    anything = Envelope(*(Law([bound], [_WITHOUT_LIMIT]) for bound in bounds))
    return {
        group: Known(
            estimates[group],
            Envelope(*map(_counted, envelope)) if math.isfinite(more) else anything,
        )
        for group, envelope, more in zip(federation.groups, envelopes, extra, strict=True)
    }


def share(law: Law, threshold: float, tail: Tail) -> float:
    """Return the mass of ``law`` on one side of ``threshold``, summed as whole numbers if it is."""
    start = int(np.searchsorted(law.atoms, threshold, side="right" if tail == ">" else "left"))
    part = law.weights[:start] if tail == "<" else law.weights[start:]
    return float(part.sum() / law.weights.sum())


def bracketed_share(known: Known, cutoff: Bracket, tail: Tail) -> Bracket:
    """Bound the mass beyond a threshold that is itself known up to an interval.

    The law lies between the two of its envelope in the stochastic order, so its mass above a
    point does too; and the mass above a point falls as the point rises.
    """
    low, high = known.envelope
    if tail == "<":
        lower, upper = share(high, cutoff.lower, tail), share(low, cutoff.upper, tail)
    else:
        lower, upper = share(low, cutoff.upper, tail), share(high, cutoff.lower, tail)
    lower, upper = max(0.0, lower - known.slack), min(1.0, upper + known.slack)
    value = share(known.law, cutoff.value, tail)
    return Bracket(value=min(max(value, lower), upper), lower=lower, upper=upper)


def bracketed_quantile(known: Known, level: float) -> Bracket:
    """Bound the quantile of a law that lies between the two of its envelope."""
    low, high = known.envelope
    lower = _first_reaching(low, level - known.slack)
    upper = _first_reaching(high, level + known.slack)
    value = known.law.quantile(level)
    return Bracket(value=min(max(value, lower), upper), lower=lower, upper=upper)


def pooled_law(known: Mapping[Group, Known], shares: Weights) -> Known:
    """Return what is known of the law of all groups together.

    The laws of an envelope weigh as many records as they describe, so they are put side by side.
    """
    envelope = Envelope(
        *(
            _counted(
                Law(
                    np.concatenate([side.atoms for side in sides]),
                    np.concatenate([side.weights for side in sides]),
                )
            )
            for sides in zip(*(entry.envelope for entry in known.values()), strict=True)
        )
    )
    return Known(mixture({group: entry.law for group, entry in known.items()}, shares), envelope)


def _first_reaching(law: Law, level: float) -> float:
    """The first atom at which the cdf reaches ``level``, or the last one."""
    at = int(np.searchsorted(law.cumulative, level, side="left"))
    return float(law.atoms[min(at, len(law) - 1)])


def _counted(law: Law) -> Law:
    """The same law with whole-number masses if they are: sums and quotients are then exact."""
    whole = np.rint(law.weights)
    if np.array_equal(whole, law.weights) and whole.sum() < _EXACT:
        return Law.from_sorted(law.atoms, whole.astype(np.int64))
    return law
