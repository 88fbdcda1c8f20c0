"""A secure sum's measures as a result: silos are named, and nothing is said of any of them.

The decomposition, the attribution and what each silo would see alone are no function of the sum, so
they are not given; see :doc:`/decisions/0021-secure-aggregation`.
"""

from __future__ import annotations

from dataclasses import replace

from fedparity.auditing.beyond import Beyond
from fedparity.auditing.comparing import Comparison
from fedparity.auditing.curves import group_curves
from fedparity.auditing.parts import (
    AttributionResult,
    DecompositionResult,
    PartIntervals,
    SiloInfluenceResult,
    SiloResult,
)
from fedparity.auditing.result import SCHEMA, AuditResult
from fedparity.auditing.secure.guarantee import guarantee, sum_warnings
from fedparity.auditing.secure.measuring import Measured
from fedparity.auditing.secure.opening import SecureSum
from fedparity.auditing.whole import (
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
    beyond = Beyond.of(
        found.summed.aside,
        seen=float(found.federation.counts.sum()),
        score_range=plan.score_range,
        order=plan.order,
    )
    disparity = found.assessment.disparity
    assessment = replace(
        found.assessment, disparity=replace(disparity, outer=beyond.disparity(disparity.outer))
    )
    compared = Comparison(
        plan=plan,
        assessment=assessment,
        federation=found.federation,
        seen=found.seen,
        all=found.all,
        beyond=beyond,
    )
    result = AuditResult(
        schema=SCHEMA,
        plan=plan_summary(plan),
        silos_received=opened.survivors,
        silos_missing=opened.dropped,
        n=found.federation.counts.sum().item(),
        groups=group_results(found.federation),
        set_aside=found.summed.aside,
        disparity=compared.disparity(),
        magnitudes=compared.magnitudes(),
        thresholds=(),
        tails=(),
        heterogeneity=heterogeneity_result(assessment),
        pairs=pair_results(found.pairs, assessment.pairs, found.seen.pairs),
        decomposition=DecompositionResult(
            v_mix=None, v_bar=None, remainder=None, lower=None, upper=None
        ),
        attribution=AttributionResult(
            selection=None,
            within=None,
            silos=tuple(
                SiloInfluenceResult(silo=silo, influence=None) for silo in opened.survivors
            ),
            intervals=PartIntervals(selection=None, within=None),
            stand_ins=(),
        ),
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
    return result.with_rates(thresholds=plan.thresholds)


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
