r"""True and false positive rates and predictive values at a threshold.

With TP positives and FP negatives at or above the threshold, of P positives and N negatives,

.. math:: \mathrm{TPR} = \frac{TP}{P}, \quad \mathrm{FPR} = \frac{FP}{N}, \quad
          \mathrm{PPV} = \frac{TP}{TP + FP}, \quad \mathrm{NPV} = \frac{N - FP}{N - FP + P - TP} .

Where cells count their records at the threshold, all of them are exact. Otherwise TP and FP are known
up to brackets; each rate rises in one of them and falls in the other, or does not depend on it, so its extremes
are at two corners. Intervals are those of a proportion of as many records as it is a share of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from fedparity.documents.outcome_parts import Known, OutcomeMeasure, OutcomeRate
from fedparity.documents.result_parts import Sampled
from fedparity.federated.federation import Federation
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.thresholds.proportions import (
    RateLimits,
    difference_lower,
    noisy_limits,
    proportion_limits,
    ratio_lower,
    tails,
)
from fedparity.thresholds.rates import Comparison, Records, compare_limits, compare_rates

__all__ = [
    "MEASURES",
    "Flagged",
    "RateTable",
    "Shared",
    "Side",
    "is_there",
    "known_share",
    "limited",
    "rate_table",
    "share_of",
]

MEASURES: tuple[OutcomeMeasure, ...] = get_args(OutcomeMeasure)
_DEVIATIONS = 4.0
"""A share is taken of at least this many standard deviations of the noise in its number."""


class Shared(NamedTuple):
    """A share of one group's records: its bracket, of how many records, and if missing data could be anything."""

    bracket: Bracket
    n: float
    """Records that it is a share of, as estimated."""
    size: float
    """How many equally weighted records the fewest of these amount to."""
    outer: Bounds
    sides: tuple[float, float] = (0.0, 0.0)
    """With noise, the records that have it and those that do not, as they were counted."""
    noise: tuple[float, float] = (0.0, 0.0)
    """The variances of the noise of both; 0 where counts are exact."""

    def limits(self, tail: float) -> Bounds:
        """Return what the population's share could be, a limit missing with probability ``tail``."""
        if any(self.noise):
            return noisy_limits(*self.sides, self.noise, tail)
        least, most = proportion_limits(self.bracket.lower, self.bracket.upper, self.size, tail)
        return Bounds(float(least), float(most))


@dataclass(frozen=True, kw_only=True)
class Flagged:
    """Records of one outcome at or above a threshold, by group; zeros where there is no record."""

    groups: tuple[Group, ...]
    totals: FloatArray
    effective: FloatArray
    """Equally weighted records that the totals amount to."""
    above: Records
    """The fewest, the estimate and the most records at or above the threshold."""
    unseen: FloatArray
    """At most this many further records, of which nothing is known."""
    noise: tuple[float, float] = (0.0, 0.0)
    """The variances of the noise of the records at or above the threshold, and of those below it."""
    tail: float = 0.0
    """How often each end of a bracket may be wrong, for noise."""

    @classmethod
    def from_cells(
        cls,
        federation: Federation,
        above: Records,
        unseen: Mapping[Group, float] | None = None,
        *,
        chosen: npt.NDArray[np.bool_] | None = None,
    ) -> Flagged:
        """Add up the records of all cells, or of those chosen."""
        taken = np.ones(federation.counts.size) if chosen is None else chosen.astype(np.float64)

        def by_group(per_cell: FloatArray) -> FloatArray:
            sums: FloatArray = np.zeros(len(federation.groups))
            np.add.at(sums, federation.group_of, per_cell * taken)
            return sums

        counts = federation.counts.astype(np.float64)
        totals, squares = by_group(counts), by_group(counts**2 / federation.effective)
        return cls(
            groups=federation.groups,
            totals=totals,
            effective=np.divide(totals**2, squares, out=np.zeros(totals.size), where=squares > 0),
            above=Records(*map(by_group, above)),
            unseen=np.array(
                [float((unseen or {}).get(group, 0.0)) for group in federation.groups]
            ),
        )

    def side(self, position: int, *, above: bool) -> Side:
        """Return the records of one group on one side of the threshold."""
        total = float(self.totals[position])
        least, value, most = (float(each[position]) for each in self.above)
        if not above:
            least, value, most = total - most, total - value, total - least
        return Side(
            least=least,
            value=value,
            most=most,
            worth=float(self.effective[position]) / total if total else 1.0,
            unseen=float(self.unseen[position]),
            noise=self.noise[0 if above else 1],
            tail=self.tail,
        )


class Side(NamedTuple):
    """Records of one outcome on one side of a threshold."""

    least: float
    value: float
    most: float
    worth: float
    """Equally weighted records that one record amounts to."""
    unseen: float
    noise: float = 0.0
    """The variance of the noise in their number; then it is a number, and no bracket."""
    tail: float = 0.0
    """How often each end of a bracket may be wrong, for noise."""


