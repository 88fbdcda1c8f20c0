"""Keys derived from shared secrets: HKDF with SHA-256, each bound to one purpose and context."""

from __future__ import annotations

from fedparity.privacy.masking.requiring import needs_cryptography

__all__ = ["SEED_BYTES", "derive", "joined"]

SEED_BYTES = 32
_SALT = b"fedparity/secure/1"


def derive(secret: bytes, purpose: str, *context: str) -> bytes:
    """Return 32 bytes that only holders of ``secret`` can compute, for one purpose.

    The purpose and every part of the context (digests, names) go into the derivation with their
    lengths, so that no two uses of a secret have the same key.

    Examples
    --------
    >>> derive(bytes(32), "mask", "a", "b") == derive(bytes(32), "mask", "ab", "")
    False
    """
    with needs_cryptography():
        from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    return HKDF(SHA256(), SEED_BYTES, _SALT, joined(purpose, *context)).derive(secret)


def joined(*texts: str) -> bytes:
    """Return texts as one sequence of bytes that tells where each of them ends.

    Examples
    --------
    >>> joined("ab", "c") == joined("a", "bc")
    False
    """
    parts = [text.encode("utf-8") for text in texts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
