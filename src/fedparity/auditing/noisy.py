"""An audit of noisy histograms: each becomes a law, and the laws are measured like any others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fedparity.auditing.composing import Findings, compose
from fedparity.auditing.noisy_unseen import find_noisy_unseen
from fedparity.auditing.result import AuditResult
from fedparity.auditing.unseen import check_every_group
from fedparity.diagnostics.attribution import attribute
from fedparity.diagnostics.decomposition import decompose
from fedparity.diagnostics.influence import influences
from fedparity.diagnostics.local import local_audits
from fedparity.diagnostics.noise.assessment import NoisyDisparityAssessment, assess_noisy
from fedparity.diagnostics.noise.histograms import LEVELS, NoisyHistograms
from fedparity.diagnostics.noise.rank_errors import noise_rank_errors
from fedparity.diagnostics.warning import AuditWarning
from fedparity.federated.method import Method
from fedparity.federated.pairs import pairs
from fedparity.privacy.noise_law import NoiseLaw
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan

__all__ = [
    "WEAK_EPSILON",
    "audit_noisy",
    "histogram_method",
    "noise_warnings",
    "noisy_histograms",
]

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
    histograms = noisy_histograms(plan, messages)
    unseen = find_noisy_unseen(plan, messages, histograms.noise)
    check_every_group(plan, messages, unseen.silos_missing)
    federation = histograms.federation()
    method = histogram_method(plan)
    assessment = assess_noisy(
        histograms,
        federation,
        method,
        score_range=plan.score_range,
        confidence=confidence,
        unseen={group: most for group, most in unseen.most.items() if most},
        redraws=redraws,
        seed=seed,
        progress=progress,
    )
    warnings = noise_warnings(plan, assessment.disparity)
    bounded = histograms.federation(
        rank_errors=noise_rank_errors(histograms, confidence=confidence, seed=seed),
        value_error=histograms.grid.widest,
    )
    return compose(
        Findings(
            plan=plan,
            messages=messages,
            federation=bounded,
            unseen=unseen,
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


def noisy_histograms(plan: Plan, messages: Sequence[SiloSketch]) -> NoisyHistograms:
    """Return the histograms of checked messages, 0 where a cell is withheld."""
    grid = plan.grid
    counts = np.zeros((len(messages), len(plan.groups), grid.bins), dtype=np.int64)
    for row, message in zip(counts, messages, strict=True):
        for position, cell in enumerate(message.cells):
            if cell.values is not None:
                row[position] = cell.values
    epsilon = float(plan.privacy.epsilon or 0.0) if plan.privacy is not None else 0.0
    return NoisyHistograms(
        silos=tuple(message.silo for message in messages),
        groups=tuple(plan.groups),
        counts=counts,
        grid=grid,
        noise=NoiseLaw(epsilon),
    )


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
