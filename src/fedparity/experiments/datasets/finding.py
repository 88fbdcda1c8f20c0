"""Where the files of the data sets are looked for."""

from __future__ import annotations

import os
from pathlib import Path

from fedparity.errors import TableError
from fedparity.experiments.datasets.upstream import UpstreamFile

__all__ = ["VARIABLE", "data_folder", "find_file", "lookup_folder"]

VARIABLE = "FEDPARITY_DATA"
"""The variable that names the folder of the data."""


def data_folder() -> Path:
    """Return the folder of the user's data sets, where ``fedparity datasets fetch`` puts them.

    It is ``fedparity/datasets`` in ``$XDG_DATA_HOME`` (``~/.local/share`` if unset), on Windows
    in ``%LOCALAPPDATA%``.
    """
    variable = "LOCALAPPDATA" if os.name == "nt" else "XDG_DATA_HOME"
    home = Path(os.environ.get(variable) or "")
    if not home.is_absolute():  # the XDG specification: ignore a relative one
        home = Path.home() / ".local" / "share"
    return home / "fedparity" / "datasets"


def lookup_folder(data: str | os.PathLike[str] | None) -> Path:
    """Return the folder that is meant: the one given, ``FEDPARITY_DATA``, or the user's."""
    if data is not None:
        return Path(data)
    named = os.environ.get(VARIABLE)
    return Path(named) if named else data_folder()


def find_file(upstream: UpstreamFile, data: str | os.PathLike[str] | None) -> Path:
    """Return the path of a file, under its own name or that of a copy.

    Raises
    ------
    TableError
        If the folder has none of them; it says which command fetches it.
    """
    folder = lookup_folder(data)
    for name in upstream.names:
        if (folder / name).is_file():
            return folder / name
    wanted = " or ".join(map(repr, upstream.names))
    raise TableError(
        f"the folder {str(folder)!r} has no file {wanted}.",
        fix="run `fedparity datasets fetch`, or name the folder that has it with --data (data=) "
        f"or the variable {VARIABLE}.",
    )
