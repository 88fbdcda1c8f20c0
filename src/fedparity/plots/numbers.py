"""Numbers as figures write them: as reports do, but with weights cut to three digits."""

from __future__ import annotations

from fedparity.auditing.numbers import number, span

__all__ = ["amount", "number", "span"]


def amount(value: float) -> str:
    """Return a number of records; a weight is cut to three digits.

    Examples
    --------
    >>> amount(17390), amount(1234.5)
    ('17,390', '1,234')
    """
    return f"{value:,}" if isinstance(value, int) else number(value)
