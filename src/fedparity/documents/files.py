"""Documents and their files: canonical bytes and a digest, read with a limit, and written whole or not at all."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from fedparity.documents.json_text import canonical_bytes, digest_of
from fedparity.errors import DocumentError, KeyFileError, OutputError
from fedparity.errors.base import FedparityError, printable

__all__ = [
    "Document",
    "FileNames",
    "Path",
    "StagedFile",
    "file_name",
    "is_address",
    "read_bounded",
    "read_secret",
    "refuse_existing",
    "refuse_open_to_others",
    "staged",
    "write_whole",
]


Path: TypeAlias = str | os.PathLike[str]


def read_bounded(path: Path, *, limit: int, error: type[DocumentError] = DocumentError) -> bytes:
    """Return the bytes of a file, of which at most ``limit`` and one are ever read.

    A pipe, a device or a folder is refused: a person who can put one among the files of others could otherwise
    block the reader forever.

    Raises
    ------
    DocumentError
        If it cannot be read, or is larger; of the class ``error``.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb", opener=_opened) as file:
            found = os.fstat(file.fileno())
            usable = stat.S_ISREG(found.st_mode) and found.st_size <= limit
            # A buffer for the whole limit would cost more than a small file.
            data = file.read(found.st_size + 1) if usable else b""
            if usable and len(data) > found.st_size:  # it grows while it is read
                data += file.read(limit + 1 - len(data))
    except (OSError, ValueError) as problem:  # ValueError: a null byte in the name
        raise error.unreadable(name, _reason(problem)) from None
    if not stat.S_ISREG(found.st_mode):
        raise error.unreadable(name, "it is not a file")
    if found.st_size > limit or len(data) > limit:
        raise error.too_large(limit).within(name)
    return data


def _opened(name: str, flags: int) -> int:
    """Open without waiting for somebody to write to a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def write_whole(path: Path, data: bytes, *, force: bool = False) -> None:
    """Write a file that others see whole or not at all, with the rights that the umask leaves.

    Without ``force`` a file of this name is never replaced, even if it appears in between.

    Raises
    ------
    OutputError
        If the file exists and ``force`` is not set, or if it cannot be written.
    """
    with staged(path, data, force=force) as file:
        file.put()


@dataclass
class StagedFile:
    """A file that is complete on disk under a temporary name of the same folder."""

    name: str
    temporary: str
    force: bool
    failed: bool = False
    """Whether it was to get its name, and could not."""

    def put(self) -> None:
        """Give the file its name, in one step."""
        self.failed = True
        with _explained(self.name):
            _put(self.temporary, self.name, force=self.force)
        self.failed = False


@contextmanager
def staged(
    path: Path, data: bytes, *, force: bool = False, keep: bool = False
) -> Iterator[StagedFile]:
    """Write a file under a temporary name, and let the caller put it into its place.

    All that can be wrong with a name or a folder is found before the body runs. The temporary name is
    taken away at the end, unless the process is killed; or, with ``keep``, if the file was to be put
    into its place and could not: a ledger may list it by then.

    Raises
    ------
    OutputError
        If the file exists and ``force`` is not set, or if it cannot be written.
    """
    name = os.fspath(path)
    if not force:
        refuse_existing(name)
    with _explained(name):
        file = StagedFile(name, _write(name, data), force)
    try:
        yield file
    finally:
        if os.path.lexists(file.temporary) and not (keep and file.failed):
            os.unlink(file.temporary)  # noqa: PTH108


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turn what the system says of a file into an error that says what to do."""
    try:
        yield
    except FileExistsError:
        raise OutputError.exists(name) from None
    except (OSError, ValueError) as problem:
        raise OutputError.unwritable(name, _reason(problem)) from None


def refuse_existing(path: Path) -> None:
    """Raise an OutputError if there is a file of this name."""
    if os.path.lexists(path):
        raise OutputError.exists(os.fspath(path))


