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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from fedparity.documents.outcome_parts import Known, OutcomeMeasure, OutcomeRate
from fedparity.documents.result_parts import Sampled
from fedparity.federated.federation import Federation
from fedparity.laws.arrays import FloatArray
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group
from fedparity.thresholds.at_threshold import Records
from fedparity.thresholds.proportions import proportion_limits
from fedparity.thresholds.rates import Comparison, compare_rates

__all__ = [
    "MEASURES",
    "Flagged",
    "RateTable",
    "Shared",
    "Side",
    "known_share",
    "limited",
    "rate_table",
    "share_of",
]

MEASURES: tuple[OutcomeMeasure, ...] = get_args(OutcomeMeasure)


class Shared(NamedTuple):
    """A share of one group's records: its bracket, of how many records, and with all that is missing."""

    bracket: Bracket
    n: float
    """Records that it is a share of, as estimated."""
    size: float
    """How many equally weighted records the fewest of these amount to."""
    outer: Bounds


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
        )


class Side(NamedTuple):
    """Records of one outcome on one side of a threshold."""

    least: float
    value: float
    most: float
    worth: float
    """Equally weighted records that one record amounts to."""
    unseen: float


def share_of(first: Side, second: Side, *, together: float | None = None) -> Shared:
    """Return the share that the first has of both, which are not empty.

    ``together`` is how many both are, where that is known: then one has what the other lacks.
    """
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
        return compare_rates(
            {group: share.bracket for group, share in known.items()},
            sizes=np.array([share.size for share in known.values()]),
            largest=max(known, key=lambda group: known[group].n),
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


def limited(share: Shared, tail: float) -> Known:
    """Return a share with limits that miss with probability ``tail`` each."""
    found = share.bracket
    least, most = proportion_limits(found.lower, found.upper, share.size, tail)
    interval = Bounds(float(least), float(most))
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
        surely = both if known else pair[0].least + pair[1].least
        shares[group] = share_of(*pair, together=both if known else None) if surely > 0 else None
    return RateTable(measure, shares)
