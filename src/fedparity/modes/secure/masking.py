r"""Vectors hidden by masks that cancel in their sum (Bonawitz et al. 2017, section 4).

Silo i adds the stream of its own seed :math:`b_i` and, for every other silo j, the stream of a seed
that only i and j know, with the sign + for one and - for the other:

.. math:: y_i = x_i + P(b_i) + \sum_{j > i} P(s_{ij}) - \sum_{j < i} P(s_{ij}) \pmod{2^{64}}.

One unknown stream makes :math:`y_i` uniform, whatever :math:`x_i` is. In the sum over all silos the
shared streams cancel. Where some dropped out after they agreed on seeds, theirs are left in the sum
and are taken out with their rebuilt keys; those of :math:`b_i` with the rebuilt seeds. Of one silo
either the key or the seed is ever rebuilt: both together would show :math:`x_i`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from fedparity.errors.base import needs_cryptography

__all__ = [
    "KEY_BYTES",
    "SEAL_BYTES",
    "SEED_BYTES",
    "Words",
    "agreed_seed",
    "commitment",
    "derive",
    "is_public_key",
    "joined",
    "masked",
    "new_secret",
    "opens",
    "pair_masks",
    "public_key",
    "seal",
    "stream",
    "total",
    "unseal",
]


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
    """Return texts as one sequence of bytes that determines where each of them ends.

    Examples
    --------
    >>> joined("ab", "c") == joined("a", "bc")
    False
    """
    parts = [text.encode("utf-8") for text in texts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


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


Words = npt.NDArray[np.uint64]
"""Numbers modulo 2^64, as sums of masked vectors are computed."""

_WORD_BYTES = 8
_FIRST_BLOCK = bytes(16)


def stream(seed: bytes, length: int) -> Words:
    """Return the first ``length`` words of the stream of a 32-byte seed.

    The counter starts at 0: a seed serves for one stream, ever. Every seed here is fresh for its
    round and its pair of silos.

    Examples
    --------
    >>> stream(bytes(32), 1)
    array([9910523521560253916], dtype=uint64)
    """
    with needs_cryptography():
        from cryptography.hazmat.primitives.ciphers import (  # noqa: PLC0415
            Cipher,
            algorithms,
            modes,
        )

    cipher = Cipher(algorithms.AES(seed), modes.CTR(_FIRST_BLOCK)).encryptor()
    return np.frombuffer(cipher.update(bytes(_WORD_BYTES * length)), dtype="<u8").astype(np.uint64)


def masked(
    vector: npt.NDArray[np.int64], silo: str, own: bytes, pairs: Mapping[str, bytes]
) -> Words:
    """Return a silo's vector with all its masks.

    Parameters
    ----------
    vector : array of int64
    silo : str
    own : bytes
        The seed of its own stream.
    pairs : mapping of str to bytes
        The seed agreed on with each other silo.

    Examples
    --------
    >>> x, seed = np.array([1, -2]), bytes(32)
    >>> sent = [masked(x, "a", seed, {"b": seed}), masked(x, "b", seed, {"a": seed})]
    >>> total(sent, own=[seed, seed]).tolist()
    [2, -4]
    """
    words = vector.astype(np.int64).view(np.uint64) + stream(own, vector.size)
    return words + pair_masks(silo, pairs, vector.size)


def pair_masks(silo: str, pairs: Mapping[str, bytes], length: int) -> Words:
    """Return the sum of the streams that a silo shares with others, each with its sign."""
    words = np.zeros(length, dtype=np.uint64)
    for other, seed in pairs.items():
        if silo < other:
            words += stream(seed, length)
        else:
            words -= stream(seed, length)
    return words


def total(
    vectors: Iterable[Words], *, own: Iterable[bytes], left_over: Iterable[Words] = ()
) -> npt.NDArray[np.int64]:
    """Return the sum of masked vectors without their masks, as signed numbers.

    Parameters
    ----------
    vectors : iterable of masked vectors
    own : iterable of bytes
        The seeds of their own streams.
    left_over : iterable of words
        For each silo that dropped out, the :func:`pair_masks` that it *would* have added: what
        the others added is its negative.
    """
    words: Words = np.sum(list(vectors), axis=0, dtype=np.uint64)
    for seed in own:
        words -= stream(seed, words.size)
    for mask in left_over:
        words += mask
    return words.view(np.int64)
