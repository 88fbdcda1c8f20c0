r"""The six messages of a secure sum, in the order in which they are sent.

::

    keys      every silo to all       two public keys
    shares    every silo to all       its secrets, split and sealed for each recipient
    mask      every silo to auditor   its vector, hidden by its masks
    request   auditor to all          whose vectors arrived
    consent   every silo to all       "this is the request I was given" (plans with keys)
    unmask    every silo to auditor   of each silo, one share: of its seed or of its key
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from fedparity.documents.fields import (
    SIGNATURE_BYTES,
    FrozenMapping,
    decode_base64,
    encode_base64,
    is_name,
)
from fedparity.documents.files import Document
from fedparity.documents.json_text import is_digest
from fedparity.documents.privacy_terms import MOST_SILOS
from fedparity.errors import SecureMessageError, SignatureError
from fedparity.modes.secure.masking import KEY_BYTES, SEAL_BYTES, Words
from fedparity.modes.secure.shamir import SHARE_BYTES

__all__ = [
    "MaskedVector",
    "RoundMessage",
    "SealedShares",
    "SecureConsent",
    "SecureKeys",
    "SecureShares",
    "SiloRoundMessage",
    "UnmaskAnswer",
    "UnmaskRequest",
    "as_bytes",
    "as_digest",
    "as_mapping",
    "as_name",
    "as_signature",
    "as_words",
]

Value = TypeVar("Value")
_WORD_BYTES = 8
_MOST_WORDS = 4_000_000


def as_name(value: object, where: str) -> str:
    """Return a name of a silo or of software."""
    if not is_name(value):
        raise SecureMessageError.field(where, "a name on one line", value)
    return str(value)


def as_digest(value: object, where: str) -> str:
    """Return a digest."""
    if not is_digest(value):
        raise SecureMessageError.field(where, "a digest", value)
    return str(value)


def as_bytes(size: int) -> Callable[[object, str], bytes]:
    """Return the check of this many bytes, given as bytes or as their base64 text."""

    def check(value: object, where: str) -> bytes:
        data = decode_base64(value, size) if isinstance(value, str) else value
        if not isinstance(data, bytes) or len(data) != size:
            raise SecureMessageError.field(where, f"the base64 text of {size} bytes", value)
        return data

    return check


def as_words(value: object, where: str) -> bytes:
    """Return the bytes of a vector of 64-bit words; its length is that of the text, never stated."""
    if isinstance(value, str):
        size = len(value) // 4 * 3 - value[-2:].count("=")
        value = decode_base64(value, size) if size <= _WORD_BYTES * _MOST_WORDS else None
    if not isinstance(value, bytes) or not value or len(value) % _WORD_BYTES:
        raise SecureMessageError.field(where, "the base64 text of 64-bit words", value)
    return value


def as_signature(value: object, _: str) -> str | None:
    """Return a signature, or None."""
    if value is None:
        return None
    if not isinstance(value, str) or decode_base64(value, SIGNATURE_BYTES) is None:
        raise SignatureError.malformed()
    return value


def as_mapping(
    read: Callable[[object, str], Value], *, least: int = 1
) -> Callable[[object, str], FrozenMapping[Value]]:
    """Return the check of a mapping of silos to something."""

    def check(value: object, where: str) -> FrozenMapping[Any]:
        if not isinstance(value, Mapping) or not least <= len(value) <= MOST_SILOS:
            expected = f"an object of {least} to {MOST_SILOS:,} silos"
            raise SecureMessageError.field(where, expected, value)
        return FrozenMapping(
            {
                as_name(silo, f"a silo in {where}"): read(held, f"{where} of silo {silo!r}")
                for silo, held in value.items()
            }
        )

    return check


_Check = Callable[[object, str], Any]
_COMMON: Mapping[str, _Check] = {
    "plan": as_digest,
    "software": as_name,
    "silo": as_name,
    "signature": as_signature,
}


@dataclass(frozen=True, kw_only=True, repr=False)
class RoundMessage(Document):
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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.digest[:15]}…)"


@dataclass(frozen=True, kw_only=True, repr=False)
class SiloRoundMessage(RoundMessage):
    """A message of one silo, which it signs if the plan has keys."""

    silo: str
    signature: str | None = None
    replaces: ClassVar[None] = None  # no message of a round can be voided

    @property
    def content_digest(self) -> str:
        """The digest that the ledger records: a second masked vector is never the same."""
        return self.digest

    def __repr__(self) -> str:
        signed = "unsigned" if self.signature is None else "signed"
        return f"{type(self).__name__}({self.silo!r}, {signed}, {self.digest[:15]}…)"


def _as_json(value: object) -> Any:  # noqa: ANN401 -- whatever a message holds
    if isinstance(value, bytes):
        return encode_base64(value)
    if isinstance(value, Mapping):
        return {name: _as_json(held) for name, held in value.items()}
    return value.to_dict() if hasattr(value, "to_dict") else value


@dataclass(frozen=True, kw_only=True, repr=False)
class SecureKeys(SiloRoundMessage):
    """The public keys of one silo for one round."""

    schema: ClassVar[str] = "fedparity/secure-keys/1"
    checks: ClassVar = {"mask_key": as_bytes(KEY_BYTES), "share_key": as_bytes(KEY_BYTES)}

    mask_key: bytes
    """X25519: the masks are agreed on with it."""
    share_key: bytes
    """X25519: shares for this silo are sealed with it."""


@dataclass(frozen=True, kw_only=True)
class SealedShares:
    """What one recipient gets of a silo's two secrets, and commitments to it."""

    sealed: bytes
    """Both shares, readable by the recipient alone."""
    seed: str
    """Commitment to the share of the seed."""
    key: str
    """Commitment to the share of the mask key."""

    def to_dict(self) -> dict[str, str]:
        """Return the shares as JSON holds them."""
        return {"sealed": encode_base64(self.sealed), "seed": self.seed, "key": self.key}


