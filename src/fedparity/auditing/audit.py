"""An audit: from a plan and the messages of the silos to a result."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from fedparity.auditing.result_building import compose
from fedparity.auditing.table_results import table_results
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.laws.progress import LabeledProgress
from fedparity.modes.mode import AuditOptions, mode_of
from fedparity.modes.secure.round_messages import RoundMessage

__all__ = ["audit"]


def audit(
    plan: Plan,
    sketches: Iterable[SiloSketch | RoundMessage | str | os.PathLike[str]],
    *,
    confidence: float = 0.95,
    seed: int = 0,
    redraws: int | None = None,
    progress: LabeledProgress | None = None,
) -> AuditResult:
    """Measure the disparity of all silos together, from their messages.

    Every message is checked against the plan; one that does not answer it is refused, not left
    out. What is missing (silos that sent nothing, withheld cells, groups that no silo released) is
    named in the result and counted in outer bounds. There are two verdicts: *among the silos that
    answered*, and *for all, whatever the missing ones hold*; each is *inconclusive* if the errors
    that it counts leave open on which side of the review level the number lies. Under a plan with
    noise, noise and bins are counted too (:mod:`fedparity.modes.histogram_audit`).

    Parameters
    ----------
    plan : Plan
    sketches : iterable of SiloSketch or paths
        In any order: the result does not depend on it. Under a plan of a secure sum, all messages
        of the rounds.
    confidence : float
        Of the intervals.
    seed : int
        Of the bootstrap; equal seeds give equal results.
    redraws : int, optional
        Of the bootstrap; see :func:`fedparity.assess`.
    progress : callable, optional
        Called with the steps done, their total, and what is being done.

    Raises
    ------
    MessageError
        If a message is not valid, does not answer the plan, or comes twice.
    GroupError
        If the silos released fewer than two groups of the plan.

    Examples
    --------
    >>> from fedparity.documents.message_cells import SketchedCell
    >>> plan = Plan(
    ...     title="Q4", groups=("A", "B"), score_range=(0, 1), levels=2, sketch="quantile"
    ... )
    >>> message = SiloSketch(
    ...     plan=plan.digest,
    ...     silo="aurora",
    ...     kind="quantile",
    ...     cells=[
    ...         SketchedCell(group="A", count=400, values=[0.1, 0.2]),
    ...         SketchedCell(group="B", count=400, values=[0.5, 0.6]),
    ...     ],
    ...     guarantee=plan.guarantee,
    ...     software="fedparity 0.1.0",
    ... )
    >>> round(audit(plan, [message]).disparity.value, 6)
    0.04
    """
    options = AuditOptions(confidence=confidence, seed=seed, redraws=redraws, progress=progress)
    found = mode_of(plan).measure(sketches, options)
    return replace(compose(plan, found), tables=table_results(plan, found, options))
