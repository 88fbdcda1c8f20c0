"""The file of a round's state: secret, whole or not at all, and held by one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fedparity.errors import RoundStateError
from fedparity.privacy.locking import locked
from fedparity.releasing.secure.state import RoundState

__all__ = ["StateFile"]

_LARGEST = 64 * 2**20
_TRIES = 5


class StateFile:
    """Where a silo keeps the state of one round; readable by its owner alone (0o600).

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = StateFile(Path(folder) / "aurora.state")
    ...     file.create(RoundState.fresh("sha256:" + 64 * "0", "aurora"))
    ...     with file.held() as state:
    ...         state
    RoundState('aurora', sent nothing)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def create(self, state: RoundState) -> None:
        """Write the state of a new round.

        Raises
        ------
        RoundStateError
            If there is one already, or the file cannot be written.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(self.path, flags, 0o600)
        except FileExistsError:
            raise RoundStateError.exists(self.path) from None
        except OSError as problem:
            raise self._unusable(problem) from None
        self._fill(descriptor, state.to_bytes())
        self._sync_folder()

    @contextmanager
    def held(self) -> Iterator[RoundState]:
        """Give the state to one process at a time, so that no step is made twice at once.

        Raises
        ------
        RoundStateError
            If there is none, or it is damaged.
        """
        for _ in range(_TRIES):
            descriptor = self._open()
            try:
                with locked(descriptor, self.path):
                    if not self._current(descriptor):  # replaced while we waited
                        continue
                    with os.fdopen(os.dup(descriptor), "rb") as file:
                        yield RoundState.from_bytes(file.read(_LARGEST), self.path)
                    return
            finally:
                os.close(descriptor)
        raise RoundStateError.unreadable(self.path, "other processes keep changing it")

    def replace(self, state: RoundState) -> None:
        """Replace the state, in one step and durably; only while it is :meth:`held`."""
        from tempfile import mkstemp  # noqa: PLC0415 -- 9 ms at start otherwise

        try:
            descriptor, temporary = mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            self._fill(descriptor, state.to_bytes())
            os.replace(temporary, self.path)  # noqa: PTH105
        except OSError as problem:
            raise self._unusable(problem) from None
        self._sync_folder()

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            raise RoundStateError.missing(self.path) from None
        except OSError as problem:
            raise self._unusable(problem) from None

    def _current(self, descriptor: int) -> bool:
        """Whether the file that was opened is still the one of this name."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def _fill(self, descriptor: int, data: bytes) -> None:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _sync_folder(self) -> None:
        """Make the file's name survive a crash too, where folders can be opened."""
        if os.name == "nt":
            return
        descriptor = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _unusable(self, problem: OSError) -> RoundStateError:
        return RoundStateError.unreadable(self.path, problem.strerror or type(problem).__name__)
