"""A secure sum measured: the histograms of all silos together, read like those of one."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from fedparity.auditing.comparison import Beyond, Comparison, Sizes
from fedparity.auditing.noisy_audit import histogram_method, most_withheld, noise_warnings
from fedparity.auditing.result_building import (
    group_results,
    heterogeneity_result,
    pair_results,
    plan_summary,
    stated_guarantee,
)
from fedparity.auditing.result_curves import group_curves
from fedparity.documents.audit_warnings import AuditWarning, WarningCode
from fedparity.documents.fields import FrozenMapping, group_words
from fedparity.documents.plan import Plan
from fedparity.documents.result import SCHEMA, AuditResult
from fedparity.documents.result_parts import (
    AttributionResult,
    DecompositionResult,
    PartIntervals,
    SetAside,
    SiloInfluenceResult,
    SiloResult,
)
from fedparity.errors import GroupError
from fedparity.errors.base import listed
from fedparity.federated.estimate import Pair, pairs
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import Inbox, roster_of, secure_terms
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.modes.secure.round_progress import SecureSum, open_sum
from fedparity.privacy.histograms import Counts
from fedparity.privacy.noise import NoiseLaw
from fedparity.uncertainty.assessment import Assessment, DisparityAssessment
from fedparity.uncertainty.bootstrap import Progress as RedrawProgress
from fedparity.uncertainty.certificate import certify_grid, federation_of_bins
from fedparity.uncertainty.noisy_assessment import assess_noisy, noise_rank_errors
from fedparity.uncertainty.noisy_histograms import NoisyHistograms
from fedparity.version import SOFTWARE

__all__ = [
    "Measured",
    "Summed",
    "audit_secure",
    "compose_sum",
    "guarantee",
    "measure",
    "sum_warnings",
]


@dataclass(frozen=True, kw_only=True, eq=False)
class Summed:
    """Counts over all silos together, of the groups that are large enough to be measured."""

    groups: tuple[Group, ...]
    counts: Counts
    """Groups by bins; noisy ones may be negative."""
    aside: tuple[SetAside, ...]
    """The groups of fewer records in all silos together than the plan's smallest cell."""
    dropped: int
    """Rows without a score that silos left out."""
    noise: NoiseLaw | None
    """Of each count."""
    unseen: float
    """At most so many records of each group are in silos that dropped out."""

    @classmethod
    def of(cls, plan: Plan, opened: SecureSum) -> Summed:
        """Return the numbers of a sum that was opened.

        Raises
        ------
        GroupError
            If fewer than two groups are large enough to be compared.
        """
        parts = Layout.of(plan).unpack(opened.vector)
        noise = _noise(plan, len(opened.survivors))
        unseen = math.fsum(plan.totals.get(silo, math.inf) for silo in opened.dropped)
        least = max(1, plan.disclosure.minimum_cell)
        large = np.sum(parts["counts"], axis=1) >= least
        named = list(zip(plan.groups, large, strict=True))
        small = [group for group, enough in named if not enough]
        if large.sum() < 2:
            raise GroupError(
                f"all silos together have fewer than {least:,} records of group {small[0]!r}; fewer "
                "than two groups remain to be compared.",
                fix="write a plan whose groups are large enough: join this group with another, or "
                "leave it out.",
            )
        most = unseen + (least - 1 if noise is None else most_withheld(plan, noise))
        known = f"fewer than {least:,} records in all silos together"
        return cls(
            groups=tuple(group for group, enough in named if enough),
            counts=parts["counts"][large],
            aside=tuple(
                SetAside(
                    group=group,
                    withheld=0,
                    most=most if math.isfinite(most) else None,
                    known=known if noise is None else f"{known}, once noise was added",
                )
                for group in small
            ),
            dropped=int(parts["dropped"][0]) if "dropped" in parts else 0,
            noise=noise,
            unseen=unseen,
        )


def _noise(plan: Plan, survivors: int) -> NoiseLaw | None:
    """The noise of one count of the sum: a dose of each silo, or their parts of one."""
    terms = secure_terms(plan)
    if terms.epsilon is None:
        return None
    doses = survivors if terms.dose == "full" else survivors / int(terms.honest or 1)
    return NoiseLaw(terms.epsilon, doses=float(doses))


ONLY_SUMS = (
    "only sums over silos are known: not what the disparity comes from, nor anything of a single "
    "silo; intervals are those of one sample of all of them."
)


def guarantee(plan: Plan, opened: SecureSum) -> dict[str, Any]:
    """Return the terms of the plan, what the auditor saw, and the limits of the protection."""
    silos = f"{len(opened.survivors)} of {len(roster_of(plan))} silos"
    kind = "noisy numbers" if secure_terms(plan).noisy else "numbers"
    return {
        **stated_guarantee(plan),
        "seen": f"{kind} of records by group and bin, added up over {silos}",
        "signed": bool(plan.keys),
    }


def sum_warnings(plan: Plan, opened: SecureSum, measured: Measured) -> tuple[AuditWarning, ...]:
    """Return a sentence for each thing that is missing, or could not be seen."""
    sentences: dict[WarningCode, str] = {
        "silos_dropped_out": _dropped_out(plan, opened),
        "rows_dropped": _rows(measured),
        "only_sums": ONLY_SUMS,
        "unsigned": _unsigned(plan),
    }
    return (
        *(
            AuditWarning(
                code="group_set_aside",
                text=f"group {group_words(each.group)} was set aside: {each.known}.",
            )
            for each in measured.summed.aside
        ),
        *(AuditWarning(code=code, text=text) for code, text in sentences.items() if text),
    )


def _dropped_out(plan: Plan, opened: SecureSum) -> str:
    if not opened.dropped:
        return ""
    named = listed(opened.dropped)
    return f"{len(opened.dropped):,} of {len(roster_of(plan)):,} silos dropped out: {named}."


def _rows(measured: Measured) -> str:
    rows = measured.summed.dropped
    return f"{rows:,} rows without a score were dropped: no bound counts them." if rows else ""


def _unsigned(plan: Plan) -> str:
    if plan.keys:
        return ""
    return (
        "the plan has no [keys], so nobody signed: whoever carried the messages could have put keys in "
        "between and read a silo's own numbers."
    )


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
    sizes = partial(Sizes.from_federation, known, method, score_range=plan.score_range)
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


# A secure sum's measures as a result: silos are named, and nothing is said of any of them.
#
# The decomposition, the attribution and what each silo would see alone are no function of the sum, so
# they are not given; see :doc:`/decisions/0021-secure-aggregation`.

NOT_SEEN = "not seen: secure sum"


def compose_sum(plan: Plan, opened: SecureSum, found: Measured) -> AuditResult:
    """Return the result of a secure audit."""
    beyond = Beyond.from_groups(
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


Progress: TypeAlias = Callable[[int, int, str], None]


def audit_secure(
    plan: Plan,
    messages: Iterable[RoundMessage | str | os.PathLike[str]],
    *,
    confidence: float = 0.95,
    seed: int = 0,
    redraws: int | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """Open the sum of a round and measure the disparity of all silos together.

    Parameters
    ----------
    messages : iterable of round messages or paths
        Keys, shares, masked vectors, the request, unmask answers; in any order.

    Raises
    ------
    MessageError
        If a message is missing, does not fit the others, or fewer silos answered than needed.
    """
    opened = open_sum(plan, Inbox.of(messages))
    told = None if progress is None else (lambda done, all_: progress(done, all_, "redrawing"))
    found = measure(plan, opened, confidence=confidence, seed=seed, redraws=redraws, progress=told)
    return compose_sum(plan, opened, found)
