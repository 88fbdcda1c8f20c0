"""The file that holds the address of a database, which may hold a password."""

from __future__ import annotations

import sys
from pathlib import Path

from fedparity.errors import OptionError
from fedparity.protocol.secret_files import refuse_open_to_others
from fedparity.sources.sql.addresses import is_address

__all__ = ["read_address"]

_LONGEST = 10_000


def read_address(file: str) -> str:
    """Return the address that a file holds, or the standard input for ``-``.

    Raises
    ------
    OptionError
        If others than its owner may read the file, or it does not hold one address.
    """
    if file == "-":
        text = sys.stdin.read(_LONGEST)
    else:
        with Path(file).open(encoding="utf-8", errors="replace") as lines:
            refuse_open_to_others(
                lines.fileno(), file, what="the address of a database", error=OptionError
            )
            text = lines.read(_LONGEST)
    address = text.strip()
    if not is_address(address) or len(address.split()) != 1:
        place = "the standard input" if file == "-" else repr(file)
        raise OptionError(
            f"{place} does not hold the address of a database on one line.",
            fix="write one line such as postgresql://user:password@host/name, and nothing else.",
        )
    return address