def _sealed(value: object, where: str) -> SealedShares:
    if isinstance(value, SealedShares):
        return value
    if not isinstance(value, Mapping) or value.keys() != {"sealed", "seed", "key"}:
        raise SecureMessageError.field(where, "an object with sealed, seed and key", value)
    return SealedShares(
        sealed=as_bytes(2 * SHARE_BYTES + SEAL_BYTES)(value["sealed"], where),
        seed=as_digest(value["seed"], where),
        key=as_digest(value["key"], where),
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class SecureShares(SiloRoundMessage):
    """A silo's secrets, split so that a threshold of silos can rebuild them."""

    schema: ClassVar[str] = "fedparity/secure-shares/1"
    checks: ClassVar = {
        "key_set": as_digest,
        "commitment": as_digest,
        "shares": as_mapping(_sealed),
    }

    key_set: str
    """Digest of the keys of all silos, as this one was given them."""
    commitment: str
    """To the seed of its own mask."""
    shares: Mapping[str, SealedShares]
    """By recipient."""


@dataclass(frozen=True, kw_only=True, repr=False)
class MaskedVector(SiloRoundMessage):
    """A silo's numbers modulo 2^64, hidden by its masks: alone, they are random numbers."""

    schema: ClassVar[str] = "fedparity/secure-mask/1"
    checks: ClassVar = {
        "key_set": as_digest,
        "share_set": as_digest,
        "vector": as_words,
    }

    key_set: str
    share_set: str
    """Digest of the shares of all silos, as this one was given them."""
    vector: bytes
    """Words of 64 bits, the lowest byte first."""

    @property
    def words(self) -> Words:
        """The masked numbers."""
        return np.frombuffer(self.vector, dtype="<u8").astype(np.uint64)


@dataclass(frozen=True, kw_only=True, repr=False)
class UnmaskRequest(RoundMessage):
    """The silos whose vectors arrived, and whose sum is requested."""

    schema: ClassVar[str] = "fedparity/secure-request/1"
    checks: ClassVar = {
        "key_set": as_digest,
        "share_set": as_digest,
        "survivors": as_mapping(as_digest),
    }

    key_set: str
    share_set: str
    survivors: Mapping[str, str]
    """The digest of each masked vector that arrived, by silo."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SecureConsent(SiloRoundMessage):
    """A silo's signature under the request that it was given."""

    schema: ClassVar[str] = "fedparity/secure-consent/1"
    checks: ClassVar = {"request": as_digest}

    request: str


@dataclass(frozen=True, kw_only=True, repr=False)
class UnmaskAnswer(SiloRoundMessage):
    """A silo's one answer: of each silo a share, of its seed or of its key, never of both."""

    schema: ClassVar[str] = "fedparity/secure-unmask/1"
    checks: ClassVar = {
        "request": as_digest,
        "seeds": as_mapping(as_bytes(SHARE_BYTES)),
        "keys": as_mapping(as_bytes(SHARE_BYTES), least=0),
    }

    request: str
    """The digest of the request."""
    seeds: Mapping[str, bytes]
    """Shares of the seeds of the silos whose vectors arrived."""
    keys: Mapping[str, bytes]
    """Shares of the mask keys of the silos that dropped out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        both: Any = self.seeds.keys() & self.keys.keys()
        if both:
            raise SecureMessageError.field("seeds and keys", "of different silos", both)
