"""The base of every error, and the base of errors in what a caller gave."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["FedparityError", "InputError", "listed", "printable"]


class FedparityError(Exception):
    """Base of every error raised on purpose.

    Parameters
    ----------
    message : str
        One sentence: what was expected, what came, where.
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
