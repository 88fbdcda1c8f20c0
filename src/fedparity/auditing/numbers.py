"""A measure as people read it: the one way in which figures, sentences and tables write it."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["DIGITS", "number", "span"]

DIGITS = 3


def number(value: float, digits: int = DIGITS) -> str:
    """Return a number with a few digits; with an exponent only where it would be long.

    Examples
    --------
    >>> number(0.0421053), number(-123456.0), number(4.2e-9), number(0.0)
    ('0.0421', '−123,456', '4.2e-09', '0')
    """
    size = abs(value)
    if size == math.inf:
        return "∞" if value > 0 else "−∞"
    if size == 0:
        return "0"
    if not 1e-4 <= size < 1e7:
        text = _with_exponent(size, digits)
    elif size >= 10**digits:
        text = f"{size:,.0f}"
    else:
        text = np.format_float_positional(size, precision=digits, fractional=False, trim="-")
    return f"−{text}" if value < 0 else text


def _with_exponent(size: float, digits: int) -> str:
    if digits <= DIGITS:  # an exponent takes four places by itself
        return f"{size:.1e}"
    mantissa, _, power = f"{size:.{digits - 1}e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{power}"


def span(ends: tuple[float, float]) -> str:
    """Return an interval in words, which no minus sign can confuse.

    Examples
    --------
    >>> span((-0.0012, 0.0359))
    '−0.0012 to 0.0359'
    """
    lower, upper = ends
    return f"{number(lower)} to {number(upper)}"
