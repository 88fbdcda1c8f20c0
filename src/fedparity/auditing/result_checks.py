"""Whether the parts of a result that was read agree: a file may have been cut or changed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

from fedparity.auditing.result_parts import (
    Bounded,
    Estimate,
    InDeviations,
    TailResult,
    ThresholdResult,
    Verdicts,
)
from fedparity.errors import ResultError
from fedparity.laws.bounds import Interval
from fedparity.uncertainty.assessment import verdict

if TYPE_CHECKING:
    from fedparity.auditing.result import AuditResult

__all__ = ["check_agreement"]


def check_agreement(result: AuditResult) -> None:
    """Raise unless every part speaks of the same groups and silos, ranges nest, and verdicts follow.

    Raises
    ------
    ResultError
        If two parts contradict each other; the first place is named.
    """
    for place, expected, agrees in _CHECKS:
        if not agrees(result):
            raise ResultError.disagrees(place, expected)


def _has_groups(result: AuditResult) -> bool:
    groups = [each.group for each in result.groups]
    return len(groups) == len(set(groups)) >= 2


def _has_pairs(result: AuditResult) -> bool:
    groups = [each.group for each in result.groups]
    return [pair.groups for pair in result.pairs] == list(combinations(groups, 2))


def _has_set_aside(result: AuditResult) -> bool:
    groups = {each.group for each in result.groups}
    aside = [each.group for each in result.set_aside]
    return len(aside) == len(set(aside)) and groups.isdisjoint(aside)


def _has_cells(result: AuditResult) -> bool:
    groups = {each.group for each in result.groups}
    groups |= {each.group for each in result.set_aside}
    return all(
        silo.n.keys() == silo.levels.keys() == silo.quantiles.keys() == groups
        and silo.withheld.keys() <= groups
        for silo in result.silos
    )


def _has_amounts(result: AuditResult) -> bool:
    """No number of records, distance or disparity is negative, and shares are between 0 and 1."""
    groups, silos, pairs = result.groups, result.silos, result.pairs
    amounts = (
        *(result.n, result.disparity.interval.lower, result.heterogeneity.value),
        *(each.n for each in groups),
        *(number or 0 for silo in silos for number in silo.n.values()),
        *(silo.interval.lower for silo in silos if silo.interval is not None),
        *(number or 0 for s in silos for number in (s.disparity, s.heterogeneity, s.wasserstein)),
        *(number for pair in pairs for number in (pair.interval.lower, pair.cramer)),
    )
    shares = (result.disparity.p_value, *(each.share for each in groups))
    return min(amounts) >= 0 and all(0 <= share <= 1 for share in shares)


def _has_sentences(result: AuditResult) -> bool:
    return bool(result.plan.title and result.software) and all(
        each.text for each in result.warnings
    )


def _has_silos(result: AuditResult) -> bool:
    received = result.silos_received
    return (
        0 < len(received) == len(set(received))
        and not set(received) & set(result.silos_missing)
        and received == tuple(silo.silo for silo in result.silos)
        and received == tuple(each.silo for each in result.attribution.silos)
    )


def _has_range(result: AuditResult) -> bool:
    return result.plan.score_range.lower < result.plan.score_range.upper


def _has_terms(result: AuditResult) -> bool:
    terms = result.decomposition
    return (terms.remainder is None) == (result.plan.order == 1 or terms.v_mix is None)


def _has_estimates(result: AuditResult) -> bool:
    """Every combined interval contains its interval, which contains both estimates."""
    estimates: tuple[Estimate, ...] = (
        result.disparity,
        result.magnitudes.points,
        result.magnitudes.worst_pair,
    )
    return all(
        _contains(each.combined, each.interval)
        and _contains(each.interval, (each.value, each.value))
        and _contains(each.interval, (each.corrected, each.corrected))
        for each in estimates
    )


def _has_bounds(result: AuditResult) -> bool:
    """Outer bounds contain the certificate."""
    found = result.magnitudes
    bounded: tuple[Bounded | InDeviations, ...] = (
        result.disparity,
        found.points,
        found.worst_pair,
        found.standardized.deviation,
        found.standardized.distance,
        found.standardized.mean_gap,
        found.variance_share,
        found.location_share,
        found.equal_weights,
        *found.burden,
    )
    return all(_contains(each.outer, each.certificate) for each in bounded)


def _has_magnitudes(result: AuditResult) -> bool:
    """The worst pair and the burdens are of the groups that were measured."""
    found = result.magnitudes
    groups = [each.group for each in result.groups]
    worst = found.worst_pair
    return (
        worst.groups in [pair.groups for pair in result.pairs]
        and worst.higher in (*worst.groups, None)
        and [each.group for each in found.burden] == groups
    )


def _has_thresholds(result: AuditResult) -> bool:
    groups = [each.group for each in result.groups]
    asked = [each.threshold for each in result.thresholds]
    rates: tuple[ThresholdResult | TailResult, ...] = (*result.thresholds, *result.tails)
    return (
        len(asked) == len(set(asked))
        and set(asked) >= set(result.plan.thresholds)
        and all([row.group for row in each.groups] == groups for each in rates)
    )


def _has_compared(result: AuditResult) -> bool:
    compared = result.disparity.compared
    value = compared.answered if compared.value is None else (compared.value, compared.value)
    return _contains(compared.all, compared.answered) and _contains(compared.answered, value)


def _has_verdicts(result: AuditResult) -> bool:
    found = result.disparity
    return found.verdict == Verdicts(
        answered=verdict(found.compared.answered, found.review_level),
        all=verdict(found.compared.all, found.review_level),
    )


def _contains(outer: Interval, inner: tuple[float, float]) -> bool:
    return outer.lower <= inner[0] and inner[1] <= outer.upper


def _has_confidence(result: AuditResult) -> bool:
    return 0 < result.confidence < 1


_CHECKS: tuple[tuple[str, str, Callable[[AuditResult], bool]], ...] = (
    ("groups", "two or more different groups", _has_groups),
    ("pairs", "every two of the groups, in their order", _has_pairs),
    ("set_aside", "groups that were not measured, each once", _has_set_aside),
    ("silos", "those received, each once, and in the attribution too", _has_silos),
    ("n, levels, quantiles and withheld of a silo", "the groups", _has_cells),
    ("numbers of records, distances and shares", "0 or more, shares at most 1", _has_amounts),
    ("the title, software and warnings", "texts that say something", _has_sentences),
    ("score_range of the plan", "two numbers, the lower first", _has_range),
    (
        "remainder of the decomposition",
        "null for order 1, and a number for order 2 unless no term is known",
        _has_terms,
    ),
    ("interval", "inside combined, and around value and corrected", _has_estimates),
    ("certificate", "inside outer", _has_bounds),
    ("worst_pair and burden", "of the groups that were measured", _has_magnitudes),
    ("thresholds and tails", "those of the plan, with every group", _has_thresholds),
    ("compared", "a value inside answered, and answered inside all", _has_compared),
    ("verdict", "what compared and review_level say", _has_verdicts),
    ("confidence", "a number between 0 and 1", _has_confidence),
)
"""Place, what must be there, and the check; in this order, as later ones rely on earlier ones."""
