"""An audit: from a plan and the messages of the silos, or their cells, to a result with everything measured, and warnings of what is missing."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from fedparity.auditing.comparison import compare
from fedparity.documents.audit_warnings import AuditWarning, WarningCode
from fedparity.documents.fields import FrozenMapping, group_words
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import HistogramCell, SketchedCell
from fedparity.documents.plan import Plan
from fedparity.documents.result import SCHEMA, AuditResult
from fedparity.documents.result_parts import (
    SILO_LEVELS,
    AttributionResult,
    Curves,
    DecompositionResult,
    GroupCurve,
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
from fedparity.documents.tabular import Parts
from fedparity.errors.base import listed
from fedparity.federated.decomposition import Decomposition
from fedparity.federated.estimate import Pair, cell_quantiles, mixtures
from fedparity.federated.federation import Federation
from fedparity.federated.local_audits import LocalAudit
from fedparity.functionals.curves import center
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import Group, Silo
from fedparity.modes.mode import AuditOptions, Measured, MissingRecords, mode_of
from fedparity.modes.plain import PlainMode
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.modes.sketch_audit import measure_cells
from fedparity.sketches.cell import Cell
from fedparity.text import counted
from fedparity.uncertainty.assessment import Assessment
from fedparity.uncertainty.intervals import PairAssessment
from fedparity.version import SOFTWARE

if TYPE_CHECKING:
    from fedparity.modes.margins import SiloRow

__all__ = [
    "NOT_SEEN",
    "audit_federation",
    "audit_messages",
    "audit_warnings",
    "compose",
    "group_curves",
    "group_results",
    "heterogeneity_result",
    "implausible_counts",
    "pair_results",
    "plan_summary",
    "silo_note",
    "silo_quantiles",
]


def plan_summary(plan: Plan) -> PlanSummary:
    """Return what was asked."""
    return PlanSummary(
        title=plan.title,
        digest=plan.digest,
        levels=mode_of(plan).levels,
        sketch=plan.message_kind,
        estimator=plan.estimator,
        order=plan.order,
        score_range=Bounds(*plan.score_range),
        score_step=plan.score_step,
        thresholds=tuple(plan.thresholds),
        favorable=plan.favorable,
        period=plan.period,
        trim=plan.trim,
        simulated=False,
    )


def group_results(federation: Federation) -> Parts[GroupResult]:
    """Return the size, share and mean of each group."""
    laws = mixtures(federation)
    totals = federation.count_table.sum(axis=0).tolist()
    return Parts(
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
) -> Parts[PairResult]:
    """Return the distances between every two groups with their errors."""
    return Parts(
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


NOT_SEEN = "not seen: secure sum"
"""The note of a silo of which nothing is known but that its records are in a sum."""


def compose(plan: Plan, found: Measured) -> AuditResult:
    """Return the result of an audit; what a privacy mode hides is None in it."""
    aside = found.unreleased
    missing = found.missing.of(found.federation.groups)
    compared = compare(
        plan,
        found.federation,
        found.measures.method,
        found.assessment,
        unseen=missing,
        unseen_total=found.missing.total,
        aside=aside,
        known=found.known,
    )
    assessment, seen = compared.assessment, compared.seen
    warnings = found.warnings
    if found.messages:
        warnings += audit_warnings(plan, found.messages, found.missing, aside)
    result = AuditResult(
        schema=SCHEMA,
        plan=plan_summary(plan),
        silos_received=found.silos,
        silos_missing=found.missing.silos_missing,
        n=found.federation.counts.sum().item(),
        groups=group_results(found.federation),
        set_aside=Parts(aside),
        disparity=compared.disparity(),
        magnitudes=compared.magnitudes(),
        thresholds=Parts(),
        tails=Parts(),
        heterogeneity=heterogeneity_result(assessment),
        pairs=pair_results(found.measures.pairs, assessment.pairs, seen.pairs),
        decomposition=_decomposition(found),
        attribution=_attribution(found, assessment),
        silos=_silos(plan, found, assessment),
        guarantee=FrozenMapping(found.guarantee),
        warnings=(*warnings, *assessment.warnings),
        software=SOFTWARE,
        confidence=assessment.confidence,
        redraws=assessment.redraws,
        seed=assessment.seed,
        curves=group_curves(found.federation, plan.order),
        tables=Parts(),
        federation=found.federation,
        unseen=missing,
    )
    return result.with_rates(thresholds=plan.thresholds)


def _decomposition(found: Measured) -> DecompositionResult:
    if not found.messages:
        return DecompositionResult(v_mix=None, v_bar=None, remainder=None, lower=None, upper=None)
    terms = found.by_silo.terms
    return DecompositionResult(
        v_mix=terms.v_mix,
        v_bar=terms.v_bar,
        remainder=terms.remainder if isinstance(terms, Decomposition) else None,
        lower=terms.lower,
        upper=terms.upper,
    )


def _attribution(found: Measured, assessment: Assessment) -> AttributionResult:
    """The two parts; a silo that released nothing has no influence on what was measured."""
    seen = found.by_silo if found.messages else None
    change = {} if seen is None else {each.silo: each.change for each in seen.influences}
    parts = None if seen is None else seen.attribution
    return AttributionResult(
        selection=None if parts is None else parts.selection,
        within=None if parts is None else parts.within,
        silos=Parts(
            SiloInfluenceResult(silo=silo, influence=change.get(silo)) for silo in found.silos
        ),
        intervals=PartIntervals(**{"selection": None, "within": None, **assessment.attribution}),
        stand_ins=()
        if parts is None
        else tuple(StandIn(silo=silo, group=group) for silo, group in parts.stand_ins),
    )


def _silos(plan: Plan, found: Measured, assessment: Assessment) -> Parts[SiloResult]:
    if not found.messages:
        groups = plan.groups if found.table is None else _shown(found)
        return Parts(_hidden_silo(groups, silo) for silo in found.silos)
    local = {audit.silo: audit for audit in found.by_silo.local}
    quantiles = silo_quantiles(found.by_silo.federation)
    return Parts(
        _silo(
            message,
            _cells(plan, message, found),
            local.get(message.silo),
            assessment,
            quantiles,
        )
        for message in found.messages
    )


def _shown(found: Measured) -> list[Group]:
    """The rows of a table by axis that are compared, and those that were not released."""
    return [*found.federation.groups, *(each.group for each in found.unreleased)]


def _cells(
    plan: Plan, message: SiloSketch, found: Measured
) -> Sequence[SketchedCell | HistogramCell | SiloRow]:
    """What a silo said of each group, or of each row that is shown instead."""
    if found.table is None:
        return message.cells
    from fedparity.modes.margins import silo_rows  # noqa: PLC0415 -- not for one table

    rows = silo_rows(plan, message, found.table)
    return [rows[group] for group in _shown(found)]


def _hidden_silo(groups: Sequence[Group], silo: str) -> SiloResult:
    return SiloResult(
        silo=silo,
        n=FrozenMapping(dict.fromkeys(groups)),
        disparity=None,
        heterogeneity=None,
        wasserstein=None,
        mean_gap=None,
        interval=None,
        note=NOT_SEEN,
        levels=FrozenMapping(dict.fromkeys(groups, 0)),
        withheld=FrozenMapping({}),
        rows_dropped=0,
        quantiles=FrozenMapping(dict.fromkeys(groups)),
    )


def _silo(
    message: SiloSketch,
    cells: Sequence[SketchedCell | HistogramCell | SiloRow],
    local: LocalAudit | None,
    assessment: Assessment,
    quantiles: Mapping[tuple[Silo, Group], tuple[float, ...]],
) -> SiloResult:
    assessed = assessment.local.get(message.silo)
    interval = None
    if assessed is not None and local is not None and local.disparity is not None:
        # Both are of the same cells, but not always the same in the last digit.
        interval = assessed.interval.hull(Bounds(local.disparity, local.disparity))
    return SiloResult(
        silo=message.silo,
        n=FrozenMapping({cell.group: cell.count for cell in cells}),
        disparity=None if local is None else local.disparity,
        heterogeneity=None if local is None else local.heterogeneity,
        wasserstein=None if local is None else local.wasserstein,
        mean_gap=None if local is None else local.mean_gap,
        interval=interval,
        note=silo_note(message, cells),
        levels=FrozenMapping({cell.group: cell.levels for cell in cells}),
        withheld=FrozenMapping(
            {cell.group: cell.withheld for cell in cells if cell.withheld is not None}
        ),
        rows_dropped=message.rows_dropped,
        quantiles=FrozenMapping(
            {cell.group: quantiles.get((message.silo, cell.group)) for cell in cells}
        ),
    )


_STEPS: Final = 200


def group_curves(federation: Federation, order: int) -> Curves:
    r"""Return the quantile functions of the group mixtures, and of their center, on one grid.

    The levels are 0, 0.005, …, 1; at 0 stands the smallest atom. The center is that of the
    disparity: the barycenter, whose quantiles are the mean of those of the groups, or for order 1
    their lower weighted median.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 1, 1, 1], levels=2
    ... )
    >>> curves = group_curves(federation, 2)
    >>> curves.levels[100:102], curves.center[100:102]
    ((0.5, 0.505), (1.0, 3.0))
    """
    levels = np.arange(_STEPS + 1) / _STEPS
    asked = np.maximum(levels, np.finfo(np.float64).tiny)  # the infimum at 0 is the first atom
    laws = mixtures(federation)
    table = np.stack([laws[group].quantile(asked) for group in federation.groups])
    return Curves(
        levels=tuple(levels.tolist()),
        groups=Parts(
            GroupCurve(group=group, quantiles=tuple(row))
            for group, row in zip(federation.groups, table.tolist(), strict=True)
        ),
        center=tuple(center(table, federation.shares, order).tolist()),
    )


def silo_quantiles(federation: Federation) -> dict[tuple[Silo, Group], tuple[float, ...]]:
    """Return the quantiles of every cell at the levels that a result holds, by silo and group.

    Examples
    --------
    >>> federation = Federation.from_scores(
    ...     [0.0, 1.0, 2.0, 5.0], groups=list("aabb"), silos=[1, 1, 1, 1], levels=2
    ... )
    >>> silo_quantiles(federation)[1, "b"]
    (2.0, 2.0, 2.0, 5.0, 5.0)
    """
    cells = np.arange(federation.counts.size)
    rows = cell_quantiles(federation, cells, np.array(SILO_LEVELS)).tolist()
    return {
        (federation.silos[silo], federation.groups[group]): tuple(row)
        for silo, group, row in zip(
            federation.silo_of.tolist(), federation.group_of.tolist(), rows, strict=True
        )
    }


def audit_messages(
    plan: Plan,
    sketches: Iterable[SiloSketch | RoundMessage | str | os.PathLike[str]],
    options: AuditOptions | None = None,
) -> AuditResult:
    """Measure the disparity of all silos together, from their messages.

    Every message is checked against the plan; one that does not answer it is refused, not left out.
    """
    options = options or AuditOptions()
    found = mode_of(plan).measure(sketches, options)
    result = compose(plan, found)
    if plan.tables:
        from fedparity.auditing.table_results import table_results  # noqa: PLC0415 -- not for one table

        result = replace(result, tables=table_results(plan, found, options))
    found.federation.forget()  # the result keeps the cells
    return result


def audit_federation(
    plan: Plan, federation: Federation, options: AuditOptions | None = None
) -> AuditResult:
    """Measure the disparity of cells that are already in memory, under a plan without privacy.

    The plan states the order, the estimator, the score range and the review level. The cells are taken
    as they are, with the errors that they state.
    """
    # as messages would describe it: silos have names, and the public range bounds the scores
    silos = tuple(map(str, federation.silos))
    named = replace(federation, silos=silos, score_range=plan.score_range)
    found = measure_cells(
        PlainMode(plan), _messages(plan, named), options or AuditOptions(), named
    )
    return compose(plan, found)


def _messages(plan: Plan, federation: Federation) -> list[SiloSketch]:
    """The cells by silo, so that the result can say what each silo has."""
    cells = federation.cells
    return [
        SiloSketch(
            plan=plan.digest,
            silo=silo,
            kind=federation.kind,
            cells=[_sketched(group, cells.get((silo, group))) for group in federation.groups],
            guarantee=plan.guarantee,
            software=SOFTWARE,
        )
        for silo in federation.silos
    ]


def _sketched(group: Group, cell: Cell | None) -> SketchedCell:
    if cell is None:
        return SketchedCell.empty(group)
    weighted = not float(cell.count).is_integer()
    return SketchedCell(
        group=group,
        count=cell.count,
        values=cell.values,
        counts=None if cell.masses is None else cell.masses.tolist(),
        effective=int(cell.effective) if weighted else None,
        # a message of bin means always has one; only the federation itself is measured
        mean_square=(cell.mean_square or 0.0) if cell.kind == "mean" else None,
        rank_error=cell.rank_error,
    )


def silo_note(sketch: SiloSketch, cells: Sequence[SketchedCell | HistogramCell | SiloRow]) -> str:
    """Return what a silo's message lacks of some cells, in words; nothing if it is complete."""
    words = []
    for cell in cells:
        if cell.withheld is not None:
            words.append(f"{group_words(cell.group)} withheld ({cell.withheld})")
        elif not cell.levels:
            words.append(f"lacks {group_words(cell.group)}")
    if sketch.rows_dropped:
        words.append(f"{sketch.rows_dropped:,} rows dropped")
    if sketch.rows_filtered:
        words.append(f"{sketch.rows_filtered:,} rows filtered out")
    return ", ".join(words)


