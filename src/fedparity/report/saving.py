"""A report written to a file whose name says its format."""

from __future__ import annotations

import os
from typing import Final

from fedparity.auditing.result import AuditResult
from fedparity.errors import OutputError
from fedparity.protocol.files import Path, refuse_existing, write_whole
from fedparity.report.formats import FORMATS, FormatName

__all__ = ["SUFFIXES", "save_report"]

SUFFIXES: Final[dict[str, FormatName]] = {".html": "html", ".md": "markdown", ".pdf": "pdf"}


def save_report(result: AuditResult, path: Path, *, force: bool = False) -> str:
    """Write a report, whole or not at all, and return its path.

    Parameters
    ----------
    path : str or path
        Ends in ``.html``, ``.md`` or ``.pdf``, which decides the format.
    force : bool
        Replace a file of this name.

    Raises
    ------
    OutputError
        If the ending is another, the file exists and ``force`` is not set, or it cannot be
        written.
    MissingExtraError
        If the format needs a package that is not installed.
    """
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()  # noqa: PTH122 -- pathlib takes 7 ms to import
    if ending not in SUFFIXES:
        raise OutputError.unknown_report(name, SUFFIXES)
    if not force:
        refuse_existing(name)
    chosen = FORMATS[SUFFIXES[ending]]
    chosen.check()
    write_whole(name, chosen.render(result), force=force)
    return name
