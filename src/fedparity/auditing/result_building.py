"""Everything an audit measured, put together as a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fedparity.auditing.comparison import Beyond, Comparison, Sizes
from fedparity.auditing.missing_records import Unseen, audit_warnings, silo_note
from fedparity.auditing.result_curves import group_curves, silo_quantiles
from fedparity.documents.fields import FrozenMapping
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.privacy_terms import PrivacyTerms
from fedparity.documents.result import SCHEMA, AuditResult
from fedparity.documents.result_parts import (
    AttributionResult,
    DecompositionResult,
    GroupResult,
    HeterogeneityResult,
    PairResult,
    PartIntervals,
    PlanSummary,
    SetAside,
    SiloInfluenceResult,
    SiloResult,
    StandIn,
)
from fedparity.federated.attribution import Attribution
from fedparity.federated.decomposition import Decomposition, TriangleTerms
from fedparity.federated.estimate import Pair
from fedparity.federated.federation import Federation
from fedparity.federated.influence import SiloInfluence
from fedparity.federated.local_audits import LocalAudit
from fedparity.federated.mixtures import mixtures
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import Group, Silo
from fedparity.modes.secure.round_checks import colluders_of
from fedparity.uncertainty.assessment import Assessment
from fedparity.uncertainty.intervals import PairAssessment
from fedparity.version import SOFTWARE

__all__ = [
    "Findings",
    "compose",
    "group_results",
    "heterogeneity_result",
    "pair_results",
    "plan_summary",
    "stated_guarantee",
]

_SEEN = {
    "dp": "a noisy histogram of each group in each silo",
    "secure": "numbers of records, added up over the silos",
    "secure+dp": "noisy numbers of records, added up over the silos",
}
_NOISE_LIMITS = (
    "changing a record, or its group, costs 2 epsilon; c records of one person cost c epsilon; "
    "a person in m silos loses up to m epsilon; other releases from the same records add up"
)
_SUM_LIMITS = (
    "an auditor together with {opening} of {silos} silos could see a silo's own {numbers}, with fewer "
    "of them the sum of the others; whatever the sum itself reveals; a second sum without a silo "
    "reveals that silo"
)
_UNSIGNED = (
    "nobody signed, so that whoever carried the messages could put keys in between and read a silo's "
    "own numbers"
)
_INPUT_LIMIT = "a silo that does not follow the plan is not found out"


def stated_guarantee(plan: Plan) -> dict[str, Any]:
    """Return the terms of a plan as a result states them; in a privacy mode with ``seen`` and ``limits``.

    Examples
    --------
    >>> plan = Plan(
    ...     title="Q4",
    ...     groups=("A", "B"),
    ...     score_range=(0, 1),
    ...     privacy={"mode": "dp", "epsilon": 1},
    ... )
    >>> stated_guarantee(plan)["seen"]
    'a noisy histogram of each group in each silo'
    """
    terms = plan.privacy
    if terms is None:
        return plan.guarantee
    return {**plan.guarantee, "seen": _SEEN[terms.mode], "limits": _limits(plan, terms)}


def _limits(plan: Plan, terms: PrivacyTerms) -> str:
    sentences = []
    if terms.noisy:
        sentences.append(_NOISE_LIMITS)
    if terms.secure:
        numbers = "noisy numbers" if terms.noisy else "numbers"
        silos = len(plan.silos or ())
        sentences.append(
            _SUM_LIMITS.format(opening=colluders_of(plan), silos=silos, numbers=numbers)
        )
        sentences += [] if plan.keys else [_UNSIGNED]
    if terms.dose == "split":
        sentences.append(f"epsilon holds if {terms.honest} silos of the sum add their noise")
    return "; ".join([*sentences, _INPUT_LIMIT])


def plan_summary(plan: Plan) -> PlanSummary:
    """Return what was asked."""
    return PlanSummary(
        title=plan.title,
        digest=plan.digest,
        levels=plan.levels if plan.privacy is None else plan.grid.bins,
        sketch=plan.message_kind,
        estimator=plan.estimator,
        order=plan.order,
        score_range=Bounds(*plan.score_range),
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
    pairs: Iterable[Pair], assessed: Iterable[PairAssessment], certificates: Iterable[Bounds]
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
    beyond = Beyond.from_groups(
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
