"""What all messages of a secure sum have in common: strict fields, canonical bytes, a digest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

from fedparity.errors import SecureMessageError
from fedparity.protocol.base64_bytes import encode_base64
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.digests import digest_of
from fedparity.protocol.files import Path, write_whole
from fedparity.protocol.secure.fields import as_digest, as_name, as_signature

__all__ = ["RoundMessage", "SiloRoundMessage"]

_Check = Callable[[object, str], Any]
_COMMON: Mapping[str, _Check] = {
    "plan": as_digest,
    "software": as_name,
    "silo": as_name,
    "signature": as_signature,
}


@dataclass(frozen=True, kw_only=True, repr=False)
class RoundMessage:
    """A message of one round; valid on its own once built.

    A class of messages names its schema and says what each of its own fields may hold.
    """

    schema: ClassVar[str]
    checks: ClassVar[Mapping[str, _Check]] = {}

    plan: str
    """The digest of the plan."""
    software: str

    def __post_init__(self) -> None:
        checks = {**_COMMON, **self.checks}
        for field in fields(self):
            value = checks[field.name](getattr(self, field.name), field.name)
            object.__setattr__(self, field.name, value)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> RoundMessage:
        """Return the message of what :meth:`to_dict` returns.

        Raises
        ------
        SecureMessageError
            If a field is missing, unknown, or holds something else.
        """
        known = {field.name for field in fields(cls)} | {"schema"}
        if unknown := sorted(document.keys() - known):
            raise SecureMessageError.unknown_fields("the message", unknown)
        if missing := sorted(known - document.keys() - {"signature"}):
            raise SecureMessageError.missing_fields("the message", missing)
        if document.get("signature", "") is None:
            raise SecureMessageError.field("signature", "a text, or left out", None)
        return cls(**{name: value for name, value in document.items() if name != "schema"})

    def to_dict(self) -> dict[str, Any]:
        """Return the message as JSON holds it."""
        held = {field.name: _as_json(getattr(self, field.name)) for field in fields(self)}
        if held.get("signature", "") is None:
            del held["signature"]
        return {"schema": self.schema, **held}

    def to_bytes(self) -> bytes:
        """Return the canonical bytes of the message (RFC 8785)."""
        return canonical_bytes(self.to_dict())

    def unsigned_bytes(self) -> bytes:
        """Return the canonical bytes of the message without its signature."""
        document = self.to_dict()
        document.pop("signature", None)
        return canonical_bytes(document)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the canonical bytes without the signature."""
        return digest_of(self.unsigned_bytes())

    def write(self, path: Path, *, force: bool = False) -> None:
        """Write the message to a file, whole or not at all."""
        write_whole(path, self.to_bytes(), force=force)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.digest[:15]}…)"


@dataclass(frozen=True, kw_only=True, repr=False)
class SiloRoundMessage(RoundMessage):
    """A message of one silo, which it signs if the plan has keys."""

    silo: str
    signature: str | None = None

    def __repr__(self) -> str:
        signed = "unsigned" if self.signature is None else "signed"
        return f"{type(self).__name__}({self.silo!r}, {signed}, {self.digest[:15]}…)"


def _as_json(value: object) -> Any:  # noqa: ANN401 -- whatever a message holds
    if isinstance(value, bytes):
        return encode_base64(value)
    if isinstance(value, Mapping):
        return {name: _as_json(held) for name, held in value.items()}
    return value.to_dict() if hasattr(value, "to_dict") else value
