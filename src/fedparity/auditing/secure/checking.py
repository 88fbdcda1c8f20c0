"""Where a round stands: which messages came, and whether they fit together so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fedparity.auditing.secure.opening import open_sum
from fedparity.auditing.secure.requesting import gather
from fedparity.errors import MessageError
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import roster_of
from fedparity.protocol.secure.messages import (
    MaskedVector,
    SecureConsent,
    SecureKeys,
    SecureShares,
    UnmaskAnswer,
    UnmaskRequest,
)
from fedparity.protocol.secure.reading import Inbox
from fedparity.protocol.secure.round_message import RoundMessage
from fedparity.protocol.secure.sets import KeySet, ShareSet

__all__ = ["STEPS", "Standing", "standing"]

STEPS: dict[str, type[RoundMessage]] = {
    "keys": SecureKeys,
    "shares": SecureShares,
    "mask": MaskedVector,
    "request": UnmaskRequest,
    "consent": SecureConsent,
    "unmask": UnmaskAnswer,
}
"""The messages of a round by the name of their step, in order."""


@dataclass(frozen=True)
class Standing:
    """How far a round has come."""

    came: dict[str, int]
    """Messages of each step."""
    missing: tuple[str, ...]
    """Silos of the roster whose vector did not come."""
    waiting: str
    """What the round is waiting for: a name of :data:`STEPS`, or "" if the sum can be opened."""
    problem: MessageError | None
    """Why it cannot go on, if messages that came do not fit."""


def standing(plan: Plan, inbox: Inbox) -> Standing:
    """Return where a round stands, from messages that are each valid."""
    came = {step: len(inbox.of_kind(kind)) for step, kind in STEPS.items()}
    uploaded = {each.silo for each in inbox.of_kind(MaskedVector)}
    missing = tuple(silo for silo in roster_of(plan) if silo not in uploaded)
    waiting, problem = "", None
    for step, check in _CHECKS:
        try:
            check(plan, inbox)
        except MessageError as error:
            waiting, problem = step, error
            break
    complete = not waiting or came[waiting] >= _expected(plan, waiting)
    return Standing(came, missing, waiting, problem if complete else None)


def _expected(plan: Plan, step: str) -> int:
    """From how many messages of a step on nothing is missing, so that an error is a real one."""
    if step == "request":
        return 1
    silos = len(roster_of(plan))
    return silos if step in ("keys", "shares") else int(getattr(plan.privacy, "threshold", silos))


def _shared(plan: Plan, inbox: Inbox) -> None:
    ShareSet.of(KeySet.of(plan, inbox.of_kind(SecureKeys)), inbox.of_kind(SecureShares))


def _keyed(plan: Plan, inbox: Inbox) -> None:
    KeySet.of(plan, inbox.of_kind(SecureKeys))


def _asked(plan: Plan, inbox: Inbox) -> None:
    gather(plan, inbox)
    if not inbox.of_kind(UnmaskRequest):
        raise MessageError("there is no request yet.", fix="run fedparity secure request.")


_CHECKS: tuple[tuple[str, Callable[[Plan, Inbox], object]], ...] = (
    ("keys", _keyed),
    ("shares", _shared),
    ("mask", gather),
    ("request", _asked),
    ("unmask", open_sum),
)
