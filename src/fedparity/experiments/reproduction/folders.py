"""The folder of a reproduction: it says what is in it, and holds nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fedparity.errors import OutputError
from fedparity.experiments.reproduction.settings import Settings
from fedparity.experiments.reproduction.versions import versions
from fedparity.protocol.files import write_whole

__all__ = ["SCHEMA", "claim_folder"]

SCHEMA = "fedparity/reproduction/1"
_MANIFEST = "settings.json"


def claim_folder(folder: Path, settings: Settings, *, force: bool = False) -> None:
    """Make the folder, or check that it holds a reproduction of these settings.

    With ``force`` it may hold anything; kept numbers are then forgotten, and nothing but files of
    the same names is replaced.

    Raises
    ------
    OutputError
        If it holds something else, or cannot be made.
    """
    found = _manifest(folder)
    if force:
        for kept in (folder / "draws").glob("*.npz"):
            kept.unlink()
    elif found is None and folder.is_dir() and any(folder.iterdir()):
        raise OutputError(
            f"{folder} exists and was not written by fedparity reproduce.",
            fix="choose another folder with --out, or pass --force to write into it.",
        )
    elif found is not None and (other := _difference(found, settings)):
        raise OutputError(
            f"{folder} holds a reproduction of other settings: {other}.",
            fix="choose another folder with --out, or pass --force to replace it.",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise OutputError.unwritable(str(folder), str(problem.strerror).lower()) from None
    said = {"schema": SCHEMA, "settings": settings.to_dict(), "versions": versions()}
    text = json.dumps(said, indent=2, ensure_ascii=False) + "\n"
    write_whole(folder / _MANIFEST, text.encode(), force=True)


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        said = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return said if isinstance(said, dict) and said.get("schema") == SCHEMA else None


def _difference(found: dict[str, Any], settings: Settings) -> str:
    """The settings that differ, in words."""
    there, here = found.get("settings", {}), settings.to_dict()
    return ", ".join(
        f"{name} {there.get(name)} instead of {value}"
        for name, value in here.items()
        if there.get(name) != value
    )
