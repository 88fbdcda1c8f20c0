r"""The six messages of a secure sum, in the order in which they are sent.

::

    keys      every silo to all       two public keys
    shares    every silo to all       its secrets, split and sealed for each recipient
    mask      every silo to auditor   its vector, hidden by its masks
    request   auditor to all          whose vectors came
    consent   every silo to all       "this is the request I was given" (plans with keys)
    unmask    every silo to auditor   of each silo, one share: of its seed or of its key
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedparity.errors import SecureMessageError
from fedparity.privacy.masking.agreement import KEY_BYTES
from fedparity.privacy.masking.sealing import SEAL_BYTES
from fedparity.privacy.masking.shamir import SHARE_BYTES
from fedparity.privacy.masking.streams import Words
from fedparity.protocol.base64_bytes import encode_base64
from fedparity.protocol.secure.fields import as_bytes, as_digest, as_mapping, as_words
from fedparity.protocol.secure.round_message import RoundMessage, SiloRoundMessage

__all__ = [
    "MaskedVector",
    "SealedShares",
    "SecureConsent",
    "SecureKeys",
    "SecureShares",
    "UnmaskAnswer",
    "UnmaskRequest",
]


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
    """Whose vectors came: the silos of which a sum is asked for."""

    schema: ClassVar[str] = "fedparity/secure-request/1"
    checks: ClassVar = {
        "key_set": as_digest,
        "share_set": as_digest,
        "survivors": as_mapping(as_digest),
    }

    key_set: str
    share_set: str
    survivors: Mapping[str, str]
    """The digest of each masked vector that came, by silo."""


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
    """Shares of the seeds of the silos whose vectors came."""
    keys: Mapping[str, bytes]
    """Shares of the mask keys of the silos that dropped out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        both: Any = self.seeds.keys() & self.keys.keys()
        if both:
            raise SecureMessageError.field("seeds and keys", "of different silos", both)
