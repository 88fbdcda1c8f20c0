"""The evidence behind bounds: options checked in one place, laws known up to an envelope, and numbers that they bracket."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from fedparity.errors import OptionError
from fedparity.federated.federation import Federation
from fedparity.laws.bounds import Bracket
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray, Law
from fedparity.laws.weights import Weights, mixture
from fedparity.uncertainty.envelopes import (
    NOBODY,
    Envelope,
    Newcomers,
    group_envelopes,
    mean_envelopes,
)

__all__ = [
    "FEWEST_REDRAWS",
    "Evidence",
    "Known",
    "anything",
    "bracketed_quantile",
    "check_confidence",
    "check_positive",
    "check_redraws",
    "check_score_range",
    "check_whole",
    "checked_range",
    "checked_unseen",
    "known_laws",
    "pooled_law",
    "rounding_of",
    "share_above",
    "sharp_envelopes",
]


FEWEST_REDRAWS: Final = 20
"""Fewer redraws say nothing of the ends of an interval."""


def check_score_range(score_range: tuple[float, float]) -> tuple[float, float]:
    """Return the public bounds of the score as floats, the lower first."""
    try:
        low, high = map(float, score_range)
    except (TypeError, ValueError):
        low = high = math.nan
    if not -math.inf < low < high < math.inf:
        raise OptionError(
            f"score_range must be two finite numbers, the lower first, not {score_range!r}.",
            fix="pass the public bounds of the score, for example score_range=(0, 1).",
        )
    return low, high


def check_confidence(confidence: float) -> float:
    """Return ``confidence``, or raise unless it lies strictly between 0 and 1."""
    if not (_is_number(confidence) and 0 < confidence < 1):
        raise OptionError(
            f"confidence must be above 0 and below 1, not {confidence!r}.",
            fix="pass confidence=0.95, or another probability below 1.",
        )
    return float(confidence)


def check_positive(value: float, name: str) -> float:
    """Return ``value``, or raise unless it is a finite number above zero."""
    if not (_is_number(value) and 0 < value < math.inf):
        raise OptionError(
            f"{name} must be a finite number above 0, not {value!r}.",
            fix=f"pass a positive number as {name}; without one there is no such guarantee.",
        )
    return float(value)


def check_redraws(redraws: object) -> int:
    """Return ``redraws`` as an int, or raise unless it is a whole number of at least 20."""
    whole = isinstance(redraws, int | np.integer) and not isinstance(redraws, bool)
    if not whole or redraws < FEWEST_REDRAWS:  # type: ignore[operator]
        raise OptionError(
            f"redraws must be a whole number of at least {FEWEST_REDRAWS}, not {redraws!r}.",
            fix="pass redraws=500, or leave it out.",
        )
    return int(redraws)  # type: ignore[call-overload, no-any-return]


def check_whole(value: object, name: str) -> int:
    """Return ``value`` as an int, or raise unless it is a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise OptionError(
            f"{name} must be a whole number of at least 1, not {value!r}.",
            fix=f"pass a number of records, silos or cells as {name}; weights are not records.",
        )
    return int(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )


