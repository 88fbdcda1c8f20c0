"""All tables of a result as files for spreadsheets: CSV, or one workbook, with every digit."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import group_key
from fedparity.errors.base import extra
from fedparity.report import tables
from fedparity.report.formats import Preparation
from fedparity.report.sentences.naming import counted_in
from fedparity.report.tables import Cell, Column, Row, Table, looked_up
from fedparity.text import NOTHING, pointer

__all__ = ["csv_tables", "sheets", "xlsx_tables"]

Value: TypeAlias = str | float | None
Grid: TypeAlias = list[list[Value]]
"""A heading and rows."""

_PAIRS = frozenset({"span", "percents"})
"""Forms of cells that hold two numbers."""
_FORMULA = re.compile(r"^[=+\-@\t\r]")
"""How a cell begins that a spreadsheet would run."""
_WIDTH = 40
_NOTHING = datetime(2000, 1, 1)  # noqa: DTZ001 -- a workbook has no zone


def sheets(result: AuditResult) -> dict[str, Grid]:
    """Return every table by name, with the numbers of the JSON, intervals in two columns."""
    document = result.to_dict()
    found = {
        "groups": tables.groups(result),
        "pairs": tables.pairs(result, details=True),
        "magnitudes": tables.magnitudes(result),
        "measures": tables.accuracy(result),
        "curves": tables.curves(result),
        "silos": _silos(result),
    }
    if result.attribution.selection is not None:
        found |= {"parts": tables.parts(result), "terms": tables.terms(result)}
        found["silo_quantiles"] = tables.silo_quantiles(result, range(len(result.silos)))
    for place in range(len(tables.all_rates(result))):
        found[f"rates_{place + 1}"] = tables.rates_table(result, place)
    if result.warnings:
        found["warnings"] = tables.warnings(result)
    return {name: _grid(table, document) for name, table in found.items()}


_SILO_FIELDS = {
    "wasserstein": "number",
    "disparity": "number",
    "interval": "span",
    "heterogeneity": "number",
    "mean_gap": "number",
    "rows_dropped": "amount",
    "note": "text",
}


def _silos(result: AuditResult) -> Table:
    """Every silo that answered: its records by group, and all that it shows alone."""
    groups = [each.group for each in result.groups]
    counts = [f"{counted_in(result)} {group_words(group)}" for group in groups]
    titles = [*counts, "influence", *(name.replace("_", " ") for name in _SILO_FIELDS)]
    return Table(
        caption="Silos",
        corner="silo",
        columns=tuple(map(Column, titles)),
        rows=tuple(
            Row(
                title=silo.silo,
                cells=(
                    *(Cell(pointer("silos", i, "n", group_key(g)), "amount") for g in groups),
                    Cell(f"/attribution/silos/{i}/influence"),
                    *(Cell(f"/silos/{i}/{name}", form) for name, form in _SILO_FIELDS.items()),
                ),
            )
            for i, silo in enumerate(result.silos)
        ),
    )


def _grid(table: Table, document: Any) -> Grid:  # noqa: ANN401 -- JSON
    rows = [[_values(cell, document) for cell in row.cells] for row in table.rows]
    wide = [max((len(row[i]) for row in rows), default=1) for i in range(len(table.columns))]
    heading: list[Value] = [table.corner]
    for column, count in zip(table.columns, wide, strict=True):
        ends = ("lower", "upper") if count == 2 else ("",)
        heading += [f"{column.title} {end}".strip() for end in ends]
    body: Grid = []
    for title, cells in zip((row.title for row in table.rows), rows, strict=True):
        line: list[Value] = [title]
        for values, count in zip(cells, wide, strict=True):
            line += [*values, *[None] * (count - len(values))]
        body.append(line)
    return [heading, *body]


def _values(cell: Cell, document: Any) -> list[Value]:  # noqa: ANN401 -- JSON
    """What a cell holds: a number, a text, or both ends of an interval."""
    if not cell.path:
        return [None if cell.text in ("", NOTHING) else cell.text]
    found = looked_up(document, cell.path)
    if cell.form in _PAIRS:
        return [None, None] if found is None else list(found)
    return [found]


def csv_tables(result: AuditResult) -> dict[str, bytes]:
    """Return every table as a CSV file, by the name of its file.

    Names come from messages that others wrote, and spreadsheets run cells that look like a formula:
    such a text gets an apostrophe before it.
    """
    return {f"{name}.csv": _csv(grid) for name, grid in sheets(result).items()}


def _csv(grid: Grid) -> bytes:
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows([_safe(value) for value in row] for row in grid)
    return text.getvalue().encode()


def _safe(value: Value) -> Value:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def xlsx_tables(result: AuditResult, prepared: Preparation | None = None) -> bytes:
    """Return a workbook with a sheet for every table; equal arguments give equal bytes.

    Raises
    ------
    MissingExtraError
        If XlsxWriter is not installed.
    """
    writer = extra("xlsxwriter", "a workbook", "excel")
    buffer = io.BytesIO()
    # a text is a text, whatever it begins with
    texts = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with writer.Workbook(buffer, {"in_memory": True, **texts}) as book:
        day = _NOTHING if prepared is None else datetime.fromisoformat(prepared.date)
        author = "" if prepared is None else prepared.author
        book.set_properties({"title": result.plan.title, "author": author, "created": day})
        bold = book.add_format({"bold": True})
        for name, grid in sheets(result).items():
            sheet = book.add_worksheet(name)
            sheet.freeze_panes(1, 1)
            for place, row in enumerate(grid):
                for column, value in _known(row):
                    sheet.write(place, column, value, None if place else bold)
            for column in range(len(grid[0])):
                sheet.set_column(column, column, _width(row[column] for row in grid))
    return buffer.getvalue()


def _known(row: Sequence[Value]) -> Iterator[tuple[int, str | float]]:
    return ((column, value) for column, value in enumerate(row) if value is not None)


def _width(values: Iterator[Value]) -> int:
    """Letters that the widest value of a column takes, up to a limit."""
    return min(_WIDTH, 2 + max(len(value) if isinstance(value, str) else 9 for value in values))
