"""The ledger: a local record of what left the building, against differencing.

A file of JSON lines that never leaves the building; each line holds the digest of the one before it, so
that a line that was changed or removed is noticed. What is refused is in
:mod:`fedparity.privacy.policy`. It guards against mistakes and against plans that request too much,
not against an operator who deletes the whole file.
"""

from __future__ import annotations

import json
import math
import os
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from fedparity.errors import LedgerError
from fedparity.errors.base import printable

__all__ = [
    "Entry",
    "EntryKind",
    "Ledger",
    "View",
    "default_ledger_path",
    "line_digest",
    "locked",
    "now",
    "parsed_entries",
]


EntryKind: TypeAlias = Literal["begin", "release", "void", "approval", "torn"]
View: TypeAlias = Mapping[str, Any]
"""What a plan requests of the records, as far as two releases are compared by it; all of it is public."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One event: digests, names, a time, what it cost and how many rows there were; no value of a record.

    Which fields there are depends on the kind: ``begin`` has none that it needs, ``release`` a plan,
    silo, release and view, ``void`` a release and a reason, ``approval`` a plan, a person and a
    reason, ``torn`` the text of a line that was not written to its end.
    """

    entry: EntryKind
    time: str
    """In UTC, to the second."""
    previous: str | None = None
    """The digest of the line before; None in the first."""
    plan: str | None = None
    silo: str | None = None
    dataset: str | None = None
    """Its name in the silo's policy; None if all tables of the silo form one data set."""
    table: str | None = None
    """The path or address that was read, without a password; None for records in memory."""
    release: str | None = None
    """The digest of what was released, without its signature and the version of the software."""
    message: str | None = None
    """The digest that the auditor sees."""
    replaces: str | None = None
    """The voided message that this one replaces."""
    view: View | None = None
    in_period: bool | None = None
    """Whether the operator said that the rows are those of the plan's period."""
    epsilon: float | None = None
    budget: float | None = None
    """What the plan allowed for all releases of the data set together."""
    file: str | None = None
    """Where the message was written; None where it was handed to a caller."""
    staged: str | None = None
    """The complete file that became it; it is there only after a crash."""
    because: str | None = None
    weaker: Sequence[str] = ()
    """Rules of the policy that were overridden."""
    reading: Mapping[str, Any] | None = None
    """How the table was read: its columns, filter, map and group for other labels, where they were given."""
    rows: Mapping[str, Any] | None = None
    """The numbers of rows read, filtered and relabeled; None in a privacy mode, whose exact numbers are not recorded."""
    by: str | None = None
    text: str | None = None

    def to_json(self) -> str:
        """Return the entry's line; what is absent is left out."""
        stated = {each.name: getattr(self, each.name) for each in fields(self)}
        kept = {name: value for name, value in stated.items() if value not in (None, ())}
        return json.dumps(kept)

    @property
    def noisy(self) -> bool:
        """Whether noise was added."""
        return self.epsilon is not None

    def within_days(self, now: str, days: int) -> bool:
        """Whether it is at most this many days old."""
        return (datetime.fromisoformat(now) - datetime.fromisoformat(self.time)).days < days


def line_digest(line: bytes) -> str:
    """Return the digest of a line without its end, which the next line holds."""
    return f"sha256:{sha256(line).hexdigest()}"


class _Chain(NamedTuple):
    """Lines that were found to be one chain, with their entries."""

    content: bytes = b""
    entries: tuple[Entry, ...] = ()
    head: str | None = None
    """The digest of the last line, which the next one has to hold."""


_MOST_CHAINS = 8
_chains: dict[Path, _Chain] = {}
"""A cache of the ledgers that this process validated, the one least recently used first."""


def parsed_entries(content: bytes, path: Path) -> tuple[Entry, ...]:
    """Return the entries of all lines that were written to their end, found to be one chain.

    A process that releases many messages reads its ledger before each. Lines that are byte for byte those
    that it validated before are not validated again; all others are, and so are all lines after a change.

    Raises
    ------
    LedgerError
        If a line is not an entry, or does not continue the chain.
    """
    known = _chains.pop(path, _Chain())
    if not content.startswith(known.content):
        known = _Chain()
    complete = content[: content.rfind(b"\n") + 1]
    if len(complete) > len(known.content):
        known = _extended(known, complete, path)
    _chains[path] = known
    while len(_chains) > _MOST_CHAINS:
        del _chains[next(iter(_chains))]
    return known.entries


