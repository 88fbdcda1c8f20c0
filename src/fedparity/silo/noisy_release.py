"""A silo's release under a plan that asks for noise: exact counts in, noisy counts out.

What leaves is a function of the noisy counts and of the plan alone. Nothing else that depends on the
records is in a message: no number of rows left out, no rank error, no reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import HistogramCell
from fedparity.documents.plan import Plan
from fedparity.documents.privacy_terms import PrivacyTerms
from fedparity.errors import PrivacyError
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import Decision
from fedparity.privacy.histograms import Counts, grid_counts
from fedparity.privacy.noise import MECHANISM, NoiseLaw, laplace_mechanism
from fedparity.silo.measurement import Effort
from fedparity.sketches.records import Records
from fedparity.version import SOFTWARE

__all__ = [
    "Preview",
    "check_unweighted",
    "count_records",
    "noise_terms",
    "noisy_decisions",
    "noisy_message",
]


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What would leave, for a dry run: no noise is drawn, and no number of the data is kept."""

    plan: Plan
    silo: str
    guarantee: Mapping[str, Any]
    deviation: float
    """Standard deviation of the noise of one bin."""
    count_deviation: float
    """Standard deviation of the noise of a group's count."""

    @classmethod
    def of(cls, plan: Plan, silo: str) -> Preview:
        """Return what a silo with any data would send under the plan."""
        terms = noise_terms(plan)
        law = NoiseLaw(_epsilon(terms))
        whole = NoiseLaw(law.epsilon, doses=float(terms.bins or 1))
        return cls(
            plan=plan,
            silo=silo,
            guarantee=_guarantee(plan),
            deviation=law.deviation,
            count_deviation=whole.deviation,
        )


def noise_terms(plan: Plan) -> PrivacyTerms:
    """Return the terms of a plan under which a silo sends noisy counts of its own.

    Raises
    ------
    PrivacyError
        If the plan asks for secure sums, in which no silo sends its own.
    """
    if plan.privacy is None or plan.privacy.secure:
        mode = "none" if plan.privacy is None else plan.privacy.mode
        raise PrivacyError.sketch_in_secure_mode(mode)
    return plan.privacy


def check_unweighted(plan: Plan, *, weighted: bool) -> None:
    """Raise if records with weights are to be released in a privacy mode.

    Raises
    ------
    PrivacyError
        Then: no epsilon bounds what one weight reveals.
    """
    if weighted and plan.privacy is not None:
        raise PrivacyError.weighted(plan.privacy.mode)


def count_records(records: Records, plan: Plan, *, effort: Effort | None = None) -> Counts:
    """Return the exact counts by group and bin of the plan's grid; they stay in the building.

    Raises
    ------
    PrivacyError
        If the records have weights.
    TableError, ScoreError
        If rows may not be counted; without numbers.
    """
    check_unweighted(plan, weighted=records.weighted)
    effort = effort or Effort()
    return grid_counts(
        records, plan.grid, plan.groups, threads=effort.threads, progress=effort.progress
    )


def noisy_message(counts: Counts, plan: Plan, silo: str) -> SiloSketch:
    r"""Draw the noise and return the message: :math:`\varepsilon`-differentially private.

    Precondition: the counts are those of :func:`count_records`, every group of the plan included.
    Postcondition: the message is post-processing of one release of
    :func:`~fedparity.privacy.noise.noisy_counts`, so it costs the plan's epsilon,
    once. Each call draws anew and costs as much again.
    """
    noisy = laplace_mechanism(_epsilon(noise_terms(plan))).release(counts)
    return SiloSketch(
        plan=plan.digest,
        silo=silo,
        kind="histogram",
        cells=[
            _cell(group, row, plan.disclosure.minimum_cell)
            for group, row in zip(plan.groups, noisy, strict=True)
        ],
        rows_dropped=0,
        guarantee=_guarantee(plan),
        software=SOFTWARE,
    )


def noisy_decisions(message: SiloSketch, minimum: int) -> dict[Group, Decision]:
    """Return what was decided for each cell, from what the message says of it."""
    reason = f"fewer than {minimum} records once noise was added"
    return {
        cell.group: Decision(
            levels=cell.levels,
            withheld=cell.withheld,
            reasons=() if cell.withheld is None else (reason,),
        )
        for cell in message.cells
    }


def _cell(group: Group, row: Counts, minimum: int) -> HistogramCell:
    """A cell, withheld by its noisy count alone: post-processing, which costs nothing."""
    withheld = minimum > 1 and int(row.sum()) < minimum
    return HistogramCell.kept_back(group) if withheld else HistogramCell(group=group, values=row)


def _guarantee(plan: Plan) -> dict[str, Any]:
    mechanism = laplace_mechanism(_epsilon(noise_terms(plan)))
    return {
        **plan.guarantee,
        "mechanism": MECHANISM,
        "scale": mechanism.scale,
        "library": mechanism.library,
    }


def _epsilon(terms: PrivacyTerms) -> float:
    return float(terms.epsilon or 0.0)
