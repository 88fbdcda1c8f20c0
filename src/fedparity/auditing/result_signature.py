"""The auditor's signature of a result: who vouches for its numbers, and that they were not changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedparity.auditing.result_reading import read_part
from fedparity.documents.fields import decode_base64, encode_base64, is_weak
from fedparity.documents.json_text import canonical_bytes
from fedparity.documents.signing import public_text, signature_fits
from fedparity.errors import ResultError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["ResultSignature", "read_signature", "sign_document"]

_FIX = (
    "ask the auditor for the result as it was written, and for the public key by another channel."
)


@dataclass(frozen=True, kw_only=True)
class ResultSignature:
    """A signature, and the key that it fits."""

    key: str
    """The Ed25519 public key, the base64 of 32 bytes."""
    value: str
    """The base64 of 64 bytes."""


def sign_document(document: Mapping[str, Any], key: Ed25519PrivateKey) -> ResultSignature:
    """Return the signature of a result's document; one that it has does not count."""
    return ResultSignature(
        key=public_text(key), value=encode_base64(key.sign(_signed_bytes(document)))
    )


def read_signature(document: Mapping[str, Any]) -> ResultSignature | None:
    """Return the signature of a result's document, found to fit; None if it is not signed.

    That it fits says that whoever has the key vouches for the document. Whose key it is, it does
    not say.

    Raises
    ------
    ResultError
        If it does not fit.
    MissingExtraError
        If the package ``cryptography`` is not installed: what cannot be checked is not believed.
    """
    if document["signature"] is None:
        return None
    found = read_part(ResultSignature, document["signature"], "signature")
    fits = signature_fits(found.value, _signed_bytes(document), found.key)
    if fits and is_weak(decode_base64(found.key, 32) or b""):
        raise ResultError(
            "the result is signed with a key under which anybody can sign.", fix=_FIX
        )
    if not fits:
        raise ResultError(
            f"the signature of the result does not fit the key {found.key[:60]} that it names: the "
            "result was changed after it was signed.",
            fix=_FIX,
        )
    return found


def _signed_bytes(document: Mapping[str, Any]) -> bytes:
    """What is signed, as of messages: the schema, a line end, and the canonical bytes, unsigned."""
    unsigned = {**document, "signature": None}
    return f"{document['schema']}\n".encode() + canonical_bytes(unsigned)
