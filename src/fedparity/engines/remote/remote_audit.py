"""A whole audit over an engine: request the messages of silos, check, store and audit them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from fedparity.auditing.audit import audit_messages
from fedparity.documents.plan import Plan
from fedparity.documents.result import AuditResult
from fedparity.engines.remote.conversation import Conversation, Exchange, Folder, Member, Terms
from fedparity.engines.remote.requests import Request
from fedparity.errors import FedparityError
from fedparity.modes.mode import AuditOptions, SiloMessage, StepName, mode_of
from fedparity.modes.secure.round_messages import RoundMessage

__all__ = ["run_audit"]

Message = TypeVar("Message", bound=SiloMessage)


def run_audit(
    plan: Plan,
    exchange: Exchange,
    terms: Terms,
    folder: Folder,
    *,
    tell: Callable[[str], None] = lambda _: None,
) -> AuditResult:
    """Request the messages of all silos of a plan, and audit them.

    The result is that of :func:`fedparity.audit` of the same messages, to the last bit. Messages
    are stored as they arrive; the record of the exchange is written even if it fails.

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
        result = audit_messages(
            plan,
            mode_of(plan).collect(_RemoteSilos(conversation)),
            AuditOptions(confidence=terms.confidence, seed=terms.seed, redraws=terms.redraws),
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


class _RemoteSilos:
    """The silos that a conversation reaches, as the exchange of a mode."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def ask(
        self,
        step: StepName,
        read: Callable[[bytes], Message],
        *,
        members: Iterable[Member] | None = None,
        messages: Sequence[RoundMessage] = (),
        needed: int | None = None,
    ) -> dict[Member, Message]:
        """Send requests to members, and raise if fewer than are needed answer."""
        talk = self._conversation
        sent = tuple(each.to_bytes() for each in messages)
        request = Request(step=step, plan=talk.plan, messages=sent)
        present = talk.gather(needed) if members is None else members
        found = talk.ask(dict.fromkeys(present, request), read)
        talk.require(found, talk.quorum if needed is None else needed)
        return found

    def publish(self, step: str, message: RoundMessage) -> None:
        """Keep a message of the auditor's own."""
        self._conversation.folder.keep_message("auditor", step, message.to_bytes())
