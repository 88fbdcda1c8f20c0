"""What a result says of all silos together, whether each of them was seen or only their sum."""

from __future__ import annotations

from collections.abc import Iterable

from fedparity.auditing.parts import (
    GroupResult,
    HeterogeneityResult,
    PairResult,
    PlanSummary,
)
from fedparity.diagnostics.assessment import Assessment
from fedparity.diagnostics.intervals import Interval
from fedparity.diagnostics.length_assessment import PairAssessment
from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import mixtures
from fedparity.federated.pairs import Pair
from fedparity.protocol.plan import Plan

__all__ = [
    "group_results",
    "heterogeneity_result",
    "pair_results",
    "plan_summary",
]


def plan_summary(plan: Plan) -> PlanSummary:
    """Return what was asked."""
    return PlanSummary(
        title=plan.title,
        digest=plan.digest,
        levels=plan.levels if plan.privacy is None else plan.grid.bins,
        sketch=plan.message_kind,
        estimator=plan.estimator,
        order=plan.order,
        score_range=Interval(*plan.score_range),
        score_step=plan.score_step,
        thresholds=tuple(plan.thresholds),
        favorable=plan.favorable,
        trim=plan.trim,
    )


def group_results(federation: Federation) -> tuple[GroupResult, ...]:
    """Return the size, share and mean of each group."""
    laws = mixtures(federation)
    totals = federation.count_table.sum(axis=0).tolist()
    return tuple(
        GroupResult(group=group, n=n, share=share, mean=float(laws[group].mean))
        for group, n, share in zip(
            federation.groups, totals, federation.shares.tolist(), strict=True
        )
    )


def heterogeneity_result(assessment: Assessment) -> HeterogeneityResult:
    """Return the heterogeneity with its interval."""
    found = assessment.heterogeneity
    return HeterogeneityResult(
        value=found.value, interval=found.interval, corrected=found.corrected
    )


def pair_results(
    pairs: Iterable[Pair], assessed: Iterable[PairAssessment], certificates: Iterable[Interval]
) -> tuple[PairResult, ...]:
    """Return the distances between every two groups with their errors."""
    return tuple(
        PairResult(
            groups=pair.groups,
            wasserstein=pair.wasserstein,
            corrected=found.corrected,
            interval=found.interval,
            certificate=certificate,
            cramer=pair.cramer,
            mean_gap=pair.mean_gap,
        )
        for pair, found, certificate in zip(pairs, assessed, certificates, strict=True)
    )
