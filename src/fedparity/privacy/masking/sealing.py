"""Shares sealed for one recipient: ChaCha20-Poly1305, authenticated with what they belong to."""

from __future__ import annotations

import os

from fedparity.privacy.masking.derivation import joined
from fedparity.privacy.masking.requiring import needs_cryptography

__all__ = ["SEAL_BYTES", "seal", "unseal"]

_NONCE_BYTES = 12
_TAG_BYTES = 16
SEAL_BYTES = _NONCE_BYTES + _TAG_BYTES
"""By how much a sealed text is longer than its content."""


def seal(key: bytes, content: bytes, *context: str) -> bytes:
    """Return content that only holders of ``key`` can read, and only in this context.

    Examples
    --------
    >>> sealed = seal(bytes(32), b"share", "plan", "aurora", "bayside")
    >>> unseal(bytes(32), sealed, "plan", "aurora", "bayside")
    b'share'
    >>> unseal(bytes(32), sealed, "plan", "aurora", "cedar") is None
    True
    """
    with needs_cryptography():
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: PLC0415

    nonce = os.urandom(_NONCE_BYTES)
    return nonce + ChaCha20Poly1305(key).encrypt(nonce, content, joined(*context))


def unseal(key: bytes, sealed: bytes, *context: str) -> bytes | None:
    """Return the content, or None if one bit of it, the key or the context is another."""
    with needs_cryptography():
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: PLC0415

    nonce, text = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    try:
        return ChaCha20Poly1305(key).decrypt(nonce, text, joined(*context))
    except InvalidTag:
        return None
