"""What it means to agree with an oracle."""

from __future__ import annotations

from typing import Any

import pytest

DIGITS = 1e-10
EPS = 2.3e-16
"""One rounding, relative to the number rounded."""


def agrees_with(expected: Any, *, slack: float = 0.0, rel: float = DIGITS) -> Any:
    """Equal to ten digits, or to the relative tolerance ``rel``.

    ``slack`` is an absolute tolerance, zero unless a test says why not: pytest's own default
    of 1e-12 would let small numbers through.
    """
    return pytest.approx(float(expected), rel=rel, abs=slack)


def in_power(error: float, order: int) -> float:
    """What an ``error`` in a difference x can do to its p-th power, beyond its tenth digit.

    (x + e)² − x² = 2ex + e² is at most a ten-billionth of x², or e² times ten billion.
    """
    return error if order == 1 else error**2 / DIGITS
