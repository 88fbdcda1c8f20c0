"""Secrets that two silos share without a third knowing: X25519 key agreement."""

from __future__ import annotations

import os

from fedparity.privacy.masking.derivation import derive
from fedparity.privacy.masking.requiring import needs_cryptography

__all__ = ["KEY_BYTES", "agreed_seed", "is_public_key", "new_secret", "public_key"]

KEY_BYTES = 32
_PRIME = 2**255 - 19


def new_secret() -> bytes:
    """Return 32 bytes from the operating system: a private key, or the seed of a stream."""
    return os.urandom(KEY_BYTES)


def public_key(secret: bytes) -> bytes:
    """Return the public key of a private one."""
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.x25519 import (  # noqa: PLC0415
            X25519PrivateKey,
        )

    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def agreed_seed(secret: bytes, public: bytes, purpose: str, *context: str) -> bytes | None:
    """Return what two silos derive from one's private and the other's public key.

    None if the public key is one of the few with which everybody agrees on zero: nobody who
    generated a key has such a one.

    Examples
    --------
    >>> one, other = new_secret(), new_secret()
    >>> ours = agreed_seed(one, public_key(other), "mask")
    >>> ours == agreed_seed(other, public_key(one), "mask")
    True
    """
    with needs_cryptography():
        from cryptography.hazmat.primitives.asymmetric.x25519 import (  # noqa: PLC0415
            X25519PrivateKey,
            X25519PublicKey,
        )

    own, theirs = X25519PrivateKey.from_private_bytes(secret), X25519PublicKey
    try:
        agreed = own.exchange(theirs.from_public_bytes(public))
    except ValueError:  # a point of small order
        return None
    return derive(agreed, purpose, *context)


def is_public_key(public: bytes) -> bool:
    """Return whether a key can be agreed with: not of small order, and written as keys are.

    A point of small order agrees on zero with every private key, as these are multiples of 8. X25519
    ignores the highest bit and reduces modulo a prime: only one way to write a key is accepted, so that
    two keys that differ are different.

    Examples
    --------
    >>> is_public_key(public_key(new_secret())), is_public_key(bytes(32))
    (True, False)
    """
    written = int.from_bytes(public, "little") < _PRIME
    return written and agreed_seed(bytes(KEY_BYTES), public, "check") is not None