_WITHOUT_LIMIT = 1e15
"""Times as many records as were seen: next to them, those seen leave no trace in a bound."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """All that bounds may use: the sketches, their score range, and how much was not seen.

    Scores are counted from the lower end of the range, so that a large offset costs no digits.
    Masses are counted in units of all that was seen.
    """

    federation: Federation
    """The sketches, in a range from 0 to ``width``."""
    width: float
    shares: FloatArray
    """What each group weighs among what was seen; they add up to one."""
    extra: FloatArray
    """The most that records nobody saw can add to each group."""
    total: float
    """The most that they can add to all groups together."""

    @classmethod
    def from_federation(
        cls,
        federation: Federation,
        score_range: tuple[float, float],
        unseen: Mapping[Group, float] | None = None,
        unseen_total: float | None = None,
    ) -> Evidence:
        """Return what is known, with options checked.

        A total alone leaves open which groups its records are of.

        Raises
        ------
        OptionError
            If the range is not valid, a value lies outside it, ``unseen`` names another group, or
            a number of unseen records is not valid.
        """
        low, high = checked_range(federation, score_range)
        seen = float(federation.counts.sum())
        limit = math.inf if unseen_total is None else _checked_total(unseen_total) / seen
        if not unseen and unseen_total is not None:
            unseen = dict.fromkeys(federation.groups, math.inf)
        most = np.minimum(checked_unseen(federation, unseen) / seen, _WITHOUT_LIMIT)
        total = min(float(most.sum()), limit)
        return cls(
            federation=_from_zero(federation, low, high),
            width=high - low,
            shares=federation.shares,
            extra=np.minimum(most, total),
            total=total,
        )

    @property
    def range(self) -> tuple[float, float]:
        """The range of the scores, counted from its lower end."""
        return 0.0, self.width

    @property
    def exact_means(self) -> bool:
        """Whether the values are means of known bins, up to rounding."""
        federation = self.federation
        return federation.kind == "mean" and not federation.rank_errors.any()

    @property
    def unseen_records(self) -> FloatArray:
        """The most records of each group that nobody saw."""
        records = self.federation.count_table.sum(axis=0)
        most: FloatArray = self.extra / self.shares * records
        return most

    @property
    def unseen_share(self) -> float:
        """The largest share that they can have of all records."""
        return self.total / (1 + self.total)

    @property
    def newcomers(self) -> Newcomers:
        """How records that nobody saw can change the shares of the groups."""
        return Newcomers(self.unseen_share, self.extra > 0) if self.total else NOBODY

    @cached_property
    def envelopes(self) -> list[Envelope]:
        """Two laws for each group, between which its scores lie."""
        return group_envelopes(self.federation, self.range, self.unseen_records)

    @cached_property
    def envelopes_of_means(self) -> list[Envelope]:
        """The same with all records moved to the means of their bins, where these are exact."""
        if not self.exact_means:
            return self.envelopes
        return mean_envelopes(self.federation, self.range, self.unseen_records)

    @cached_property
    def as_if_complete(self) -> Evidence:
        """The same evidence of the records seen alone."""
        if not self.total:
            return self
        return replace(self, extra=np.zeros_like(self.extra), total=0.0)

    def between(self, first: int, second: int) -> Evidence:
        """Return what is known of two groups that weigh the same.

        Then :math:`G_2 = W_2^2 / 4` if nothing is missing. A record weighs the less the larger its
        group, so the most that a total of them can add is found by starting with the smaller.
        """
        pair = np.array([first, second])
        relative = self.extra[pair] / self.shares[pair]
        left, total = self.total, 0.0
        for position in np.argsort(self.shares[pair]):
            taken = min(float(relative[position]), left / float(self.shares[pair[position]]))
            left = max(0.0, left - taken * float(self.shares[pair[position]]))
            total += taken / 2
        return replace(
            self,
            federation=_restricted(
                self.federation, (self.federation.groups[first], self.federation.groups[second])
            ),
            shares=np.array([0.5, 0.5]),
            extra=np.minimum(relative / 2, total),
            total=total,
        )


def checked_range(federation: Federation, score_range: tuple[float, float]) -> tuple[float, float]:
    """Return the public bounds of the score, or raise if a value of the sketches is outside."""
    low, high = check_score_range(score_range)
    outside = int(np.count_nonzero((federation.values < low) | (federation.values > high)))
    if outside:
        raise OptionError(
            f"{outside} values of the sketches lie outside the score range.",
            fix="pass the public bounds that every score respects, or check those silos.",
        )
    return low, high


def checked_unseen(federation: Federation, unseen: Mapping[Group, float] | None) -> FloatArray:
    """Return the most further records of each group, 0 where nothing is said."""
    given = unseen or {}
    for group in given:
        if group not in federation.groups:
            raise OptionError(
                f"unseen names group {group!r}, which the sketches do not contain.",
                fix="spell it as the cells do; 1 and '1' are different labels.",
            )
    extra = np.array([float(given.get(group, 0.0)) for group in federation.groups])
    if not (extra >= 0).all():
        raise OptionError(
            "unseen records must be numbers of at least 0.",
            fix="pass an upper bound for each group, or math.inf without a bound.",
        )
    return extra


def _checked_total(unseen_total: float) -> float:
    total = float(unseen_total)
    if not total >= 0:
        raise OptionError(
            "unseen_total must be a number of at least 0.",
            fix="pass the most records that all groups together may lack, or leave it out.",
        )
    return total


def _from_zero(federation: Federation, low: float, high: float) -> Federation:
    """The same sketches with scores counted from ``low``, built once for all bounds of a federation."""
    return federation.once(("from", low, high), lambda: _moved(federation, low, high))


def _moved(federation: Federation, low: float, high: float) -> Federation:
    """The sketches with scores counted from ``low``, and what floats have rounded stated.

    A bin mean is the float nearest to the mean, so it may be off by half a spacing of floats; a mean
    square, which is a difference of two squares in the range, by a few spacings times the range.
    """
    shifted = replace(federation, values=federation.values - low, score_range=(0.0, high - low))
    if federation.kind != "mean":
        return shifted
    spacing = float(np.spacing(max(abs(low), abs(high))))
    return replace(
        shifted,
        value_errors=federation.value_errors + spacing,
        mean_square_errors=federation.mean_square_errors + 4 * spacing * (high - low),
    )


def _restricted(federation: Federation, groups: tuple[Group, ...]) -> Federation:
    """The cells of some groups alone."""
    if groups == federation.groups:
        return federation
    cells = {label: cell for label, cell in federation.cells.items() if label[1] in groups}
    return Federation.from_cells(cells, groups=groups, score_range=federation.score_range)


_SUM_ROUNDING = 1e-12
"""Bounds from sums of fractions are moved outwards by this; sums of whole numbers are exact."""
_EXACT = 2.0**53
_OUTNUMBERING = 1e300
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
    return _SUM_ROUNDING + max(map(len, envelope)) * float(np.finfo(np.float64).eps)


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
        errors = federation.value_errors + _SUM_ROUNDING * max(map(abs, bounds))
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
