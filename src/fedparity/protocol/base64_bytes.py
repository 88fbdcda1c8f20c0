"""Keys and signatures as text: base64 in its one canonical form."""

from __future__ import annotations

import binascii

__all__ = ["decode_base64", "encode_base64"]


def encode_base64(data: bytes) -> str:
    """Return the base64 text of some bytes.

    Examples
    --------
    >>> encode_base64(b"key")
    'a2V5'
    """
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def decode_base64(text: str, size: int) -> bytes | None:
    """Return the ``size`` bytes that ``text`` stands for, or None if it does not.

    Only the one text that :func:`encode_base64` writes is accepted, so that nobody can change a
    signature's text and keep its meaning.
    """
    if len(text) > 2 * size + 4:
        return None
    try:
        data = binascii.a2b_base64(text.encode("ascii"))
    except ValueError:  # not ASCII, or not base64
        return None
    return data if len(data) == size and encode_base64(data) == text else None
