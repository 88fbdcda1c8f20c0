"""A folder into which silos drop their messages, as by an SFTP server: a sub-folder for each silo.

``DIR/STUDY/SILO/`` is written to by one silo alone, so that the folder says who sends; the server that
receives the files must keep silos out of each other's. A file is taken when it has its final name and no
longer grows. What was accepted is moved to ``accepted/``, what was refused to ``refused/`` with the reason in
a text beside it. Nothing is followed out of the folder: links, pipes and files with a second name are
refused, and every path is opened relative to a folder that was itself opened without following links.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from fedparity.documents.files import FileNames
from fedparity.errors import FedparityError, MessageError, OptionError, OutputError
from fedparity.service.limits import LARGEST
from fedparity.service.studies import Studies

__all__ = ["DropFolder"]

_UNFINISHED = (".part", ".filepart", ".tmp", ".partial", ".swp", "~")
"""How programs call a file while they write it."""
_MOST_NAMES = 1000
"""Names of a folder that one look reads."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class _Seen(NamedTuple):
    """A file as the last look found it."""

    inode: int
    size: int
    changed: int
    taken: bool = False
    """It could not be moved away, and is not taken again."""


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
        self._seen: dict[tuple[str, str], dict[str, _Seen]] = {}
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
        """Take one file at most: a silo that fills its folder must not keep the others waiting."""
        with os.scandir(folder) as entries:
            names = sorted(each.name for each in islice(entries, _MOST_NAMES) if _final(each.name))
        before = self._seen.get((study_id, silo), {})
        now: dict[str, _Seen] = {}
        self._seen[study_id, silo] = now
        taken = 0
        for name in names:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            seen = _Seen(found.st_ino, found.st_size, found.st_mtime_ns)
            earlier = before.get(name, seen._replace(size=-1))
            if earlier._replace(taken=False) != seen:
                now[name] = seen  # it may still grow
            elif earlier.taken or taken:
                now[name] = earlier
            else:
                taken, now[name] = 1, seen._replace(taken=True)
                self._take(folder, study_id, silo, name)
                del now[name]
        return taken

    def _take(self, folder: int, study_id: str, silo: str, name: str) -> None:
        try:
            self._studies.receive(study_id, silo, _content(folder, name))
        except FedparityError as error:
            _move(folder, name, "refused", f"{error.message}\nfix: {error.fix}\n")
        else:
            _move(folder, name, "accepted")


def _final(name: str) -> bool:
    """Whether a file is named as one that is finished, and is not one of our own folders."""
    ours = name in ("accepted", "refused")
    return not ours and not name.startswith(".") and not name.endswith(_UNFINISHED)


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
    """Move what was taken out of the way; nothing that is there is written to, since a silo may have put it there."""
    with _made(folder, where) as target:
        short = os.fsdecode(os.fsencode(name)[:200])  # a name with .txt must fit, too
        names = (short, *(f"{number}-{short}" for number in range(2, _MOST_NAMES)))
        final = next((each for each in names if not _is_used(target, each)), None)
        if final is None:
            raise FileExistsError(errno.EEXIST, where)
        os.rename(name, final, src_dir_fd=folder, dst_dir_fd=target)
        if words:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            descriptor = os.open(f"{final}.txt", flags, 0o644, dir_fd=target)
            with os.fdopen(descriptor, "w", encoding="utf-8") as text:
                text.write(words)


def _is_used(folder: int, name: str) -> bool:
    """Whether there is a file of this name, or the text of one."""
    return _exists(folder, name) or _exists(folder, f"{name}.txt")


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
