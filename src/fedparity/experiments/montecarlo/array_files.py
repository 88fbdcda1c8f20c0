"""Arrays in a file, with the settings that they belong to."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

from fedparity.laws.arrays import FloatArray
from fedparity.protocol.files import Path

__all__ = ["array_file", "read_arrays"]

_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


def array_file(settings: dict[str, Any], **arrays: FloatArray) -> bytes:
    """Return the bytes of an ``.npz`` file with arrays and settings: the same for the same."""
    buffer = io.BytesIO()
    content: dict[str, Any] = {"settings": np.array(json.dumps(settings)), **arrays}
    np.savez(buffer, **content)
    return buffer.getvalue()


def read_arrays(path: Path, settings: dict[str, Any]) -> dict[str, FloatArray] | None:
    """Return the arrays of a file of these settings, or None if there is no such file, whole."""
    try:
        # opened here: NumPy leaves a damaged file open
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:  # noqa: PTH123
            found = {name: file[name] for name in file.files}
        matches = json.loads(str(found.pop("settings"))) == settings
    except _UNREADABLE:
        return None
    return found if matches else None
