"""Optional packages: imported where they are used, and named in an error where they are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from fedparity.errors import MissingExtraError

__all__ = [
    "check_html",
    "check_pdf",
    "check_xlsx",
    "extra",
    "installed_pyarrow",
    "needs_cryptography",
    "polars",
    "pyarrow",
]


def polars(use: str) -> Any:  # noqa: ANN401 -- a module
    """Return polars, which ``use`` needs."""
    return extra("polars", use)


def pyarrow(use: str, module: str = "pyarrow") -> Any:  # noqa: ANN401 -- a module
    """Return pyarrow, or one of its modules, which ``use`` needs."""
    return extra(module, use)


@cache
def installed_pyarrow() -> Any:  # noqa: ANN401 -- a module
    """Return pyarrow if it is installed, for what is faster with it and works without."""
    try:
        return import_module("pyarrow")
    except ImportError:
        return None


def extra(module: str, use: str, name: str = "io") -> ModuleType:
    """Return a module of the extra ``name``, which ``use`` needs."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtraError.for_use(package, use, name) from None


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
    """Raise unless everything that a PDF needs is installed.

    Raises
    ------
    MissingExtraError
        If a package is missing.
    """
    for package in ("matplotlib", "typst"):
        _check(package, "a PDF report", "pdf")


def check_xlsx() -> None:
    """Raise unless everything that a workbook needs is installed.

    Raises
    ------
    MissingExtraError
        If a package is missing.
    """
    _check("xlsxwriter", "a workbook", "excel")


def _check(package: str, use: str, extra: str) -> None:
    try:
        found = find_spec(package) is not None
    except ValueError:  # a module that was made unavailable on purpose has no spec
        found = False
    if not found:
        raise MissingExtraError.for_use(package, use, extra)


@contextmanager
def needs_cryptography() -> Iterator[None]:
    """Turn a failed import into an error that says what to install."""
    try:
        yield
    except ImportError:
        raise MissingExtraError.for_use("cryptography", "a secure sum", "secure") from None
