"""Commitments: digests of secrets, published before the secrets are, so that none can be changed."""

from __future__ import annotations

from fedparity.privacy.masking.derivation import joined

__all__ = ["commitment", "opens"]


def commitment(secret: bytes, *context: str) -> str:
    """Return the digest of a secret in its context.

    The secrets are uniform numbers of 256 bits or more: nobody finds one by trying.

    Examples
    --------
    >>> commitment(b"seed", "aurora")[:15]
    'sha256:2b79eee6'
    """
    import hashlib  # noqa: PLC0415 -- not at start

    return "sha256:" + hashlib.sha256(joined("commitment", *context) + secret).hexdigest()


def opens(secret: bytes, stated: str, *context: str) -> bool:
    """Return whether a secret is the one that was committed to."""
    from hmac import compare_digest  # noqa: PLC0415 -- not at start

    return compare_digest(commitment(secret, *context), stated)
