"""Rates as a result holds them: among those who answered, and what can be said for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fedparity.documents.plan_fields import Favorable
from fedparity.documents.result_parts import TailResult, ThresholdResult
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.thresholds.at_threshold import at_threshold
from fedparity.thresholds.tail_rates import tail_rates

__all__ = ["tail_results", "threshold_results"]


def threshold_results(
    federation: Federation,
    thresholds: Iterable[float],
    *,
    favorable: Favorable,
    confidence: float,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None,
) -> tuple[ThresholdResult, ...]:
    """Return the selection rates at each threshold; options are those of ``at_threshold``."""
    results = []
    for threshold in thresholds:
        found, everyone = (
            at_threshold(
                federation,
                threshold,
                favorable=favorable,
                confidence=confidence,
                score_range=score_range,
                unseen=missing,
            )
            for missing in (None, unseen)
        )
        results.append(ThresholdResult(**vars(found), all=everyone.answer))
    return tuple(results)


def tail_results(
    federation: Federation,
    levels: Iterable[float],
    *,
    confidence: float,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None,
) -> tuple[TailResult, ...]:
    """Return the shares above each quantile of all records; options are those of ``tail_rates``."""
    results = []
    for level in levels:
        found, everyone = (
            tail_rates(
                federation, level, confidence=confidence, score_range=score_range, unseen=missing
            )
            for missing in (None, unseen)
        )
        results.append(TailResult(**vars(found), all=everyone.answer))
    return tuple(results)
