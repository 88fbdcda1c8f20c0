"""The auditor's side of plain sketches: what they measure, and how many records they leave out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fedparity.documents.fields import group_words, typed_label
from fedparity.documents.files import Path
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_messages
from fedparity.documents.plan import Plan
from fedparity.documents.result_parts import SetAside
from fedparity.errors import FederationError, GroupError, SecureMessageError
from fedparity.errors.base import listed
from fedparity.federated.estimate import Method
from fedparity.federated.federation import Federation
from fedparity.federated.local_audits import Measures, SiloInfluence
from fedparity.laws.labels import Group
from fedparity.laws.progress import LabeledProgress
from fedparity.modes.mode import AuditOptions, Measured, MissingRecords, Mode
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.privacy.disclosure import smallest_cell
from fedparity.text import counted
from fedparity.uncertainty.assessment import LOCAL_SILOS, Assessment, assess

__all__ = [
    "find_missing",
    "measure_cells",
    "measure_sketches",
    "measured_groups",
    "read_messages",
    "set_aside",
    "silos_missing",
    "unreleased_groups",
]


def measure_sketches(
    mode: Mode, messages: Iterable[SiloSketch | Path], options: AuditOptions
) -> Measured:
    """Check the sketches of silos, and measure the disparity from them."""
    return measure_cells(mode, read_messages(mode.plan, messages, options.progress), options)


def measure_cells(
    mode: Mode,
    sketches: Sequence[SiloSketch],
    options: AuditOptions,
    federation: Federation | None = None,
) -> Measured:
    """Measure the cells of checked sketches, or those of a federation that they describe."""
    plan = mode.plan
    missing = find_missing(plan, sketches)
    margin = None
    try:
        unreleased = unreleased_groups(plan, sketches, missing)
    except GroupError:
        from fedparity.modes.margins import first_margin  # noqa: PLC0415 -- not for one table

        margin = first_margin(plan, sketches, missing)
        if margin is None:
            raise
        federation, missing, unreleased = margin.federation, margin.missing, margin.unreleased
    if federation is None:
        federation = Federation.from_messages(plan, sketches)
    method = Method(order=plan.order, estimator=plan.estimator, levels=plan.levels, trim=plan.trim)
    measures = by_silo = Measures(federation, method)
    if margin is not None:
        by_silo = margin.by_silo(measures)
    whole = by_silo is measures
    assessment = assess(
        federation,
        method,
        score_range=plan.score_range,
        unseen=missing.of(federation.groups),
        unseen_total=missing.total,
        local=_most_influential(by_silo.influences) if whole else [],
        measures=measures,
        **options.assessment(),
    )
    return Measured(
        silos=tuple(message.silo for message in sketches),
        messages=sketches,
        missing=missing,
        unreleased=unreleased,
        federation=federation,
        known=federation,
        measures=measures,
        by_silo=by_silo,
        assessment=assessment if whole else _without_silos(assessment),
        guarantee=mode.guarantee(),
        warnings=() if margin is None else (margin.warning,),
        table=None if margin is None else margin.table,
    )


def _without_silos(assessment: Assessment) -> Assessment:
    """The same without intervals of parts and of silos: pieces of a silo were redrawn, not silos."""
    warnings = (each for each in assessment.warnings if each.code != "few_local_intervals")
    return replace(assessment, attribution={}, local={}, warnings=tuple(warnings))


def _most_influential(influence: Sequence[SiloInfluence]) -> list[str]:
    ordered = sorted(influence, key=lambda each: -abs(each.change or 0.0))
    return [each.silo for each in ordered[:LOCAL_SILOS]]


def read_messages(
    plan: Plan, messages: Iterable[SiloSketch | Path], progress: LabeledProgress | None
) -> list[SiloSketch]:
    """Return checked messages in the order of their silos, those given by their paths read.

    Raises
    ------
    FederationError
        If there is none.
    MessageError
        If one does not answer the plan, or comes twice.
    """
    given = list(messages)
    found: list[SiloSketch] = []

    def read() -> Iterator[SiloSketch]:
        for done, each in enumerate(given, start=1):
            if isinstance(each, RoundMessage):
                raise SecureMessageError.not_secure()
            message = each if isinstance(each, SiloSketch) else SiloSketch.read(each)
            yield message
            found.append(message)
            if progress is not None:
                progress(done, len(given), "reading")

    check_messages(plan, read())
    if not found:
        raise FederationError.empty()
    return sorted(found, key=lambda message: message.silo)  # the order of arrival does not matter


def silos_missing(plan: Plan, messages: Iterable[SiloSketch]) -> tuple[str, ...]:
    """Return the silos that the plan names and that sent nothing."""
    received = {message.silo for message in messages}
    named = dict.fromkeys((*(plan.silos or ()), *plan.totals))
    return tuple(sorted(silo for silo in named if silo not in received))


def find_missing(plan: Plan, sketches: Sequence[SiloSketch]) -> MissingRecords:
    """Return what is missing from ``sketches``, and how much it can be.

    A silo that sent nothing has at most as many records of *each* group as its public total;
    without a total there is no limit. A cell withheld as ``small`` has fewer records than the
    smallest cell that the rules let out. A ``complementary`` one has at most what a public total
    leaves after the cells released; without a total there is no limit. Where counts are weights
    neither number bounds them. These are bounds for each group alone: a record that could be of two
    groups counts in both. It counts once in ``total``.
    """
    missing = silos_missing(plan, sketches)
    weighted = any(map(_has_weights, sketches))
    bounds = [_of_withheld(plan, sketch, weighted=weighted) for sketch in sketches]
    absent = sum(plan.totals.get(silo, math.inf) for silo in missing)
    if missing and weighted:
        absent = math.inf
    return MissingRecords(
        silos_missing=missing,
        withheld=sum(map(len, bounds)),
        total=absent
        + math.fsum(
            min(math.fsum(bound.values()), _room(plan, sketch, weighted=weighted))
            for sketch, bound in zip(sketches, bounds, strict=True)
        ),
        most={
            group: absent + math.fsum(bound.get(group, 0) for bound in bounds)
            for group in plan.groups
        },
        contradicted=tuple(
            sorted(s.silo for s in sketches if not weighted and _left(plan, s) < 0)
        ),
    )


def _of_withheld(plan: Plan, sketch: SiloSketch, *, weighted: bool) -> dict[Group, float]:
    """The most records of each group whose cell the silo withheld."""
    if plan.axes:
        from fedparity.modes.table_cells import SiloTables  # noqa: PLC0415 -- not for one table

        bounds = SiloTables(plan, sketch).unseen(plan.tables[0], None)
        withheld = {cell.group for cell in sketch.cells if cell.withheld is not None}
        return {group: most for group, most in bounds.items() if group in withheld}
    few = smallest_cell(plan.disclosure, kind=plan.sketch) - 1
    left = _room(plan, sketch, weighted=weighted)
    most: dict[Group, float] = {}
    for cell in sketch.cells:
        if cell.withheld is not None:
            limit = min(few, left) if cell.withheld == "small" else left
            most[cell.group] = math.inf if weighted else limit
    return most


def _room(plan: Plan, sketch: SiloSketch, *, weighted: bool) -> float:
    """An upper bound of the records that the silo withheld; an invalid total gives no bound."""
    left = _left(plan, sketch)
    return math.inf if weighted or left < 0 else left


def _left(plan: Plan, sketch: SiloSketch) -> float:
    """What the silo's public total leaves after the cells it released; no limit without one."""
    released = math.fsum(cell.count or 0 for cell in sketch.cells)
    return plan.totals.get(sketch.silo, math.inf) - released


