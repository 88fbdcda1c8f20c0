"""A release: what would leave a silo, why it is as it is, and how it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from fedparity.errors import DisclosureError, MessageError
from fedparity.laws.labels import Group
from fedparity.privacy.decisions import Decision, decide
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.rounding import round_values
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.digests import digest_of
from fedparity.protocol.files import Path, refuse_existing
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.protocol.signature import sign
from fedparity.protocol.sketched_cell import SketchedCell
from fedparity.releasing.measuring import Effort, Measured, Way, measure
from fedparity.sketches.records import Records
from fedparity.sketches.selection.select import Census
from fedparity.sources.opening import open_records
from fedparity.version import SOFTWARE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["How", "Levels", "Release", "check_silo", "prepare", "release_records", "released"]


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
    """True numbers of records; they stay in the building."""
    how: How

    @property
    def digest(self) -> str:
        """The digest that the ledger keeps: of the message, whoever signed it with which version."""
        document = self.sketch.to_dict()
        for name in ("software", "signature"):
            document.pop(name, None)
        return digest_of(canonical_bytes(document))

    def signed(self, key: Ed25519PrivateKey) -> Release:
        """Return the same release with its message signed."""
        return replace(self, sketch=sign(self.sketch, key))

    def write(self, path: Path, *, ledger: Ledger | None, force: bool = False) -> None:
        """Enter the release into the ledger and write its message, whole or not at all.

        Raises
        ------
        OutputError
            If the file exists and ``force`` is not set, or cannot be written.
        LedgerError
            If another release of this silo under this plan is on record.
        """
        self.sketch.to_bytes()  # what can fail should do so before the ledger is touched
        if not force:
            refuse_existing(path)
        if ledger is None:
            self.sketch.write(path, force=force)
            return
        with ledger.commit(self.sketch.plan, self.sketch.silo, self.digest):
            self.sketch.write(path, force=force)


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

    Parameters are those of :func:`fedparity.sketch`.
    """
    check_silo(plan, silo)
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


def release_records(
    records: Records, *, plan: Plan, silo: str, effort: Effort | None = None
) -> Release:
    """Return what a silo with these records would release under a plan.

    The groups of ``records`` are those of the plan, in its order.
    """
    check_silo(plan, silo)
    levels = Levels(plan, silo, weighted=records.weighted)
    found = measure(
        records,
        levels,
        kind=plan.sketch,
        score_range=plan.score_range,
        levels_hint=plan.levels,
        effort=effort,
    )
    return released(levels, found)


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
    sketch = SiloSketch(
        plan=plan.digest,
        silo=levels.silo,
        kind=plan.sketch,
        cells=_cells(plan, levels.decisions, found),
        rows_dropped=found.selected.census.dropped,
        guarantee={**plan.guarantee, **weights},
        software=SOFTWARE,
    )
    how = How(way=found.way, kernel=found.selected.kernel, passes=found.selected.passes)
    return Release(sketch=sketch, decisions=levels.decisions, records=levels.numbers, how=how)


def check_silo(plan: Plan, silo: str) -> None:
    """Raise if the silo may not answer the plan, or this version cannot."""
    if plan.silos is not None and silo not in plan.silo_set:
        raise MessageError.not_in_roster(silo, plan.silos)
    if plan.privacy is not None:
        raise DisclosureError(
            f"the plan asks for privacy mode {plan.privacy.mode!r}, which this version cannot give.",
            fix="agree on a plan without [privacy], or use a version that knows the mode.",
        )


def _cells(plan: Plan, decisions: Mapping[Group, Decision], found: Measured) -> list[SketchedCell]:
    """One cell for each group of the plan: released, empty, or withheld."""
    cells = []
    for group, total, values, error in zip(
        plan.groups,
        found.selected.totals,
        found.selected.values,
        found.rank_errors,
        strict=True,
    ):
        withheld = decisions[group].withheld
        if withheld is not None:
            cells.append(SketchedCell.kept_back(group, withheld))
        elif values is None:
            cells.append(SketchedCell.empty(group))
        else:
            rounded = round_values(values, plan.score_range, plan.disclosure.rounding)
            cells.append(SketchedCell(group=group, count=total, values=rounded, rank_error=error))
    return cells
