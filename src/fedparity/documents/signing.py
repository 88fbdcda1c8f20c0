"""Ed25519 signatures of messages, plans and results, and the keys that make them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar

from fedparity.documents.fields import (
    KEY_BYTES,
    SIGNATURE_BYTES,
    decode_base64,
    encode_base64,
    is_weak,
)
from fedparity.documents.files import Path, refuse_open_to_others
from fedparity.documents.json_text import key_lines
from fedparity.documents.plan import Plan
from fedparity.errors import KeyFileError, OutputError, PlanError, ResultError, SignatureError
from fedparity.errors.base import MissingExtraError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from fedparity.documents.result_parts import ResultSignature

__all__ = [
    "Signable",
    "SiloMessage",
    "check_plan_signature",
    "check_result_signature",
    "check_signature",
    "generate_key",
    "keyed_signature",
    "public_text",
    "read_key",
    "sign",
    "sign_plan",
    "signature_fits",
    "signed_bytes",
    "signed_text",
    "verify",
    "write_key",
]

_LARGEST_KEY_FILE = 10_000
_MOST_OWNERS = 32
"""Other silos' keys that are tried to say whose key a wrong signature fits."""


class Signable(Protocol):
    """A document that can be signed: a plan, a message or a result."""

    @property
    def schema(self) -> str:
        """Its schema, which is signed with it."""
        ...

    def unsigned_bytes(self) -> bytes:
        """Return its canonical bytes without the signature."""
        ...


class SiloMessage(Signable, Protocol):
    """A message of a silo: its sketch, or one of the rounds of a secure sum."""

    @property
    def silo(self) -> str:
        """Who sends it."""
        ...

    @property
    def signature(self) -> str | None:
        """The base64 of 64 bytes, or None."""
        ...


Message = TypeVar("Message", bound=SiloMessage)


def generate_key() -> Ed25519PrivateKey:
    """Return a new private key.

    Raises
    ------
    MissingExtraError
        If the package ``cryptography`` is not installed.
    """
    with _cryptography():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PrivateKey,
        )

    return Ed25519PrivateKey.generate()


def public_text(key: Ed25519PrivateKey) -> str:
    """Return the public key as a plan's ``[keys]`` hold it: the base64 of its 32 bytes."""
    return encode_base64(key.public_key().public_bytes_raw())


def write_key(path: Path, key: Ed25519PrivateKey, *, passphrase: bytes | None = None) -> None:
    """Write a private key to a new file that only its owner may read (PEM, PKCS 8, 0o600).

    With a passphrase it is encrypted (PBES2 with AES-256).

    Raises
    ------
    OutputError
        If the file exists, or cannot be written.
    """
    with _cryptography():
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415

    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(passphrase)
        if passphrase
        else serialization.NoEncryption(),
    )
    name = os.fspath(path)
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise OutputError.key_exists(name) from None
    except OSError as problem:
        raise OutputError.unwritable(name, str(problem.strerror)) from None
    with os.fdopen(handle, "wb") as file:
        file.write(text)


def read_key(
    path: Path, *, passphrase: Callable[[], bytes | None] | None = None
) -> Ed25519PrivateKey:
    """Return the private key of a file.

    Parameters
    ----------
    passphrase : callable, optional
        Called for the passphrase if the key has one; returns None if nobody knows it.

    Raises
    ------
    KeyFileError
        If it cannot be read, does not hold one, others than its owner may read it, or the
        passphrase is missing or wrong.
    """
    with _cryptography():
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
            load_pem_private_key,
        )

    name = os.fspath(path)
    try:
        with open(name, "rb") as file:  # noqa: PTH123 -- pathlib takes 7 ms to import
            refuse_open_to_others(file.fileno(), name, what="a private key", error=KeyFileError)
            text = file.read(_LARGEST_KEY_FILE)
    except OSError as problem:
        raise KeyFileError.unreadable(name, str(problem.strerror)) from None
    secret = None
    if b"ENCRYPTED" in text:
        secret = None if passphrase is None else passphrase()
        if secret is None:
            raise KeyFileError(
                f"the key {name} has a passphrase.",
                fix="name the file that holds it with --passphrase-file.",
            )
    try:
        key = load_pem_private_key(text, password=secret)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        if secret is None:
            raise KeyFileError.not_a_key(name) from None
        raise KeyFileError(
            f"the key {name} cannot be read with this passphrase.",
            fix="check the passphrase, and that the file is the one fedparity keygen wrote.",
        ) from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise KeyFileError.not_a_key(name)
    return key


def signed_bytes(document: Signable) -> bytes:
    r"""Return what is signed: the schema, ``\n``, and the canonical bytes, unsigned.

    It starts with the schema, so that no signature of one kind of document fits another.
    """
    return f"{document.schema}\n".encode() + document.unsigned_bytes()


def _signature_of(document: Signable, key: Ed25519PrivateKey) -> str:
    return encode_base64(key.sign(signed_bytes(document)))


def keyed_signature(document: Signable, key: Ed25519PrivateKey) -> dict[str, str]:
    """Return a signature with the public key that it fits, as plans and results hold it."""
    return {"key": public_text(key), "value": _signature_of(document, key)}


