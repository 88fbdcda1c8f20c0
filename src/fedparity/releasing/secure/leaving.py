"""How a masked vector leaves: the ledger first, so that no data set is summed twice by mistake.

Two secure sums over the same records, one with a silo and one without, differ by that silo's data. So a
silo takes part in one sum per data set, unless its operator says why another is acceptable; with noise the
budget of the data set counts as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fedparity.protocol.files import Path
from fedparity.protocol.secure.round_message import SiloRoundMessage
from fedparity.releasing.permit import Permit

__all__ = ["committed_mask", "write_masked"]


def write_masked(
    message: SiloRoundMessage, path: Path, *, permit: Permit, force: bool = False
) -> None:
    """Enter a masked vector into the ledger and write it, whole or not at all.

    The state of the round must be on disk before.

    Raises
    ------
    RuleError, LedgerError, BudgetError
        If the silo may not take part; the same vector may be written again.
    OutputError
        If the file exists and ``force`` is not set, or cannot be written; nothing is entered.
    """
    digest = message.digest
    permit.write(path, message.to_bytes(), release=digest, message=digest, force=force)


@contextmanager
def committed_mask(message: SiloRoundMessage, permit: Permit) -> Iterator[None]:
    """Enter a masked vector into the ledger, then let the caller send it, under one lock.

    Raises
    ------
    RuleError, LedgerError, BudgetError
        As :func:`write_masked`, before the body runs.
    """
    with permit.commit(message.digest, message.digest):
        yield