def _write(name: str, data: bytes) -> str:
    """Write the bytes to a new file, wait until they are on disk, and return its name."""
    from tempfile import mkstemp  # noqa: PLC0415 -- 9 ms at start otherwise

    folder, base = os.path.split(name)
    handle, temporary = mkstemp(dir=folder or ".", prefix=f".{base[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(name))  # noqa: PTH101
    except OSError:
        os.unlink(temporary)  # noqa: PTH108
        raise
    return temporary


def _mode(name: str) -> int:
    """The rights of the file that is replaced, or those that the umask leaves to a new one."""
    with suppress(OSError):
        return stat.S_IMODE(os.stat(name).st_mode) & 0o666  # noqa: PTH116
    umask = os.umask(0o077)  # strict for this short moment, in case another thread writes
    os.umask(umask)
    return 0o666 & ~umask


def _put(temporary: str, name: str, *, force: bool) -> None:
    """Give a file its name: in one step, which fails where the name is taken."""
    if not force:
        try:
            os.link(temporary, name)
        except FileExistsError:
            raise
        except OSError:  # no hard links on this file system: the check is a moment old
            if os.path.lexists(name):
                raise FileExistsError(name) from None
        else:
            return
    os.replace(temporary, name)  # noqa: PTH105


def _reason(problem: Exception) -> str:
    text = getattr(problem, "strerror", None) or str(problem)
    return text[:1].lower() + text[1:]


def file_name(silo: str) -> str:
    """Return the silo's name with what a file's name may not hold replaced.

    Examples
    --------
    >>> file_name("St. Mary's / North")
    'St.-Mary-s---North'
    """
    kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in silo)
    return kept.strip(".-")[:80] or "silo"


class FileNames:
    """A file name for each silo that no other one has, on a disk that may ignore case.

    Examples
    --------
    >>> names = FileNames()
    >>> [names.of(silo) for silo in ("a", "A", "a-2", "a")]
    ['a', 'A-2', 'a-2-2', 'a']
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, silo: str) -> str:
        """Return the name of a silo; it is the same on every call."""
        if silo not in self._names:
            plain = name = file_name(silo)
            number = 1
            while name.lower() in self._taken:
                number += 1
                name = f"{plain}-{number}"
            self._taken.add(name.lower())
            self._names[silo] = name
        return self._names[silo]


_LONGEST = 1000


def refuse_open_to_others(
    handle: int, name: Path, *, what: str, error: type[FedparityError]
) -> None:
    """Raise if others than its owner may use an open file of the secret ``what``.

    Windows stores rights elsewhere; nothing is checked there.

    Raises
    ------
    FedparityError
        Then; of the class ``error``.
    """
    mode = os.fstat(handle).st_mode
    if sys.platform != "win32" and stat.S_ISREG(mode) and mode & 0o077:
        shown = printable(os.fspath(name))
        raise error(
            f"the file {shown} holds {what}, and others than its owner may use it.",
            fix=f"chmod 600 {shown}; if others have read it, replace what it holds.",
        )


def read_secret(name: str, what: str = "passphrase") -> bytes:
    """Return the secret of a file, or of the standard input for ``-``: its first line.

    Raises
    ------
    KeyFileError
        If it cannot be read, is empty, or others than its owner may read it.
    """
    try:
        if name == "-":
            line = sys.stdin.readline(_LONGEST).encode()
        else:
            with open(name, "rb") as file:  # noqa: PTH123 -- pathlib takes 7 ms to import
                refuse_open_to_others(file.fileno(), name, what=f"a {what}", error=KeyFileError)
                line = file.readline(_LONGEST)
    except OSError as problem:
        raise KeyFileError.unreadable(name, str(problem.strerror)) from None
    secret = line.rstrip(b"\r\n")
    if not secret:
        place = "the standard input" if name == "-" else name
        raise KeyFileError(
            f"{place} holds no {what} on its first line.",
            fix=f"write the {what}, and nothing else, to a file of mode 600.",
        )
    return secret


_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9_+.\-]*://")


def is_address(text: str) -> bool:
    """Return whether a text is the address of a database, and not the path of a file.

    Examples
    --------
    >>> is_address("postgresql://root@127.0.0.1/test"), is_address("visits/2026.csv")
    (True, False)
    """
    return _ADDRESS.match(text) is not None


class Document:
    """A plan, a message or a result; a subclass says what it is as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON holds it."""
        raise NotImplementedError  # pragma: no cover

    def to_bytes(self) -> bytes:
        """Return the canonical bytes of the document (RFC 8785)."""
        return canonical_bytes(self.to_dict())

    def unsigned_bytes(self) -> bytes:
        """Return the canonical bytes of the document without its signature."""
        document = self.to_dict()
        document.pop("signature", None)
        return canonical_bytes(document)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the canonical bytes without the signature."""
        return digest_of(self.unsigned_bytes())

    def file_bytes(self) -> bytes:
        """Return what a file of the document holds."""
        return self.to_bytes()

    def write(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the document to a file, whole or not at all.

        Raises
        ------
        OutputError
            If the file exists and ``overwrite`` is not set, or if it cannot be written.
        """
        write_whole(path, self.file_bytes(), force=overwrite)
