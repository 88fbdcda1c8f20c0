"""An audit: from a plan and the messages of the silos, or their cells, to a result."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from fedparity.auditing.result_building import compose
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import SketchedCell
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.modes.mode import AuditOptions, mode_of
from fedparity.modes.plain import PlainMode
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.modes.sketch_audit import measure_cells
from fedparity.sketches.cell import Cell
from fedparity.version import SOFTWARE

__all__ = ["audit_federation", "audit_messages"]


def audit_messages(
    plan: Plan,
    sketches: Iterable[SiloSketch | RoundMessage | str | os.PathLike[str]],
    options: AuditOptions | None = None,
) -> AuditResult:
    """Measure the disparity of all silos together, from their messages.

    Every message is checked against the plan; one that does not answer it is refused, not left out.
    """
    options = options or AuditOptions()
    found = mode_of(plan).measure(sketches, options)
    result = compose(plan, found)
    if not plan.tables:
        return result
    from fedparity.auditing.table_results import table_results  # noqa: PLC0415 -- not for one table

    return replace(result, tables=table_results(plan, found, options))


def audit_federation(
    plan: Plan, federation: Federation, options: AuditOptions | None = None
) -> AuditResult:
    """Measure the disparity of cells that are already in memory, under a plan without privacy.

    The plan states the order, the estimator, the score range and the review level. The cells are taken
    as they are, with the errors that they state.
    """
    # as messages would describe it: silos have names, and the public range bounds the scores
    silos = tuple(map(str, federation.silos))
    named = replace(federation, silos=silos, score_range=plan.score_range)
    found = measure_cells(
        PlainMode(plan), _messages(plan, named), options or AuditOptions(), named
    )
    return compose(plan, found)


def _messages(plan: Plan, federation: Federation) -> list[SiloSketch]:
    """The cells by silo, so that the result can say what each silo has."""
    cells = federation.cells
    return [
        SiloSketch(
            plan=plan.digest,
            silo=silo,
            kind=federation.kind,
            cells=[_sketched(group, cells.get((silo, group))) for group in federation.groups],
            guarantee=plan.guarantee,
            software=SOFTWARE,
        )
        for silo in federation.silos
    ]


def _sketched(group: Group, cell: Cell | None) -> SketchedCell:
    if cell is None:
        return SketchedCell.empty(group)
    weighted = not float(cell.count).is_integer()
    return SketchedCell(
        group=group,
        count=cell.count,
        values=cell.values,
        counts=None if cell.masses is None else cell.masses.tolist(),
        effective=int(cell.effective) if weighted else None,
        # a message of bin means always has one; only the federation itself is measured
        mean_square=(cell.mean_square or 0.0) if cell.kind == "mean" else None,
        rank_error=cell.rank_error,
    )
