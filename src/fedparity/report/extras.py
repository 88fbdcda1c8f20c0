"""Optional packages of reports: checked before work starts, named where they are missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fedparity.errors import MissingExtraError

__all__ = ["check_html", "check_pdf", "weasyprint"]


def check_html() -> None:
    """Raise unless everything that an HTML report needs is installed.

    Raises
    ------
    MissingExtraError
        If a package is missing.
    """
    for package in ("jinja2", "matplotlib"):
        _check(package, "an HTML report", "report")


def check_pdf() -> None:
    """Raise unless everything that a PDF needs is installed, system libraries included.

    Raises
    ------
    MissingExtraError
        If a package or a library is missing.
    """
    _check("matplotlib", "a PDF report", "pdf")
    weasyprint()


def weasyprint() -> Any:  # noqa: ANN401 -- a module
    """Return WeasyPrint, which loads libraries of the system as it is imported.

    Raises
    ------
    MissingExtraError
        If it, or one of these libraries, is missing.
    """
    _check("weasyprint", "a PDF report", "pdf")
    try:
        return import_module("weasyprint")
    except OSError:
        raise MissingExtraError.without_pango() from None


def _check(package: str, use: str, extra: str) -> None:
    try:
        found = find_spec(package) is not None
    except ValueError:  # a module that was made unavailable on purpose has no spec
        found = False
    if not found:
        raise MissingExtraError.for_use(package, use, extra)
