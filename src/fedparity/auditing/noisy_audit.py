"""An audit of noisy histograms: each becomes a law, and the laws are measured like any others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fedparity.auditing.comparison import Sizes
from fedparity.auditing.missing_records import Unseen, measured_groups, set_aside
from fedparity.auditing.result_building import Findings, compose
from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.fields import typed_label
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.federated.attribution import attribute
from fedparity.federated.decomposition import decompose
from fedparity.federated.estimate import pairs
from fedparity.federated.influence import influences
from fedparity.federated.local_audits import local_audits
from fedparity.federated.mixtures import Method
from fedparity.laws.labels import Group
from fedparity.privacy.noise import NoiseLaw
from fedparity.uncertainty.noisy_assessment import (
    NoisyDisparityAssessment,
    assess_noisy,
    noise_rank_errors,
)
from fedparity.uncertainty.noisy_histograms import LEVELS, NoisyHistograms

__all__ = [
    "WEAK_EPSILON",
    "audit_noisy",
    "find_noisy_unseen",
    "histogram_method",
    "most_withheld",
    "noise_of",
    "noise_warnings",
    "noisy_histograms",
]

_DEVIATIONS = 4.0
"""How much larger than its noisy count a withheld cell is taken to be, at most."""


def find_noisy_unseen(plan: Plan, messages: Sequence[SiloSketch], noise: NoiseLaw) -> Unseen:
    """Return the silos that sent nothing and the cells withheld, with bounds on their records.

    A withheld cell has a noisy count below ``minimum_cell``; its true count may be larger by what
    the noise of a whole histogram takes away, here at most four standard deviations. A silo that
    sent nothing has at most as many records of each group as its public total.
    """
    received = {message.silo for message in messages}
    named = dict.fromkeys((*(plan.silos or ()), *plan.totals))
    missing = tuple(sorted(silo for silo in named if silo not in received))
    absent = math.fsum(plan.totals.get(silo, math.inf) for silo in missing)
    most = most_withheld(plan, noise)
    withheld = [
        sum(message.cells[position].withheld is not None for message in messages)
        for position in range(len(plan.groups))
    ]
    return Unseen(
        silos_missing=missing,
        withheld=sum(withheld),
        total=absent + sum(withheld) * most,
        most={
            group: absent + number * most
            for group, number in zip(plan.groups, withheld, strict=True)
        },
        contradicted=(),
    )


def most_withheld(plan: Plan, noise: NoiseLaw) -> int:
    """Return how many records a group can have whose noisy counts add up to fewer than the rule."""
    whole = NoiseLaw(noise.epsilon, noise.doses * plan.grid.bins)
    least = max(1, plan.disclosure.minimum_cell)
    return least - 1 + math.ceil(_DEVIATIONS * whole.deviation)


WEAK_EPSILON = 2.0
"""Beyond, the odds of guessing whether a record is there may grow more than sevenfold."""


def audit_noisy(
    plan: Plan,
    messages: Sequence[SiloSketch],
    *,
    confidence: float,
    seed: int,
    redraws: int | None,
    progress: Callable[[int, int], None] | None,
) -> AuditResult:
    """Measure the disparity from checked messages of noisy histograms, in the order of silos.

    The result has the same fields as any other. ``certificate`` and the bounds at a threshold hold at
    the confidence stated, since noise can be anything.
    """
    unseen = find_noisy_unseen(plan, messages, noise_of(plan))
    aside = set_aside(plan, messages, unseen)
    histograms = noisy_histograms(plan, messages, measured_groups(plan, aside))
    federation = histograms.federation()
    method = histogram_method(plan)
    missing: dict[str, Any] = {
        "unseen": unseen.of(federation.groups),
        "unseen_total": unseen.total,
    }
    assessment = assess_noisy(
        histograms,
        federation,
        method,
        score_range=plan.score_range,
        confidence=confidence,
        **missing,
        redraws=redraws,
        seed=seed,
        progress=progress,
    )
    warnings = noise_warnings(plan, assessment.disparity)
    bounded = histograms.federation(
        rank_errors=noise_rank_errors(histograms, confidence=confidence, seed=seed),
        value_error=histograms.grid.widest,
    )
    sizes = partial(Sizes.from_federation, bounded, method, score_range=plan.score_range)
    seen = sizes()
    return compose(
        Findings(
            plan=plan,
            messages=messages,
            federation=bounded,
            unseen=unseen,
            aside=aside,
            seen=seen,
            all=sizes(**missing) if missing["unseen"] else seen,
            pairs=pairs(federation, method),
            terms=decompose(federation, method),
            attribution=attribute(federation, method),
            influences=influences(federation, method),
            local=local_audits(federation, method),
            assessment=replace(assessment, warnings=(*warnings, *assessment.warnings)),
        )
    )


def histogram_method(plan: Plan) -> Method:
    """Return how histograms are measured: exactly where bins are points, else as the plan says."""
    return Method(
        order=plan.order,
        estimator="exact" if plan.grid.pointwise else plan.estimator,
        levels=LEVELS,
        trim=plan.trim,
    )


def noisy_histograms(
    plan: Plan, messages: Sequence[SiloSketch], groups: Sequence[Group]
) -> NoisyHistograms:
    """Return the histograms of these groups in checked messages, 0 where a cell is withheld."""
    grid = plan.grid
    counts = np.zeros((len(messages), len(groups), grid.bins), dtype=np.int64)
    for row, message in zip(counts, messages, strict=True):
        cells = {typed_label(cell.group): cell for cell in message.cells}
        for position, group in enumerate(groups):
            values = cells[typed_label(group)].values
            if values is not None:
                row[position] = values
    return NoisyHistograms(
        silos=tuple(message.silo for message in messages),
        groups=tuple(groups),
        counts=counts,
        grid=grid,
        noise=noise_of(plan),
    )


def noise_of(plan: Plan) -> NoiseLaw:
    """Return the noise of one count under the plan."""
    epsilon = None if plan.privacy is None else plan.privacy.epsilon
    return NoiseLaw(float(epsilon or 0.0))


def noise_warnings(plan: Plan, disparity: object) -> tuple[AuditWarning, ...]:
    """Return what a reader must know of the noise: how much the bins matter, how weak epsilon is."""
    warnings = []
    epsilon = None if plan.privacy is None else plan.privacy.epsilon
    if epsilon is not None and epsilon > WEAK_EPSILON:
        words = (
            f"epsilon = {epsilon:g} protects single records weakly; at most {WEAK_EPSILON:g} is "
            "usual."
        )
        warnings.append(AuditWarning(code="weak_epsilon", text=words))
    if isinstance(disparity, NoisyDisparityAssessment):
        width = disparity.certificate.upper - disparity.certificate.lower
        if 2 * disparity.binning > width / 2 > 0:
            words = (
                "the disparity depends on the bins more than on the noise: ask for more bins, or "
                "for edges where the scores are."
            )
            warnings.append(AuditWarning(code="bins_dominate", text=words))
        if width > disparity.value:
            words = (
                "noise and bins leave open more than the disparity itself: it is known in size "
                "only, not in digits; see fedparity plan privacy."
            )
            warnings.append(AuditWarning(code="noise_dominates", text=words))
    return tuple(warnings)
