"""Numbers of the result in the page: each is named by where it stands in the JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fedparity.diagnostics.intervals import Interval
from fedparity.report.html.markup import Markup, escaped
from fedparity.report.html.pointers import looked_up
from fedparity.report.numbers import amount, number, percent, span, stated

__all__ = ["FORMS", "NOTHING", "Values", "written"]

NOTHING: Final = "–"
"""What stands where the result has no number."""


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)


def _span(ends: list[float]) -> str:
    return span(Interval(*ends))


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


FORMS: Final[Mapping[str, Callable[[Any], str]]] = {
    "number": number,
    "signed": _signed,
    "stated": stated,
    "percent": percent,
    "amount": amount,
    "span": _span,
    "text": _text,
}
"""Ways to write what the JSON holds, by the name that ``data-as`` gives them."""


def written(value: Any, form: str) -> str:  # noqa: ANN401 -- JSON holds anything
    """Return a value of the JSON as the page shows it.

    Examples
    --------
    >>> written(0.0421053, "number"), written([0, 0.5], "span"), written(None, "number")
    ('0.0421', '0 to 0.5', '–')
    """
    return NOTHING if value is None else FORMS[form](value)


class Values:
    """Shows numbers of one result.

    Examples
    --------
    >>> Values({"disparity": {"value": 0.0421053}})("/disparity/value")
    '<span data-path="/disparity/value">0.0421</span>'
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def __call__(self, path: str, form: str = "number") -> Markup:
        """Return the number at a path with the path beside it, so that anyone can check it."""
        shown = escaped(self.text(path, form))
        how = "" if form == "number" else f' data-as="{form}"'
        return Markup(f'<span data-path="{escaped(path)}"{how}>{shown}</span>')

    def text(self, path: str, form: str = "number") -> str:
        """Return the number at a path as text."""
        return written(looked_up(self._document, path), form)
