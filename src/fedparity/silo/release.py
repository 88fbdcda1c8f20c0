"""A release: what would leave a silo, why it is as it is, and how it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from fedparity.documents.files import Path
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.signing import sign
from fedparity.errors import MessageError
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import Decision, decide
from fedparity.privacy.histograms import Counts
from fedparity.silo.measurement import (
    Effort,
    Measured,
    Way,
    asked_of,
    explained,
    measure,
    released_cells,
)
from fedparity.silo.noisy_release import (
    Preview,
    check_unweighted,
    count_records,
    noise_terms,
    noisy_decisions,
    noisy_message,
)
from fedparity.silo.permit import Permit
from fedparity.sketches.records import Records
from fedparity.sketches.selection.select import Census
from fedparity.tables.opening import open_records
from fedparity.version import SOFTWARE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = [
    "How",
    "Levels",
    "Release",
    "check_silo",
    "prepare",
    "preview",
    "release_counts",
    "release_records",
    "released",
]


@dataclass(frozen=True, kw_only=True)
class How:
    """How a sketch was computed: for the operator, and of no effect on the result."""

    way: Way
    kernel: str
    passes: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """What would leave a silo, with what only its operator may see."""

    sketch: SiloSketch
    """The message: all that leaves."""
    decisions: Mapping[Group, Decision]
    """What the disclosure rules decided for each group, and why."""
    records: Mapping[Group, int]
    """True numbers of records; they stay in the building. Empty in a privacy mode."""
    how: How

    @property
    def digest(self) -> str:
        """The digest that the ledger keeps: of the message, whoever signed it with which version."""
        return self.sketch.content_digest

    def signed(self, key: Ed25519PrivateKey) -> Release:
        """Return the same release with its message signed."""
        return replace(self, sketch=sign(self.sketch, key))

    def replacing(self, message: str | None) -> Release:
        """Return the same release, said to stand for a message that was voided."""
        return (
            self
            if message is None
            else replace(self, sketch=replace(self.sketch, replaces=message))
        )

    def write(self, path: Path, *, permit: Permit | None, force: bool = False) -> None:
        """Enter the release into the ledger and write its message, whole or not at all.

        Raises
        ------
        OutputError
            If the file exists and ``force`` is not set, or cannot be written.
        RuleError, LedgerError, BudgetError
            If the silo's own rules refuse it; see :class:`~fedparity.silo.permit.Permit`.
        """
        if permit is None:
            self.sketch.write(path, force=force)
            return
        permit.write(
            path,
            self.sketch.to_bytes(),
            release=self.digest,
            message=self.sketch.digest,
            replaces=self.sketch.replaces,
            force=force,
        )

    def record(self, permit: Permit) -> None:
        """Enter the release into the ledger, before anybody else sees its message.

        Raises
        ------
        RuleError, LedgerError, BudgetError
            As :meth:`write`.
        """
        sketch = self.sketch
        with permit.commit(self.digest, sketch.digest, replaces=sketch.replaces):
            pass


def prepare(
    data: object,
    *,
    plan: Plan,
    silo: str,
    score: str | None = None,
    group: str | Sequence[str] | None = None,
    weight: str | None = None,
    where: str | None = None,
    mapping: Mapping[str, str] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    other: str | None = None,
    effort: Effort | None = None,
) -> Release:
    """Read a silo's table and return what it would release under a plan; nothing is written.

    Parameters are those of :func:`fedparity.sketch`. Under a plan with noise every call draws
    anew: only one of them may leave.
    """
    check_silo(plan, silo)
    check_unweighted(plan, weighted=weight is not None)
    records = open_records(
        data,
        score=score,
        group=group,
        groups=plan.groups,
        weight=weight,
        where=where,
        mapping=mapping,
        missing=missing,
        other=other,
    )
    return release_records(records, plan=plan, silo=silo, effort=effort)


def preview(
    data: object,
    *,
    plan: Plan,
    silo: str,
    effort: Effort | None = None,
    **reading: Any,  # noqa: ANN401 -- as open_records takes them
) -> Preview:
    """Read a silo's table as :func:`prepare` does, and return what would leave; draw no noise.

    The records are counted, so that a mistake in them is found, and the counts are forgotten.
    """
    check_silo(plan, silo)
    check_unweighted(plan, weighted=reading.get("weight") is not None)
    options = {"score": None, "group": None, **reading}
    count_records(open_records(data, groups=plan.groups, **options), plan, effort=effort)
    return Preview.of(plan, silo)


def release_records(
    records: Records,
    *,
    plan: Plan,
    silo: str,
    effort: Effort | None = None,
) -> Release:
    """Return what a silo with these records would release under a plan.

    The groups of ``records`` are those of the plan, in its order.
    """
    check_silo(plan, silo)
    if plan.privacy is not None:
        counts = count_records(records, plan, effort=effort)
        return release_counts(counts, plan=plan, silo=silo)
    levels = Levels(plan, silo, weighted=records.weighted)
    found = measure(
        records,
        levels,
        asked_of(plan),
        score_range=plan.score_range,
        levels_hint=plan.levels,
        effort=effort,
    )
    return released(levels, found)


def release_counts(counts: Counts, *, plan: Plan, silo: str) -> Release:
    """Return what a silo with these exact counts would release: noise is drawn here."""
    message = noisy_message(counts, plan, silo)
    return Release(
        sketch=message,
        decisions=noisy_decisions(message, plan.disclosure.minimum_cell),
        records={},
        how=How(way="one pass", kernel="numpy", passes=1),
    )


class Levels:
    """How many levels each group may release, decided once their numbers are known.

    Called with the census of the records, before anything is known of their scores.
    """

    def __init__(self, plan: Plan, silo: str, *, weighted: bool) -> None:
        self.plan, self.silo, self.weighted = plan, silo, weighted
        self.numbers: dict[Group, int] = {}
        self.decisions: dict[Group, Decision] = {}

    def __call__(self, census: Census) -> list[int]:
        """Return the number of levels of each group of the plan."""
        groups = self.plan.groups
        self.numbers = dict(zip(groups, census.counts.tolist(), strict=True))
        effective = dict(zip(groups, census.effective.tolist(), strict=True))
        self.decisions = decide(
            self.numbers,
            levels=self.plan.levels,
            disclosure=self.plan.disclosure,
            kind=self.plan.sketch,
            public_total=self.plan.totals.get(self.silo),
            effective=effective if self.weighted else None,
        )
        return [self.decisions[group].levels for group in groups]


def released(levels: Levels, found: Measured) -> Release:
    """Return the release of sketches that were computed at the levels decided on."""
    plan = levels.plan
    weights = {"weighted": True} if levels.weighted else {}
    cells = released_cells(plan, levels.decisions, found, weighted=levels.weighted)
    sketch = SiloSketch(
        plan=plan.digest,
        silo=levels.silo,
        kind=plan.sketch,
        cells=cells,
        rows_dropped=found.selected.census.dropped,
        guarantee={**plan.guarantee, **weights},
        software=SOFTWARE,
    )
    how = How(way=found.way, kernel=found.selected.kernel, passes=found.selected.passes)
    decisions = explained(plan, levels.decisions, cells)
    return Release(sketch=sketch, decisions=decisions, records=levels.numbers, how=how)


def check_silo(plan: Plan, silo: str) -> None:
    """Raise if the silo may not answer the plan, or not with a message of its own."""
    if plan.silos is not None and silo not in plan.silo_set:
        raise MessageError.not_in_roster(silo, plan.silos)
    if plan.privacy is not None:
        noise_terms(plan)
