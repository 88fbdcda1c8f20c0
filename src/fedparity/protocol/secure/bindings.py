"""What each secret of a round is bound to: its plan, its keys, its owner; the same for everybody.

A secret that is derived, sealed or committed to in one round fits no other: the digest of all
keys, which are fresh for every round, is part of each of them.
"""

from __future__ import annotations

from fedparity.errors import SecureMessageError
from fedparity.privacy.masking.agreement import agreed_seed
from fedparity.privacy.masking.derivation import derive
from fedparity.protocol.secure.sets import KeySet

__all__ = [
    "own_stream",
    "pair_stream",
    "sealing_context",
    "sealing_key",
    "seed_context",
    "share_context",
]


def own_stream(keys: KeySet, seed: bytes, silo: str) -> bytes:
    """Return the seed of the stream that hides a silo's vector by itself."""
    return derive(seed, "own mask", keys.plan.digest, keys.digest, silo)


def pair_stream(keys: KeySet, secret: bytes, silo: str, other: str) -> bytes:
    """Return the seed of the stream that two silos share, from the private mask key of one.

    Raises
    ------
    SecureMessageError
        If the other's key is one with which no secret can be agreed on.
    """
    first, second = sorted((silo, other))
    context = (keys.plan.digest, keys.digest, first, second)
    return _agreed(secret, keys.keys[other].mask_key, other, "pair mask", *context)


def sealing_key(keys: KeySet, secret: bytes, sender: str, recipient: str, *, own: str) -> bytes:
    """Return the key that seals a sender's shares for a recipient.

    ``own`` is the one of the two whose private share key is ``secret``.
    """
    other = recipient if own == sender else sender
    context = (keys.plan.digest, keys.digest, sender, recipient)
    return _agreed(secret, keys.keys[other].share_key, other, "shares", *context)


def sealing_context(keys: KeySet, sender: str, recipient: str) -> tuple[str, ...]:
    """Return what sealed shares are authenticated with."""
    return ("shares", keys.plan.digest, keys.digest, sender, recipient)


def seed_context(keys: KeySet, silo: str) -> tuple[str, ...]:
    """Return what the commitment to a silo's seed is bound to."""
    return ("seed", keys.plan.digest, keys.digest, silo)


def share_context(keys: KeySet, what: str, owner: str, holder: str) -> tuple[str, ...]:
    """Return what the commitment to one share is bound to."""
    return (f"share of {what}", keys.plan.digest, keys.digest, owner, holder)


def _agreed(secret: bytes, public: bytes, owner: str, purpose: str, *context: str) -> bytes:
    seed = agreed_seed(secret, public, purpose, *context)
    if seed is None:
        raise SecureMessageError.weak_key(owner)
    return seed
