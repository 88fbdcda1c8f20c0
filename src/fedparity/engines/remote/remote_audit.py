"""A whole audit over an engine: silos are asked, their messages checked, kept and audited."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from fedparity.auditing.audit import audit
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.engines.remote.conversation import Conversation, Exchange, Folder, Member, Terms
from fedparity.engines.remote.requests import Request, Step
from fedparity.errors import FedparityError, MessageError
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.round_checks import (
    Inbox,
    KeySet,
    ShareSet,
    check_round,
    decode_round,
    masked_vectors,
    threshold_of,
)
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    RoundMessage,
    SecureConsent,
    SecureKeys,
    SecureShares,
    SiloRoundMessage,
    UnmaskAnswer,
)
from fedparity.modes.secure.round_progress import request_for

__all__ = ["run_audit"]

Fits: TypeAlias = Callable[[SiloRoundMessage], None]
"""Raises a MessageError for a message that does not fit those of earlier steps."""

_KINDS: dict[Step, type[SiloRoundMessage]] = {
    "keys": SecureKeys,
    "shares": SecureShares,
    "mask": MaskedVector,
    "consent": SecureConsent,
    "unmask": UnmaskAnswer,
}


def run_audit(
    plan: Plan,
    exchange: Exchange,
    terms: Terms,
    folder: Folder,
    *,
    tell: Callable[[str], None] = lambda _: None,
) -> AuditResult:
    """Ask all silos of a plan, and audit what they answer.

    The result is that of :func:`fedparity.audit` of the same messages, to the last bit. Messages
    are kept as they come; the record of the exchange is written however it ends.

    Raises
    ------
    MissingSiloError
        If fewer silos than the quorum answer in time.
    MessageError
        If two nodes answer as the same silo.
    OptionError
        If the plan has no roster, or the quorum does not fit it.
    OutputError
        If the folder holds an earlier run.
    """
    conversation = Conversation(plan, exchange, terms, folder, tell)
    folder.open()
    try:
        messages: list[SiloSketch] | list[RoundMessage]
        if plan.privacy is not None and plan.privacy.secure:
            messages = _rounds(conversation)
        else:
            messages = _sketches(conversation)
        result = audit(
            plan,
            messages,
            confidence=terms.confidence,
            seed=terms.seed,
            redraws=terms.redraws,
        )
        file = folder.keep_result(result)
        conversation.record.outcome = "finished"
    except FedparityError as error:
        conversation.record.outcome = error.message
        raise
    finally:
        folder.keep_record(conversation.record)
    tell(f"{len(result.silos_received)} silos are in the result: {file}")
    return result


def _sketches(conversation: Conversation) -> list[SiloSketch]:
    plan = conversation.plan

    def read(data: bytes) -> SiloSketch:
        sketch = SiloSketch.from_bytes(data)
        check_message(plan, sketch)
        return sketch

    request = Request(step="sketch", plan=plan)
    found = conversation.ask(dict.fromkeys(conversation.gather(), request), read)
    conversation.require(found, conversation.quorum)
    return list(found.values())


def _rounds(conversation: Conversation) -> list[RoundMessage]:
    """All messages of a secure sum: those who answer a round are asked in the next.

    Keys and shares must come from every silo; after that, silos may drop out.
    """
    plan = conversation.plan
    came: list[RoundMessage] = []

    def ask(
        members: Iterable[Member],
        needed: int,
        step: Step,
        *messages: RoundMessage,
        fits: Fits | None = None,
    ) -> dict[Member, SiloRoundMessage]:
        sent = tuple(each.to_bytes() for each in messages)
        request = Request(step=step, plan=plan, messages=sent)
        found = conversation.ask(dict.fromkeys(members, request), _reader(plan, step, fits))
        conversation.require(found, needed)
        came.extend(found.values())
        return found

    everybody, enough = len(plan.silos or ()), threshold_of(plan)
    keys = ask(conversation.gather(everybody), everybody, "keys")
    key_set = KeySet.of(plan, Inbox(tuple(came)).of_kind(SecureKeys))
    shares = ask(keys, everybody, "shares", *keys.values())
    share_set = ShareSet.of(key_set, Inbox(tuple(came)).of_kind(SecureShares))

    def of_this_round(message: SiloRoundMessage) -> None:
        """Whoever sends a vector that does not fit has dropped out, and spoils it for nobody."""
        if isinstance(message, MaskedVector):
            masked_vectors(share_set, [message], Layout.of(plan).length)

    vectors = ask(
        shares,
        conversation.quorum,
        "mask",
        *keys.values(),
        *shares.values(),
        fits=of_this_round,
    )
    request = request_for(plan, Inbox(tuple(came)))
    came.append(request)
    conversation.folder.keep_message("auditor", "request", request.to_bytes())
    consents: dict[Member, SiloRoundMessage] = {}
    if plan.keys:
        consents = ask(vectors, enough, "consent", request)
    ask(consents or vectors, enough, "unmask", request, *consents.values())
    return came


def _reader(
    plan: Plan, step: Step, fits: Fits | None = None
) -> Callable[[bytes], SiloRoundMessage]:
    def read(data: bytes) -> SiloRoundMessage:
        message = decode_round(data)
        check_round(plan, message)
        kind = _KINDS[step]
        if not isinstance(message, kind):
            raise MessageError.other_step(getattr(message, "silo", "?"), step)
        if fits is not None:
            fits(message)
        return message

    return read
