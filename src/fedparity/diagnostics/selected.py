"""Records beyond a threshold, group by group: counted where silos counted them, else bracketed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fedparity.diagnostics.brackets import Bracket, rounding_of, sharp_envelopes
from fedparity.diagnostics.knowledge import checked_range, checked_unseen
from fedparity.federated.federation import Federation
from fedparity.laws.arrays import FloatArray
from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.protocol.plan_fields import Favorable

__all__ = ["selection_rates"]


class _Records(NamedTuple):
    """Records at or above a threshold: the fewest there can be, the estimate, and the most."""

    least: FloatArray
    value: FloatArray
    most: FloatArray


def selection_rates(
    federation: Federation,
    threshold: float,
    favorable: Favorable,
    *,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None,
) -> dict[Group, Bracket]:
    """Return the share of each group's records that a threshold selects, as far as it is known.

    Where cells state how many records lie at or above the threshold, they are added up. The
    ``unseen`` ones may all be selected, or none.
    """
    bounds = checked_range(federation, score_range)
    extra = checked_unseen(federation, unseen)
    cells = _records_above(federation, threshold, bounds)
    above = _Records(*(_by_group(federation, each) for each in cells))
    totals = _by_group(federation, federation.counts)
    if favorable == "below":
        above = _Records(totals - above.most, totals - above.value, totals - above.least)
    return {
        group: _rate(least, value, most, total, more)
        for group, least, value, most, total, more in zip(
            federation.groups, *above, totals, extra, strict=True
        )
    }


def _rate(least: float, value: float, most: float, total: float, unseen: float) -> Bracket:
    share = float(value / total)
    if not np.isfinite(unseen):
        return Bracket(value=share, lower=0.0, upper=1.0)
    lower = max(0.0, float(least / (total + unseen)))
    upper = min(1.0, float((most + unseen) / (total + unseen)))
    return Bracket(value=min(max(share, lower), upper), lower=lower, upper=upper)


def _records_above(
    federation: Federation, threshold: float, bounds: tuple[float, float]
) -> _Records:
    """The records at or above the threshold in every cell.

    A count at a lower threshold bounds them from above, one at a higher threshold from below,
    and a count at this one is the answer.
    """
    least, most = _bracketed_cells(federation, threshold, bounds)
    for stated, counts in federation.above.items():
        if stated < threshold:
            most = np.fmin(most, counts)  # which pass over cells that did not count
        elif stated > threshold:
            least = np.fmax(least, counts)
    counted = federation.above.get(threshold, np.full(federation.counts.size, np.nan))
    least = np.where(np.isnan(counted), least, counted)
    most = np.where(np.isnan(counted), most, counted)
    likely = federation.reconstructed
    reached = np.where(likely.values >= threshold, likely.parts, 0)
    parts = np.add.reduceat(reached, likely.offsets[:-1])
    return _Records(least, np.clip(parts * likely.counts / likely.units, least, most), most)


def _bracketed_cells(
    federation: Federation, threshold: float, bounds: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """The fewest and the most records at or above the threshold that each sketch allows."""
    cells = federation.counts.size
    apart = replace(federation, groups=tuple(range(cells)), group_of=np.arange(cells))
    envelopes = sharp_envelopes(apart, bounds, np.zeros(cells))
    slack = federation.counts * np.array([rounding_of(envelope) for envelope in envelopes])
    lowest = np.array([_mass_from(low, threshold) for low, _ in envelopes])
    highest = np.array([_mass_from(high, threshold) for _, high in envelopes])
    return (
        np.maximum(lowest - slack, 0.0),
        np.minimum(highest + slack, federation.counts),
    )


def _mass_from(law: Law, threshold: float) -> float:
    start = int(np.searchsorted(law.atoms, threshold, side="left"))
    return float(law.weights[start:].sum())


def _by_group(federation: Federation, per_cell: FloatArray) -> FloatArray:
    sums: FloatArray = federation.tabulate(per_cell.astype(np.float64)).sum(axis=0)
    return sums
