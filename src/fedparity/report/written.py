"""What the JSON of a result holds, as people read it: one way for each kind of number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from fedparity.diagnostics.intervals import Interval
from fedparity.report.numbers import amount, number, percent, percents, span, stated

__all__ = ["FORMS", "NOTHING", "written"]

NOTHING: Final = "–"
"""What stands where the result has no number."""


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)


def _ends(ends: list[float | None]) -> Interval:
    """An interval; JSON writes an end without limit as null."""
    lower, upper = ends
    return Interval(-math.inf if lower is None else lower, math.inf if upper is None else upper)


def _span(ends: list[float | None]) -> str:
    return span(_ends(ends))


def _percents(ends: list[float | None]) -> str:
    return percents(_ends(ends))


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


FORMS: Final[Mapping[str, Callable[[Any], str]]] = {
    "number": number,
    "signed": _signed,
    "stated": stated,
    "percent": percent,
    "amount": amount,
    "span": _span,
    "percents": _percents,
    "text": _text,
}
"""Ways to write what the JSON holds, by the name that ``data-as`` gives them."""


def written(value: Any, form: str) -> str:  # noqa: ANN401 -- JSON holds anything
    """Return a value of the JSON as a report shows it.

    Examples
    --------
    >>> written(0.0421053, "number"), written([0, 0.5], "span"), written(None, "number")
    ('0.0421', '0 to 0.5', '–')
    >>> written([0.621, None], "span")
    '0.621 to ∞'
    """
    return NOTHING if value is None else FORMS[form](value)
