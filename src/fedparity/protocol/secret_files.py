"""Files that hold a secret: who may read them, and the passphrases that some of them hold."""

from __future__ import annotations

import os
import stat
import sys

from fedparity.errors import KeyFileError
from fedparity.errors.base import FedparityError, printable
from fedparity.protocol.files import Path

__all__ = ["read_passphrase", "refuse_open_to_others"]

_LONGEST = 1000


def refuse_open_to_others(
    handle: int, name: Path, *, what: str, error: type[FedparityError]
) -> None:
    """Raise if others than its owner may use an open file of the secret ``what``.

    Windows keeps rights elsewhere; there nothing is looked at.

    Raises
    ------
    FedparityError
        Then; of the class ``error``.
    """
    mode = os.fstat(handle).st_mode
    if sys.platform != "win32" and stat.S_ISREG(mode) and mode & 0o077:
        shown = printable(os.fspath(name))
        raise error(
            f"the file {shown} holds {what}, and others than its owner may use it.",
            fix=f"chmod 600 {shown}; if others have read it, replace what it holds.",
        )


def read_passphrase(name: str) -> bytes:
    """Return the passphrase of a file, or of the standard input for ``-``: its first line.

    Raises
    ------
    KeyFileError
        If it cannot be read, is empty, or others than its owner may read it.
    """
    try:
        if name == "-":
            line = sys.stdin.readline(_LONGEST).encode()
        else:
            with open(name, "rb") as file:  # noqa: PTH123 -- pathlib takes 7 ms to import
                refuse_open_to_others(file.fileno(), name, what="a passphrase", error=KeyFileError)
                line = file.readline(_LONGEST)
    except OSError as problem:
        raise KeyFileError.unreadable(name, str(problem.strerror)) from None
    passphrase = line.rstrip(b"\r\n")
    if not passphrase:
        place = "the standard input" if name == "-" else name
        raise KeyFileError(
            f"{place} holds no passphrase on its first line.",
            fix="write the passphrase, and nothing else, to a file of mode 600.",
        )
    return passphrase
