"""The files of the data sets, downloaded from their homes and checked by their digests."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from fedparity.errors import DownloadError, MissingExtraError, OutputError
from fedparity.experiments.datasets.finding import lookup_folder
from fedparity.experiments.datasets.upstream import UPSTREAM, UpstreamFile

__all__ = ["fetch_file", "fetch_files"]

_SECONDS = 60
_PIECE = 1 << 16


def fetch_files(
    names: Iterable[str] = UPSTREAM,
    *,
    data: str | os.PathLike[str] | None = None,
    mirror: str | None = None,
) -> list[Path]:
    """Download files that are not there yet, and return where they are.

    Parameters
    ----------
    names : names of files
        ``compas``, ``adult`` and ``law``; all of them if absent.
    data : path, optional
        The folder to put them into; if absent ``FEDPARITY_DATA``, else the user's own.
    mirror : str, optional
        Address of a folder that holds copies of the files, to be taken instead of their homes.

    Raises
    ------
    MissingExtraError
        If pooch is not installed.
    DownloadError
        If a file cannot be reached, or its bytes are not those they should be.
    """
    folder = lookup_folder(data)
    return [fetch_file(UPSTREAM[name], folder, mirror=mirror) for name in names]


def fetch_file(upstream: UpstreamFile, folder: Path, *, mirror: str | None = None) -> Path:
    """Download one file, unless the folder has it with the right digest."""
    if find_spec("pooch") is None:
        raise MissingExtraError.for_use("pooch", "fetching data sets", "reproduce")
    import pooch  # noqa: PLC0415 -- optional; it brings requests
    from requests.exceptions import RequestException  # noqa: PLC0415

    pooch.get_logger().setLevel(logging.ERROR)  # the command says what it does itself
    url = upstream.url if mirror is None else f"{mirror.rstrip('/')}/{upstream.file}"
    target = folder / upstream.file
    _refuse_other(target, upstream, pooch.file_hash)
    try:
        pooch.retrieve(
            url,
            known_hash=f"sha256:{upstream.sha256}",
            fname=upstream.file,
            path=folder,
            downloader=_download,
        )
    except RequestException as problem:
        raise DownloadError.unreachable(url, type(problem).__name__) from None
    except ValueError:  # the digest: pooch has removed what came
        raise DownloadError.other_bytes(url) from None
    except OSError as problem:
        reason = (problem.strerror or "error").lower()
        raise OutputError.unwritable(str(target), reason) from None
    return target


def _download(url: str, output_file: str, _: object) -> None:
    """Write what comes from an address to a file; pooch's own way leaves refused answers open."""
    import requests  # noqa: PLC0415 -- comes with pooch

    with requests.get(url, stream=True, timeout=_SECONDS) as answer:
        answer.raise_for_status()
        with Path(output_file).open("wb") as file:
            file.writelines(answer.iter_content(_PIECE))


def _refuse_other(target: Path, upstream: UpstreamFile, digest: Callable[[str], str]) -> None:
    """Never replace a file that somebody else put there."""
    if target.is_file() and digest(str(target)) != upstream.sha256:
        raise OutputError(
            f"{str(target)!r} exists and has other bytes than the published file.",
            fix="name another folder with --data, or move the file away; "
            "`fedparity datasets check` says whether it can be used.",
        )
