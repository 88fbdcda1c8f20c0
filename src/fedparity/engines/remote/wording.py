"""What is said between the auditor and a silo that is asked: a request, and one reply to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from fedparity.errors import MessageError, PlanError
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.plan import Plan
from fedparity.protocol.strict_json import decode_object

__all__ = ["STEPS", "Refusal", "Reply", "Request", "Step"]

Step: TypeAlias = Literal["sketch", "keys", "shares", "mask", "consent", "unmask"]
STEPS: tuple[Step, ...] = get_args(Step)
"""The one step of a sketch; then those of a secure sum, in their order."""


class Refusal(StrEnum):
    """Why a silo does not answer: all that the auditor is told.

    The text of an error may name a path, a column or a label; it stays in the silo's own log. Under a
    plan with a privacy mode even the kind of error stays there: whatever the reason, the word is
    ``NO_ANSWER``.
    """

    NOT_CONFIGURED = "not configured"
    NOT_APPROVED = "plan not approved"
    ANSWERED = "answered before"
    RULE = "refused by a rule"
    DATA = "data not usable"
    REQUEST = "request not valid"
    SETUP = "package, key or state missing"
    FAILED = "failed"
    NO_ANSWER = "no answer"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the auditor asks: a step of a plan, with the messages of others that it needs."""

    step: Step
    plan: Plan
    messages: tuple[bytes, ...] = ()

    @property
    def plan_bytes(self) -> bytes:
        """The plan as it travels."""
        return canonical_bytes(self.plan.to_dict())

    @classmethod
    def decoded(cls, step: str, plan: bytes, messages: tuple[bytes, ...]) -> Request:
        """Return the request that came in these parts.

        Raises
        ------
        MessageError
            If there is no such step.
        PlanError
            If the plan is none.
        """
        for known in STEPS:
            if step == known:
                return cls(step=known, plan=_plan_of(plan), messages=messages)
        raise MessageError.unknown_step(step, STEPS)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a silo says: the very bytes of a message, or why there is none."""

    silo: str
    """The name it has in its settings; empty if it has none."""
    message: bytes | None = None
    refused: Refusal | None = None

    def __post_init__(self) -> None:
        if (self.message is None) == (self.refused is None):
            raise MessageError.empty_reply(self.silo)


@lru_cache(maxsize=4)
def _plan_of(data: bytes) -> Plan:
    """The plan of these bytes; the steps of a secure sum bring the same ones again and again."""
    return Plan.from_dict(decode_object(data, error=PlanError))
