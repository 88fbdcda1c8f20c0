"""Shares of each group above a quantile of the whole population, from sketches alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fedparity.documents.result_parts import TailReport, TailResult
from fedparity.errors import OptionError
from fedparity.errors.base import listed
from fedparity.federated.estimate import mixtures
from fedparity.federated.federation import Federation, takes_federation
from fedparity.laws.bounds import Bracket
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray, Law
from fedparity.laws.weights import Weights
from fedparity.thresholds.proportions import proportion_limits, tails
from fedparity.thresholds.rates import (
    compare_rates,
    effective_sizes,
    largest_group,
    with_all,
)
from fedparity.uncertainty.checks import (
    Known,
    anything,
    bracketed_quantile,
    check_confidence,
    known_laws,
    pooled_law,
    share_above,
)

__all__ = [
    "ks_distance",
    "scoring_rates",
    "tail_rates",
    "tail_results",
]

_ROUNDING = 1e-12


@takes_federation
def scoring_rates(
    federation: Federation,
    *,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None = None,
    unseen_others: float = 0.0,
    confidence: float = 0.95,
) -> TailReport:
    """Return the share of each group above the median of all records.

    It is the *scoring rate* of New York City's Local Law 144, and ``ratio`` its impact
    ratio. Which of the medians of an even number of records is taken makes no difference to the
    share strictly above it. Options are those of :func:`tail_rates`.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.2, 0.4, 0.6, 0.8, 0.1, 0.3, 0.5, 0.9],
    ...     groups=list("aaaabbbb"), silos=[1] * 8, levels=4, kind="quantile",
    ... )
    >>> [row.rate.value for row in scoring_rates(federation, score_range=(0, 1)).groups]
    [0.5, 0.5]
    """
    return tail_rates(
        federation,
        0.5,
        score_range=score_range,
        unseen=unseen,
        unseen_others=unseen_others,
        confidence=confidence,
    )


@takes_federation
def tail_rates(
    federation: Federation,
    level: float,
    *,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None = None,
    unseen_others: float = 0.0,
    confidence: float = 0.95,
) -> TailReport:
    r"""Return the share of each group strictly above a quantile of all records together.

    .. math:: p_s = \nu_s^\times((Q(u), \infty)), \qquad Q(u) = \inf\{x : F(x) \ge u\},

    with F the cdf of all records. The quantile is itself known up to an interval only; a share is
    at most the largest possible above its lower end, at least the smallest possible above its
    upper end, and all shares together leave at most 1 - u above it. The intervals count besides
    that another sample has another quantile.

    Parameters
    ----------
    level : float in (0, 1)
        The u: 0.9 for the highest tenth.
    score_range, unseen, unseen_others, confidence
        As in :func:`fedparity.at_threshold`.

    Raises
    ------
    OptionError
        If an option is out of its range.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.2, 0.4, 0.6, 0.8, 0.1, 0.3, 0.5, 0.9],
    ...     groups=list("aaaabbbb"), silos=[1] * 8, levels=4, kind="quantile",
    ... )
    >>> [row.rate.value for row in tail_rates(federation, 0.75, score_range=(0, 1)).groups]
    [0.25, 0.25]
    """
    level, confidence = _checked_level(level), check_confidence(confidence)
    known = known_laws(federation, mixtures(federation), score_range, unseen)
    others = anything(score_range, unseen_others) if unseen_others else None
    everyone = pooled_law(known, federation.weights, others=others)
    cutoff = bracketed_quantile(everyone, level)
    rates = {group: share_above(law, cutoff) for group, law in known.items()}
    if not unseen_others and not any((unseen or {}).values()):
        rates = _tightened(rates, federation.weights, 1 - level)
    largest = largest_group(federation)
    sizes = effective_sizes(federation)
    found = compare_rates(
        rates,
        sizes=sizes,
        largest=largest,
        confidence=confidence,
        moved=_moved_rates(
            known, everyone.law, level, _pooled_size(federation, sizes), confidence
        ),
        others=unseen_others > 0,
    )
    return TailReport(
        level=level,
        cutoff=cutoff,
        confidence=confidence,
        largest=largest,
        groups=found.groups,
        widest_gap=found.widest_gap,
        answer=found.answer,
    )


def _checked_level(level: object) -> float:
    if not (isinstance(level, float | np.floating) and 0 < level < 1):
        raise OptionError(
            f"level must be above 0 and below 1, not {level!r}.",
            fix="pass level=0.5 for the median, or 0.9 for the highest tenth.",
        )
    return float(level)


def _pooled_size(federation: Federation, sizes: FloatArray) -> float:
    """How many equally weighted records all groups together amount to."""
    totals = federation.count_table.sum(axis=0).astype(np.float64)
    return float(totals.sum() ** 2 / (totals**2 / sizes).sum())


def _moved_rates(
    known: Mapping[Group, Known], everyone: Law, level: float, size: float, confidence: float
) -> FloatArray:
    """The rates above the lower and upper limits of the quantile, for both tails.

    The share of the population up to the quantile of a sample scatters around the level as a
    proportion does, so that the population's quantile lies between the sample's at its limits.
    """
    levels = proportion_limits(level, level, size, tails(confidence, len(known)))
    cutoffs = everyone.quantile(np.stack(levels, axis=-1))
    return np.stack([1 - entry.law.cdf(cutoffs) for entry in known.values()], axis=-1)


def _tightened(
    rates: Mapping[Group, Bracket], weights: Weights, together: float
) -> dict[Group, Bracket]:
    """Lower the upper bounds: all groups together have at most a share ``together`` above."""
    least = sum(weights[group] * rate.lower for group, rate in rates.items())
    tight = {}
    for group, rate in rates.items():
        room = (together - least) / weights[group] + rate.lower + _ROUNDING
        upper = max(rate.lower, min(rate.upper, room))
        tight[group] = replace(rate, value=min(rate.value, upper), upper=upper)
    return tight


@takes_federation
def ks_distance(
    federation: Federation,
    first: Group,
    second: Group,
    *,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None = None,
) -> Bracket:
    r"""Return the largest difference between the cdfs of two groups, bracketed.

    .. math:: \sup_x |F_1(x) - F_2(x)|

    It is the largest difference of selection rates over all thresholds; 0 means equal laws. Each
    cdf lies between those of its envelope, hence the difference at every x between two numbers.

    Parameters
    ----------
    first, second
        Labels of the two groups.
    score_range, unseen
        As in :func:`fedparity.at_threshold`.

    Raises
    ------
    OptionError
        If there is no such group, or an option is out of its range.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.2, 0.4, 0.6, 0.8, 0.1, 0.3, 0.5, 0.9],
    ...     groups=list("aaaabbbb"), silos=[1] * 8, levels=4, kind="quantile",
    ... )
    >>> ks_distance(federation, "a", "b", score_range=(0, 1))
    Bracket(lower=0.25, upper=0.25, value=0.25)
    """
    for group in (first, second):
        if group not in federation.groups:
            raise OptionError(
                f"group {group!r} is not in this federation.",
                fix=f"name two of its groups: {listed(federation.groups)}.",
            )
    known = known_laws(federation, mixtures(federation), score_range, unseen)
    one, other = known[first], known[second]
    slack = one.slack + other.slack
    lower = max(0.0, _excess(one, other), _excess(other, one)) - slack
    upper = max(_reach(one, other), _reach(other, one)) + slack
    lower, upper = max(0.0, lower), min(1.0, upper)
    value = max(_largest_gap(one.law, other.law), _largest_gap(other.law, one.law))
    return Bracket(value=min(max(value, lower), upper), lower=lower, upper=upper)


def _excess(one: Known, other: Known) -> float:
    """How far the first cdf must exceed the second somewhere."""
    return _largest_gap(one.envelope.upper, other.envelope.lower)


def _reach(one: Known, other: Known) -> float:
    """How far the first cdf can exceed the second anywhere."""
    return _largest_gap(one.envelope.lower, other.envelope.upper)


def _largest_gap(one: Law, other: Law) -> float:
    """The supremum of the first cdf minus the second, attained at an atom of the first or 0."""
    return max(0.0, float(np.max(one.cumulative - other.cdf(one.atoms))))


def tail_results(
    federation: Federation,
    levels: Iterable[float],
    *,
    unseen: Mapping[Group, float] | None,
    unseen_others: float,
    **options: Any,  # noqa: ANN401 -- those of tail_rates
) -> tuple[TailResult, ...]:
    """Return the shares above each quantile of all records; options are those of ``tail_rates``."""
    return tuple(
        with_all(
            TailResult,
            partial(tail_rates, federation, level, **options),
            unseen=unseen,
            unseen_others=unseen_others,
        )
        for level in levels
    )
