"""Numbers kept between runs: found again by what decided them, so that a run can resume."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fedparity.protocol.canonical import canonical_bytes
from fedparity.protocol.digests import digest_of
from fedparity.protocol.files import write_whole

__all__ = ["keep"]

Arrays = dict[str, npt.NDArray[Any]]


def keep(path: Path, decides: Mapping[str, Any], compute: Callable[[], Arrays]) -> Arrays:
    """Return the arrays of a file if the same settings made them; else compute and write them.

    The file is written whole or not at all, and the same arrays give the same bytes.

    Parameters
    ----------
    path : Path
    decides : mapping of plain values
        All that decides the numbers: settings, data, version.
    compute : callable
    """
    digest = digest_of(canonical_bytes(decides))
    kept = _read(path, digest)
    if kept is not None:
        return kept
    arrays = compute()
    out = io.BytesIO()
    np.savez(out, **{"digest": np.array(digest), **arrays})  # type: ignore[arg-type]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, out.getvalue(), force=True)
    return arrays


def _read(path: Path, digest: str) -> Arrays | None:
    """The arrays of a file, or None if there is none, or not of this digest, or a damaged one."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            if str(file["digest"]) != digest:
                return None
            return {name: file[name] for name in file.files if name != "digest"}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, EOFError):
        return None
