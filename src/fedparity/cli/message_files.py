"""The files of messages that were named: one by one, by a pattern, or by their folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from glob import glob, has_magic

from fedparity.errors import MessageError

__all__ = ["message_files"]


def message_files(names: Iterable[str]) -> list[str]:
    """Return the files, each once, in the order in which they were named.

    Of a folder, those directly in it that end in ``.json``.

    Raises
    ------
    MessageError
        If a folder or a pattern holds none; a file that is not there is found when it is read.
    """
    files: dict[str, None] = {}
    for name in names:
        files.update(dict.fromkeys(_files(name)))
    return list(files)


def _files(name: str) -> list[str]:
    if os.path.isdir(name):  # noqa: PTH112 -- pathlib takes 7 ms to import
        found = sorted(
            entry.path
            for entry in os.scandir(name)
            if entry.name.endswith(".json") and not entry.name.startswith(".") and entry.is_file()
        )
    elif has_magic(name) and not os.path.lexists(name):
        found = sorted(glob(name, recursive=True))  # noqa: PTH207 -- may start at the root
    else:
        return [name]
    if not found:
        raise MessageError(
            f"{name} holds no message.",
            fix="name the files, or a folder or pattern of files that end in .json.",
        )
    return found