_IMPLAUSIBLE = 1000
"""So many times the median of the others is no number to take on trust."""


def audit_warnings(
    plan: Plan,
    messages: Sequence[SiloSketch],
    missing: MissingRecords,
    aside: Sequence[SetAside],
) -> tuple[AuditWarning, ...]:
    """Return a warning for each thing that is missing or was cut, groups set aside first."""
    sentences: dict[WarningCode, str] = {
        "implausible_count": implausible_counts(messages),
        "silos_missing": _missing(plan, missing),
        "cells_withheld": _withheld(plan, messages, missing),
        "unbounded": _unlimited(plan, missing),
        "totals_contradicted": _contradicted(missing),
        "rows_dropped": _dropped(messages),
        "messages_replaced": _replaced(messages),
        "coarser_cells": _coarser(plan, messages),
    }
    return (
        *(AuditWarning(code="group_set_aside", text=_set_aside(plan, each)) for each in aside),
        *(AuditWarning(code=code, text=text) for code, text in sentences.items() if text),
    )


def implausible_counts(messages: Sequence[SiloSketch]) -> str:
    """Return a sentence on silos that state a thousand times what is usual, in a group or in all.

    What is usual is the median of the other silos that released a number. Of a plan with axes, what the
    tables by axis count besides the intersections is compared too.
    """
    counts = [
        [
            cell.count
            for cells in (message.cells, *(each.cells for each in message.tables if each.by))
            for cell in cells
        ]
        for message in messages
    ]
    totals = [math.fsum(number or 0 for number in row) for row in counts]
    silos: set[str] = set()
    for column in (totals, *zip(*counts, strict=True)):
        known = [(number, m.silo) for number, m in zip(column, messages, strict=True) if number]
        if len(known) > 1:
            # the lower median of the others, for every number above it
            usual = sorted(number for number, _ in known)[len(known) // 2 - 1]
            silos |= {silo for number, silo in known if number > _IMPLAUSIBLE * usual}
    if not silos:
        return ""
    return (
        f"{listed(sorted(silos))} stated more than {_IMPLAUSIBLE:,} times as many records as is usual "
        "among the other silos, so that the result hangs on that number: ask whether it is right."
    )


def _set_aside(plan: Plan, aside: SetAside) -> str:
    name = group_words(aside.group)
    if plan.releases_tables and plan.privacy is not None:  # every cell was sent
        return f"group {name} was set aside: {aside.known}."
    return f"no silo released group {name}, so it was set aside: {aside.known}."


def _missing(plan: Plan, missing: MissingRecords) -> str:
    silos = missing.silos_missing
    if not silos:
        return ""
    named = len(dict.fromkeys((*(plan.silos or ()), *plan.totals)))
    return f"{len(silos):,} of {named:,} silos sent nothing: {listed(silos)}."


def _withheld(plan: Plan, messages: Sequence[SiloSketch], missing: MissingRecords) -> str:
    if not missing.withheld:
        return ""
    total = sum(len(message.cells) for message in messages)
    silos = [m.silo for m in messages if any(cell.withheld for cell in m.cells)]
    cells = "cells of intersections" if plan.axes else "cells"
    return f"{missing.withheld:,} of {total:,} {cells} were withheld, by {listed(silos)}."


def _unlimited(plan: Plan, missing: MissingRecords) -> str:
    """Where nothing bounds what is missing, the outer bounds are those of any data at all."""
    if not any(math.isinf(most) for most in missing.most.values()):
        return ""
    words = (
        "nothing bounds the number of records that were not seen, so the outer bounds are those "
        "of any data"
    )
    if plan.axes and plan.privacy is None:  # totals are refused there
        return f"{words}."
    return f"{words}; public numbers of records in [totals] of the plan would bound it."


def _contradicted(missing: MissingRecords) -> str:
    if not missing.contradicted:
        return ""
    return (
        "more records were released than the public total in the plan states, by "
        f"{listed(missing.contradicted)}: their totals were not used."
    )


def _dropped(messages: Sequence[SiloSketch]) -> str:
    silos = [message for message in messages if message.rows_dropped]
    if not silos:
        return ""
    rows = sum(message.rows_dropped for message in silos)
    names = listed(message.silo for message in silos)
    return f"{rows:,} rows without a score were dropped, by {names}: the ranges do not allow for them."


def _replaced(messages: Sequence[SiloSketch]) -> str:
    silos = [message.silo for message in messages if message.replaces is not None]
    if not silos:
        return ""
    return f"the messages of {listed(silos)} replace others that these silos sent and voided."


def _coarser(plan: Plan, messages: Sequence[SiloSketch]) -> str:
    most = mode_of(plan).most_values
    levels = [cell.levels for message in messages for cell in message.cells if cell.levels]
    coarser = [k for k in levels if k < most]
    if not coarser:
        return ""
    if plan.sketch == "counts":
        return (
            f"{len(coarser):,} of {len(levels):,} silo-group samples were small, so some of their "
            f"scores were counted together ({counted(min(coarser), 'count')} for {most} scores at least)."
        )
    return (
        f"{len(coarser):,} of {len(levels):,} silo-group samples were small, so they sent fewer "
        f"values ({min(coarser)} at least)."
    )
