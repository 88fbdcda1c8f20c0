"""Digests: short texts that stand for one document."""

from __future__ import annotations

__all__ = ["digest_of", "is_digest"]

_PREFIX = "sha256:"
_DIGITS = frozenset("0123456789abcdef")


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of some bytes, as ``sha256:`` and 64 hexadecimal digits.

    Examples
    --------
    >>> digest_of(b"")[:15]
    'sha256:e3b0c442'
    """
    from hashlib import sha256  # noqa: PLC0415 -- not at start

    return _PREFIX + sha256(data).hexdigest()


def is_digest(text: object) -> bool:
    """Return whether ``text`` has the form of a digest."""
    if not (isinstance(text, str) and text.startswith(_PREFIX)):
        return False
    digits = text.removeprefix(_PREFIX)
    return len(digits) == 64 and _DIGITS.issuperset(digits)
