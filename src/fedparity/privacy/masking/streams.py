"""Streams of numbers that look random to whoever lacks the seed: AES-256 in counter mode."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedparity.privacy.masking.requiring import needs_cryptography

__all__ = ["Words", "stream"]

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
