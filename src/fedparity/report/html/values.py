"""Numbers of the result in the page: each is named by where it stands in the JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedparity.report.html.markup import Markup, escaped
from fedparity.report.pointers import looked_up
from fedparity.report.written import written

__all__ = ["Values"]


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
