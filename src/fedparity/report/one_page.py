"""The report on one sheet of paper, as PDF."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, Final, NoReturn

from fedparity.auditing.result import AuditResult
from fedparity.report.extras import check_pdf, weasyprint
from fedparity.report.sheet.document import Room, sheet_html
from fedparity.report.sheet.figures import sheet_figures

__all__ = ["pdf_report"]

_ROOMS: Final = (
    Room(8.4, 8, 6),
    Room(8.0, 6, 5),
    Room(7.5, 5, 4),
    Room(7.0, 4, 3),
    Room(6.4, 3, 3),
    Room(5.8, 3, 2),
    Room(5.0, 2, 1),
)
"""From the most that a sheet usually holds to what one of the longest names needs."""


def pdf_report(result: AuditResult) -> bytes:
    """Return the report as a PDF of one page (A4), tagged, with its fonts in it.

    Equal results give equal bytes with the same version of WeasyPrint and the same fonts.

    Raises
    ------
    MissingExtraError
        If WeasyPrint, a library of the system that it needs, or matplotlib is missing.
    """
    check_pdf()
    figures = sheet_figures(result)
    style = files("fedparity.report.sheet").joinpath("sheet.css").read_text("utf-8")
    pages = (sheet_html(result, figures, style=style, room=room) for room in _ROOMS)
    digest = hashlib.sha256(result.to_json().encode()).digest()
    with _quiet(), _without_clock():
        document = next(filter(_is_one_page, map(_rendered, pages)))
        data: bytes = document.write_pdf(pdf_identifier=digest[:16], pdf_tags=True)
    return data


def _rendered(page: str) -> Any:  # noqa: ANN401 -- a document of WeasyPrint
    return weasyprint().HTML(string=page, base_url=None, url_fetcher=_refuse).render()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without a line in the log for each letter, of each name, that no font here has."""
    logger = logging.getLogger("weasyprint")
    logger.addFilter(_is_news)
    try:
        yield
    finally:
        logger.removeFilter(_is_news)


@contextmanager
def _without_clock() -> Iterator[None]:
    """With one time of writing for all fonts: fontTools, which cuts them where HarfBuzz cannot, states it."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = before or "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]


def _is_news(record: logging.LogRecord) -> bool:
    return ".notdef" not in str(record.msg)


def _is_one_page(document: Any) -> bool:  # noqa: ANN401
    return len(document.pages) == 1


def _refuse(url: str, *_: object, **__: object) -> NoReturn:
    """Nothing on the sheet is fetched, from the network or from a file."""
    raise ValueError(url)
