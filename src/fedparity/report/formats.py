"""The formats of a report: how each is checked and made, and when and by whom it was prepared."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from fedparity.documents.fields import hidden_place
from fedparity.documents.files import Path, refuse_existing, write_whole
from fedparity.documents.result import AuditResult
from fedparity.errors import OptionError, OutputError
from fedparity.errors.base import check_html, check_pdf, check_xlsx
from fedparity.report.sentences.answers import size
from fedparity.report.sentences.naming import short

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Format",
    "FormatName",
    "Preparation",
    "Render",
    "circumstances",
    "save_report",
]


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """A date and an author; reports of one result that share them are the same bytes.

    Examples
    --------
    >>> print(Preparation(date="2026-11-18", author="Office of Audits"))
    Prepared 2026-11-18 by Office of Audits
    """

    date: str
    """A day as ISO 8601 writes it."""
    author: str = ""

    def __post_init__(self) -> None:
        try:
            date.fromisoformat(self.date)
        except ValueError:
            raise OptionError(
                "the date of a report must be a day such as 2026-11-18.",
                fix="write year, month and day with hyphens.",
            ) from None
        if hidden_place(self.author) is not None:
            raise OptionError(
                "the author of a report holds a character that cannot be seen.",
                fix="leave out line breaks and control characters.",
            )

    @classmethod
    def today(cls, author: str = "") -> Preparation:
        """Return the preparation of today, where this machine is."""
        return cls(date=datetime.now().astimezone().date().isoformat(), author=author)

    @classmethod
    def stated(cls, day: str | None, author: str | None) -> Preparation:
        """Return the preparation by an author on a day; of today if none is given."""
        return cls.today(author or "") if day is None else cls(date=day, author=author or "")

    def __str__(self) -> str:
        return f"Prepared {self.date}{f' by {self.author}' if self.author else ''}"


def circumstances(result: AuditResult, prepared: Preparation | None) -> tuple[str, ...]:
    """Return when and by whom, the period of the records, the plan, and how many answered."""
    period, digest = result.plan.period, result.plan.digest.removeprefix("sha256:")[:12]
    plan = "simulated, without a plan" if result.plan.simulated else f"plan {digest}"
    words = (
        "" if prepared is None else f"{short(str(prepared))}",
        "" if period is None else f"records from {period[0]} to {period[1]}",
        plan,
        size(result),
    )
    return tuple(filter(None, words))


FormatName: TypeAlias = Literal["html", "markdown", "model-card", "pdf", "xlsx"]


class Render(Protocol):
    """Builds a report of a result; without a preparation it states no date and no author."""

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
    overwrite: bool = False,
    author: str | None = None,
    date: str | None = None,
) -> str:
    """Write a report, whole or not at all, and return its path.

    Parameters
    ----------
    path : str or path
        Ends in ``.html``, ``.md``, ``.pdf`` or ``.xlsx``, which decides the format.
    overwrite : bool
        Replace a file of this name.
    author : str, optional
        Of the report; the result does not know it.
    date : str, optional
        The day of the report, such as ``2026-11-18``; today if absent.

    Raises
    ------
    OutputError
        If the ending is another, the file exists and ``overwrite`` is not set, or it cannot be
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
    if not overwrite:
        refuse_existing(name)
    chosen = FORMATS[SUFFIXES[ending]]
    chosen.check()
    write_whole(name, chosen.render(result, Preparation.stated(date, author)), force=overwrite)
    return name
