"""What the cells of both outcomes say of the laws of positives and of negatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fedparity.federated.estimate import mixtures
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray, Law
from fedparity.outcomes.discrimination import Discrimination, area
from fedparity.thresholds.rates import effective_sizes, records_above
from fedparity.uncertainty.checks import Known, known_laws
from fedparity.uncertainty.envelopes import Envelope

__all__ = ["discriminations", "sharpened"]


def discriminations(
    positives: Federation,
    negatives: Federation,
    score_range: tuple[float, float],
    unseen: tuple[Mapping[Group, float] | None, Mapping[Group, float] | None] = (None, None),
) -> dict[Group, Discrimination]:
    """Return what is known of each group's positives and negatives.

    Parameters
    ----------
    positives, negatives : Federation
        Of the same groups, in the same order.
    unseen : two mappings of group to number, or None
        Upper bounds of further positives and negatives.
    """
    sides, sizes, rough = [], [], []
    for federation, more in zip((positives, negatives), unseen, strict=True):
        known = known_laws(federation, mixtures(federation), score_range, more)
        sides.append(
            known if any((more or {}).values()) else sharpened(federation, known, score_range)
        )
        sizes.append(effective_sizes(federation).tolist())
        rough.append(mixtures(federation, reconstruct=False))
    return {
        group: Discrimination(
            positives=sides[0][group],
            negatives=sides[1][group],
            sizes=(sizes[0][position], sizes[1][position]),
            rough=area(rough[0][group], rough[1][group]),
        )
        for position, group in enumerate(positives.groups)
    }


def sharpened(
    federation: Federation, known: Mapping[Group, Known], score_range: tuple[float, float]
) -> dict[Group, Known]:
    """Return the laws with envelopes that respect the records counted at thresholds.

    The share at or above x is at least that at any threshold beyond x, and at most that at any
    threshold up to x.
    """
    thresholds = sorted(federation.above)
    if federation.kind == "counts" or not thresholds:
        return dict(known)
    found = [records_above(federation, threshold, score_range) for threshold in thresholds]
    groups, size = federation.group_of, len(federation.groups)
    totals = np.bincount(groups, federation.counts, size)
    least = np.array([np.bincount(groups, each.least, size) for each in found]) / totals
    most = np.array([np.bincount(groups, each.most, size) for each in found]) / totals
    return {
        group: Known(
            entry.law,
            Envelope(
                _raised(entry.envelope.lower, thresholds, least[:, position]),
                _lowered(entry.envelope.upper, thresholds, most[:, position]),
            ),
        )
        for position, (group, entry) in enumerate(known.items())
    }


def _raised(law: Law, thresholds: Sequence[float], least: FloatArray) -> Law:
    """The lowest law above ``law`` with at least these shares at or above the thresholds."""
    places = np.union1d(law.atoms, thresholds)
    shares = 1 - _below(law, places)
    # The largest share required at a threshold at or beyond each place.
    required = np.append(np.maximum.accumulate(least[::-1])[::-1], 0.0)
    shares = np.maximum(shares, required[np.searchsorted(thresholds, places, side="left")])
    return _of_shares(places, shares)


def _lowered(law: Law, thresholds: Sequence[float], most: FloatArray) -> Law:
    """The highest law below ``law`` with at most these shares at or above the thresholds."""
    # What must be below a threshold may be as near to it as floats allow.
    near = np.nextafter(thresholds, -np.inf)
    places = np.union1d(np.union1d(law.atoms, thresholds), near)
    shares = 1 - _below(law, places)
    allowed = np.concatenate(([1.0], np.minimum.accumulate(most)))
    shares = np.minimum(shares, allowed[np.searchsorted(thresholds, places, side="right")])
    return _of_shares(places, shares)


def _below(law: Law, places: FloatArray) -> FloatArray:
    running = np.concatenate(([0.0], law.cumulative))
    below: FloatArray = running[np.searchsorted(law.atoms, places, side="left")]
    return below


def _of_shares(places: FloatArray, shares: FloatArray) -> Law:
    """The law with these shares at or above each place; below the lowest place there is nothing."""
    shares = np.minimum.accumulate(shares)
    shares[0] = 1.0
    return Law(places, np.maximum(shares - np.append(shares[1:], 0.0), 0.0))
