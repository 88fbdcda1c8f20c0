"""A gap in all silos together, next to what each silo sees alone.

A difference between groups may be absent from every silo and present in all of them together, if
groups are spread over silos in which the rates differ. It is called *hidden* where three things hold: the interval of
the whole lies above zero; no silo's own interval does, for the same two groups in the same
direction; and the differences inside silos are on average less than half of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from fedparity.documents.outcome_parts import LocalGap, OutcomeGap, SiloGap
from fedparity.documents.result_parts import Sampled
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group, Silo
from fedparity.thresholds.proportions import difference_lower

__all__ = ["SiloOf", "SiloShare", "gap_of", "limited_difference", "own_silos"]

SiloOf = Callable[[Silo], Silo]
"""The silo of a label: one silo may have several cells of a group, of different people."""


class SiloShare(NamedTuple):
    """A number in [0, 1] of one group in one silo, and how many records it rests on."""

    bracket: Bracket
    limits: Bounds
    n: float


def own_silos(labels: Sequence[Silo], silo_of: SiloOf | None) -> dict[Silo, list[int]]:
    """Return the positions of the labels of each silo, in their order."""
    places: dict[Silo, list[int]] = {}
    for position, label in enumerate(labels):
        places.setdefault(label if silo_of is None else silo_of(label), []).append(position)
    return places


def gap_of(
    gap: Sampled,
    values: Mapping[Group, float],
    silos: Mapping[Silo, Mapping[Group, SiloShare]] | None,
) -> OutcomeGap:
    """Return the largest difference of all silos together, with that of each silo alone.

    ``silos`` are ``None`` where they were not seen apart.
    """
    if silos is None or len(values) < 2:
        return OutcomeGap(gap=gap, local=None)
    highest = max(values, key=values.__getitem__)
    lowest = min((group for group in values if group != highest), key=values.__getitem__)
    rows, weighted, weights = [], 0.0, 0.0
    for silo, shares in silos.items():
        first, second = shares.get(highest), shares.get(lowest)
        if first is None or second is None:
            rows.append(SiloGap(silo=str(silo), value=None, interval=None))
            continue
        value = first.bracket.value - second.bracket.value
        rows.append(
            SiloGap(silo=str(silo), value=value, interval=limited_difference(first, second))
        )
        weight = first.n * second.n / (first.n + second.n)
        weighted, weights = weighted + weight * value, weights + weight
    average = weighted / weights if weights else None
    seen = [row.interval for row in rows if row.interval is not None]
    hidden = (
        len(seen) > 1
        and average is not None
        and gap.interval.lower > 0
        and not any(interval.lower > 0 for interval in seen)
        and average < gap.value / 2
    )
    local = LocalGap(groups=(highest, lowest), silos=tuple(rows), average=average, hidden=hidden)
    return OutcomeGap(gap=gap, local=local)


def limited_difference(first: SiloShare, second: SiloShare) -> Bounds:
    """Return the interval of a difference from the limits of both (*MOVER*)."""

    def lower(one: SiloShare, other: SiloShare) -> float:
        return float(
            difference_lower(
                one.bracket.lower, one.limits.lower, other.bracket.upper, other.limits.upper
            )
        )

    ends = lower(first, second), -lower(second, first)
    return Bounds(*ends)
