"""The one way out of a silo for whatever goes wrong in it: a fixed word, and no text."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import get_args

from fedparity.documents.json_text import canonical_bytes, decode_object
from fedparity.documents.plan import Plan
from fedparity.errors import (
    AnsweredError,
    ApprovalError,
    DisclosureError,
    DocumentError,
    FedparityError,
    KeyFileError,
    LedgerError,
    MessageError,
    MissingExtraError,
    OutputError,
    PlanError,
    PolicyError,
    RoundStateError,
    SettingsError,
    SignatureError,
)
from fedparity.errors.base import listed
from fedparity.errors.document_errors import shown
from fedparity.modes.mode import StepName, mode_of

__all__ = [
    "STEPS",
    "Refusal",
    "Reply",
    "Request",
    "guarded",
    "refusal_of",
    "told_on_stderr",
]

STEPS: tuple[StepName, ...] = get_args(StepName)


class Refusal(StrEnum):
    """Why a silo does not answer: all that the auditor learns.

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
    """A request of the auditor: a step of a plan, with the messages of others that it needs."""

    step: StepName
    plan: Plan
    messages: tuple[bytes, ...] = ()

    @property
    def plan_bytes(self) -> bytes:
        """The plan as it travels."""
        return canonical_bytes(self.plan.to_dict())

    @classmethod
    def decoded(cls, step: str, plan: bytes, messages: tuple[bytes, ...]) -> Request:
        """Return the request that these parts make up.

        Raises
        ------
        MessageError
            If there is no such step.
        PlanError
            If the plan is invalid.
        """
        for known in STEPS:
            if step == known:
                return cls(step=known, plan=_plan_of(plan), messages=messages)
        raise MessageError(
            f"{step[:40]!r} is not a step of an audit.",
            fix=f"update fedparity in the silo if the auditor's is newer; it knows {listed(STEPS)}.",
        )


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The reply of a silo: the bytes of its message, or why it sends none."""

    silo: str
    """The name it has in its settings; empty if it has none."""
    message: bytes | None = None
    refused: Refusal | None = None

    def __post_init__(self) -> None:
        if (self.message is None) == (self.refused is None):
            raise MessageError(
                f"the reply of silo {shown(self.silo)} must hold either a message or a refusal.",
                fix="update fedparity in the silo.",
            )


@lru_cache(maxsize=4)
def _plan_of(data: bytes) -> Plan:
    """The plan of these bytes; the steps of a secure sum bring the same ones again and again."""
    return Plan.from_dict(decode_object(data, error=PlanError))


_BY_ERROR: tuple[tuple[type[FedparityError], Refusal], ...] = (
    (SettingsError, Refusal.NOT_CONFIGURED),
    (ApprovalError, Refusal.NOT_APPROVED),
    (AnsweredError, Refusal.ANSWERED),
    (LedgerError, Refusal.ANSWERED),
    (DisclosureError, Refusal.RULE),
    (MissingExtraError, Refusal.SETUP),
    (KeyFileError, Refusal.SETUP),
    (SignatureError, Refusal.SETUP),
    (OutputError, Refusal.SETUP),
    (PolicyError, Refusal.SETUP),
    (RoundStateError, Refusal.SETUP),
    (DocumentError, Refusal.REQUEST),
)
"""The first class that fits decides; any other error on purpose is about the data."""


def guarded(
    silo: str,
    read: Callable[[], Request],
    work: Callable[[Request], bytes],
    tell: Callable[[str], None] | None = None,
) -> Reply:
    """Return what the work makes of the request, or the word for what was raised; raise only Ctrl-C.

    The reason is printed for the silo's operator alone: in full if it was raised on purpose, since such
    errors contain no value of the data, and otherwise by its type and place. Under a privacy mode there is one
    word for all: "data not usable" would be an exact number of the data, outside any epsilon.

    Examples
    --------
    >>> from fedparity.documents.plan import Plan
    >>> plan = Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))
    >>> def work(request: Request) -> bytes:
    ...     raise RuntimeError("score 0.71 of patient 12")
    >>> request = Request(step="sketch", plan=plan)
    >>> guarded("aurora", lambda: request, work, tell=lambda line: None).refused
    <Refusal.FAILED: 'failed'>
    """
    tell = tell or told_on_stderr
    private = False
    try:
        request = read()
        private = mode_of(request.plan).protected
        return Reply(silo=silo, message=work(request))
    except FedparityError as error:
        refused, reason = refusal_of(error), str(error)
    except KeyboardInterrupt:  # the operator's, who wants the process to end
        raise
    except BaseException as error:  # noqa: BLE001 -- an engine would send its text, a panic's too
        refused, reason = Refusal.FAILED, _place(error)
    with suppress(Exception):  # a log that cannot be written must not become the answer
        tell(f"{silo or 'this silo'} did not answer. error: {reason}")
    return Reply(silo=silo, refused=Refusal.NO_ANSWER if private else refused)


def refusal_of(error: FedparityError) -> Refusal:
    """Return the word for an error.

    Examples
    --------
    >>> refusal_of(LedgerError("sent before.", fix="send it again."))
    <Refusal.ANSWERED: 'answered before'>
    """
    found = (refusal for kind, refusal in _BY_ERROR if isinstance(error, kind))
    return next(found, Refusal.DATA)


def told_on_stderr(line: str) -> None:
    """Print a line where the operator's log is."""
    sys.stderr.write(f"fedparity: {line}\n")
    sys.stderr.flush()


def _place(error: BaseException) -> str:
    """What was raised and where, but not what it says: that may be somebody's data."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"an unexpected {type(error).__name__}{place}.\nfix: please report it."
