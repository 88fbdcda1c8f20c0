"""An advisory lock between processes that read and write the same file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from fedparity.errors import LedgerError

__all__ = ["locked"]

_KERNEL_LOCKS = find_spec("fcntl") is not None  # not on Windows
_PATIENCE = 30.0
_PAUSE = 0.02


@contextmanager
def locked(descriptor: int, path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of an open file: alone, or ``shared`` with others that only read.

    The kernel's own lock ends with its process, whatever happens to it. Where there is none, a
    lock file beside the file does: it may outlive a crash, and then has to be deleted by hand.

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
                raise LedgerError.busy(path, _PATIENCE) from None
        except OSError as error:  # no locks here, or a folder that may not be written to
            raise LedgerError.out_of_reach(path, error.strerror or "it has no lock") from None
        time.sleep(_PAUSE)
