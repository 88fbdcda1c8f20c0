"""A secure sum measured: the histograms of all silos together, read like those of one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fedparity.auditing.noisy import histogram_method, noise_warnings
from fedparity.auditing.secure.opening import SecureSum
from fedparity.auditing.secure.summed import Summed
from fedparity.auditing.secure.terms import GroupLaws
from fedparity.auditing.sizes import Sizes
from fedparity.diagnostics.assessment import Assessment, DisparityAssessment
from fedparity.diagnostics.attribution import Attribution
from fedparity.diagnostics.bootstrap import Progress
from fedparity.diagnostics.decomposition import Decomposition
from fedparity.diagnostics.grid_certificate import certify_grid, federation_of_bins
from fedparity.diagnostics.noise.assessment import assess_noisy
from fedparity.diagnostics.noise.histograms import NoisyHistograms
from fedparity.diagnostics.noise.rank_errors import noise_rank_errors
from fedparity.federated.federation import Federation
from fedparity.federated.pairs import Pair, pairs
from fedparity.laws.labels import Group
from fedparity.privacy.histograms import Counts
from fedparity.privacy.noise_law import NoiseLaw
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import secure_terms

__all__ = ["Measured", "measure"]

TOGETHER = "all silos"
"""What stands for the silos in the federation of a result: they were not seen one by one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """All that a sum tells."""

    summed: Summed
    federation: Federation
    assessment: Assessment
    pairs: tuple[Pair, ...]
    seen: Sizes
    """With bounds of the raw data summed."""
    all: Sizes
    """With bounds of those of the silos that dropped out too."""
    decomposition: Decomposition | None
    attribution: Attribution | None
    unseen: dict[Group, float]


class _Silence(NoiseLaw):
    """No noise at all."""

    def draw(self, _: np.random.Generator, shape: tuple[int, ...]) -> Counts:
        """Return zeros."""
        return np.zeros(shape, dtype=np.int64)


def measure(
    plan: Plan,
    opened: SecureSum,
    *,
    confidence: float,
    seed: int,
    redraws: int | None,
    progress: Progress | None,
) -> Measured:
    """Measure the sum; intervals are those of one sample of all silos, whose noise is known."""
    summed = Summed.of(plan, opened)
    histograms = NoisyHistograms(
        silos=(TOGETHER,),
        groups=tuple(plan.groups),
        counts=summed.counts[None],
        grid=plan.grid,
        noise=_noise(plan, len(opened.survivors)),
    )
    federation = histograms.federation()
    method = histogram_method(plan)
    unseen = _unseen(plan, opened)
    missing = max(unseen.values(), default=0.0)
    assessment = assess_noisy(
        histograms,
        federation,
        method,
        score_range=plan.score_range,
        confidence=confidence,
        unseen=unseen,
        unseen_total=missing,
        redraws=redraws,
        seed=seed,
        progress=progress,
    )
    laws = GroupLaws(histograms.masses[0], plan.grid, plan.order, plan.trim)
    bounded = _bounded(plan, histograms, confidence=confidence, seed=seed)
    known = bounded if secure_terms(plan).noisy else _counted(plan, summed)
    sizes = partial(Sizes.of, known, method, score_range=plan.score_range)
    seen = sizes()
    return Measured(
        summed=summed,
        federation=bounded,
        seen=seen,
        all=sizes(unseen=unseen, unseen_total=missing) if unseen else seen,
        assessment=_of_the_sum(plan, summed, assessment, unseen),
        pairs=pairs(federation, method),
        decomposition=laws.decomposition(summed),
        attribution=laws.attribution(summed),
        unseen=unseen,
    )


def _bounded(
    plan: Plan, histograms: NoisyHistograms, *, confidence: float, seed: int
) -> Federation:
    """The federation as bounds at a threshold read it: noise may have moved ranks."""
    if not secure_terms(plan).noisy:
        return histograms.federation(value_error=plan.grid.widest)
    errors = noise_rank_errors(histograms, confidence=confidence, seed=seed)
    return histograms.federation(rank_errors=errors, value_error=plan.grid.widest)


def _counted(plan: Plan, summed: Summed) -> Federation:
    """The exact counts, of which nothing is uncertain but where records lie inside bins."""
    return federation_of_bins(summed.counts, plan.grid, plan.groups)


def _noise(plan: Plan, survivors: int) -> NoiseLaw:
    """The noise of one count of the sum: a dose of each silo, or their parts of one."""
    terms = secure_terms(plan)
    if terms.epsilon is None:
        return _Silence(math.inf)
    doses = survivors if terms.dose == "full" else survivors / int(terms.honest or 1)
    return NoiseLaw(terms.epsilon, doses=float(doses))


def _unseen(plan: Plan, opened: SecureSum) -> dict[Group, float]:
    """At most so many records of each group are in silos that dropped out."""
    most = math.fsum(plan.totals.get(silo, math.inf) for silo in opened.dropped)
    return dict.fromkeys(plan.groups, most) if most else {}


def _of_the_sum(
    plan: Plan, summed: Summed, assessment: Assessment, unseen: dict[Group, float]
) -> Assessment:
    """The assessment without what it says of silos: there is only one, made of all."""
    noisy = secure_terms(plan).noisy
    disparity = assessment.disparity if noisy else _certified(plan, summed, assessment, unseen)
    return replace(
        assessment,
        disparity=disparity,
        attribution={},
        local={},
        warnings=noise_warnings(plan, disparity) if noisy else (),
    )


def _certified(
    plan: Plan, summed: Summed, assessment: Assessment, unseen: dict[Group, float]
) -> DisparityAssessment:
    """The disparity of exact counts, with a certificate of the bins.

    It replaces the estimate of what bins hide that noisy counts need: nothing is left to estimate.
    """
    found = assessment.disparity
    certain = partial(certify_grid, summed.counts, plan.grid, order=plan.order, trim=plan.trim)
    more = [unseen.get(group, 0.0) for group in plan.groups]
    return DisparityAssessment(
        value=found.value,
        corrected=found.corrected,
        interval=found.interval,
        certificate=certain(),
        outer=certain(unseen=more, unseen_total=max(more, default=0.0)),
        p_value=found.p_value,
        null=found.null,
    )
