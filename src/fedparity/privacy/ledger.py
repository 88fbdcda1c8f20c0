"""The ledger: a local record of what left the building, against differencing.

Two releases of nearly the same data, each harmless, reveal by their difference the record that
one of them lacks. So a silo makes one release per plan. The ledger is a file of JSON lines that
never leaves the building: which plan, which silo, which release, when; and for a release with noise,
which data set and what it cost. It guards against mistakes, not against an operator who deletes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from fedparity.errors import BudgetError, LedgerError
from fedparity.privacy.ledger_entry import Entry, parsed_entries
from fedparity.privacy.locking import locked
from fedparity.privacy.spending import Spending, total_spent

__all__ = ["Entry", "Ledger", "default_ledger_path"]


_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Ledger:
    """The releases of the silos of one building, in a file that need not exist yet.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.jsonl")
    ...     with ledger.commit("sha256:1f", "north", "sha256:aa"):
    ...         pass  # make the file of the release visible here
    ...     [entry.release for entry in ledger.entries()]
    ['sha256:aa']
    """

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, the oldest first; none if there is no file.

        Raises
        ------
        LedgerError
            If the file cannot be read to its last line: what it says cannot be relied on.
        """
        try:
            with self.path.open("rb") as file, locked(file.fileno(), self.path, shared=True):
                return parsed_entries(file.read(), self.path)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None

    def spent(self, silo: str, dataset: str | None = None) -> float:
        """Return the privacy loss of a silo's releases: of one data set, or of all together.

        Raises
        ------
        LedgerError
            If the ledger cannot be read.
        """
        return total_spent(self.entries(), silo, dataset)

    def check_budget(self, plan: str, silo: str, spending: Spending) -> None:
        """Raise if no new release of ``silo`` could be made; write nothing.

        For an early answer, before data are read: :meth:`commit` decides.

        Raises
        ------
        LedgerError
            If a release under ``plan`` is on record, or the ledger cannot be read.
        BudgetError
            If the budget of the data set does not suffice.
        """
        entries = self.entries()
        self._refuse_another(entries, plan, silo, "")
        self._refuse_overspending(entries, silo, spending)

    def check(self, plan: str, silo: str, release: str) -> None:
        """Raise if another release of ``silo`` under ``plan`` is on record; write nothing.

        Raises
        ------
        LedgerError
            If there is one, or the ledger cannot be read.
        """
        self._refuse_another(self.entries(), plan, silo, release)

    def record(
        self, plan: str, silo: str, release: str, *, spending: Spending | None = None
    ) -> None:
        """Check and write down a release, with nothing in between.

        Raises
        ------
        LedgerError
            If another one is on record, or the ledger cannot be read or written.
        """
        with self.commit(plan, silo, release, spending=spending):
            pass

    @contextmanager
    def commit(
        self, plan: str, silo: str, release: str, *, spending: Spending | None = None
    ) -> Iterator[None]:
        """Write down a release, then let the caller make its file visible, under one lock.

        The entry is on disk before the body runs, and stays there if the body fails: a crash
        may leave an entry without a file, never a file without an entry. The same release may
        be committed again, so that a failed one can be repeated. ``spending`` is counted
        against its data set's budget under the same lock, so that two processes cannot both
        spend the last of it.

        Raises
        ------
        LedgerError
            Before the body runs, if another release is on record, or the ledger cannot be read
            or written.
        BudgetError
            Before the body runs, if the budget of the data set does not suffice.
        """
        descriptor = self._open()
        try:
            with locked(descriptor, self.path):
                self._append(descriptor, plan, silo, release, spending)
                yield
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self.path, _APPENDING, 0o600)
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None

    def _append(
        self, descriptor: int, plan: str, silo: str, release: str, spending: Spending | None
    ) -> None:
        """Add the entry, unless it is there, and wait until it is on disk."""
        try:
            entries = parsed_entries(_everything(descriptor), self.path)
            self._refuse_another(entries, plan, silo, release)
            if any((e.plan, e.silo, e.release) == (plan, silo, release) for e in entries):
                return
            entry = Entry(plan, silo, release, datetime.now(UTC).isoformat(timespec="seconds"))
            if spending is not None:
                self._refuse_overspending(entries, silo, spending)
                entry = replace(entry, dataset=spending.dataset, epsilon=spending.epsilon)
            _add_to_disk(descriptor, f"{entry.to_json()}\n".encode("ascii"))
            _sync_folder(self.path.parent)
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None

    def _refuse_another(
        self, entries: tuple[Entry, ...], plan: str, silo: str, release: str
    ) -> None:
        for entry in entries:
            if (entry.plan, entry.silo) == (plan, silo) and entry.release != release:
                raise LedgerError.another_release(self.path, silo=silo, plan=plan, time=entry.time)

    def _refuse_overspending(
        self, entries: tuple[Entry, ...], silo: str, spending: Spending
    ) -> None:
        spent = total_spent(entries, silo, spending.dataset)
        if not spending.fits(spent):
            raise BudgetError.exhausted(
                self.path,
                silo=silo,
                dataset=spending.dataset,
                spent=spent,
                epsilon=spending.epsilon,
                budget=spending.budget,
            )


def default_ledger_path() -> Path:
    """Return where the ledger of this user is: ``$FEDPARITY_LEDGER``, or the folder for state.

    That folder is ``$XDG_STATE_HOME`` (``~/.local/state`` if unset), on Windows
    ``%LOCALAPPDATA%``; the file in it is ``fedparity/ledger.jsonl``.

    Raises
    ------
    LedgerError
        If none is set and the user has no home folder.
    """
    if chosen := os.environ.get("FEDPARITY_LEDGER"):
        return Path(chosen)
    variable = "LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME"
    state = Path(os.environ.get(variable, ""))
    if not state.is_absolute():  # the XDG specification: ignore a relative one
        try:
            state = Path.home() / ".local" / "state"
        except RuntimeError:
            raise LedgerError.no_home() from None
    return state / "fedparity" / "ledger.jsonl"


def _everything(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return file.read()


def _add_to_disk(descriptor: int, line: bytes) -> None:
    """Write the line and wait until it is on disk; on a full disk leave no part of it."""
    size = os.fstat(descriptor).st_size
    try:
        while line:
            line = line[os.write(descriptor, line) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _sync_folder(folder: Path) -> None:
    """Make a new file's name survive a crash too, where folders can be opened."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
