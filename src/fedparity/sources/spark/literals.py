"""Names and values as Spark's SQL takes them, whatever the session's settings."""

from __future__ import annotations

from fedparity.sources.sql.names import quoted

__all__ = ["double", "name_of", "text"]


def name_of(column: str) -> str:
    """Return the name of a column between backticks.

    Examples
    --------
    >>> name_of("risk.2026")
    '`risk.2026`'
    """
    return quoted(column, "`")


def text(value: str) -> str:
    r"""Return a text by the hexadecimal digits of its bytes: no quote or backslash can end it.

    Examples
    --------
    >>> text("O'N")
    "CAST(X'4F274E' AS STRING)"
    """
    return f"CAST(X'{value.encode().hex().upper()}' AS STRING)"


def double(value: float) -> str:
    """Return a float, to the last bit.

    Examples
    --------
    >>> double(-0.5), double(1e300)
    ("CAST('-0.5' AS DOUBLE)", "CAST('1e+300' AS DOUBLE)")
    """
    return f"CAST('{float(value)!r}' AS DOUBLE)"
