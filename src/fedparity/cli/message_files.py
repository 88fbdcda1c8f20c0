"""The files of messages that were named: one by one, by a pattern, or by their folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from glob import glob, has_magic

import click

from fedparity.errors import MessageError
from fedparity.errors.base import printable

__all__ = ["message_files"]


def message_files(names: Iterable[str]) -> list[str]:
    """Return the files, each once, in the order in which they were named.

    Of a folder, those directly in it that end in ``.json``. What a folder or a pattern holds beside
    files (pipes, folders, links that lead nowhere or in a circle) is skipped, and named.

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
            if entry.name.endswith(".json") and not entry.name.startswith(".")
        )
    elif has_magic(name) and not os.path.lexists(name):
        found = sorted(glob(name, recursive=True))  # noqa: PTH207 -- may start at the root
    else:
        return [name]
    found = [each for each in found if _is_file(each)]
    if not found:
        raise MessageError(
            f"{name} holds no message.",
            fix="name the files, or a folder or pattern of files that end in .json.",
        )
    return found


def _is_file(path: str) -> bool:
    """Whether it is a file; if not, say so: whoever waits for a message should know."""
    if os.path.isfile(path):  # noqa: PTH113 -- False for a link in a circle too
        return True
    click.echo(f"skipped {printable(path)}: it is not a file", err=True)
    return False
