"""What a result says of all silos together, whether each of them was seen or only their sum."""

from __future__ import annotations

from collections.abc import Iterable

from fedparity.auditing.parts import (
    DisparityResult,
    GroupResult,
    HeterogeneityResult,
    PairResult,
    PlanSummary,
)
from fedparity.diagnostics.assessment import Assessment
from fedparity.diagnostics.certificate import Certificate
from fedparity.diagnostics.intervals import Interval
from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import mixtures
from fedparity.federated.pairs import Pair
from fedparity.protocol.plan import Plan

__all__ = [
    "disparity_result",
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


def disparity_result(plan: Plan, assessment: Assessment) -> DisparityResult:
    """Return the disparity with its errors, compared with the plan's review level."""
    found, level = assessment.disparity, plan.review_level
    return DisparityResult(
        value=found.value,
        interval=found.interval,
        certificate=_ends(found.certificate),
        p_value=found.p_value,
        verdict=found.verdict(level),
        outer=_ends(found.outer),
        combined=found.combined,
        corrected=found.corrected,
        review_level=level,
    )


def heterogeneity_result(assessment: Assessment) -> HeterogeneityResult:
    """Return the heterogeneity with its interval."""
    found = assessment.heterogeneity
    return HeterogeneityResult(
        value=found.value, interval=found.interval, corrected=found.corrected
    )


def pair_results(pairs: Iterable[Pair]) -> tuple[PairResult, ...]:
    """Return the distances between every two groups."""
    return tuple(
        PairResult(
            groups=pair.groups,
            wasserstein=pair.wasserstein,
            cramer=pair.cramer,
            mean_gap=pair.mean_gap,
        )
        for pair in pairs
    )


def _ends(certificate: Certificate) -> Interval:
    return Interval(certificate.lower, certificate.upper)