def noisy_share(first: Side, second: Side) -> Shared:
    """Return the share that the first has of both, of noisy numbers.

    The bracket holds the share of the records themselves, at the confidence of the sides.
    """
    sides, noise = (first.value, second.value), (first.noise, second.noise)
    n = sum(sides)
    ends = noisy_limits(*sides, noise, first.tail, sampled=False)
    more, other = first.unseen, second.unseen
    return Shared(
        bracket=Bracket(
            value=min(max(first.value / n, ends.lower), ends.upper),
            lower=ends.lower,
            upper=ends.upper,
        ),
        n=n,
        size=n,
        outer=Bounds(
            ends.lower * n / (n + other),
            1.0 if math.isinf(more) else (ends.upper * n + more) / (n + more),
        ),
        sides=sides,
        noise=noise,
    )


def is_there(first: Side, second: Side) -> bool:
    """Return whether there are surely records of either kind; noise alone does not make them."""
    noise = first.noise + second.noise
    return first.least + second.least > _DEVIATIONS * math.sqrt(noise)


def share_of(first: Side, second: Side, *, together: float | None = None) -> Shared:
    """Return the share that the first has of both, which are not empty.

    ``together`` is how many both are, where that is known: then one has what the other lacks.
    """
    if first.noise or second.noise:
        return noisy_share(first, second)
    fewest = first.least + second.least if together is None else together
    n = first.value + second.value if together is None else together
    worth = (first.value * first.worth + second.value * second.worth) / n if n > 0 else 1.0
    lower = first.least / (first.least + second.most if together is None else together)
    upper = first.most / (first.most + second.least if together is None else together)
    value = first.value / n if n > 0 else lower
    # Records that nobody described are all of the second kind at the lower end, of the first at the upper.
    low = first.least / (first.least + second.most + second.unseen)
    high = first.most + first.unseen
    return Shared(
        bracket=Bracket(value=min(max(value, lower), upper), lower=lower, upper=upper),
        n=n,
        size=fewest * worth,
        outer=Bounds(low, 1.0 if math.isinf(high) else high / (high + second.least)),
    )


class RateTable(NamedTuple):
    """One kind of rate in all groups."""

    measure: OutcomeMeasure
    shares: dict[Group, Shared | None]

    def compared(self, confidence: float) -> Comparison | None:
        """Return the rates of the groups that have one side by side; ``None`` if fewer than two have."""
        known = {group: share for group, share in self.shares.items() if share is not None}
        if len(known) < 2:
            return None
        brackets = {group: share.bracket for group, share in known.items()}
        largest = max(known, key=lambda group: known[group].n)
        if any(any(share.noise) for share in known.values()):
            limits = [
                _noisy_rate_limits([*known.values()], tail)
                for tail in tails(confidence, len(known))
            ]
            return compare_limits(brackets, *limits, largest=largest)
        return compare_rates(
            brackets,
            sizes=np.array([share.size for share in known.values()]),
            largest=largest,
            confidence=confidence,
        )

    def rows(self, confidence: float) -> tuple[OutcomeRate, ...]:
        """Return a row per group."""
        found = self.compared(confidence)
        by_group = {} if found is None else {row.group: row for row in found.groups}
        rows = []
        for group, share in self.shares.items():
            row = by_group.get(group)
            rows.append(
                OutcomeRate(
                    group=group,
                    n=0.0 if share is None else share.n,
                    rate=None
                    if share is None or row is None
                    else known_share(row.rate, share.outer),
                    ratio=None if row is None else row.ratio,
                    difference=None if row is None else row.difference_to_best,
                )
            )
        return tuple(rows)


def _noisy_rate_limits(shares: Sequence[Shared], tail: float) -> RateLimits:
    """The limits of noisy shares, and of every pair of them: noise and sampling are counted once."""
    value = np.array([share.bracket.value for share in shares])
    least, most = np.array([share.limits(tail) for share in shares]).T
    sides = value[:, None], least[:, None], value, most
    return RateLimits(least, most, difference_lower(*sides), ratio_lower(*sides))


def limited(share: Shared, tail: float) -> Known:
    """Return a share with limits that miss with probability ``tail`` each."""
    found, limits = share.bracket, share.limits(tail)
    interval = Bounds(min(limits.lower, found.lower), max(limits.upper, found.upper))
    return known_share(Sampled(**vars(found), interval=interval), share.outer)


def known_share(rate: Sampled, outer: Bounds) -> Known:
    """Return a rate with what all records leave open, which contains its bracket."""
    return Known(
        value=rate.value,
        lower=rate.lower,
        upper=rate.upper,
        interval=rate.interval,
        outer=Bounds(min(outer.lower, rate.lower), max(outer.upper, rate.upper)),
    )


def rate_table(measure: OutcomeMeasure, positives: Flagged, negatives: Flagged) -> RateTable:
    """Return one kind of rate in all groups.

    Both are of the same groups, in the same order.
    """
    shares: dict[Group, Shared | None] = {}
    for position, group in enumerate(positives.groups):
        hit, miss = (positives.side(position, above=above) for above in (True, False))
        false, rejected = (negatives.side(position, above=above) for above in (True, False))
        pair = {
            "tpr": (hit, miss),
            "fpr": (false, rejected),
            "fnr": (miss, hit),
            "ppv": (hit, false),
            "npv": (rejected, miss),
        }[measure]
        # The two sides of one outcome add up to a number that is known: they move together.
        both = pair[0].value + pair[1].value
        known = measure not in ("ppv", "npv")
        surely = both > 0 if known and not pair[0].noise else is_there(*pair)
        shares[group] = share_of(*pair, together=both if known else None) if surely else None
    return RateTable(measure, shares)