def _extended(known: _Chain, content: bytes, path: Path) -> _Chain:
    """The chain of all lines of a content that starts with the lines known."""
    entries, previous = list(known.entries), known.head
    lines = content[len(known.content) :].split(b"\n")[:-1]
    for number, line in enumerate(lines, start=len(entries) + 1):
        entry = _entry(line)
        if entry is None:
            raise LedgerError.unreadable(path, number, "is not an entry of a ledger")
        if entry.previous != previous:
            reason = "does not continue the line before it: a line was changed or is missing"
            raise LedgerError.unreadable(path, number, reason)
        entries.append(entry)
        previous = line_digest(line)
    return _Chain(content, tuple(entries), previous)


def _entry(line: bytes) -> Entry | None:
    try:
        found = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("entry") not in get_args(EntryKind):
        return None
    needed = _NEEDED[found["entry"]]
    if not needed <= found.keys() <= needed | _OPTIONAL[found["entry"]]:
        return None
    if not all(_FIELDS[name](value) for name, value in found.items()):
        return None
    if ("epsilon" in found) != ("budget" in found):
        return None
    return Entry(**found)


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_loss(value: object) -> bool:
    """Whether this is a privacy loss; an entry that says -5 must not give budget back."""
    return _is_number(value) and value > 0  # type: ignore[operator]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_period(value: object) -> bool:
    if value is None:
        return True
    try:
        first, last = (date.fromisoformat(day) for day in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return False
    return first <= last


def _list_of(check: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_label(value: object) -> bool:
    return isinstance(value, str | int) or (
        isinstance(value, list) and all(isinstance(part, str | int) for part in value)
    )


def _object_of(
    checks: Mapping[str, Callable[[Any], bool]], *, optional: Collection[str] = ()
) -> Callable[[object], bool]:
    """The check of an object with these members, of which it may lack the ``optional`` ones."""
    return lambda value: (
        isinstance(value, dict)
        and checks.keys() - set(optional) <= value.keys() <= checks.keys()
        and all(checks[name](member) for name, member in value.items())
    )


_VIEW: Mapping[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "mode": _is_text,
    "sketch": _is_text,
    "groups": _list_of(_is_label),
    "levels": _is_number,
    "thresholds": _list_of(_is_number),
    "grid": _list_of(lambda value: value is None or _is_number(value)),
    "period": _is_period,
    "axes": lambda value: isinstance(value, list),
    "outcome": lambda value: isinstance(value, dict),
}
_READING: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("score", "weight", "where", "other", "missing"), _is_text),
    "group": _list_of(_is_text),
    "map": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
}
_RELABELING: Mapping[str, Callable[[Any], bool]] = {
    "label": lambda value: value is None or isinstance(value, str),
    "group": _is_label,
    "reason": lambda value: value in ("map", "other", "missing", "spelling"),
    "rows": _is_count,
}
_ROWS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("read", "filtered", "without_score", "weightless"), _is_count),
    "relabeled": _list_of(_object_of(_RELABELING)),
}
_FIELDS: Mapping[str, Callable[[object], bool]] = {
    **{each.name: _is_text for each in fields(Entry)},
    "time": _is_time,
    "view": _object_of(_VIEW, optional=("axes", "outcome")),
    "in_period": lambda value: isinstance(value, bool),
    "epsilon": _is_loss,
    "budget": _is_loss,
    "weaker": _list_of(_is_text),
    "reading": _object_of(_READING, optional=_READING),
    "rows": _object_of(_ROWS),
}
_ALWAYS = frozenset({"entry", "time"})
_NEEDED: Mapping[str, frozenset[str]] = {
    "begin": _ALWAYS,
    "release": _ALWAYS | {"previous", "plan", "silo", "release", "message", "view"},
    "void": _ALWAYS | {"previous", "release", "because"},
    "approval": _ALWAYS | {"previous", "plan", "by", "because"},
    "torn": _ALWAYS | {"previous", "text"},
}
_OPTIONAL: Mapping[str, frozenset[str]] = {
    "begin": frozenset({"because", "previous"}),
    "release": frozenset(
        {
            "dataset",
            "table",
            "replaces",
            "in_period",
            "epsilon",
            "budget",
            "file",
            "staged",
            "because",
            "weaker",
            "reading",
            "rows",
        }
    ),
    "void": frozenset(),
    "approval": frozenset(),
    "torn": frozenset(),
}


