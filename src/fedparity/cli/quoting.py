"""Commands as one types them into a shell."""

from __future__ import annotations

from shlex import quote

from fedparity.errors.base import printable

__all__ = ["quoted"]


def quoted(*words: object) -> str:
    """Return the words as a shell reads them.

    Examples
    --------
    >>> quoted("fedparity", "audit", "my plan.toml")
    "fedparity audit 'my plan.toml'"
    """
    return printable(" ".join(quote(str(word)) for word in words))
