"""Whether a file is still the one that was opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fedparity.errors import TableError

__all__ = ["FileState"]


@dataclass(frozen=True, slots=True)
class FileState:
    """A file, its size and when it was written, as they were when it was opened."""

    path: Path
    size: int
    written: int
    number: int

    @classmethod
    def from_path(cls, path: Path) -> FileState:
        """Return the state of a file.

        Raises
        ------
        TableError
            If there is no such file, or it may not be read.
        """
        try:
            found = path.stat()
            readable = os.access(path, os.R_OK)
        except FileNotFoundError:
            raise TableError.not_found(path) from None
        except OSError as error:
            raise TableError.unreadable(path, _reason(error)) from None
        if not readable:
            raise TableError.unreadable(path, "permission denied")
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def check(self) -> None:
        """Raise if the file is not what it was: a result would mix two tables.

        Raises
        ------
        TableError
            If it was written, replaced or removed since.
        """
        try:
            now = FileState.from_path(self.path)
        except TableError:
            raise TableError.changed(self.path) from None
        if now != self:
            raise TableError.changed(self.path)

    @contextmanager
    def reading(self, format_name: str, *damage: type[Exception]) -> Iterator[None]:
        """Read a part of the file; damage is a change of the file, or else a corrupt file.

        The text of the library's error is dropped, because it may quote a value of the table.
        """
        try:
            yield
        except damage:
            self.check()
            raise TableError(
                f"{str(self.path)!r} is not a whole {format_name} file: it is truncated or damaged.",
                fix="copy or export the file again, and compare its size with the original.",
            ) from None
        self.check()


def _reason(error: OSError) -> str:
    return (error.strerror or "an error of the system").lower()