def sign(sketch: Message, key: Ed25519PrivateKey) -> Message:
    """Return the message with the signature of this key."""
    signed: Message = replace(sketch, signature=_signature_of(sketch, key))  # type: ignore[type-var]
    return signed


def verify(sketch: SiloMessage, public: str) -> None:
    """Raise unless the message is signed with the private key of ``public``.

    Raises
    ------
    SignatureError
        If it is not signed, or the signature does not fit.
    MissingExtraError
        If the package ``cryptography`` is not installed.
    """
    if sketch.signature is None:
        raise SignatureError.unsigned(sketch.silo)
    if not signature_fits(sketch.signature, signed_bytes(sketch), public):
        raise SignatureError.mismatch(sketch.silo)


def check_signature(sketch: SiloMessage, keys: Mapping[str, str]) -> None:
    """Raise unless the message is signed with its silo's key among ``keys``.

    Raises
    ------
    SignatureError
        If the silo has no key, the message is not signed, it is signed with another silo's key,
        or the signature does not fit.
    """
    if sketch.silo not in keys:
        raise SignatureError(
            f"the plan has keys, but none for silo {sketch.silo!r}.",
            fix="add the silo's public key to [keys], and send the new plan to all silos.",
        )
    if sketch.signature is None:
        raise SignatureError.unsigned(sketch.silo)
    data = signed_bytes(sketch)
    if signature_fits(sketch.signature, data, keys[sketch.silo]):
        return
    for owner, public in islice(keys.items(), _MOST_OWNERS):
        if signature_fits(sketch.signature, data, public):
            raise SignatureError(
                f"the message of silo {sketch.silo!r} is signed with the key of silo {owner!r}.",
                fix="check which silo sent the file, and the two keys in the plan.",
            )
    raise SignatureError.mismatch(sketch.silo)


def signature_fits(signature: str, data: bytes, public: str) -> bool:
    """Return whether a signature of these bytes was made with the private key of ``public``.

    Raises
    ------
    SignatureError
        If one of the two is not base64, or has the wrong number of bytes.
    MissingExtraError
        If the package ``cryptography`` is not installed.
    """
    with _cryptography():
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PublicKey,
        )

    key, mark = decode_base64(public, KEY_BYTES), decode_base64(signature, SIGNATURE_BYTES)
    if key is None or mark is None:
        raise SignatureError(
            "a public key must be the base64 text of 32 bytes.",
            fix="copy the key that fedparity keygen printed.",
        )
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(mark, data)
    except (InvalidSignature, ValueError):
        return False
    return True


@contextmanager
def _cryptography() -> Iterator[None]:
    """Turn a failed import into an error that says what to install."""
    try:
        yield
    except ImportError:
        raise MissingExtraError.for_use("cryptography", "a signature", "sign") from None


def sign_plan(plan: Plan, key: Ed25519PrivateKey) -> Plan:
    """Return the plan with the signature of this key; it covers the roster and the silos' keys."""
    return replace(plan, signature=keyed_signature(plan, key))


def check_plan_signature(plan: Plan) -> None:
    """Raise if the plan's signature does not fit it; nothing to check if it has none.

    Raises
    ------
    PlanError
        Then: it was changed after it was signed.
    MissingExtraError
        If the package ``cryptography`` is not installed.
    """
    signature = plan.signature
    if signature is not None and not signature_fits(
        signature["value"], signed_bytes(plan), signature["key"]
    ):
        raise PlanError(
            "the signature does not fit the plan: it was changed after it was signed.",
            fix="ask the auditor for the plan as it was signed, or to run fedparity plan sign again.",
        )


def check_result_signature(result: Signable, signature: ResultSignature) -> None:
    """Raise unless the signature fits the result, under a key that belongs to one owner.

    That it fits says that the owner of the key vouches for the result. Whose key it is, it does not
    say.

    Raises
    ------
    ResultError
        If it does not fit.
    MissingExtraError
        If the package ``cryptography`` is not installed: what cannot be checked is not believed.
    """
    fix = (
        "ask the auditor for the result as it was written, and for the public key by another "
        "channel."
    )
    if not signature_fits(signature.value, signed_bytes(result), signature.key):
        raise ResultError(
            f"the signature of the result does not fit the key {signature.key[:60]} that it names: "
            "the result was changed after it was signed.",
            fix=fix,
        )
    if is_weak(decode_base64(signature.key, KEY_BYTES) or b""):
        raise ResultError("the result is signed with a key under which anybody can sign.", fix=fix)


def signed_text(text: str, plan: Plan) -> str:
    """Return a plan's TOML text, comments and all, with the signature of ``plan`` at its end."""
    lines = text.split("\n")
    places = key_lines(text)
    if ("signature",) in places:  # an earlier one, up to the next table
        start = places["signature",] - 1
        later = [line - 1 for path, line in places.items() if path[0] != "signature"]
        stop = min((line for line in later if line > start), default=len(lines))
        del lines[start:stop]
    kept = "\n".join(lines).rstrip("\n")
    signature = plan.signature or {}
    table = "\n".join(f'{name} = "{value}"' for name, value in signature.items())
    return f"{kept}\n\n[signature]                    # the auditor's, of all the rest\n{table}\n"
