"""Everything an audit measured, put together as a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fedparity.auditing.beyond import Beyond
from fedparity.auditing.cautions import audit_warnings
from fedparity.auditing.comparing import Comparison
from fedparity.auditing.curves import group_curves, silo_quantiles
from fedparity.auditing.parts import (
    AttributionResult,
    DecompositionResult,
    PartIntervals,
    SetAside,
    SiloInfluenceResult,
    SiloResult,
    StandIn,
)
from fedparity.auditing.result import SCHEMA, AuditResult
from fedparity.auditing.sizes import Sizes
from fedparity.auditing.stated_guarantee import stated_guarantee
from fedparity.auditing.unseen import Unseen, silo_note
from fedparity.auditing.whole import (
    group_results,
    heterogeneity_result,
    pair_results,
    plan_summary,
)
from fedparity.diagnostics.assessment import Assessment
from fedparity.diagnostics.attribution import Attribution
from fedparity.diagnostics.decomposition import Decomposition, TriangleTerms
from fedparity.diagnostics.influence import SiloInfluence
from fedparity.diagnostics.local import LocalAudit
from fedparity.federated.federation import Federation
from fedparity.federated.pairs import Pair
from fedparity.laws.labels import Group, Silo
from fedparity.protocol.frozen import FrozenMapping
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.version import SOFTWARE

__all__ = ["Findings", "compose"]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What was asked, what came, and what was measured."""

    plan: Plan
    messages: Sequence[SiloSketch]
    federation: Federation
    unseen: Unseen
    aside: tuple[SetAside, ...]
    seen: Sizes
    """With bounds of the raw data of the cells released."""
    all: Sizes
    """With bounds of all raw data of the groups measured."""
    pairs: tuple[Pair, ...]
    terms: Decomposition | TriangleTerms
    attribution: Attribution
    influences: tuple[SiloInfluence, ...]
    local: tuple[LocalAudit, ...]
    assessment: Assessment


def compose(found: Findings) -> AuditResult:
    """Return the result of an audit."""
    beyond = Beyond.of(
        found.aside,
        seen=float(found.federation.counts.sum()),
        score_range=found.plan.score_range,
        order=found.plan.order,
    )
    disparity = found.assessment.disparity
    assessment = replace(
        found.assessment, disparity=replace(disparity, outer=beyond.disparity(disparity.outer))
    )
    compared = Comparison(
        plan=found.plan,
        assessment=assessment,
        federation=found.federation,
        seen=found.seen,
        all=found.all,
        beyond=beyond,
    )
    warnings = audit_warnings(found.plan, found.messages, found.unseen, found.aside)
    result = AuditResult(
        schema=SCHEMA,
        plan=plan_summary(found.plan),
        silos_received=tuple(message.silo for message in found.messages),
        silos_missing=found.unseen.silos_missing,
        n=found.federation.counts.sum().item(),
        groups=group_results(found.federation),
        set_aside=found.aside,
        disparity=compared.disparity(),
        magnitudes=compared.magnitudes(),
        thresholds=(),
        tails=(),
        heterogeneity=heterogeneity_result(assessment),
        pairs=pair_results(found.pairs, assessment.pairs, found.seen.pairs),
        decomposition=_decomposition(found),
        attribution=_attribution(found),
        silos=_silos(found),
        guarantee=FrozenMapping(stated_guarantee(found.plan)),
        warnings=(*warnings, *assessment.warnings),
        software=SOFTWARE,
        confidence=assessment.confidence,
        redraws=assessment.redraws,
        seed=assessment.seed,
        curves=group_curves(found.federation, found.plan.order),
        federation=found.federation,
        unseen=found.unseen.of(found.federation.groups),
    )
    return result.with_rates(thresholds=found.plan.thresholds)


def _decomposition(found: Findings) -> DecompositionResult:
    terms = found.terms
    return DecompositionResult(
        v_mix=terms.v_mix,
        v_bar=terms.v_bar,
        remainder=terms.remainder if isinstance(terms, Decomposition) else None,
        lower=terms.lower,
        upper=terms.upper,
    )


def _attribution(found: Findings) -> AttributionResult:
    """The two parts; a silo that released nothing has no influence on what was measured."""
    change = {each.silo: each.change for each in found.influences}
    return AttributionResult(
        selection=found.attribution.selection,
        within=found.attribution.within,
        silos=tuple(
            SiloInfluenceResult(silo=message.silo, influence=change.get(message.silo))
            for message in found.messages
        ),
        intervals=PartIntervals(**found.assessment.attribution),
        stand_ins=tuple(
            StandIn(silo=silo, group=group) for silo, group in found.attribution.stand_ins
        ),
    )


def _silos(found: Findings) -> tuple[SiloResult, ...]:
    local = {audit.silo: audit for audit in found.local}
    quantiles = silo_quantiles(found.federation)
    return tuple(
        _silo(message, local.get(message.silo), found.assessment, quantiles)
        for message in found.messages
    )


def _silo(
    message: SiloSketch,
    local: LocalAudit | None,
    assessment: Assessment,
    quantiles: Mapping[tuple[Silo, Group], tuple[float, ...]],
) -> SiloResult:
    assessed = assessment.local.get(message.silo)
    return SiloResult(
        silo=message.silo,
        n=FrozenMapping({cell.group: cell.count for cell in message.cells}),
        disparity=None if local is None else local.disparity,
        heterogeneity=None if local is None else local.heterogeneity,
        wasserstein=None if local is None else local.wasserstein,
        mean_gap=None if local is None else local.mean_gap,
        interval=None if assessed is None else assessed.interval,
        note=silo_note(message),
        levels=FrozenMapping({cell.group: cell.levels for cell in message.cells}),
        withheld=FrozenMapping(
            {cell.group: cell.withheld for cell in message.cells if cell.withheld is not None}
        ),
        rows_dropped=message.rows_dropped,
        quantiles=FrozenMapping(
            {cell.group: quantiles.get((message.silo, cell.group)) for cell in message.cells}
        ),
    )
