"""An audit in a secure mode: from all messages of the rounds to a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeAlias

from fedparity.auditing.result import AuditResult
from fedparity.auditing.secure.composing import compose_sum
from fedparity.auditing.secure.measuring import measure
from fedparity.auditing.secure.opening import open_sum
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.reading import Inbox
from fedparity.protocol.secure.round_message import RoundMessage

__all__ = ["audit_secure"]

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
