"""The tables of the page: small ones behind the figures, and that of all silos."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import group_key
from fedparity.report import tables
from fedparity.report.sentences.naming import counted_in, is_summed
from fedparity.report.tables import SiloColumn, Table
from fedparity.text import pointer

__all__ = ["SiloRow", "SiloTable", "page_tables", "silo_table"]

_FOLDED: Final = 60
"""Beyond this many silos the table starts folded; the page's script unfolds it."""

_UPRIGHT: Final = 8
"""Columns of numbers that fit an upright page."""


def page_tables(result: AuditResult, silos: Iterable[int]) -> dict[str, Table]:
    """Return the tables by name; that of the silos' quantiles holds the silos named."""
    return {
        "groups": tables.groups(result),
        "magnitudes": tables.magnitudes(result),
        "pairs": tables.pairs(result),
        "pair_details": tables.pairs(result, details=True),
        "curves": tables.curves(result),
        "quantiles": tables.silo_quantiles(result, silos),
        "parts": tables.parts(result),
        "terms": tables.terms(result),
        "accuracy": tables.accuracy(result),
    }


class SiloRow(NamedTuple):
    """A silo and its cells, as text in the order of the columns."""

    silo: str
    cells: tuple[str, ...]
    note: str


@dataclass(frozen=True, kw_only=True)
class SiloTable:
    """All silos that sent something, and the names of those that did not."""

    columns: tuple[SiloColumn, ...]
    """None where only sums over silos were seen."""
    rows: tuple[SiloRow, ...]
    missing: tuple[str, ...]
    counts: str
    """What is counted: records, or their weight."""

    @property
    def folded(self) -> bool:
        """Whether there are too many rows to show at once."""
        return len(self.rows) + len(self.missing) > _FOLDED

    @property
    def noted(self) -> bool:
        """Whether there is anything to say in a column of notes."""
        return bool(self.missing) or any(row.note for row in self.rows)

    @property
    def wide(self) -> bool:
        """Whether a printed page must be turned to hold it."""
        return len(self.columns) > _UPRIGHT


def silo_table(result: AuditResult, document: Mapping[str, Any]) -> SiloTable:
    """Return the table; ``document`` is the JSON of the result."""
    columns = () if is_summed(result) else _columns(result)
    return SiloTable(
        columns=columns,
        rows=tuple(
            SiloRow(
                silo.silo,
                tuple(
                    tables.cell_text(tables.silo_cell(column, position), document)
                    for column in columns
                ),
                silo.note,
            )
            for position, silo in enumerate(result.silos)
        ),
        missing=result.silos_missing,
        counts=counted_in(result),
    )


def _columns(result: AuditResult) -> tuple[SiloColumn, ...]:
    """The records of each group, then what all formats show, and of two groups the gap of means."""
    *alone, influence = tables.silo_columns(result)
    counts = (
        SiloColumn(
            group_words(each.group),
            pointer("silos", "*", "n", group_key(each.group)),
            "amount",
            over=counted_in(result),
        )
        for each in result.groups
    )
    gap = SiloColumn("mean gap", "/silos/*/mean_gap", "signed")
    return (*counts, *alone, *([gap] if len(result.groups) == 2 else []), influence)
