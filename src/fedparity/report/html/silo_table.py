"""The table of all silos: lean rows, whose numbers are named by their row and column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fedparity.auditing.parts import group_key
from fedparity.auditing.result import AuditResult
from fedparity.report.pointers import looked_up, pointer
from fedparity.report.sentences.naming import group_words, is_summed, is_weighted
from fedparity.report.written import written

__all__ = ["FOLDED", "Column", "Row", "SiloTable", "silo_table"]

FOLDED: Final = 60
"""Beyond so many silos the table starts folded; the page's script unfolds it."""

_UPRIGHT: Final = 8
"""Columns of numbers that fit an upright page."""

_PLACE: Final = "*"
"""Stands for the number of the row in a column's path."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of numbers: those at ``path``, with the number of the row for the star."""

    title: str
    path: str
    form: str
    over: str = ""
    """What is counted, above a title that is the name of a group."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A silo and its cells, as text in the order of the columns."""

    silo: str
    cells: tuple[str, ...]
    note: str


@dataclass(frozen=True, kw_only=True)
class SiloTable:
    """All silos that sent something, and the names of those that did not."""

    columns: tuple[Column, ...]
    """None where only sums over silos were seen."""
    rows: tuple[Row, ...]
    missing: tuple[str, ...]
    counts: str
    """What is counted: records, or their weight."""

    @property
    def folded(self) -> bool:
        """Whether there are too many rows to show at once."""
        return len(self.rows) + len(self.missing) > FOLDED

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
    columns = _columns(result)
    rows = (_row(document, columns, index) for index in range(len(result.silos)))
    return SiloTable(
        columns=columns,
        rows=tuple(rows),
        missing=result.silos_missing,
        counts=_counts(result),
    )


def _counts(result: AuditResult) -> str:
    return "weight" if is_weighted(result) else "records"


def _columns(result: AuditResult) -> tuple[Column, ...]:
    if is_summed(result):
        return ()
    counts = tuple(
        Column(
            title=group_words(each.group),
            path=pointer("silos", _PLACE, "n", group_key(each.group)),
            form="amount",
            over=_counts(result),
        )
        for each in result.groups
    )
    gap = Column(title="mean gap", path="/silos/*/mean_gap", form="signed")
    return (
        *counts,
        Column(title="disparity alone", path="/silos/*/disparity", form="number"),
        Column(
            title=f"{100 * result.confidence:.3g} % interval",
            path="/silos/*/interval",
            form="span",
        ),
        *((gap,) if len(result.groups) == 2 else ()),
        Column(title="influence", path="/attribution/silos/*/influence", form="signed"),
    )


def _row(document: Mapping[str, Any], columns: tuple[Column, ...], index: int) -> Row:
    silo = document["silos"][index]
    cells = (_cell(document, column, index) for column in columns)
    return Row(silo=silo["silo"], cells=tuple(cells), note=silo["note"])


def _cell(document: Mapping[str, Any], column: Column, index: int) -> str:
    # A group may be called "*": only the first star, which is ours, is the row's.
    path = column.path.replace(_PLACE, str(index), 1)
    return written(looked_up(document, path), column.form)
