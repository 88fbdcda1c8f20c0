"""One way to write a number, wherever a person reads it."""

from __future__ import annotations

from fedparity.auditing.numbers import DIGITS, number, span

__all__ = [
    "amount",
    "counted",
    "number",
    "percent",
    "percents",
    "share_of",
    "span",
    "stated",
    "told_apart",
]

_MOST_DIGITS = 17
"""Enough to tell any two doubles apart."""


def stated(value: float) -> str:
    """Return a number that somebody chose, such as a review level, with the digits it has.

    Examples
    --------
    >>> stated(0.02), stated(0.0123456), stated(0.95)
    ('0.02', '0.0123456', '0.95')
    """
    return number(value, 12)


def told_apart(value: float, other: float) -> str:
    """Return a number with as many digits as it takes not to look like another.

    Examples
    --------
    >>> told_apart(0.0323, 0.02), told_apart(0.0200041, 0.02), told_apart(0.02, 0.02)
    ('0.0323', '0.020004', '0.02')
    """
    if value == other:
        return stated(value)
    for digits in range(DIGITS, _MOST_DIGITS):
        if number(value, digits) != number(other, digits):
            return number(value, digits)
    return number(value, _MOST_DIGITS)


def percent(share: float) -> str:
    """Return a share in percent: two digits if it is small, three otherwise.

    Examples
    --------
    >>> percent(0.8712), percent(0.0196), percent(-0.0123), percent(1.0)
    ('87.1 %', '2 %', '−1.2 %', '100 %')
    """
    return f"{number(100 * share, 2 if abs(share) < 0.1 else DIGITS)} %"


def percents(ends: tuple[float, float]) -> str:
    """Return an interval of shares in percent.

    Examples
    --------
    >>> percents((0.689, 0.7141))
    '68.9 % to 71.4 %'
    """
    lower, upper = ends
    return f"{percent(lower)} to {percent(upper)}"


def share_of(part: float, whole: float) -> str:
    """Return a part in percent of a whole; of a positive whole, where even a trace has a sign.

    Examples
    --------
    >>> share_of(0.028, 0.032), share_of(1e-9, 0.032), share_of(-0.001, 0.032)
    ('87.5 %', '<0.1 %', '−3.1 %')
    """
    share = part / whole
    return "<0.1 %" if 0 < abs(share) < 0.0005 else percent(share)


def amount(value: float) -> str:
    """Return a number of records, or their weight, in full.

    Examples
    --------
    >>> amount(17390), amount(1234.5)
    ('17,390', '1,234.5')
    """
    return f"{value:,.12g}"


def counted(count: int, thing: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "cell"), counted(2500, "cell")
    ('1 cell', '2,500 cells')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
