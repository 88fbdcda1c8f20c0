"""The formats of a report: how each is checked, and how it is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from fedparity.documents.files import Path, refuse_existing, write_whole
from fedparity.documents.result import AuditResult
from fedparity.errors import OutputError
from fedparity.errors.extras import check_html, check_pdf, check_xlsx
from fedparity.report.preparation import Preparation

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Format",
    "FormatName",
    "Render",
    "save_report",
]

FormatName: TypeAlias = Literal["html", "markdown", "model-card", "pdf", "xlsx"]


class Render(Protocol):
    """Makes a report of a result; without a preparation it does not say when and by whom."""

    def __call__(self, result: AuditResult, prepared: Preparation | None = None, /) -> bytes:
        """Return the bytes of the file."""


class Format(NamedTuple):
    """One kind of file."""

    render: Render
    check: Callable[[], None]
    """Raises if something that rendering needs is not installed."""
    is_text: bool
    """Whether it can be read where it is printed."""


def _html(result: AuditResult, prepared: Preparation | None = None) -> bytes:
    from fedparity.report.html.page import html_report  # noqa: PLC0415 -- matplotlib, Jinja

    return html_report(result, prepared).encode()


def _markdown(result: AuditResult, prepared: Preparation | None = None) -> bytes:
    from fedparity.report.markdown import markdown_report  # noqa: PLC0415

    return markdown_report(result, prepared).encode()


def _model_card(result: AuditResult, prepared: Preparation | None = None) -> bytes:
    from fedparity.report.model_card import model_card_section  # noqa: PLC0415

    return model_card_section(result, prepared).encode()


def _pdf(result: AuditResult, prepared: Preparation | None = None) -> bytes:
    from fedparity.report.sheet import pdf_report  # noqa: PLC0415 -- matplotlib, typst

    return pdf_report(result, prepared)


def _xlsx(result: AuditResult, prepared: Preparation | None = None) -> bytes:
    from fedparity.report.table_files import xlsx_tables  # noqa: PLC0415 -- XlsxWriter

    return xlsx_tables(result, prepared)


def _nothing() -> None:
    """The core dependencies are enough."""


FORMATS: Final[Mapping[FormatName, Format]] = {
    "html": Format(_html, check_html, is_text=False),
    "markdown": Format(_markdown, _nothing, is_text=True),
    "model-card": Format(_model_card, _nothing, is_text=True),
    "pdf": Format(_pdf, check_pdf, is_text=False),
    "xlsx": Format(_xlsx, check_xlsx, is_text=False),
}


SUFFIXES: Final[dict[str, FormatName]] = {
    ".html": "html",
    ".md": "markdown",
    ".pdf": "pdf",
    ".xlsx": "xlsx",
}


def save_report(
    result: AuditResult,
    path: Path,
    *,
    force: bool = False,
    author: str | None = None,
    date: str | None = None,
) -> str:
    """Write a report, whole or not at all, and return its path.

    Parameters
    ----------
    path : str or path
        Ends in ``.html``, ``.md``, ``.pdf`` or ``.xlsx``, which decides the format.
    force : bool
        Replace a file of this name.
    author : str, optional
        Of the report; the result does not know it.
    date : str, optional
        The day of the report, such as ``2026-11-18``; today if absent.

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
        raise OutputError(
            f"the format of the report {name} is not known by its ending.",
            fix=f"choose a name that ends in {', '.join(SUFFIXES)}.",
        )
    if not force:
        refuse_existing(name)
    chosen = FORMATS[SUFFIXES[ending]]
    chosen.check()
    write_whole(name, chosen.render(result, Preparation.stated(date, author)), force=force)
    return name
