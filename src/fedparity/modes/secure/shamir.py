r"""Secrets shared so that any t holders can rebuild them, and fewer know nothing (Shamir, 1979).

A secret is the value at 0 of a random polynomial of degree t - 1 over the integers modulo the
prime :math:`2^{521} - 1`; the holder at position x gets the value at x. Any t values determine
the polynomial. Given t - 1 of them, every secret is the value at 0 of exactly one polynomial, so
they say nothing about it. Python's integers do not take the same time for all values: rebuild
secrets only where timing cannot be observed, as file-based steps do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache

from fedparity.modes.secure.masking import KEY_BYTES

__all__ = ["SHARE_BYTES", "join", "split"]

_PRIME = 2**521 - 1
SHARE_BYTES = 66
"""Bytes of a number modulo the prime."""


def split(secret: bytes, *, holders: int, threshold: int) -> tuple[bytes, ...]:
    """Return one share of a 32-byte secret for each holder, at the positions 1, 2 and so on.

    Examples
    --------
    >>> secret = bytes(range(32))
    >>> shares = split(secret, holders=5, threshold=3)
    >>> join({1: shares[0], 4: shares[3], 5: shares[4]}) == secret
    True
    """
    coefficients = [_random_number() for _ in range(threshold - 1)]
    coefficients.append(int.from_bytes(secret, "big"))
    return tuple(_value_at(x, coefficients) for x in range(1, holders + 1))


def join(shares: Mapping[int, bytes]) -> bytes | None:
    """Return the secret of shares by position; None if no 32-byte secret has such shares.

    At least the threshold is needed; the right number of wrong shares gives a wrong secret, so
    compare it with what its owner committed to.
    """
    weights = _weights_at_zero(tuple(shares))
    total = sum(
        weight * int.from_bytes(share, "big")
        for weight, share in zip(weights, shares.values(), strict=True)
    )
    try:
        return (total % _PRIME).to_bytes(KEY_BYTES, "big")
    except OverflowError:
        return None


def _random_number() -> int:
    """A uniform number modulo the prime: 521 random bits, but not the prime itself."""
    while True:
        number = int.from_bytes(os.urandom(SHARE_BYTES), "big") & _PRIME
        if number != _PRIME:
            return number


def _value_at(x: int, coefficients: list[int]) -> bytes:
    """The polynomial's value, the coefficient of the highest power first (Horner)."""
    value = 0
    for coefficient in coefficients:
        value = (value * x + coefficient) % _PRIME
    return value.to_bytes(SHARE_BYTES, "big")


@lru_cache(maxsize=64)
def _weights_at_zero(positions: tuple[int, ...]) -> tuple[int, ...]:
    r"""Lagrange's weights :math:`\prod_{j \ne i} x_j / (x_j - x_i)`."""
    weights = []
    for i in positions:
        above = below = 1
        for j in positions:
            if j != i:
                above, below = above * j % _PRIME, below * (j - i) % _PRIME
        weights.append(above * pow(below, -1, _PRIME) % _PRIME)
    return tuple(weights)
