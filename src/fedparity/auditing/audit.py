"""An audit: from a plan and the messages of the silos to a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from fedparity.auditing.comparison import Sizes
from fedparity.auditing.missing_records import find_unseen, measured_groups, set_aside
from fedparity.auditing.noisy_audit import audit_noisy
from fedparity.auditing.result_building import Findings, compose
from fedparity.auditing.secure_audit import audit_secure
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_messages
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import SetAside
from fedparity.errors import FederationError, SecureMessageError
from fedparity.federated.attribution import attribute
from fedparity.federated.decomposition import decompose
from fedparity.federated.estimate import pairs
from fedparity.federated.federation import Federation
from fedparity.federated.influence import SiloInfluence, influences
from fedparity.federated.local_audits import local_audits
from fedparity.federated.mixtures import Method
from fedparity.laws.labels import Group
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.sketches.cell import Cell
from fedparity.uncertainty.assessment import LOCAL_SILOS, assess

__all__ = ["Progress", "audit"]

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the steps done, their total, and what is being done."""


def audit(
    plan: Plan,
    sketches: Iterable[SiloSketch | RoundMessage | str | os.PathLike[str]],
    *,
    confidence: float = 0.95,
    seed: int = 0,
    redraws: int | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """Measure the disparity of all silos together, from their messages.

    Every message is checked against the plan; one that does not answer it is refused, not left
    out. What is missing (silos that sent nothing, withheld cells, groups that no silo released) is
    named in the result and counted in outer bounds. There are two verdicts: *among the silos that
    answered*, and *for all, whatever the missing ones hold*; each is *inconclusive* if the errors
    that it counts leave open on which side of the review level the number lies. Under a plan with
    noise, noise and bins are counted too (:mod:`fedparity.auditing.noisy_audit`).

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
        Told the steps done, their total, and what is being done.

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
    if plan.privacy is not None and plan.privacy.secure:
        return audit_secure(
            plan,
            _rounds(sketches),
            confidence=confidence,
            seed=seed,
            redraws=redraws,
            progress=progress,
        )
    messages: list[SiloSketch] = []
    check_messages(plan, _read(sketches, messages, progress))
    if not messages:
        raise FederationError.empty()
    messages.sort(key=lambda message: message.silo)  # nothing depends on how they came
    if plan.privacy is not None:
        return audit_noisy(
            plan,
            messages,
            confidence=confidence,
            seed=seed,
            redraws=redraws,
            progress=_redrawing(progress),
        )
    unseen = find_unseen(plan, messages)
    aside = set_aside(plan, messages, unseen)
    federation = _released(plan, messages, aside)
    method = Method(order=plan.order, estimator=plan.estimator, levels=plan.levels, trim=plan.trim)
    missing: dict[str, Any] = {
        "unseen": unseen.of(federation.groups),
        "unseen_total": unseen.total,
    }
    sizes = partial(Sizes.from_federation, federation, method, score_range=plan.score_range)
    seen = sizes()
    influence = influences(federation, method)
    assessment = assess(
        federation,
        method,
        score_range=plan.score_range,
        confidence=confidence,
        **missing,
        redraws=redraws,
        seed=seed,
        local=_most_influential(influence),
        progress=_redrawing(progress),
    )
    return compose(
        Findings(
            plan=plan,
            messages=messages,
            federation=federation,
            unseen=unseen,
            aside=aside,
            seen=seen,
            all=sizes(**missing) if missing["unseen"] else seen,
            pairs=pairs(federation, method),
            terms=decompose(federation, method),
            attribution=attribute(federation, method),
            influences=influence,
            local=local_audits(federation, method),
            assessment=assessment,
        )
    )


def _released(plan: Plan, messages: Sequence[SiloSketch], aside: Sequence[SetAside]) -> Federation:
    """The cells released, of the groups that are not set aside."""
    cells: dict[tuple[str, Group], Cell] = {}
    for message in messages:
        cells |= message.released(plan)
    return Federation.from_cells(
        cells, groups=measured_groups(plan, aside), score_range=plan.score_range
    )


def _rounds(
    sketches: Iterable[SiloSketch | RoundMessage | str | os.PathLike[str]],
) -> Iterator[RoundMessage | str | os.PathLike[str]]:
    """The messages of the rounds; a sketch has no place among them."""
    for sketch in sketches:
        if isinstance(sketch, SiloSketch):
            raise SecureMessageError.a_sketch(sketch.silo)
        yield sketch


def _read(
    sketches: Iterable[SiloSketch | RoundMessage | str | os.PathLike[str]],
    messages: list[SiloSketch],
    progress: Progress | None,
) -> Iterator[SiloSketch]:
    """The messages, those given by their paths read one by one, and kept once they are checked."""
    given = list(sketches)
    for done, sketch in enumerate(given, start=1):
        if isinstance(sketch, RoundMessage):
            raise SecureMessageError.not_secure()
        message = sketch if isinstance(sketch, SiloSketch) else SiloSketch.read(sketch)
        yield message
        messages.append(message)
        if progress is not None:
            progress(done, len(given), "reading")


def _redrawing(progress: Progress | None) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, total: progress(done, total, "redrawing")


def _most_influential(influence: Sequence[SiloInfluence]) -> list[str]:
    ordered = sorted(influence, key=lambda each: -abs(each.change or 0.0))
    return [each.silo for each in ordered[:LOCAL_SILOS]]
