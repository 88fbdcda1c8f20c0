"""A secure sum's measures as a result: silos are named, and nothing is said of any of them."""

from __future__ import annotations

from fedparity.auditing.curves import group_curves
from fedparity.auditing.parts import (
    AttributionResult,
    DecompositionResult,
    PartIntervals,
    SiloInfluenceResult,
    SiloResult,
    TermIntervals,
)
from fedparity.auditing.result import SCHEMA, AuditResult
from fedparity.auditing.secure.guarantee import guarantee, sum_warnings
from fedparity.auditing.secure.measuring import Measured
from fedparity.auditing.secure.opening import SecureSum
from fedparity.auditing.whole import (
    disparity_result,
    group_results,
    heterogeneity_result,
    pair_results,
    plan_summary,
)
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
        plan=plan_summary(plan),
        silos_received=opened.survivors,
        silos_missing=opened.dropped,
        n=found.federation.counts.sum().item(),
        groups=group_results(found.federation),
        disparity=disparity_result(plan, assessment),
        heterogeneity=heterogeneity_result(assessment),
        pairs=pair_results(found.pairs),
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
        unseen=found.unseen,
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
