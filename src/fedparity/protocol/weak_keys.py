r"""Ed25519 public keys under which anybody can sign, found without a library.

A public key is a point (x, y) of the curve :math:`-x^2 + y^2 = 1 + d x^2 y^2` modulo
:math:`p = 2^{255} - 19`. If 8 times the point is the neutral element, a signature can be made without
a private key. Doubling a point gives :math:`y_2 = (x^2 + y^2) / (1 - d x^2 y^2)`, and the points are

- (0, 1) and (0, -1), of order 1 and 2;
- those whose double is (0, -1), with y = 0;
- those whose double has y = 0: :math:`x^2 = -y^2`, hence :math:`d y^4 + 2 y^2 = 1`.

There are no others, as the whole group has 8 times a prime number of points.
"""

from __future__ import annotations

__all__ = ["height_of", "is_weak"]

_PRIME = 2**255 - 19
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME


def height_of(key: bytes) -> int:
    """Return the y of a public key, which it shares with the opposite point alone."""
    return int.from_bytes(key, "little") % 2**255


def is_weak(key: bytes) -> bool:
    """Return whether a public key is of small order, or not written as keys are.

    Examples
    --------
    >>> is_weak(bytes(32)), is_weak(bytes([1]) + bytes(31)), is_weak(bytes([5]) + bytes(31))
    (True, True, False)
    """
    y = height_of(key)
    return y >= _PRIME or y * (y * y - 1) * (_D * y**4 + 2 * y * y - 1) % _PRIME == 0
