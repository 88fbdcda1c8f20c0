"""How a masked vector leaves: the ledger first, so that no data set is summed twice by mistake.

Two secure sums over the same records, one with a silo and one without, differ by that silo's data. So
without noise a silo takes part in one sum per data set, which is known by a name: the title of the
plan, unless the silo names another. With noise every sum is private by itself, and the budget of the
data set says how many there may be.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fedparity.errors import RoundError
from fedparity.privacy.ledger import Ledger
from fedparity.protocol.digests import digest_of
from fedparity.protocol.files import Path, refuse_existing
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.round_message import SiloRoundMessage
from fedparity.releasing.noisy import spending_of

__all__ = ["check_ledger", "committed_mask", "write_masked"]


def check_ledger(
    plan: Plan, silo: str, ledger: Ledger | None, *, dataset: str | None = None
) -> None:
    """Raise if the silo could not take part, before its table is read; write nothing.

    Raises
    ------
    RoundError
        If the silo took part in a sum of the same data set under another plan.
    LedgerError, BudgetError
        If it has sent something under this plan, or its budget is spent.
    """
    if ledger is None:
        return
    spending = spending_of(plan, dataset)
    if spending is not None:
        ledger.check_budget(plan.digest, silo, spending)
        return
    ledger.check(plan.digest, silo, "")
    _refuse_other_sum(plan, silo, ledger, dataset)


def write_masked(
    message: SiloRoundMessage,
    path: Path,
    *,
    plan: Plan,
    ledger: Ledger | None,
    dataset: str | None = None,
    force: bool = False,
) -> None:
    """Enter a masked vector into the ledger and write it, whole or not at all.

    The state of the round must be on disk before.

    Raises
    ------
    RoundError, LedgerError, BudgetError
        As :func:`check_ledger`; the same vector may be written again.
    OutputError
        If the file exists and ``force`` is not set, or cannot be written.
    """
    if not force:
        refuse_existing(path)
    with committed_mask(message, plan=plan, ledger=ledger, dataset=dataset):
        message.write(path, force=force)


@contextmanager
def committed_mask(
    message: SiloRoundMessage, *, plan: Plan, ledger: Ledger | None, dataset: str | None = None
) -> Iterator[None]:
    """Enter a masked vector into the ledger, then let the caller send it, under one lock.

    Raises
    ------
    RoundError, LedgerError, BudgetError
        As :func:`check_ledger`, before the body runs.
    """
    if ledger is None:
        yield
        return
    spending = spending_of(plan, dataset)
    if spending is None:
        _refuse_other_sum(plan, message.silo, ledger, dataset)
        ledger.record(_name_of(plan, dataset), message.silo, plan.digest)
    with ledger.commit(plan.digest, message.silo, message.digest, spending=spending):
        yield


def _refuse_other_sum(plan: Plan, silo: str, ledger: Ledger, dataset: str | None) -> None:
    name = _name_of(plan, dataset)
    for entry in ledger.entries():
        if (entry.plan, entry.silo) == (name, silo) and entry.release != plan.digest:
            raise RoundError.other_round(silo=silo, time=entry.time)


def _name_of(plan: Plan, dataset: str | None) -> str:
    """What stands in the ledger for all sums of one data set: at the place of a plan's digest."""
    return digest_of(f"fedparity/secure-sum\n{dataset or plan.title}".encode())
