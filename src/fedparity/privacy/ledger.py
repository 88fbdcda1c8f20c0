"""The ledger: a local record of what left the building, against differencing.

Two releases of nearly the same data, each harmless, reveal by their difference the record that
one of them lacks. So a silo makes one release per plan. The ledger is a file of JSON lines that
never leaves the building: which plan, which silo, which release, when. It guards against
mistakes, not against an operator who deletes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from fedparity.errors import LedgerError
from fedparity.privacy.locking import locked

__all__ = ["Entry", "Ledger", "default_ledger_path"]


_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Entry:
    """One release: digests and a time, never a value or a count."""

    plan: str
    """Digest of the plan."""
    silo: str
    release: str
    """Digest of what was released."""
    time: str
    """In UTC, to the second."""


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
                return _parsed(file.read(), self.path)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None

    def check(self, plan: str, silo: str, release: str) -> None:
        """Raise if another release of ``silo`` under ``plan`` is on record; write nothing.

        Raises
        ------
        LedgerError
            If there is one, or the ledger cannot be read.
        """
        self._refuse_another(self.entries(), plan, silo, release)

    def record(self, plan: str, silo: str, release: str) -> None:
        """Check and write down a release, with nothing in between.

        Raises
        ------
        LedgerError
            If another one is on record, or the ledger cannot be read or written.
        """
        with self.commit(plan, silo, release):
            pass

    @contextmanager
    def commit(self, plan: str, silo: str, release: str) -> Iterator[None]:
        """Write down a release, then let the caller make its file visible, under one lock.

        The entry is on disk before the body runs, and stays there if the body fails: a crash
        may leave an entry without a file, never a file without an entry. The same release may
        be committed again, so that a failed one can be repeated.

        Raises
        ------
        LedgerError
            Before the body runs, if another release is on record, or the ledger cannot be read
            or written.
        """
        descriptor = self._open()
        try:
            with locked(descriptor, self.path):
                self._append(descriptor, plan, silo, release)
                yield
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self.path, _APPENDING, 0o600)
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None

    def _append(self, descriptor: int, plan: str, silo: str, release: str) -> None:
        """Add the entry, unless it is there, and wait until it is on disk."""
        try:
            entries = _parsed(_everything(descriptor), self.path)
            self._refuse_another(entries, plan, silo, release)
            if any((e.plan, e.silo, e.release) == (plan, silo, release) for e in entries):
                return
            now = datetime.now(UTC).isoformat(timespec="seconds")
            line = json.dumps(asdict(Entry(plan, silo, release, now))) + "\n"
            _add_to_disk(descriptor, line.encode("ascii"))
            _sync_folder(self.path.parent)
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None

    def _refuse_another(
        self, entries: tuple[Entry, ...], plan: str, silo: str, release: str
    ) -> None:
        for entry in entries:
            if (entry.plan, entry.silo) == (plan, silo) and entry.release != release:
                raise LedgerError.another_release(self.path, silo=silo, plan=plan, time=entry.time)


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


def _parsed(content: bytes, path: Path) -> tuple[Entry, ...]:
    """The entries of the file; an empty file has none."""
    lines = content.split(b"\n")
    if lines.pop():
        raise LedgerError.torn(path, len(lines) + 1)
    return tuple(_entry(line, path, number) for number, line in enumerate(lines, start=1))


def _entry(line: bytes, path: Path, number: int) -> Entry:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise LedgerError.unreadable(path, number) from None
    names = {field.name for field in fields(Entry)}
    if not (isinstance(found, dict) and found.keys() == names):
        raise LedgerError.unreadable(path, number)
    if not all(isinstance(value, str) for value in found.values()):
        raise LedgerError.unreadable(path, number)
    return Entry(**found)


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
