"""Requests and replies as records of Flower, and back: nothing is trusted that comes in."""

from __future__ import annotations

from flwr.app import ConfigRecord, Message, RecordDict

from fedparity.engines.remote.wording import Refusal, Reply, Request
from fedparity.errors import MessageError

__all__ = ["ACTION", "reply_content", "reply_of", "request_content", "request_of"]

ACTION = "query.fedparity"
"""The type of every message."""
_RECORD = "fedparity"


def request_content(request: Request) -> RecordDict:
    """Return a request as the content of a message."""
    record = ConfigRecord({"step": request.step, "plan": request.plan_bytes})
    record["messages"] = list(request.messages)
    return RecordDict({_RECORD: record})


def request_of(message: Message) -> Request:
    """Return the request of a message that came to a silo.

    Raises
    ------
    MessageError, PlanError
        If it holds none.
    """
    record = _record(message)
    step, plan, messages = record.get("step"), record.get("plan"), record.get("messages", [])
    if not (isinstance(step, str) and isinstance(plan, bytes) and isinstance(messages, list)):
        raise MessageError.field("the request", "a step, a plan and messages", record)
    parts = tuple(each for each in messages if isinstance(each, bytes))
    if len(parts) != len(messages):
        raise MessageError.field("the request", "messages in bytes", messages)
    return Request.decoded(step, plan, parts)


def reply_content(reply: Reply) -> RecordDict:
    """Return a reply as the content of a message."""
    record = ConfigRecord({"silo": reply.silo})
    if reply.message is not None:
        record["message"] = reply.message
    if reply.refused is not None:
        record["refused"] = reply.refused.value
    return RecordDict({_RECORD: record})


def reply_of(message: Message) -> Reply:
    """Return the reply of a message that came to the auditor.

    Raises
    ------
    MessageError
        If it holds none; its content is not shown.
    """
    record = _record(message)
    silo, sketch, refused = record.get("silo"), record.get("message"), record.get("refused")
    word = next((each for each in Refusal if each.value == refused), None)
    if not isinstance(silo, str) or not isinstance(sketch, bytes | None):
        raise MessageError.field("the reply", "a silo and its message", record)
    if refused is not None and word is None:
        raise MessageError.field("the reply's refusal", "one of the known words", refused)
    return Reply(silo=silo, message=sketch, refused=word)


def _record(message: Message) -> ConfigRecord:
    record = message.content.get(_RECORD) if message.has_content() else None
    if not isinstance(record, ConfigRecord):
        raise MessageError.field("the message", "one with a record of fedparity", record)
    return record
