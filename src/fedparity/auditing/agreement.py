"""Whether the parts of a result that was read agree: a file may have been cut or changed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

from fedparity.errors import ResultError

if TYPE_CHECKING:
    from fedparity.auditing.result import AuditResult

__all__ = ["check_agreement"]


def check_agreement(result: AuditResult) -> None:
    """Raise unless every part speaks of the same groups and silos, and the verdict follows.

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


def _has_cells(result: AuditResult) -> bool:
    groups = {each.group for each in result.groups}
    return all(
        silo.n.keys() == silo.levels.keys() == groups and silo.withheld.keys() <= groups
        for silo in result.silos
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


def _has_verdict(result: AuditResult) -> bool:
    found = result.disparity
    if found.review_level is None:
        return found.verdict == "none"
    if found.combined.lower > found.review_level:
        return found.verdict == "above"
    below = found.combined.upper <= found.review_level
    return found.verdict == ("below" if below else "inconclusive")


def _has_confidence(result: AuditResult) -> bool:
    return 0 < result.confidence < 1


_CHECKS: tuple[tuple[str, str, Callable[[AuditResult], bool]], ...] = (
    ("groups", "two or more different groups", _has_groups),
    ("pairs", "every two of the groups, in their order", _has_pairs),
    ("silos", "those received, each once, and in the attribution too", _has_silos),
    ("n, levels and withheld of a silo", "the groups", _has_cells),
    ("score_range of the plan", "two numbers, the lower first", _has_range),
    (
        "remainder of the decomposition",
        "null for order 1, and a number for order 2 unless no term is known",
        _has_terms,
    ),
    ("verdict", "what combined and review_level say", _has_verdict),
    ("confidence", "a number between 0 and 1", _has_confidence),
)
"""Place, what must be there, and the check; in this order, as later ones rely on earlier ones."""
