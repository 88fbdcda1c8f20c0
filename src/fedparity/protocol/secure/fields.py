"""What the fields of a round's messages may hold: digests, names, and bytes as base64."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fedparity.errors import SecureMessageError, SignatureError
from fedparity.protocol.base64_bytes import decode_base64
from fedparity.protocol.digests import is_digest
from fedparity.protocol.frozen import FrozenMapping
from fedparity.protocol.labels import is_name
from fedparity.protocol.message import SIGNATURE_BYTES
from fedparity.protocol.privacy_terms import MOST_SILOS

__all__ = [
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
    """Return the check of so many bytes: given as such, or as their base64 text."""

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
