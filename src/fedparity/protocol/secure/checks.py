"""One message of a secure sum against the plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from fedparity.errors import MessageError, SecureMessageError
from fedparity.protocol.plan import Plan
from fedparity.protocol.privacy_terms import PrivacyTerms
from fedparity.protocol.secure.round_message import RoundMessage, SiloRoundMessage
from fedparity.protocol.signature import check_signature

__all__ = [
    "by_silo",
    "check_round",
    "colluders_of",
    "refuse_missing",
    "roster_of",
    "secure_terms",
    "threshold_of",
]

Message = TypeVar("Message", bound=SiloRoundMessage)


def secure_terms(plan: Plan) -> PrivacyTerms:
    """Return the terms of a plan that asks for a secure sum.

    Raises
    ------
    SecureMessageError
        If it does not.
    """
    if plan.privacy is None or not plan.privacy.secure:
        raise SecureMessageError.not_secure()
    return plan.privacy


def threshold_of(plan: Plan) -> int:
    """Return how many silos it takes to open the sum."""
    return int(secure_terms(plan).threshold or 0)


def colluders_of(plan: Plan) -> int:
    """Return how many silos an auditor needs to see the numbers of another: 2t - d, at most d - 1.

    With them the silos can be shown two lists that t silos each sign: a silo of one list has dropped out
    in the other, and both of its secrets are rebuilt. With fewer there is one list at most, and so one
    sum. All others together find the last silo's numbers by subtraction.
    """
    silos = len(roster_of(plan))
    return min(2 * threshold_of(plan) - silos, silos - 1)


def roster_of(plan: Plan) -> tuple[str, ...]:
    """Return the silos of the plan in the order of their names, which all of them can compute."""
    return tuple(sorted(plan.silos or ()))


def check_round(plan: Plan, message: RoundMessage) -> None:
    """Raise unless a message is one of the plan: its digest, its silo, its signature.

    Raises
    ------
    MessageError
        If it is not; a SignatureError if it is not signed as the plan asks.
    """
    secure_terms(plan)
    name = message.silo if isinstance(message, SiloRoundMessage) else "the auditor"
    if message.plan != plan.digest:
        raise MessageError.other_plan(name, message.plan, plan.digest)
    if isinstance(message, SiloRoundMessage):
        if message.silo not in plan.silo_set:
            raise MessageError.not_in_roster(message.silo, plan.silos or ())
        if plan.keys:
            check_signature(message, plan.keys)


def by_silo(plan: Plan, messages: Iterable[Message], what: str) -> dict[str, Message]:
    """Return checked messages by silo, in the order of their names.

    Raises
    ------
    MessageError
        If one does not fit the plan, or a silo sent two different ones.
    """
    found: dict[str, Message] = {}
    for message in messages:
        check_round(plan, message)
        if message.silo in found and found[message.silo].digest != message.digest:
            raise SecureMessageError.twice(what, message.silo)
        found[message.silo] = message
    return {silo: found[silo] for silo in sorted(found)}


def refuse_missing(plan: Plan, present: Iterable[str], what: str) -> None:
    """Raise if a silo of the roster has not sent what all must send."""
    there = set(present)
    missing: Sequence[str] = [silo for silo in roster_of(plan) if silo not in there]
    if missing:
        raise SecureMessageError.missing(what, missing)