def _has_weights(sketch: SiloSketch) -> bool:
    """Whether counts are weights: if the silo declares it, or if one of them is not whole."""
    if sketch.guarantee.get("weighted"):
        return True
    return any(isinstance(cell.count, float) for cell in sketch.cells)


def unreleased_groups(
    plan: Plan, sketches: Sequence[SiloSketch], missing: MissingRecords
) -> tuple[SetAside, ...]:
    """Return the groups of which no silo released a cell, with what is known of their number.

    Their laws are not known at all, so that the others are measured without them.

    Raises
    ------
    GroupError
        If fewer than two groups remain to be compared.
    """
    unreleased: list[SetAside] = []
    for position, group in enumerate(plan.groups):
        cells = [sketch.cells[position] for sketch in sketches]
        if any(cell.values is not None for cell in cells):
            continue
        withheld = [sketch.silo for sketch in sketches if sketch.cells[position].withheld]
        unreleased.append(
            set_aside(group, withheld, missing.most[group], len(sketches), missing.silos_missing)
        )
    if len(plan.groups) - len(unreleased) < 2:
        raise _nothing_to_compare(unreleased[0], len(sketches), missing.silos_missing)
    return tuple(unreleased)


def set_aside(
    group: Group, withheld: Sequence[str], most: float, silos: int, missing: Sequence[str]
) -> SetAside:
    """Return a group of which no silo released a record, with what is known of it."""
    return SetAside(
        group=group,
        withheld=len(withheld),
        most=most if math.isfinite(most) else None,
        known=_known(withheld, most, silos, missing),
    )


def measured_groups(plan: Plan, unreleased: Sequence[SetAside]) -> tuple[Group, ...]:
    """Return the groups of the plan that were released, in its order."""
    left_out = {typed_label(each.group) for each in unreleased}
    return tuple(group for group in plan.groups if typed_label(group) not in left_out)


def _known(withheld: Sequence[str], most: float, silos: int, missing: Sequence[str]) -> str:
    """What is known of a group that no silo released: where it was withheld, and how many it has."""
    words = []
    if withheld:
        words.append(f"withheld by {len(withheld):,} of {silos:,} silos")
    elif most:
        words.append(f"no record in {silos:,} silos")
    if missing:
        words.append(f"{counted(len(missing), 'silo')} sent nothing")
    if not most:
        words.append("no silo has a record of it")
    elif math.isfinite(most):
        words.append(f"at most {most:,.12g} record{'' if most == 1 else 's'}")
    else:
        words.append("nothing bounds its number")
    return "; ".join(words)


def _nothing_to_compare(unreleased: SetAside, silos: int, missing: Sequence[str]) -> GroupError:
    absent = (
        f", and {counted(len(missing), 'silo')} sent nothing ({listed(missing)})"
        if missing
        else ""
    )
    return GroupError(
        f"no silo released group {group_words(unreleased.group)!r}: {unreleased.withheld} of {silos} withheld it{absent}; "
        "fewer than two groups remain to be compared.",
        fix=(
            "ask for the missing messages, or write a plan whose groups are large enough: "
            "join this group with another, or leave it out."
        ),
    )
