"""When and by whom a report was prepared: known to the report, not to the result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from fedparity.documents.fields import hidden_place
from fedparity.documents.result import AuditResult
from fedparity.errors import OptionError
from fedparity.report.sentences.answers import size
from fedparity.report.sentences.naming import short

__all__ = ["Preparation", "circumstances"]


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
