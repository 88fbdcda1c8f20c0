"""The text of a label, by which labels are compared whatever the type of their column."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import numpy as np

__all__ = ["label_text", "label_texts"]

_LARGEST_WHOLE = 2.0**63


def label_text(label: object) -> str | None:
    """Return the text of a label, or None if it is missing.

    The same label must have one text in a CSV file, where everything is text, and in a frame,
    where a column of whole numbers becomes floats as soon as one is missing.

    Examples
    --------
    >>> [label_text(label) for label in ("A", "01", 3, 3.0, 0.5, True, None, float("nan"), "")]
    ['A', '01', '3', '3', '0.5', 'true', None, None, None]
    """
    if isinstance(label, str):
        return str(label) or None
    if label is None or _is_nan(label):
        return None
    if isinstance(label, bool | np.bool_):
        return "true" if label else "false"
    if isinstance(label, bytes):
        return label.decode("utf-8") or None
    if isinstance(label, float | np.floating | Decimal):
        return _number_text(label)
    return str(label)


def label_texts(labels: Iterable[object]) -> tuple[str | None, ...]:
    """Return the texts of labels, and None last, for the rows that have no label."""
    return (*(label_text(label) for label in labels), None)


def _number_text(label: float | np.floating | Decimal) -> str:
    number = float(label)
    if number.is_integer() and abs(number) < _LARGEST_WHOLE:
        return str(int(number))
    return repr(number)


def _is_nan(label: object) -> bool:
    """NaN and NaT differ from themselves; pandas.NA does not know."""
    try:
        return bool(label != label)  # noqa: PLR0124
    except (TypeError, ValueError):
        return True
