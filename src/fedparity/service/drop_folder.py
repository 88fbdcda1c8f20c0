"""A folder into which silos drop their messages, as by an SFTP server: a sub-folder for each silo.

``DIR/STUDY/SILO/`` is written to by one silo alone, so that the folder says who sends; the server that
receives the files must keep silos out of each other's. A file is taken when it has its final name and no
longer grows. What was accepted is moved to ``accepted/``, what was refused to ``refused/`` with the reason in
a text beside it. Nothing is followed out of the folder: links, pipes and files with a second name are
refused, and every path is opened relative to a folder that was itself opened without following links.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from fedparity.documents.files import FileNames
from fedparity.errors import FedparityError, MessageError, OptionError, OutputError
from fedparity.service.limits import LARGEST
from fedparity.service.studies import Studies

__all__ = ["DropFolder"]

_UNFINISHED = (".part", ".filepart", ".tmp", ".partial", ".swp", "~")
"""How programs call a file while they write it."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class _Seen(NamedTuple):
    """A file as the last look found it."""

    inode: int
    size: int
    changed: int


class DropFolder:
    """The folders of all studies and silos.

    Parameters
    ----------
    path : str
    studies : Studies

    Raises
    ------
    OptionError
        If this system cannot open files relative to folders.
    OutputError
        If the folder cannot be made.
    """

    def __init__(self, path: str, studies: Studies) -> None:
        if os.open not in os.supports_dir_fd:  # pragma: no cover -- Windows
            raise OptionError(
                "a drop folder needs a system of the Unix family.", fix="leave out --drop."
            )
        self._path, self._studies = Path(path), studies
        self._seen: dict[tuple[str, str, str], tuple[_Seen, ...]] = {}
        """Once: it was seen. Twice: it was taken, too."""
        self._folders: dict[str, list[tuple[str, str]]] = {}
        try:
            self._path.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError as problem:
            raise OutputError.unwritable(path, problem.strerror or "") from None

    def look(self) -> int:
        """Take every file that has not changed since the last look, and return how many there were."""
        taken = 0
        with _opened(str(self._path)) as top:
            for study_id, *_ in self._studies.summaries():
                for silo, name in self._folders_of(study_id):
                    # What one silo puts in the way of its own folder is no trouble of the others.
                    with (
                        suppress(OSError),
                        _made(top, study_id) as study,
                        _made(study, name) as own,
                    ):
                        taken += self._look_in(own, study_id, silo)
        return taken

    def _folders_of(self, study_id: str) -> list[tuple[str, str]]:
        """The silos of a study and the names of their folders, which never change."""
        if study_id not in self._folders:
            study, names = self._studies.get(study_id), FileNames()
            silos = () if study is None else study.silos
            self._folders[study_id] = [(silo.name, names.of(silo.name)) for silo in silos]
        return self._folders[study_id]

    def _look_in(self, folder: int, study_id: str, silo: str) -> int:
        taken = 0
        for name in sorted(os.listdir(folder)):
            if (
                name in ("accepted", "refused")
                or name.startswith(".")
                or name.endswith(_UNFINISHED)
            ):
                continue
            place = (study_id, silo, name)
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            now = _Seen(found.st_ino, found.st_size, found.st_mtime_ns)
            if now in (before := self._seen.get(place, ())):
                if len(before) == 1:  # once: if it cannot be moved away, it stays
                    self._seen[place] = (now, now)
                    self._take(folder, study_id, silo, name)
                    taken += 1
            else:
                self._seen[place] = (now,)  # it may still grow
        return taken

    def _take(self, folder: int, study_id: str, silo: str, name: str) -> None:
        try:
            self._studies.receive(study_id, silo, _content(folder, name))
        except FedparityError as error:
            _move(folder, name, "refused", f"{error.message}\nfix: {error.fix}\n")
        else:
            _move(folder, name, "accepted")
        self._seen.pop((study_id, silo, name), None)


@contextmanager
def _opened(name: str, folder: int | None = None) -> Iterator[int]:
    """Open a folder, not by a link."""
    descriptor = os.open(name, _FOLDER, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _made(folder: int, name: str) -> Iterator[int]:
    """Open a folder in another one, and make it if it is not there."""
    with suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=folder)
    with _opened(name, folder) as descriptor:
        yield descriptor


def _content(folder: int, name: str) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    MessageError
        If it is not a plain file with one name, or too large.
    """
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        raise _not_plain() from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(descriptor)
        raise _not_plain()
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise MessageError(
            f"the file has more than {LARGEST >> 20} MiB, which no message has.",
            fix="put the file that fedparity sketch wrote into the folder.",
        )
    return data


def _not_plain() -> MessageError:
    return MessageError(
        "this is not a file of its own: it is a link, a folder or something else.",
        fix="put the file itself into the folder.",
    )


def _move(folder: int, name: str, where: str, words: str = "") -> None:
    """Move what was taken out of the way; an older file of the same name stays."""
    with _made(folder, where) as target:
        short = os.fsdecode(os.fsencode(name)[:200])  # a name with .txt must fit, too
        final, number = short, 1
        while _exists(target, final):
            number += 1
            final = f"{number}-{short}"
        os.rename(name, final, src_dir_fd=folder, dst_dir_fd=target)
        if words:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(f"{final}.txt", flags, 0o644, dir_fd=target), "w") as text:
                text.write(words)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
