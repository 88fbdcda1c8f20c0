"""The auditor's side of histograms: each becomes a law, and the laws are measured like any others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.fields import typed_label
from fedparity.documents.files import Path
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.federated.estimate import Method
from fedparity.federated.federation import Federation
from fedparity.federated.local_audits import Measures
from fedparity.laws.labels import Group
from fedparity.modes.atom_histograms import AtomHistograms
from fedparity.modes.mode import AuditOptions, Measured, MissingRecords, Mode, mode_of
from fedparity.modes.sketch_audit import (
    measured_groups,
    read_messages,
    silos_missing,
    unreleased_groups,
)
from fedparity.privacy.noise import NoiseLaw
from fedparity.uncertainty.assessment import Assessment
from fedparity.uncertainty.noisy_assessment import (
    NoisyDisparityAssessment,
    assess_noisy,
    noise_rank_errors,
)
from fedparity.uncertainty.noisy_histograms import LEVELS, NoisyHistograms

__all__ = [
    "WEAK_EPSILON",
    "MeasuredHistograms",
    "find_noisy_missing",
    "measure_noisy",
    "most_withheld",
    "noise_warnings",
]

_DEVIATIONS = 4.0
"""How much larger than its noisy count a withheld cell is taken to be, at most."""
WEAK_EPSILON = 2.0
"""Beyond, the odds of guessing whether a record is there may grow more than sevenfold."""


def measure_noisy(
    mode: Mode, messages: Iterable[SiloSketch | Path], options: AuditOptions
) -> Measured:
    """Check the noisy histograms of silos, and measure the disparity from them.

    Certificates and the bounds at a threshold hold at the confidence stated, since noise can be anything.
    """
    plan = mode.plan
    sketches = read_messages(plan, messages, options.progress)
    noise = NoiseLaw(mode.cost.epsilon or 0.0)
    missing = find_noisy_missing(plan, sketches, noise)
    atoms, table = None, None
    first: tuple[AuditWarning, ...] = ()
    if plan.releases_tables:
        atoms = AtomHistograms.from_messages(plan, sketches, noise)
        histograms, unreleased, missing, table, first = atoms.compared(missing)
    else:
        unreleased = unreleased_groups(plan, sketches, missing)
        groups = measured_groups(plan, unreleased)
        histograms = _histograms(plan, sketches, groups, noise)
    found = MeasuredHistograms.from_counts(plan, histograms, missing, options)
    warnings = noise_warnings(plan, found.assessment.disparity)
    assessment, bounded = found.assessment, found.bounded(plan, options)
    return Measured(
        silos=histograms.silos,
        messages=sketches,
        missing=missing,
        unreleased=unreleased,
        federation=bounded,
        known=bounded,
        measures=found.measures,
        by_silo=found.measures,
        assessment=replace(assessment, warnings=(*warnings, *assessment.warnings)),
        guarantee=mode.guarantee(),
        warnings=first,
        atoms=atoms,
        table=table,
    )


def find_noisy_missing(
    plan: Plan, messages: Sequence[SiloSketch], noise: NoiseLaw
) -> MissingRecords:
    """Return the silos that sent nothing and the cells withheld, with bounds on their records.

    A withheld cell has a noisy count below ``minimum_cell``; its true count may be larger by what
    the noise of a whole histogram takes away, here at most four standard deviations. A silo that
    sent nothing has at most as many records of each group as its public total.
    """
    missing = silos_missing(plan, messages)
    absent = math.fsum(plan.totals.get(silo, math.inf) for silo in missing)
    most = most_withheld(plan, noise)
    withheld = [
        sum(message.cells[position].withheld is not None for message in messages)
        for position in range(len(plan.groups))
    ]
    return MissingRecords(
        silos_missing=missing,
        withheld=sum(withheld),
        total=absent + sum(withheld) * most,
        most={
            group: absent + number * most
            for group, number in zip(plan.groups, withheld, strict=True)
        },
    )


def most_withheld(plan: Plan, noise: NoiseLaw) -> int:
    """Return how many records a group can have whose noisy counts add up to fewer than the rule."""
    whole = NoiseLaw(noise.epsilon, noise.doses * plan.grid.bins)
    least = max(1, plan.disclosure.minimum_cell)
    return least - 1 + math.ceil(_DEVIATIONS * whole.deviation)


def _histograms(
    plan: Plan, messages: Sequence[SiloSketch], groups: Sequence[Group], noise: NoiseLaw
) -> NoisyHistograms:
    """The histograms of these groups in checked messages, 0 where a cell is withheld."""
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
        noise=noise,
    )


@dataclass(frozen=True, eq=False)
class MeasuredHistograms:
    """Results from histograms with known noise, of single silos or of all together."""

    histograms: NoisyHistograms
    measures: Measures
    """Exact where bins are points, else by the plan's estimator."""
    assessment: Assessment

    @classmethod
    def from_counts(
        cls,
        plan: Plan,
        histograms: NoisyHistograms,
        missing: MissingRecords,
        options: AuditOptions,
    ) -> MeasuredHistograms:
        """Measure histograms under a plan."""
        federation = histograms.federation()
        method = Method(
            order=plan.order,
            estimator="exact" if plan.grid.pointwise else plan.estimator,
            levels=LEVELS,
            trim=plan.trim,
        )
        measures = Measures(federation, method)
        assessment = assess_noisy(
            histograms,
            federation,
            method,
            score_range=plan.score_range,
            unseen=missing.of(federation.groups),
            unseen_total=missing.total,
            measures=measures,
            **options.assessment(),
        )
        return cls(histograms, measures, assessment)

    def bounded(self, plan: Plan, options: AuditOptions) -> Federation:
        """Return the laws with what noise and bins may have moved, at the confidence stated."""
        return self.bound(self.histograms, plan, options)

    @staticmethod
    def bound(histograms: NoisyHistograms, plan: Plan, options: AuditOptions) -> Federation:
        """Return the laws of any histograms with these errors."""
        errors = noise_rank_errors(histograms, confidence=options.confidence, seed=options.seed)
        return histograms.federation(rank_errors=errors, value_error=plan.grid.widest)


def noise_warnings(plan: Plan, disparity: object) -> tuple[AuditWarning, ...]:
    """Return what a reader must know of the noise: how much the bins matter, how weak epsilon is."""
    warnings = []
    epsilon = mode_of(plan).cost.epsilon
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
                "the disparity depends on the bins more than on the noise: plan more bins, or "
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
