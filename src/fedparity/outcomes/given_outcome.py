"""The disparity of scores among records with the same outcome, by the functionals of parity."""

from __future__ import annotations

from collections.abc import Mapping

from fedparity.documents.outcome_parts import GivenOutcome, SiloLength
from fedparity.documents.plan_fields import OutcomeName
from fedparity.federated.estimate import Method
from fedparity.federated.federation import Federation
from fedparity.federated.local_audits import Measures
from fedparity.laws.labels import Group
from fedparity.uncertainty.assessment import Assessment, assess

__all__ = ["disparity_given", "given_outcome"]


def disparity_given(
    federation: Federation,
    outcome: OutcomeName,
    method: Method,
    *,
    share: float,
    score_range: tuple[float, float],
    confidence: float,
    seed: int,
    redraws: int | None,
    unseen: Mapping[Group, float] | None,
    apart: bool,
) -> GivenOutcome:
    """Return the disparity among the records of one outcome, next to what each silo sees.

    ``apart`` says whether each silo was seen, with one cell of a group at most: without, there is no
    attribution and no local disparity.
    """
    measures = Measures(federation, method)
    found = assess(
        federation,
        method,
        score_range=score_range,
        confidence=confidence,
        unseen=unseen,
        redraws=redraws,
        seed=seed,
        local=None if apart else (),
        measures=measures,
    )
    return given_outcome(measures, found, outcome, share=share, apart=apart)


def given_outcome(
    measures: Measures,
    found: Assessment,
    outcome: OutcomeName,
    *,
    share: float,
    apart: bool,
) -> GivenOutcome:
    """Return what was measured of the records of one outcome, a ``share`` of those that have one."""
    federation = measures.federation
    farthest = max(measures.pairs, key=lambda pair: pair.wasserstein)
    parts = measures.attribution if apart else None
    disparity = found.disparity
    return GivenOutcome(
        outcome=outcome,
        n=federation.counts.sum().item(),
        share=share,
        disparity=disparity.value,
        corrected=disparity.corrected,
        interval=disparity.interval,
        certificate=disparity.certificate,
        outer=disparity.outer,
        p_value=disparity.p_value,
        wasserstein=farthest.wasserstein,
        groups=farthest.groups,
        selection=None if parts is None else parts.selection,
        within=None if parts is None else parts.within,
        silos=_silos(measures, found) if apart else (),
        hidden=parts is not None
        and len(federation.silos) > 1
        and disparity.interval.lower > 0
        and parts.selection > disparity.value / 2
        and not any(each is not None and each.interval.lower > 0 for each in found.local.values()),
    )


def _silos(measures: Measures, found: Assessment) -> tuple[SiloLength, ...]:
    rows = []
    for audit in measures.local:
        assessed = found.local.get(audit.silo)
        rows.append(
            SiloLength(
                silo=str(audit.silo),
                value=audit.disparity,
                interval=None if assessed is None else assessed.interval,
            )
        )
    return tuple(rows)
