"""A secure sum measured: the histograms of all silos together, read like those of one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fedparity.auditing.noisy import histogram_method, noise_warnings
from fedparity.auditing.secure.opening import SecureSum
from fedparity.auditing.secure.summed import Summed
from fedparity.auditing.sizes import Sizes
from fedparity.diagnostics.assessment import Assessment, DisparityAssessment
from fedparity.diagnostics.bootstrap import Progress as RedrawProgress
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
    progress: RedrawProgress | None,
) -> Measured:
    """Measure the sum; intervals are those of one sample of all silos, whose noise is known."""
    summed = Summed.of(plan, opened)
    histograms = NoisyHistograms(
        silos=(TOGETHER,),
        groups=summed.groups,
        counts=summed.counts[None],
        grid=plan.grid,
        noise=summed.noise or _Silence(math.inf),
    )
    federation = histograms.federation()
    method = histogram_method(plan)
    unseen = dict.fromkeys(summed.groups, summed.unseen) if summed.unseen else {}
    assessment = assess_noisy(
        histograms,
        federation,
        method,
        score_range=plan.score_range,
        confidence=confidence,
        unseen=unseen,
        unseen_total=summed.unseen,
        redraws=redraws,
        seed=seed,
        progress=progress,
    )
    bounded = _bounded(plan, histograms, confidence=confidence, seed=seed)
    # Of exact counts nothing is uncertain but where records lie inside bins.
    exact = federation_of_bins(summed.counts, plan.grid, summed.groups)
    known = bounded if summed.noise else exact
    sizes = partial(Sizes.of, known, method, score_range=plan.score_range)
    seen = sizes()
    return Measured(
        summed=summed,
        federation=bounded,
        seen=seen,
        all=sizes(unseen=unseen, unseen_total=summed.unseen) if unseen else seen,
        assessment=_of_the_sum(plan, summed, assessment),
        pairs=pairs(federation, method),
        unseen=unseen,
    )


def _bounded(
    plan: Plan, histograms: NoisyHistograms, *, confidence: float, seed: int
) -> Federation:
    """The federation as rates at a threshold read it: exact at edges of bins, or moved by noise."""
    if isinstance(histograms.noise, _Silence):
        bounded = histograms.federation(value_error=plan.grid.widest)
        above = {
            threshold: histograms.counts[0, :, first:].sum(axis=1)[bounded.group_of].astype(float)
            for threshold in plan.thresholds
            if (first := plan.grid.first_from(threshold)) is not None
        }
        return replace(bounded, above=above)
    errors = noise_rank_errors(histograms, confidence=confidence, seed=seed)
    return histograms.federation(rank_errors=errors, value_error=plan.grid.widest)


def _of_the_sum(plan: Plan, summed: Summed, assessment: Assessment) -> Assessment:
    """The assessment without what it says of silos: there is only one, made of all."""
    noisy = summed.noise is not None
    disparity = assessment.disparity if noisy else _certified(plan, summed, assessment)
    return replace(
        assessment,
        disparity=disparity,
        attribution={},
        local={},
        warnings=noise_warnings(plan, disparity) if noisy else (),
    )


def _certified(plan: Plan, summed: Summed, assessment: Assessment) -> DisparityAssessment:
    """The disparity of exact counts, with a certificate of the bins.

    It replaces the estimate of what bins hide that noisy counts need: nothing is left to estimate.
    """
    found = assessment.disparity
    certain = partial(certify_grid, summed.counts, plan.grid, order=plan.order, trim=plan.trim)
    more = [summed.unseen] * len(summed.groups)
    return DisparityAssessment(
        value=found.value,
        corrected=found.corrected,
        interval=found.interval,
        certificate=certain(),
        outer=certain(unseen=more, unseen_total=summed.unseen),
        p_value=found.p_value,
        null=found.null,
    )
