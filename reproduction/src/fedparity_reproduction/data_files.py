"""The published files behind the data sets: where they are, what they are, and how to get them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from fedparity.errors import FedparityError, OutputError, TableError

__all__ = [
    "UPSTREAM",
    "DownloadError",
    "UpstreamFile",
    "data_folder",
    "fetch_file",
    "find_file",
    "write_file",
]

VARIABLE = "FEDPARITY_DATA"
"""The environment variable that names the folder of the data."""
_SECONDS = 60


class DownloadError(FedparityError):
    """A published file cannot be downloaded, or it has changed."""


@dataclass(frozen=True, kw_only=True)
class UpstreamFile:
    """A file that somebody else publishes, and copies with the same records."""

    title: str
    file: str
    """Its name, here and where it is published."""
    url: str
    sha256: str
    license: str
    copies: dict[str, str] = field(default_factory=dict)
    """Digests of other files that hold the same records, by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The file names that are looked for."""
        return tuple(dict.fromkeys((self.file, *self.copies)))

    def matches(self, digest: str) -> bool:
        """Return whether these are the bytes of the file, or of a copy."""
        return digest in (self.sha256, *self.copies.values())


UPSTREAM = {
    "compas": UpstreamFile(
        title="COMPAS, two-year file (ProPublica)",
        file="compas-scores-two-years.csv",
        url=(
            "https://raw.githubusercontent.com/propublica/compas-analysis/master/"
            "compas-scores-two-years.csv"
        ),
        sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        license="none stated; public records of Broward County, published by ProPublica",
        copies={  # without the columns that identify people
            "compas-scores-two-years.csv": (
                "4771cdb90a3ddb1302bf039297998826fd0f09559189aff363ee175b4f56b9f2"
            )
        },
    ),
    "adult": UpstreamFile(
        title="Adult (Census Income), training part (UCI)",
        file="adult.data",
        url="https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
        sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        license="CC BY 4.0",
    ),
    "law": UpstreamFile(
        title="Law school admissions (LSAC), as in the R package fairml",
        file="law.school.admissions.rda",
        url=(
            "https://raw.githubusercontent.com/cran/fairml/master/data/law.school.admissions.rda"
        ),
        sha256="d270972df4787b2da3650f01e9176be53cdbcef2fd3032c8045a2a8d029c4308",
        license="MIT (the package fairml)",
        copies={  # the same table as text
            "law-school-admissions.csv": (
                "680d9c0e4b8c5c57f1b8b90a110d7d9273b13f97bd5c72cdcb1eb1a32f4ded17"
            )
        },
    ),
}


def data_folder(data: Path | None) -> Path:
    """Return the folder of the data: the one given, ``FEDPARITY_DATA``, or the user's own.

    The user's own is ``fedparity/datasets`` in ``$XDG_DATA_HOME`` (``~/.local/share`` if unset), on
    Windows in ``%LOCALAPPDATA%``.
    """
    if data is not None or os.environ.get(VARIABLE):
        return Path(data or os.environ[VARIABLE])
    home = Path(os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_DATA_HOME") or "")
    if not home.is_absolute():  # the XDG specification: ignore a relative path
        home = Path.home() / ".local" / "share"
    return home / "fedparity" / "datasets"


def find_file(upstream: UpstreamFile, data: Path | None) -> Path:
    """Return the path of a file, under its own name or that of a copy.

    Raises
    ------
    TableError
        If the folder has none of them.
    """
    folder = data_folder(data)
    for name in upstream.names:
        if (folder / name).is_file():
            return folder / name
    wanted = " or ".join(map(repr, upstream.names))
    raise TableError(
        f"the folder {str(folder)!r} has no file {wanted}.",
        fix="run `fedparity-reproduce fetch`, or name the folder that has it with --data or the "
        f"environment variable {VARIABLE}.",
    )


def fetch_file(upstream: UpstreamFile, folder: Path, *, mirror: str | None = None) -> Path:
    """Download a file, unless the folder already has it, and return its path.

    A file with other bytes is never replaced, and a download with other bytes is not kept.

    Parameters
    ----------
    mirror : str, optional
        Address of a folder with copies of the files, instead of where they are published.
    """
    target = folder / upstream.file
    if target.is_file():
        if upstream.matches(sha256(target.read_bytes()).hexdigest()):
            return target
        raise OutputError(
            f"{str(target)!r} exists and has other bytes than the published file.",
            fix="name another folder with --data, or move the file away.",
        )
    url = upstream.url if mirror is None else f"{mirror.rstrip('/')}/{upstream.file}"
    try:
        with urlopen(url, timeout=_SECONDS) as reply:  # noqa: S310 -- addresses of our own or the user's
            content = reply.read()
    except (OSError, ValueError, HTTPException) as problem:
        if isinstance(problem, HTTPError):
            problem.close()
        raise DownloadError(
            f"{url} cannot be downloaded ({type(problem).__name__}).",
            fix="check the connection, pass --mirror, or copy the file into the folder yourself.",
        ) from None
    if sha256(content).hexdigest() != upstream.sha256:
        raise DownloadError(
            f"{url} has other bytes than it had when the data were checked.",
            fix="look for the file of that sha256 elsewhere, and pass --mirror or --data.",
        )
    write_file(target, content)
    return target


def write_file(path: Path, content: bytes) -> None:
    """Write a file completely, or not at all, and make its folder.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as problem:
        raise OutputError(
            f"{str(path)!r} cannot be written: {(problem.strerror or 'error').lower()}.",
            fix="choose another folder, or change its permissions.",
        ) from None
