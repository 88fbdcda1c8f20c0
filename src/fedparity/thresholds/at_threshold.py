"""Rates at a threshold, from sketches alone: what selection rules look at.

A sketch leaves a group's law between two others (:mod:`fedparity.uncertainty.envelopes`), so a
share of its records is known up to a bracket, that the raw data cannot leave; if the silos count
the records at the threshold, it is known. An interval adds what sampling leaves open of the
population's share (:mod:`fedparity.thresholds.rates`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, get_args

import numpy as np

from fedparity.documents.plan_fields import Favorable
from fedparity.documents.result_parts import ThresholdReport
from fedparity.errors import OptionError
from fedparity.federated.federation import Federation, takes_federation
from fedparity.laws.arrays import FloatArray
from fedparity.laws.bounds import Bracket
from fedparity.laws.labels import Group
from fedparity.laws.law import Law
from fedparity.thresholds.rates import (
    compare_rates,
    effective_sizes,
    largest_group,
)
from fedparity.uncertainty.brackets import rounding_of, sharp_envelopes
from fedparity.uncertainty.checks import check_confidence, checked_range, checked_unseen

__all__ = [
    "Records",
    "at_threshold",
    "records_above",
    "selection_rates",
]


class Records(NamedTuple):
    """Records at or above a threshold by cell: the fewest there can be, the estimate, and the most."""

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
    cells = records_above(federation, threshold, bounds)
    above = Records(*(_by_group(federation, each) for each in cells))
    totals = _by_group(federation, federation.counts)
    if favorable == "below":
        above = Records(totals - above.most, totals - above.value, totals - above.least)
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


def records_above(
    federation: Federation, threshold: float, bounds: tuple[float, float]
) -> Records:
    """Return the records at or above the threshold in every cell.

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
    return Records(least, np.clip(parts * likely.counts / likely.units, least, most), most)


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


@takes_federation
def at_threshold(
    federation: Federation,
    threshold: float,
    *,
    score_range: tuple[float, float],
    favorable: Favorable = "above",
    unseen: Mapping[Group, float] | None = None,
    confidence: float = 0.95,
) -> ThresholdReport:
    r"""Return the selection rates of all groups at a threshold, and how they compare.

    The rate of group s is the share of its records with a score of at least t,

    .. math:: p_s = \nu_s^\times([t, \infty)),

    or, with ``favorable="below"``, of those with a score strictly below t. Where all
    cells count their records at t, it is exact. Otherwise it is known up to about 1/k with k
    quantiles per cell, and the bounds are attained: some data with these sketches have that
    rate; with bin means up to 2/k; with counts at the points of a grid exactly, unless records at t were
    counted together with others.

    Intervals take the records of a group for a sample of independent ones, of which the rate
    alone is wanted; see :mod:`fedparity.thresholds.rates` for what holds at once.

    Parameters
    ----------
    threshold : float
        The t from which, or below which, a record is selected.
    score_range : pair of numbers
        Public bounds of the scores.
    favorable : "above" or "below"
        Who is selected: those at or above the threshold, or those strictly below it.
    unseen : mapping of group to number, optional
        Upper bounds of the further records that exist; see :func:`fedparity.theory.certify`.
    confidence : float in (0, 1), default 0.95
        Of all intervals.

    Raises
    ------
    OptionError
        If an option is out of its range.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.2, 0.4, 0.6, 0.8, 0.1, 0.3, 0.5, 0.9] * 50,
    ...     groups=list("aaaabbbb") * 50, silos=[1] * 400, levels=200, kind="quantile",
    ... )
    >>> report = at_threshold(federation, 0.6, score_range=(0, 1))
    >>> [(row.group, row.rate.lower, row.rate.upper) for row in report.groups]
    [('a', 0.5, 0.5), ('b', 0.25, 0.25)]
    >>> ratio = report.groups[1].ratio
    >>> ratio.value, [round(end, 2) for end in ratio.interval], report.answer
    (0.5, [0.38, 0.66], 'below four fifths')
    """
    cut = _checked_threshold(threshold)
    checked = check_confidence(confidence)
    if favorable not in get_args(Favorable):
        raise OptionError.unknown("favorable", favorable, get_args(Favorable))
    rates = selection_rates(federation, cut, favorable, score_range=score_range, unseen=unseen)
    largest = largest_group(federation)
    found = compare_rates(
        rates, sizes=effective_sizes(federation), largest=largest, confidence=checked
    )
    return ThresholdReport(
        score=cut,
        favorable=favorable,
        confidence=checked,
        largest=largest,
        groups=found.groups,
        widest_gap=found.widest_gap,
        answer=found.answer,
    )


def _checked_threshold(threshold: float) -> float:
    number = isinstance(threshold, int | float | np.integer | np.floating)
    if isinstance(threshold, bool) or not (number and math.isfinite(threshold)):
        raise OptionError(
            f"threshold must be a finite number, not {threshold!r}.",
            fix="pass the score from which a record is selected, for example 0.5.",
        )
    return float(threshold)
