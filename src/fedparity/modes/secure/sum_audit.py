"""The auditor's side of a secure sum: the histograms of all silos together, read like those of one.

The decomposition, the attribution and what each silo would see alone are no function of the sum, so
they are not measured; see :doc:`/decisions/0021-secure-aggregation`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fedparity.documents.audit_warnings import AuditWarning, WarningCode
from fedparity.documents.fields import group_words
from fedparity.documents.files import Path
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.result_parts import SetAside
from fedparity.errors import GroupError, SecureMessageError
from fedparity.errors.base import listed
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.modes.atom_histograms import AtomHistograms, ComparedRows
from fedparity.modes.histogram_audit import MeasuredHistograms, most_withheld, noise_warnings
from fedparity.modes.mode import AuditOptions, Measured, MissingRecords, Mode
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import Inbox, roster_of, secure_terms
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.modes.secure.round_progress import SecureSum, open_sum
from fedparity.privacy.histograms import Counts
from fedparity.privacy.noise import NoiseLaw
from fedparity.uncertainty.assessment import Assessment, DisparityAssessment
from fedparity.uncertainty.certificate import certify_grid, federation_of_bins
from fedparity.uncertainty.noisy_histograms import NoisyHistograms

__all__ = ["Summed", "measure_sum"]

TOGETHER = "all silos"
"""The placeholder of the silos in the federation of a result, since single silos were not seen."""


def measure_sum(
    mode: Mode, messages: Iterable[RoundMessage | SiloSketch | Path], options: AuditOptions
) -> Measured:
    """Open the sum of a round, and measure it: intervals are those of one sample of all silos.

    Raises
    ------
    MessageError
        If a message is missing, does not fit the others, or fewer silos answered than needed.
    """
    plan = mode.plan
    opened = open_sum(plan, Inbox.of(_rounds(messages)))
    absent = math.fsum(plan.totals.get(silo, math.inf) for silo in opened.dropped)
    missing = MissingRecords(
        silos_missing=opened.dropped,
        withheld=0,
        most=dict.fromkeys(plan.groups, absent),
        total=absent,
    )
    atoms = _atoms(plan, opened)
    table = None
    first: tuple[AuditWarning, ...] = ()
    if atoms is None:
        summed = Summed.from_sum(plan, opened)
    else:
        rows = atoms.compared(missing)
        summed, missing, table, first = (
            Summed.from_rows(rows),
            rows.missing,
            rows.table,
            rows.warnings,
        )
    histograms = NoisyHistograms(
        silos=(TOGETHER,),
        groups=summed.groups,
        counts=summed.counts[None],
        grid=plan.grid,
        noise=summed.noise or _Silence(math.inf),
    )
    found = MeasuredHistograms.from_counts(plan, histograms, missing, options)
    if summed.noise is None:
        bounded = _exact_at_edges(plan, histograms)
        # Of exact counts nothing is uncertain but where records lie inside bins.
        known = federation_of_bins(summed.counts, plan.grid, summed.groups)
    else:
        bounded = known = found.bounded(plan, options)
    return Measured(
        silos=opened.survivors,
        messages=(),
        missing=missing,
        unreleased=summed.unreleased,
        federation=bounded,
        known=known,
        measures=found.measures,
        by_silo=found.measures,
        assessment=_of_the_sum(plan, summed, found.assessment),
        guarantee=_guarantee(mode, opened),
        warnings=first + _warnings(plan, opened, summed),
        atoms=atoms,
        table=table,
    )


def _atoms(plan: Plan, opened: SecureSum) -> AtomHistograms | None:
    """What the tables of a plan are made of; nothing in a plan of one table.

    Such a plan has noise: exact sums would disclose groups and outcomes of very few people.
    """
    noise = _noise(plan, len(opened.survivors))
    if noise is None or not plan.releases_tables:
        return None
    counts = Layout.of(plan).unpack(opened.vector)["counts"]
    return AtomHistograms.from_sum(plan, counts, noise, TOGETHER)


def _rounds(
    messages: Iterable[RoundMessage | SiloSketch | Path],
) -> Iterator[RoundMessage | Path]:
    for message in messages:
        if isinstance(message, SiloSketch):
            raise SecureMessageError(
                f"silo {message.silo!r} sent a sketch of its own, but the plan requests a secure sum.",
                fix="ask the silo to follow the steps of fedparity secure.",
            )
        yield message


@dataclass(frozen=True, kw_only=True, eq=False)
class Summed:
    """Counts over all silos together, of the groups that are large enough to be measured."""

    groups: tuple[Group, ...]
    counts: Counts
    """Groups by bins; noisy ones may be negative."""
    unreleased: tuple[SetAside, ...]
    """The groups of fewer records in all silos together than the plan's smallest cell."""
    dropped: int
    """Rows without a score that silos left out."""
    noise: NoiseLaw | None
    """Of each count."""
    missing: float
    """An upper bound of the records of each group in silos that dropped out."""

    @classmethod
    def from_sum(cls, plan: Plan, opened: SecureSum) -> Summed:
        """Return the numbers of a sum that was opened.

        Raises
        ------
        GroupError
            If fewer than two groups are large enough to be compared.
        """
        parts = Layout.of(plan).unpack(opened.vector)
        noise = _noise(plan, len(opened.survivors))
        missing = math.fsum(plan.totals.get(silo, math.inf) for silo in opened.dropped)
        least = max(1, plan.disclosure.minimum_cell)
        large = np.sum(parts["counts"], axis=1) >= least
        named = list(zip(plan.groups, large, strict=True))
        small = [group for group, enough in named if not enough]
        if large.sum() < 2:
            raise GroupError(
                f"all silos together have fewer than {least:,} records of group {group_words(small[0])!r}; fewer "
                "than two groups remain to be compared.",
                fix="write a plan whose groups are large enough: join this group with another, or "
                "leave it out.",
            )
        most = missing + (least - 1 if noise is None else most_withheld(plan, noise))
        known = f"fewer than {least:,} records in all silos together"
        return cls(
            groups=tuple(group for group, enough in named if enough),
            counts=parts["counts"][large],
            unreleased=tuple(
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
            missing=missing,
        )

    @classmethod
    def from_rows(cls, rows: ComparedRows) -> Summed:
        """Return the rows of a plan with axes or an outcome, which are sums of noisy atoms."""
        return cls(
            groups=rows.histograms.groups,
            counts=rows.histograms.counts[0],
            unreleased=rows.unreleased,
            dropped=0,
            noise=rows.histograms.noise,
            missing=rows.missing.total,
        )


def _noise(plan: Plan, survivors: int) -> NoiseLaw | None:
    """The noise of one count of the sum: a dose of each silo, or their parts of one."""
    terms = secure_terms(plan)
    if terms.epsilon is None:
        return None
    doses = survivors if terms.dose == "full" else survivors / int(terms.honest or 1)
    return NoiseLaw(terms.epsilon, doses=float(doses))


class _Silence(NoiseLaw):
    """No noise at all."""

    def draw(self, _: np.random.Generator, shape: tuple[int, ...]) -> Counts:
        """Return zeros."""
        return np.zeros(shape, dtype=np.int64)


def _exact_at_edges(plan: Plan, histograms: NoisyHistograms) -> Federation:
    """The laws of exact counts, as rates at a threshold read them: exact at edges of bins."""
    bounded = histograms.federation(value_error=plan.grid.widest)
    above = {
        threshold: histograms.counts[0, :, first:].sum(axis=1)[bounded.group_of].astype(float)
        for threshold in plan.thresholds
        if (first := plan.grid.first_from(threshold)) is not None
    }
    return replace(bounded, above=above)


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
    more = [summed.missing] * len(summed.groups)
    return DisparityAssessment(
        value=found.value,
        corrected=found.corrected,
        interval=found.interval,
        certificate=certain(),
        outer=certain(unseen=more, unseen_total=summed.missing),
        p_value=found.p_value,
        null=found.null,
    )


def _guarantee(mode: Mode, opened: SecureSum) -> dict[str, Any]:
    """The terms of the plan, what the auditor saw, and the limits of the protection."""
    plan = mode.plan
    silos = f"{len(opened.survivors)} of {len(roster_of(plan))} silos"
    kind = "noisy numbers" if secure_terms(plan).noisy else "numbers"
    return {
        **mode.guarantee(),
        "seen": f"{kind} of records by group and bin, added up over {silos}",
        "signed": bool(plan.keys),
    }


def _warnings(plan: Plan, opened: SecureSum, summed: Summed) -> tuple[AuditWarning, ...]:
    """A sentence for each thing that is missing, or could not be seen."""
    sentences: dict[WarningCode, str] = {}
    if opened.dropped:
        named = listed(opened.dropped)
        sentences["silos_dropped_out"] = (
            f"{len(opened.dropped):,} of {len(roster_of(plan)):,} silos dropped out: {named}."
        )
    if summed.dropped:
        sentences["rows_dropped"] = (
            f"{summed.dropped:,} rows without a score were dropped: the ranges do not allow for them."
        )
    sentences["only_sums"] = (
        "only sums over silos are known: not what the disparity comes from, nor anything of a single "
        "silo; intervals are those of one sample of all of them."
    )
    if not plan.keys:
        sentences["unsigned"] = (
            "the plan has no [keys], so nobody signed: whoever carried the messages could have put "
            "keys in between and read a silo's own numbers."
        )
    return (
        *(
            AuditWarning(
                code="group_set_aside",
                text=f"group {group_words(each.group)} was set aside: {each.known}.",
            )
            for each in summed.unreleased
        ),
        *(AuditWarning(code=code, text=text) for code, text in sentences.items()),
    )
