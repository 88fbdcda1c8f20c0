"""A secure sum's measures as a result: silos are named, and nothing is said of any of them."""

from __future__ import annotations

from fedparity.auditing.curves import group_curves
from fedparity.auditing.parts import (
    AttributionResult,
    DecompositionResult,
    DisparityResult,
    GroupResult,
    HeterogeneityResult,
    PairResult,
    PartIntervals,
    PlanSummary,
    SiloInfluenceResult,
    SiloResult,
    TermIntervals,
)
from fedparity.auditing.result import SCHEMA, AuditResult
from fedparity.auditing.secure.guarantee import guarantee, sum_warnings
from fedparity.auditing.secure.measuring import Measured
from fedparity.auditing.secure.opening import SecureSum
from fedparity.diagnostics.intervals import Interval
from fedparity.federated.federation import Federation
from fedparity.federated.mixtures import mixtures
from fedparity.protocol.frozen import FrozenMapping
from fedparity.protocol.plan import Plan
from fedparity.version import SOFTWARE

__all__ = ["compose_sum"]

NOT_SEEN = "not seen: secure sum"


def compose_sum(plan: Plan, opened: SecureSum, found: Measured) -> AuditResult:
    """Return the result of a secure audit."""
    assessment = found.assessment
    return AuditResult(
        schema=SCHEMA,
        plan=_plan(plan),
        silos_received=opened.survivors,
        silos_missing=opened.dropped,
        n=found.federation.counts.sum().item(),
        groups=_groups(found.federation),
        disparity=_disparity(plan, found),
        heterogeneity=HeterogeneityResult(
            value=assessment.heterogeneity.value,
            interval=assessment.heterogeneity.interval,
            corrected=assessment.heterogeneity.corrected,
        ),
        pairs=tuple(
            PairResult(
                groups=pair.groups,
                wasserstein=pair.wasserstein,
                cramer=pair.cramer,
                mean_gap=pair.mean_gap,
            )
            for pair in found.pairs
        ),
        decomposition=_decomposition(found),
        attribution=_attribution(opened, found),
        silos=tuple(_silo(plan, silo) for silo in opened.survivors),
        guarantee=FrozenMapping(guarantee(plan, opened)),
        warnings=sum_warnings(plan, opened, found) + assessment.warnings,
        software=SOFTWARE,
        confidence=assessment.confidence,
        redraws=assessment.redraws,
        seed=assessment.seed,
        curves=group_curves(found.federation, plan.order),
        federation=found.federation,
        value_error=plan.grid.widest,
        unseen=found.unseen,
    )


def _plan(plan: Plan) -> PlanSummary:
    return PlanSummary(
        title=plan.title,
        digest=plan.digest,
        levels=plan.grid.bins,
        sketch=plan.message_kind,
        estimator=plan.estimator,
        order=plan.order,
        score_range=Interval(*plan.score_range),
        trim=plan.trim,
    )


def _groups(federation: Federation) -> tuple[GroupResult, ...]:
    laws = mixtures(federation)
    totals = federation.count_table.sum(axis=0).tolist()
    return tuple(
        GroupResult(group=group, n=n, share=share, mean=float(laws[group].mean))
        for group, n, share in zip(
            federation.groups, totals, federation.shares.tolist(), strict=True
        )
    )


def _disparity(plan: Plan, found: Measured) -> DisparityResult:
    disparity = found.assessment.disparity
    return DisparityResult(
        value=disparity.value,
        interval=disparity.interval,
        certificate=Interval(disparity.certificate.lower, disparity.certificate.upper),
        p_value=disparity.p_value,
        verdict=disparity.verdict(plan.review_level),
        outer=Interval(disparity.outer.lower, disparity.outer.upper),
        combined=disparity.combined,
        corrected=disparity.corrected,
        review_level=plan.review_level,
    )


def _decomposition(found: Measured) -> DecompositionResult:
    terms = found.decomposition
    return DecompositionResult(
        v_mix=None if terms is None else terms.v_mix,
        v_bar=None if terms is None else terms.v_bar,
        remainder=None if terms is None else terms.remainder,
        lower=None if terms is None else terms.lower,
        upper=None if terms is None else terms.upper,
        intervals=TermIntervals(v_mix=None, v_bar=None, remainder=None),
    )


def _attribution(opened: SecureSum, found: Measured) -> AttributionResult:
    parts = found.attribution
    return AttributionResult(
        selection=None if parts is None else parts.selection,
        within=None if parts is None else parts.within,
        silos=tuple(SiloInfluenceResult(silo=silo, influence=None) for silo in opened.survivors),
        intervals=PartIntervals(selection=None, within=None),
        stand_ins=(),
    )


def _silo(plan: Plan, silo: str) -> SiloResult:
    return SiloResult(
        silo=silo,
        n=FrozenMapping(dict.fromkeys(plan.groups)),
        disparity=None,
        heterogeneity=None,
        wasserstein=None,
        mean_gap=None,
        interval=None,
        note=NOT_SEEN,
        levels=FrozenMapping(dict.fromkeys(plan.groups, 0)),
        withheld=FrozenMapping({}),
        rows_dropped=0,
        quantiles=FrozenMapping(dict.fromkeys(plan.groups)),
    )
