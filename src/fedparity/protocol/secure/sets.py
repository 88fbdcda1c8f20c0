"""The keys of all silos, and the shares of all silos: complete, and the same for everybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from fedparity.errors import SecureMessageError
from fedparity.privacy.masking.agreement import is_public_key
from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.digests import digest_of
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import by_silo, refuse_missing
from fedparity.protocol.secure.messages import MaskedVector, SecureKeys, SecureShares
from fedparity.protocol.secure.round_message import SiloRoundMessage

__all__ = ["KeySet", "ShareSet", "masked_vectors"]


@dataclass(frozen=True, eq=False)
class KeySet:
    """The public keys of every silo of the roster; complete and distinct once built."""

    plan: Plan
    keys: Mapping[str, SecureKeys]

    @classmethod
    def of(cls, plan: Plan, messages: Iterable[SecureKeys]) -> KeySet:
        """Return the set of these messages.

        Raises
        ------
        MessageError
            If a silo is missing, sent two, is not of the plan, or has another's key or a weak one.
        """
        keys = by_silo(plan, messages, "keys")
        refuse_missing(plan, keys, "keys")
        owner: dict[bytes, str] = {}
        for silo, each in keys.items():
            for key in (each.mask_key, each.share_key):
                if not is_public_key(key):
                    raise SecureMessageError.weak_key(silo)
                if key in owner:
                    raise SecureMessageError.same_key(owner[key], silo)
                owner[key] = silo
        return cls(plan, keys)

    @cached_property
    def digest(self) -> str:
        """The digest of all keys: two silos that were given different ones differ in it."""
        return _digest(self.keys)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position at which each silo's shares are computed: 1, 2, … in the order of names."""
        return {silo: place for place, silo in enumerate(self.keys, start=1)}


@dataclass(frozen=True, eq=False)
class ShareSet:
    """The sealed shares of every silo of the roster; complete, and under one set of keys."""

    keys: KeySet
    shares: Mapping[str, SecureShares]

    @classmethod
    def of(cls, keys: KeySet, messages: Iterable[SecureShares]) -> ShareSet:
        """Return the set of these messages.

        Raises
        ------
        MessageError
            If a silo is missing, sent two, shared for other silos, or was given other keys.
        """
        shares = by_silo(keys.plan, messages, "shares")
        for silo, each in shares.items():
            if each.key_set != keys.digest:
                raise SecureMessageError.other_set(silo, "keys")
            if each.shares.keys() != keys.keys.keys():
                raise SecureMessageError.other_recipients(silo)
        refuse_missing(keys.plan, shares, "shares")
        return cls(keys, shares)

    @cached_property
    def digest(self) -> str:
        """The digest of all shares."""
        return _digest(self.shares)


def masked_vectors(
    shares: ShareSet, messages: Iterable[MaskedVector], length: int
) -> dict[str, MaskedVector]:
    """Return the masked vectors by silo, each under these keys and shares, and as long.

    Raises
    ------
    MessageError
        If one is of another round, of another length, or a silo sent two.
    """
    found = by_silo(shares.keys.plan, messages, "masked vectors")
    for silo, each in found.items():
        if each.key_set != shares.keys.digest:
            raise SecureMessageError.other_set(silo, "keys")
        if each.share_set != shares.digest:
            raise SecureMessageError.other_set(silo, "shares")
        if each.words.size != length:
            raise SecureMessageError.wrong_size(silo, each.words.size, length)
    return found


def _digest(messages: Mapping[str, SiloRoundMessage]) -> str:
    return digest_of(canonical_bytes({silo: each.digest for silo, each in messages.items()}))