_KERNEL_LOCKS = find_spec("fcntl") is not None  # not on Windows
_PATIENCE = 30.0
_PAUSE = 0.02


@contextmanager
def locked(descriptor: int, path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of an open file: alone, or ``shared`` with others that only read.

    The kernel's own lock ends with its process, even after a crash. Where there is none, a
    lock file next to the file is used: it may outlive a crash, and then has to be deleted by hand.

    Raises
    ------
    LedgerError
        If another process does not let go in time, or the file system has no locks.
    """
    lock = _kernel_lock(descriptor, path, shared=shared) if _KERNEL_LOCKS else _lock_file(path)
    with lock:
        yield


@contextmanager
def _kernel_lock(descriptor: int, path: Path, *, shared: bool) -> Iterator[None]:
    import fcntl  # noqa: PLC0415 -- not on Windows

    operation = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    _wait_for(lambda: fcntl.flock(descriptor, operation), path)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    lock = path.with_name(path.name + ".lock")
    _wait_for(lambda: os.close(os.open(lock, os.O_CREAT | os.O_EXCL)), path)
    try:
        yield
    finally:
        lock.unlink()


def _wait_for(acquire: Callable[[], None], path: Path) -> None:
    """Try until it succeeds, or patience ends."""
    give_up = time.monotonic() + _PATIENCE
    while True:
        try:
            return acquire()
        except (BlockingIOError, FileExistsError):
            if time.monotonic() > give_up:
                raise LedgerError(
                    f"another process has held the ledger {path} for more than {_PATIENCE:g} seconds.",
                    fix="wait for it to end; if none is running, delete the file of the same name ending "
                    "in .lock, if there is one.",
                ) from None
        except OSError as error:  # no locks here, or a folder that may not be written to
            raise LedgerError.out_of_reach(path, error.strerror or "it has no lock") from None
        time.sleep(_PAUSE)


_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""A named pipe in the place of a file must not be waited for."""
_APPENDING = os.O_RDWR | os.O_APPEND | _FLAGS


@dataclass(frozen=True)
class Ledger:
    """The releases of the silos of one building, in a file that need not exist yet.

    Parameters
    ----------
    path : Path
    must_exist : bool
        Whether a missing file is an error; otherwise it is begun, and a line on the standard error
        stream says so.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.jsonl")
    ...     ledger.begin(because="the old disk is lost")
    ...     [entry.because for entry in ledger.entries()]
    ['the old disk is lost']
    """

    path: Path
    must_exist: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, the oldest first; empty without a file.

        A last line that was not written to its end is left out: its message did not leave.

        Raises
        ------
        LedgerError
            If a line is damaged: what the file says cannot be relied on.
        """
        return parsed_entries(self._content(), self.path)

    @property
    def head(self) -> str | None:
        """The digest of the last line, which identifies the whole file; None for an empty file."""
        lines = self._content().split(b"\n")[:-1]
        return line_digest(lines[-1]) if lines else None

    def begin(self, *, because: str | None = None, shared: bool = False) -> None:
        """Make the file, with a first line; ``shared`` lets the group of its folder write to it.

        Raises
        ------
        LedgerError
            If it is there already, or cannot be made.
        """
        first = Entry(entry="begin", time=now(), because=because)
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None
        try:
            flags, mode = _APPENDING | os.O_CREAT | os.O_EXCL, 0o660 if shared else 0o600
            descriptor = os.open(self.path, flags, mode)
        except FileExistsError:
            raise LedgerError(
                f"there is a ledger in {self.path} already.",
                fix="leave it as it is; fedparity ledger show prints it.",
            ) from None
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None
        try:
            if shared and os.name != "nt":
                os.fchmod(descriptor, 0o660)  # whatever the umask
            with locked(descriptor, self.path):
                if not os.fstat(descriptor).st_size:  # nobody was faster
                    _append(descriptor, b"", first)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None
        finally:
            os.close(descriptor)

    def add(self, entry: Entry) -> None:
        """Write an entry that no rule has to allow: an approval, a void."""
        with self.commit(entry, lambda _: True):
            pass

    @contextmanager
    def commit(self, entry: Entry, allowed: Callable[[Sequence[Entry]], bool]) -> Iterator[None]:
        """Write an entry, then let the caller make its file visible, under one lock.

        The entry is on disk before the body runs, and stays there if the body fails: a crash
        may leave an entry without a file, never a file without an entry. ``allowed`` sees all
        entries under the same lock, so that two processes cannot both spend the last of a budget;
        it raises what is refused, and returns False if the entry is there already.

        Raises
        ------
        LedgerError
            Before the body runs, if the ledger cannot be read or written.
        """
        descriptor = self._open()
        try:
            with locked(descriptor, self.path):
                try:
                    lines = self._mended(descriptor)
                    if allowed(parsed_entries(lines, self.path)):
                        _append(descriptor, lines, entry)
                except OSError as error:
                    raise LedgerError.out_of_reach(self.path, _reason(error)) from None
                yield
        finally:
            os.close(descriptor)

    def _content(self) -> bytes:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | _FLAGS)
        except FileNotFoundError:
            if self.must_exist:
                raise self._missing() from None
            return b""
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None
        try:
            self._require_file(descriptor)
            with locked(descriptor, self.path, shared=True):
                return _everything(descriptor)
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        if not self.must_exist and not os.path.lexists(self.path):
            self._begin_with_notice()
        try:
            descriptor = os.open(self.path, _APPENDING)
        except FileNotFoundError:
            raise self._missing() from None
        except OSError as error:
            raise LedgerError.out_of_reach(self.path, _reason(error)) from None
        try:
            self._require_file(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _begin_with_notice(self) -> None:
        try:
            self.begin()
        except LedgerError:
            if not os.path.lexists(self.path):
                raise
            return  # another process began it at the same moment
        sys.stderr.write(
            f"note: there was no ledger, so a new one begins in\n  {printable(self.path)}\n"
            "  If you have an earlier one, name it with --ledger: this one knows nothing of past releases.\n"
        )

    def _require_file(self, descriptor: int) -> None:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise LedgerError.out_of_reach(
                self.path, "it is not a file that keeps what is written"
            )

    def _missing(self) -> LedgerError:
        return LedgerError(
            f"there is no ledger in {self.path}, and the policy says that it exists.",
            fix="find out where it is; if it is lost, or this is the first release, run "
            "fedparity ledger init --because TEXT.",
        )

    def _mended(self, descriptor: int) -> bytes:
        """All complete lines; a last one that is torn becomes an entry that records it.

        A line is complete on disk before its message gets a name, so nothing left under a torn one.
        """
        content = _everything(descriptor)
        end = content.rfind(b"\n") + 1
        lines, torn = content[:end], content[end:]
        parsed_entries(lines, self.path)  # a file that is damaged elsewhere is not touched
        if torn:
            os.ftruncate(descriptor, len(lines))
        if not lines:
            lines = _append(descriptor, lines, Entry(entry="begin", time=now()))
        if torn:
            text = torn.decode("utf-8", "backslashreplace")
            lines = _append(descriptor, lines, Entry(entry="torn", time=now(), text=text))
        return lines


def now() -> str:
    """Return the time in UTC, to the second, as an entry holds it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


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
            raise LedgerError(
                "this user has no home folder in which to keep the ledger.",
                fix="set FEDPARITY_LEDGER to a file that persists between releases.",
            ) from None
    return state / "fedparity" / "ledger.jsonl"


def _append(descriptor: int, lines: bytes, entry: Entry) -> bytes:
    """Add the entry to complete lines, wait until it is on disk, and return all lines."""
    last = lines[lines.rfind(b"\n", 0, -1) + 1 : -1]  # not a copy of all lines
    chained = replace(entry, previous=line_digest(last) if lines else None)
    line = f"{chained.to_json()}\n".encode("ascii")
    _add_to_disk(descriptor, line)
    return lines + line


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
