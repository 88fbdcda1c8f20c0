"""Messages of a secure sum read from files: the schema says which of them it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from fedparity.errors import MessageError, SecureMessageError
from fedparity.protocol.files import Path, read_bounded
from fedparity.protocol.secure.messages import (
    MaskedVector,
    SecureConsent,
    SecureKeys,
    SecureShares,
    UnmaskAnswer,
    UnmaskRequest,
)
from fedparity.protocol.secure.round_message import RoundMessage, SiloRoundMessage
from fedparity.protocol.strict_json import LARGEST, decode_object

__all__ = ["Inbox", "decode_round", "is_round_document", "one_request", "read_round"]

_KINDS: dict[str, type[RoundMessage]] = {
    kind.schema: kind
    for kind in (
        SecureKeys,
        SecureShares,
        MaskedVector,
        UnmaskRequest,
        SecureConsent,
        UnmaskAnswer,
    )
}
Kind = TypeVar("Kind", bound=RoundMessage)


def is_round_document(document: dict[str, Any]) -> bool:
    """Return whether a document says that it is a message of a secure sum."""
    return document.get("schema") in _KINDS


def decode_round(data: bytes) -> RoundMessage:
    """Return the message that these bytes hold.

    Raises
    ------
    SecureMessageError
        If they are not a valid message of a secure sum.
    """
    document = decode_object(data, error=SecureMessageError)
    kind = _KINDS.get(str(document.get("schema")))
    if kind is None:
        raise SecureMessageError.unknown_schema(document.get("schema"), _KINDS)
    return kind.from_dict(document)


def read_round(path: Path) -> RoundMessage:
    """Return the message of a file.

    Raises
    ------
    SecureMessageError
        If it cannot be read, or is not valid; the file is named.
    """
    data = read_bounded(path, limit=LARGEST, error=SecureMessageError)
    try:
        return decode_round(data)
    except MessageError as error:
        raise error.within(str(path)) from None


@dataclass(frozen=True)
class Inbox:
    """Messages of a round, in any order; the same one may come more than once."""

    messages: tuple[RoundMessage, ...]

    @classmethod
    def of(cls, messages: Iterable[RoundMessage | Path]) -> Inbox:
        """Return the inbox of messages and of files of them."""
        return cls(
            tuple(
                message if isinstance(message, RoundMessage) else read_round(message)
                for message in messages
            )
        )

    def of_kind(self, kind: type[Kind]) -> list[Kind]:
        """Return the messages of one kind, each once, by silo."""
        found = {each.digest: each for each in self.messages if isinstance(each, kind)}
        return sorted(found.values(), key=_name)


def one_request(inbox: Inbox) -> UnmaskRequest:
    """Return the request of an inbox.

    Raises
    ------
    SecureMessageError
        If there is none, or more than one.
    """
    requests = inbox.of_kind(UnmaskRequest)
    if not requests:
        raise SecureMessageError.nothing_came("unmask request")
    if len(requests) > 1:
        raise SecureMessageError.twice("requests", "the auditor")
    return requests[0]


def _name(message: RoundMessage) -> str:
    return message.silo if isinstance(message, SiloRoundMessage) else message.digest
