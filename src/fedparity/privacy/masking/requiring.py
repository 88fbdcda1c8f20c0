"""The one package that the masks rest on, asked for where it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fedparity.errors import MissingExtraError

__all__ = ["needs_cryptography"]


@contextmanager
def needs_cryptography() -> Iterator[None]:
    """Turn a failed import into an error that says what to install."""
    try:
        yield
    except ImportError:
        raise MissingExtraError.for_use("cryptography", "a secure sum", "secure") from None
