"""The base of every error, and optional packages: imported where they are used, named in an error where they are missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = [
    "FedparityError",
    "InputError",
    "MissingExtraError",
    "check_html",
    "check_pdf",
    "check_xlsx",
    "extra",
    "installed_pyarrow",
    "listed",
    "needs_cryptography",
    "polars",
    "printable",
    "pyarrow",
]


class FedparityError(Exception):
    """Base of every error raised on purpose.

    Parameters
    ----------
    message : str
        One sentence: what was expected, what was found, and where.
    fix : str
        What to do about it; printed on a line of its own, after ``fix:``.
    """

    def __init__(self, message: str, *, fix: str) -> None:
        message, fix = printable(message), printable(fix)
        super().__init__(message, fix)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message}\nfix: {self.fix}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.fix)


def printable(text: object) -> str:
    r"""Return a text that does nothing to a terminal: what cannot be printed is escaped.

    The names of files and labels are others' words: an escape sequence in one would clear the screen,
    or paint a line that the program did not write. Line ends stay.

    Examples
    --------
    >>> printable("inbox/a\x1b[2J.json"), printable("Å 東京.json")
    ('inbox/a\\x1b[2J.json', 'Å 東京.json')
    """
    words = str(text)
    if words.isprintable():
        return words
    return "".join(c if c.isprintable() or c in "\n\u3000\xa0" else ascii(c)[1:-1] for c in words)


def _rebuild(kind: type[FedparityError], message: str, fix: str) -> FedparityError:
    """Unpickle an error: its ``fix`` is keyword-only, which pickle cannot pass by itself."""
    return kind(message, fix=fix)


class InputError(FedparityError, ValueError):
    """The data or options given to a function are not what it accepts."""


def listed(labels: Iterable[object], most: int = 5) -> str:
    """Return the labels, quoted and separated by commas, cut after ``most``."""
    names = [repr(label) for label in labels]
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


class MissingExtraError(FedparityError):
    """An optional package is needed and not installed."""

    @classmethod
    def for_use(cls, package: str, use: str, extra: str = "io") -> MissingExtraError:
        return cls(
            f"{use} needs the package {package}, which is not installed.",
            fix=f"pip install 'fedparity[{extra}]'",
        )


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
