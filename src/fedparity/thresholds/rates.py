r"""Rates of several groups at a threshold, and their comparison: ratios, differences, and four fifths.

Every number has two ranges. A sketch leaves a group's law between two others
(:mod:`fedparity.uncertainty.envelopes`), so the share of its records above a threshold has a
*bracket*, which the raw data cannot leave; if the silos count the records at the threshold, the share is
known. The *interval* contains the share of the population from which the records were drawn, at a stated
confidence: it goes from the lower limit of a sample at one end of the bracket to the upper limit of one at
the other (:mod:`fedparity.thresholds.proportions`).

Which group has the highest rate is itself only estimated, so a ratio to the best is the smallest
of the ratios to each other group. Its lower limit is the smallest of their lower limits, which
misses no more often than that of the true best. Its upper limit is the smallest of their upper
limits, each with an error of at most :math:`(1 - c) / m` among the m pairs of groups: all of them hold at once with confidence c.
So no group is said to be below four fifths, of any number, by a chance above 1 - c; and that all
groups are at four fifths or more, if one is not, by a chance above (1 - c) / 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np

from fedparity.documents.plan_fields import Favorable
from fedparity.documents.result_parts import (
    FourFifths,
    GroupRate,
    Ratio,
    Sampled,
    TailReport,
    TailResult,
    ThresholdReport,
    ThresholdResult,
)
from fedparity.documents.tabular import Parts
from fedparity.errors import OptionError
from fedparity.federated.federation import Federation, takes_federation
from fedparity.laws.bounds import Bounds, Bracket
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray, Law
from fedparity.thresholds.proportions import RateLimits, rate_limits, tails
from fedparity.uncertainty.checks import (
    check_confidence,
    checked_range,
    checked_unseen,
    rounding_of,
    sharp_envelopes,
)

__all__ = [
    "Comparison",
    "Records",
    "at_threshold",
    "compare_limits",
    "compare_rates",
    "effective_sizes",
    "largest_group",
    "records_above",
    "selection_rates",
    "threshold_results",
    "with_all",
]

_ROUNDING = 1e-12
"""A ratio this near to four fifths is four fifths: quotients of rates round."""


class Comparison(NamedTuple):
    """The rates of all groups, side by side."""

    groups: Parts[GroupRate]
    widest_gap: Sampled
    """The highest rate minus the lowest: zero if all groups have the same."""
    answer: FourFifths
    """Where the smallest ratio lies: below as soon as that of one group is."""


def compare_rates(
    rates: Mapping[Group, Bracket],
    *,
    sizes: FloatArray,
    largest: Group,
    confidence: float,
    moved: FloatArray | None = None,
    others: bool = False,
) -> Comparison:
    """Return each group's rate compared with the highest and with that of ``largest``.

    Every end of a bracket is attained by some rates inside their brackets.

    Parameters
    ----------
    rates : mapping of group to Bracket, two or more
    sizes : array
        How many equally weighted records each group's sample amounts to.
    largest : label
        The group with the most records.
    confidence : float in (0, 1)
        Of all intervals.
    moved : array of two (:func:`tails`) by two by groups, optional
        The rates at the lower and upper limits of a threshold that was itself estimated.
    others : bool, optional
        Whether there are groups of whose rates nothing is known: one of them may be the highest, or the lowest.

    Examples
    --------
    >>> rates = {group: Bracket(value=x, lower=x, upper=x) for group, x in [("a", 0.5), ("b", 0.3)]}
    >>> found = compare_rates(
    ...     rates, sizes=np.array([200.0, 100.0]), largest="a", confidence=0.95
    ... )
    >>> [round(end, 3) for end in found.groups[1].ratio.interval], found.answer
    ([0.423, 0.821], 'undetermined')
    """
    alone, together = (
        rate_limits(list(rates.values()), sizes, tail, None if moved is None else moved[position])
        for position, tail in enumerate(tails(confidence, len(rates)))
    )
    return compare_limits(rates, alone, together, largest=largest, others=others)


def compare_limits(
    rates: Mapping[Group, Bracket],
    alone: RateLimits,
    together: RateLimits,
    *,
    largest: Group,
    others: bool = False,
) -> Comparison:
    """Return the comparison of numbers in [0, 1] whose limits are known, one by one and at once."""
    brackets = list(rates.values())
    anchor = list(rates).index(largest)
    groups = Parts(
        GroupRate(
            group=group,
            rate=_sampled(brackets[i], alone.rate(i)),
            ratio=(to_best := _ratio_to_best(i, brackets, alone, together, others=others)),
            ratio_to_largest=_ratio(i, anchor, brackets, alone),
            difference_to_best=_difference_to_best(i, brackets, alone, together, others=others),
            difference_to_largest=_difference(i, anchor, brackets, alone),
            answer=_state(to_best.interval),
        )
        for i, group in enumerate(rates)
    )
    return Comparison(
        groups,
        _widest_gap(brackets, alone, together, others=others),
        _overall(groups, others=others),
    )


def effective_sizes(federation: Federation) -> FloatArray:
    r"""Return how many equally weighted records each group amounts to, :math:`W^2 / \sum w^2`."""
    weight = federation.counts.astype(np.float64)
    squares = federation.tabulate(weight**2 / federation.effective).sum(axis=0)
    sizes: FloatArray = federation.tabulate(weight).sum(axis=0) ** 2 / squares
    return sizes


def largest_group(federation: Federation) -> Group:
    """Return the group with the most records, the first of several."""
    return federation.groups[int(np.argmax(federation.count_table.sum(axis=0)))]


def _sampled(bracket: Bracket, limits: Bounds) -> Sampled:
    """The bracket with its interval, which contains it up to rounding and so is made to."""
    lower, upper = min(limits.lower, bracket.lower), max(limits.upper, bracket.upper)
    return Sampled(
        value=bracket.value,
        lower=bracket.lower,
        upper=bracket.upper,
        interval=Bounds(lower, upper),
    )


def _ratio_to_best(
    own: int, rates: Sequence[Bracket], alone: RateLimits, together: RateLimits, *, others: bool
) -> Ratio:
    """The ratio of p to the larger of p and q: p/q, but at most 1; undefined if both are 0."""
    one, other = rates[own], _highest_other(own, rates)
    best = max(one.value, other.value)
    lower = _quotient(one.lower, max(one.lower, other.upper), otherwise=0.0)
    upper = _quotient(one.upper, max(one.upper, other.lower), otherwise=1.0)
    least = min(alone.ratio(own, i).lower for i in range(len(rates)) if i != own)
    if others:  # all records of one may be selected
        lower, least = one.lower, alone.rate(own).lower
    most = min(together.ratio(own, i).upper for i in range(len(rates)) if i != own)
    return Ratio(
        value=one.value / best if best else None,
        lower=lower,
        upper=upper,
        interval=Bounds(min(lower, least), max(upper, min(1.0, most))),
    )


def _ratio(own: int, other: int, rates: Sequence[Bracket], limits: RateLimits) -> Ratio:
    """The ratio p/q: no upper bound if q can be 0."""
    one, reference = rates[own], rates[other]
    if own == other:
        value = 1.0 if one.value else None
        return Ratio(value=value, lower=1.0, upper=1.0, interval=Bounds(1.0, 1.0))
    lower = _quotient(one.lower, reference.upper, otherwise=0.0)
    upper = one.upper / reference.lower if reference.lower else math.inf
    least, most = limits.ratio(own, other)
    return Ratio(
        value=one.value / reference.value if reference.value else None,
        lower=lower,
        upper=upper,
        interval=Bounds(min(lower, least), max(upper, most)),
    )


def _difference_to_best(
    own: int, rates: Sequence[Bracket], alone: RateLimits, together: RateLimits, *, others: bool
) -> Sampled:
    """The difference of p and the larger of p and q."""
    one, other = rates[own], _highest_other(own, rates)
    bracket = Bracket(
        value=min(0.0, one.value - other.value),
        lower=one.lower - 1 if others else min(0.0, one.lower - other.upper),
        upper=min(0.0, one.upper - other.lower),
    )
    least = min(alone.difference(own, i).lower for i in range(len(rates)) if i != own)
    if others:
        least = alone.rate(own).lower - 1
    most = min(together.difference(own, i).upper for i in range(len(rates)) if i != own)
    return _sampled(bracket, Bounds(least, min(0.0, most)))


def _difference(own: int, other: int, rates: Sequence[Bracket], limits: RateLimits) -> Sampled:
    if own == other:
        return Sampled(value=0.0, lower=0.0, upper=0.0, interval=Bounds(0.0, 0.0))
    one, reference = rates[own], rates[other]
    bracket = Bracket(
        value=one.value - reference.value,
        lower=one.lower - reference.upper,
        upper=one.upper - reference.lower,
    )
    return _sampled(bracket, limits.difference(own, other))


def _widest_gap(
    rates: Sequence[Bracket], alone: RateLimits, together: RateLimits, *, others: bool
) -> Sampled:
    """The highest rate minus the lowest.

    It is the largest of the differences of all pairs: at most the largest upper limit, of which
    only that of the true pair counts, and at least the largest lower one, which must hold for
    all pairs at once.
    """
    values = [rate.value for rate in rates]
    apart = max(rate.lower for rate in rates) - min(rate.upper for rate in rates)
    farthest = max(one.upper - other.lower for one, other in permutations(rates, 2))
    if others:  # of two of them, one may be selected as a whole and the other not at all
        farthest = 1.0
    bracket = Bracket(
        value=max(values) - min(values), lower=max(0.0, apart), upper=max(0.0, farthest)
    )
    pairs = list(permutations(range(len(rates)), 2))
    least = max(together.difference(*pair).lower for pair in pairs)
    most = max(alone.difference(*pair).upper for pair in pairs)
    return _sampled(bracket, Bounds(max(0.0, least), min(1.0, most)))


def _highest_other(own: int, rates: Sequence[Bracket]) -> Bracket:
    others = [rate for i, rate in enumerate(rates) if i != own]
    return Bracket(
        value=max(rate.value for rate in others),
        lower=max(rate.lower for rate in others),
        upper=max(rate.upper for rate in others),
    )


def _quotient(above: float, below: float, *, otherwise: float) -> float:
    return above / below if below else otherwise


def _state(interval: Bounds) -> FourFifths:
    if interval.lower >= 0.8 - _ROUNDING:
        return "at least four fifths"
    if interval.upper < 0.8 - _ROUNDING:
        return "below four fifths"
    return "undetermined"


def _overall(groups: Parts[GroupRate], *, others: bool) -> FourFifths:
    """Where the smallest ratio lies: below as soon as that of one group is."""
    states = {group.answer for group in groups} | ({"undetermined"} if others else set())
    for state in ("below four fifths", "undetermined"):
        if state in states:
            return state
    return "at least four fifths"


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
    unseen_others: float = 0.0,
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
    unseen_others : float, optional
        Upper bound of the records of groups that the federation lacks: nothing is known of their rates.
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
        rates,
        sizes=effective_sizes(federation),
        largest=largest,
        confidence=checked,
        others=unseen_others > 0,
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


def threshold_results(
    federation: Federation,
    thresholds: Iterable[float],
    *,
    unseen: Mapping[Group, float] | None,
    unseen_others: float,
    **options: Any,  # noqa: ANN401 -- those of at_threshold
) -> tuple[ThresholdResult, ...]:
    """Return the selection rates at each threshold; options are those of ``at_threshold``."""
    return tuple(
        with_all(
            ThresholdResult,
            partial(at_threshold, federation, threshold, **options),
            unseen=unseen,
            unseen_others=unseen_others,
        )
        for threshold in thresholds
    )


_Result = TypeVar("_Result", ThresholdResult, TailResult)


def with_all(
    kind: type[_Result],
    rates: Callable[..., ThresholdReport | TailReport],
    *,
    unseen: Mapping[Group, float] | None,
    unseen_others: float,
) -> _Result:
    """Return the rates of those who answered, and the answer for all, whatever the missing ones hold."""
    found = rates()
    missing = unseen or unseen_others
    everyone = rates(unseen=unseen, unseen_others=unseen_others) if missing else found
    return kind(**vars(found), all=everyone.answer)
