"""The template engine: it escapes everything, and refuses names that it does not know."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from fedparity.report.extras import check_html
from fedparity.report.html.markup import Markup
from fedparity.report.numbers import number

__all__ = ["environment"]

_NEAR_THE_EDGE = 12
"""Percent of the width: a label so near to it is written inwards."""


@cache
def environment() -> Any:  # noqa: ANN401 -- of an optional package
    """Return the environment of the templates.

    Raises
    ------
    MissingExtraError
        If Jinja or matplotlib is not installed.
    """
    check_html()
    jinja2 = import_module("jinja2")
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("fedparity.report.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(anchor=_anchor, tick=number)
    return made


def _anchor(place: float) -> Markup:
    """How a label at a place in percent is aligned, so that it stays inside."""
    if place < _NEAR_THE_EDGE:
        return Markup(' text-anchor="start"')
    return Markup(' text-anchor="end"' if place > 100 - _NEAR_THE_EDGE else "")
