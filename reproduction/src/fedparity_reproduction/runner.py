"""How a reproduction runs: its size, its threads, and the folder that keeps its numbers."""

from __future__ import annotations

import io
import json
import platform
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

import fedparity as fp
from fedparity.errors import OutputError
from fedparity_reproduction import __version__
from fedparity_reproduction.data_files import write_file

__all__ = ["SCHEMA", "Progress", "Runner", "Settings", "claim_folder", "versions"]

SCHEMA = "fedparity/reproduction/1"
Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the steps done, all steps, and a label."""
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Made = TypeVar("Made")

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib", "jinja2")
_MANIFEST = "settings.json"
_K95_REPLICATES = 100
"""With fewer allocations, a share of 95 % of them is not known well enough to print k95."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that decides the numbers, besides the data and the versions."""

    seed: int = 0
    replicates: int = 200
    """Allocations of each regime and number of silos."""
    draws: int = 200
    """Allocations behind every table."""
    strengths: int = 50
    """Allocations of each strength of selection."""
    rho: float = 0.8
    silos: tuple[int, ...] = (2, 5, 10, 20, 50)
    levels: tuple[int, ...] = (5, 10, 15, 20, 30, 50, 75, 100, 150, 200)

    @classmethod
    def of_size(
        cls, *, quick: bool = False, replicates: int | None = None, seed: int = 0
    ) -> Settings:
        """Return the settings of a full reproduction, of a quick look, or of another size.

        Examples
        --------
        >>> Settings.of_size(quick=True).replicates, Settings.of_size(replicates=1000).strengths
        (10, 250)
        """
        if replicates is not None:
            strengths = max(2, replicates // 4)
            return cls(seed=seed, replicates=replicates, draws=replicates, strengths=strengths)
        return cls(seed=seed, replicates=10, draws=30, strengths=8) if quick else cls(seed=seed)

    @property
    def is_quick(self) -> bool:
        """Whether there are too few allocations for k95."""
        return self.replicates < _K95_REPLICATES

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Runner:
    """Runs many draws on several threads, and caches their numbers in a folder."""

    settings: Settings
    folder: Path | None = None
    """Of the cache; None for none."""
    data: Path | None = None
    """The folder of the data."""
    workers: int = 1
    progress: Progress | None = None

    def map(self, function: Callable[[int], Made], number: int, label: str) -> list[Made]:
        """Return what a function returns for 0, 1, 2 and so on, in this order.

        Examples
        --------
        >>> Runner(settings=Settings(), workers=2).map(lambda replicate: replicate**2, 4, "squares")
        [0, 1, 4, 9]
        """
        made: list[Made] = []
        pool = ThreadPoolExecutor(self.workers)
        try:
            for result in pool.map(function, range(number)):
                made.append(result)
                if self.progress is not None:
                    self.progress(len(made), number, label)
        finally:
            pool.shutdown(cancel_futures=True)  # Ctrl-C does not wait for what has not begun
        return made

    def cached(self, name: str, decides: dict[str, Any], compute: Callable[[], Arrays]) -> Arrays:
        """Return the arrays of a file if the same settings made them; else compute and write them.

        Parameters
        ----------
        name : str
            The beginning of the file's name; a digest of ``decides`` and the versions follows.
        decides : dict of plain values
            All that decides the numbers.
        """
        if self.folder is None:
            return compute()
        whole = {**decides, "versions": [fp.__version__, __version__]}
        digest = sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
        path = self.folder / f"{name}-{digest[:16]}.npz"
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                return {array: file[array] for array in file.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):  # missing, or damaged
            arrays = compute()
        out = io.BytesIO()
        np.savez(out, **arrays)  # type: ignore[arg-type]
        write_file(path, out.getvalue())
        return arrays


def versions() -> dict[str, str]:
    """Return the versions of all that decides numbers and figures."""
    own = {"fedparity": fp.__version__, "fedparity-reproduction": __version__}
    return own | {"Python": platform.python_version()} | {p: version(p) for p in _PACKAGES}


def claim_folder(folder: Path, settings: Settings, *, force: bool = False) -> None:
    """Make the output folder, or check that it holds a reproduction with these settings.

    With ``force`` it may hold anything; the cache is then emptied, and only files of the same
    names are replaced.

    Raises
    ------
    OutputError
        If it holds something else, or cannot be made.
    """
    found = _manifest(folder)
    if force:
        for cached in (folder / "draws").glob("*.npz"):
            cached.unlink()
    elif found is None and folder.is_dir() and any(folder.iterdir()):
        raise OutputError(
            f"{folder} exists and was not written by fedparity-reproduce.",
            fix="choose another folder with --out, or pass --force to write into it.",
        )
    elif found is not None:
        there = found.get("settings", {})
        changed = [
            f"{name} {there.get(name)} instead of {value}"
            for name, value in settings.to_dict().items()
            if there.get(name) != value
        ]
        if changed:
            raise OutputError(
                f"{folder} holds a reproduction with other settings: {', '.join(changed)}.",
                fix="choose another folder with --out, or pass --force to replace it.",
            )
    manifest = {"schema": SCHEMA, "settings": settings.to_dict(), "versions": versions()}
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    write_file(folder / _MANIFEST, text.encode())


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None
