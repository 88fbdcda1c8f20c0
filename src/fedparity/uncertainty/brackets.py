"""A number of the raw data that sketches bracket, and shares of laws known up to an envelope."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fedparity.federated.federation import Federation
from fedparity.laws.arrays import FloatArray
from fedparity.laws.bounds import Bracket
from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.laws.weights import Weights, mixture
from fedparity.uncertainty.checks import checked_range, checked_unseen
from fedparity.uncertainty.envelopes import Envelope, group_envelopes

__all__ = [
    "Known",
    "anything",
    "bracketed_quantile",
    "known_laws",
    "pooled_law",
    "rounding_of",
    "share_above",
    "sharp_envelopes",
]

_ROUNDING = 1e-12
"""Bounds from sums of fractions are moved outwards by this; sums of whole numbers are exact."""
_EXACT = 2.0**53
_WITHOUT_LIMIT = 1e300
"""Records next to which no others count."""


class Known(NamedTuple):
    """What sketches say of one law: an estimate, and an envelope around the truth."""

    law: Law
    envelope: Envelope

    @property
    def slack(self) -> float:
        """How far sums may be from the truth: not at all if they are of whole numbers."""
        return rounding_of(self.envelope)


def rounding_of(envelope: Envelope) -> float:
    """Return how far shares of these laws may be off: not at all if masses are whole numbers."""
    if all(law.weights.dtype.kind == "i" for law in envelope):
        return 0.0
    return _ROUNDING + max(map(len, envelope)) * float(np.finfo(np.float64).eps)


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
    envelopes = sharp_envelopes(federation, bounds, np.where(np.isfinite(extra), extra, 0.0))
    return {
        group: Known(estimates[group], envelope if math.isfinite(more) else anything(bounds, more))
        for group, envelope, more in zip(federation.groups, envelopes, extra, strict=True)
    }


def anything(bounds: tuple[float, float], records: float) -> Envelope:
    """Return the laws between which all of at most so many records lie, of which nothing is known."""
    return Envelope(*(Law([bound], [min(records, _WITHOUT_LIMIT)]) for bound in bounds))


def sharp_envelopes(
    federation: Federation, bounds: tuple[float, float], unseen: FloatArray
) -> list[Envelope]:
    """Return the envelope of each group, fit to be read at one point.

    A bin mean is the float of a sum, whose last digit a threshold can distinguish from another, so it is
    taken to be off by that much; masses that are whole numbers are summed as such.
    """
    if federation.kind == "mean":
        errors = federation.value_errors + _ROUNDING * max(map(abs, bounds))
        federation = replace(federation, value_errors=errors)
    return [
        Envelope(*map(_counted, envelope))
        for envelope in group_envelopes(federation, bounds, unseen)
    ]


def share_above(known: Known, cutoff: Bracket) -> Bracket:
    """Bound the mass strictly above a point that is itself known up to an interval.

    The law lies between the two of its envelope in the stochastic order, so its mass above a
    point does too; and the mass above a point falls as the point rises.
    """
    low, high = known.envelope
    lower = max(0.0, _above(low, cutoff.upper) - known.slack)
    upper = min(1.0, _above(high, cutoff.lower) + known.slack)
    value = _above(known.law, cutoff.value)
    return Bracket(value=min(max(value, lower), upper), lower=lower, upper=upper)


def bracketed_quantile(known: Known, level: float) -> Bracket:
    """Bound the quantile of a law that lies between the two of its envelope."""
    low, high = known.envelope
    lower = _first_reaching(low, level - known.slack)
    upper = _first_reaching(high, level + known.slack)
    value = known.law.quantile(level)
    return Bracket(value=min(max(value, lower), upper), lower=lower, upper=upper)


def pooled_law(
    known: Mapping[Group, Known], shares: Weights, *, others: Envelope | None = None
) -> Known:
    """Return what is known of the law of all groups together, and of ``others`` that none of them holds.

    The laws of an envelope weigh as many records as they describe, so they are put side by side.
    """
    envelopes = [entry.envelope for entry in known.values()]
    envelopes += [] if others is None else [others]
    envelope = Envelope(
        *(
            _counted(
                Law(
                    np.concatenate([side.atoms for side in sides]),
                    np.concatenate([side.weights for side in sides]),
                )
            )
            for sides in zip(*envelopes, strict=True)
        )
    )
    return Known(mixture({group: entry.law for group, entry in known.items()}, shares), envelope)


def _above(law: Law, point: float) -> float:
    """The mass strictly above a point, summed as whole numbers if it is."""
    start = int(np.searchsorted(law.atoms, point, side="right"))
    return float(law.weights[start:].sum() / law.weights.sum())


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
