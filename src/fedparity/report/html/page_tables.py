"""Small tables: the numbers behind the figures, each named by its place in the JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.documents.result_parts import group_key
from fedparity.laws.labels import Group
from fedparity.report.html.markup import Values, looked_up, pointer
from fedparity.report.sentences.answers import Rates, rates_heading
from fedparity.report.sentences.caveats import given_words
from fedparity.report.sentences.naming import is_summed, is_weighted, symbol
from fedparity.report.tables import all_rates, magnitude_columns, magnitudes, rate_heads
from fedparity.report.verdicts import NOTHING, written
from fedparity.text import percent

__all__ = [
    "FOLDED",
    "Column",
    "Row",
    "SiloColumn",
    "SiloRow",
    "SiloTable",
    "Table",
    "center_name",
    "page_tables",
    "rate_tables",
    "silo_table",
]

FOLDED: Final = 60
"""Beyond so many silos the table starts folded; the page's script unfolds it."""

_UPRIGHT: Final = 8
"""Columns of numbers that fit an upright page."""

_PLACE: Final = "*"
"""Stands for the number of the row in a column's path."""


@dataclass(frozen=True, kw_only=True)
class SiloColumn:
    """A column of numbers: those at ``path``, with the number of the row for the star."""

    title: str
    path: str
    form: str
    over: str = ""
    """What is counted, above a title that is the name of a group."""


@dataclass(frozen=True, kw_only=True)
class SiloRow:
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


def _columns(result: AuditResult) -> tuple[SiloColumn, ...]:
    if is_summed(result):
        return ()
    counts = tuple(
        SiloColumn(
            title=group_words(each.group),
            path=pointer("silos", _PLACE, "n", group_key(each.group)),
            form="amount",
            over=_counts(result),
        )
        for each in result.groups
    )
    gap = SiloColumn(title="mean gap", path="/silos/*/mean_gap", form="signed")
    return (
        *counts,
        SiloColumn(title="disparity alone", path="/silos/*/disparity", form="number"),
        SiloColumn(
            title=f"{100 * result.confidence:.3g} % interval",
            path="/silos/*/interval",
            form="span",
        ),
        *((gap,) if len(result.groups) == 2 else ()),
        SiloColumn(title="influence", path="/attribution/silos/*/influence", form="signed"),
    )


def _row(document: Mapping[str, Any], columns: tuple[SiloColumn, ...], index: int) -> SiloRow:
    silo = document["silos"][index]
    cells = (_cell(document, column, index) for column in columns)
    return SiloRow(silo=silo["silo"], cells=tuple(cells), note=silo["note"])


def _cell(document: Mapping[str, Any], column: SiloColumn, index: int) -> str:
    # A group may be called "*": only the first star, which is ours, is the row's.
    path = column.path.replace(_PLACE, str(index), 1)
    return written(looked_up(document, path), column.form)


_SHOWN_LEVELS = 0.05, 0.25, 0.5, 0.75, 0.95
"""Of the curves; those of the silos' quantiles are the same."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column; ``path``, if there is one, goes on from that of the row."""

    title: str
    form: str = "number"
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row. With a path its cells are plain text; without, each names its own place."""

    title: str
    cells: tuple[str, ...]
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with a caption and headings on both sides."""

    caption: str
    corner: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    told: bool = False
    """Whether the caption is a sentence about the result."""


def page_tables(result: AuditResult, value: Values, silos: Iterable[int]) -> dict[str, Table]:
    """Return the tables by name; that of the silos' quantiles holds the silos named."""
    return {
        "groups": _groups(result, value),
        "magnitudes": _magnitudes(result, value),
        "pairs": _pairs(result, value),
        "curves": _curves(result, value),
        "quantiles": _quantiles(result, value, silos),
        "parts": _parts(result, value),
        "terms": _terms(result, value),
        "accuracy": _accuracy(result, value),
    }


def _groups(result: AuditResult, value: Values) -> Table:
    forms = {"n": "amount", "share": "percent", "mean": "number"}
    counts = "weight" if is_weighted(result) else "records"
    titles = {"n": counts, "share": "share", "mean": "mean score"}
    return Table(
        caption="The groups, in all silos together",
        corner="group",
        columns=tuple(Column(title=titles[name]) for name in forms),
        rows=tuple(
            Row(
                title=group_words(each.group),
                cells=tuple(value(f"/groups/{i}/{name}", form) for name, form in forms.items()),
            )
            for i, each in enumerate(result.groups)
        ),
    )


def rate_tables(result: AuditResult, value: Values) -> tuple[Table, ...]:
    """Return a table of rates for every threshold, then for every quantile of all records."""
    bases = (
        *(f"/thresholds/{i}" for i in range(len(result.thresholds))),
        *(f"/tails/{i}" for i in range(len(result.tails))),
    )
    return tuple(
        _rates(result, rates, base, value)
        for rates, base in zip(all_rates(result), bases, strict=True)
    )


def _rates(result: AuditResult, rates: Rates, base: str, value: Values) -> Table:
    fields = {
        "rate/value": "percent",
        "rate/interval": "percents",
        "ratio/value": "number",
        "ratio/interval": "span",
        "answer": "text",
    }
    corner, *titles = rate_heads(result)
    return Table(
        caption=rates_heading(rates),
        corner=corner,
        columns=tuple(Column(title=title) for title in titles),
        rows=tuple(
            Row(
                title=group_words(each.group),
                cells=tuple(
                    value(f"{base}/groups/{i}/{name}", form) for name, form in fields.items()
                ),
            )
            for i, each in enumerate(rates.groups)
        ),
        told=True,
    )


def _magnitudes(result: AuditResult, value: Values) -> Table:
    return Table(
        caption="The same in other units, with what each number could be",
        corner="measure",
        columns=tuple(Column(title=title) for title in magnitude_columns(result)),
        rows=tuple(
            Row(
                title=each.name,
                cells=(
                    value(each.value, each.form),
                    *(value(path, each.range_form) if path else NOTHING for path in each.ranges),
                ),
            )
            for each in magnitudes(result)
        ),
    )


def _pairs(result: AuditResult, value: Values) -> Table:
    fields = {
        "corrected": "number",
        "interval": "span",
        "certificate": "span",
        "mean_gap": "signed",
        "cramer": "number",
    }
    titles = (
        symbol("W", result),
        f"{percent(result.confidence)} interval",
        given_words(result),
        "mean of the first minus the second",
        symbol("C", result),
    )
    return Table(
        caption="Distances between two groups, in score points",
        corner="groups",
        columns=tuple(Column(title=title) for title in titles),
        rows=tuple(
            Row(
                title=" and ".join(map(group_words, pair.groups)),
                cells=tuple(value(f"/pairs/{i}/{name}", form) for name, form in fields.items()),
            )
            for i, pair in enumerate(result.pairs)
        ),
    )


def _curves(result: AuditResult, value: Values) -> Table:
    levels = result.curves.levels
    places = [min(range(len(levels)), key=lambda i: abs(levels[i] - u)) for u in _SHOWN_LEVELS]
    bases = [f"/curves/groups/{i}/quantiles" for i in range(len(result.curves.groups))]
    titles = [group_words(each.group) for each in result.curves.groups]
    return Table(
        caption="Scores at the same rank",
        corner="group",
        columns=tuple(Column(title=f"rank {percent(levels[i])}") for i in places),
        rows=tuple(
            Row(title=title, cells=tuple(value(f"{base}/{i}") for i in places))
            for title, base in zip(
                [*titles, center_name(result)], [*bases, "/curves/center"], strict=True
            )
        ),
    )


def center_name(result: AuditResult) -> str:
    """Return what the law nearest to all groups is called."""
    return "barycenter" if result.plan.order == 2 else "median center"


def _quantiles(result: AuditResult, value: Values, silos: Iterable[int]) -> Table:
    cells = [
        (index, each.group)
        for index in silos
        for each in result.groups  # in reporting order, which a mapping read from JSON has not
        if result.silos[index].quantiles[each.group] is not None
    ]
    return Table(
        caption="Scores at the same rank, by silo and group",
        corner="silo and group",
        columns=tuple(
            Column(title=f"rank {percent(level)}", path=f"/{i}")
            for i, level in enumerate(_SHOWN_LEVELS)
        ),
        rows=tuple(_table_cell(result, value, index, group) for index, group in cells),
    )


def _table_cell(result: AuditResult, value: Values, index: int, group: Group) -> Row:
    path = pointer("silos", index, "quantiles", group_key(group))
    return Row(
        title=f"{result.silos[index].silo}, {group_words(group)}",
        cells=tuple(value.text(f"{path}/{i}") for i in range(len(_SHOWN_LEVELS))),
        path=path,
    )


def _parts(result: AuditResult, value: Values) -> Table:
    return Table(
        caption=f"Parts of {symbol('G', result)}",
        corner="part",
        columns=(Column(title="value"), Column(title=f"{percent(result.confidence)} interval")),
        rows=tuple(
            Row(
                title=name,
                cells=(
                    value(f"/attribution/{name}"),
                    value(f"/attribution/intervals/{name}", "span"),
                ),
            )
            for name in ("selection", "within")
        ),
    )


def _terms(result: AuditResult, value: Values) -> Table:
    titles = {
        "v_mix": "V_mix",
        "v_bar": "V_bar",
        "remainder": "R",
        "lower": "lower bound from the terms",
        "upper": "upper bound from the terms",
    }
    if result.decomposition.remainder is None:
        del titles["remainder"]
    return Table(
        caption=f"Terms of {symbol('G', result)}",
        corner="term",
        columns=(Column(title="value"),),
        rows=tuple(
            Row(title=title, cells=(value(f"/decomposition/{name}"),))
            for name, title in titles.items()
        ),
    )


def _accuracy(result: AuditResult, value: Values) -> Table:
    base = "/disparity"
    often = percent(result.confidence)
    lines = (
        (f"disparity {symbol('G', result)}", "value", "number"),
        ("without what noise adds on average", "corrected", "number"),
        (f"{often} interval: sampling and sketches", "interval", "span"),
        ("combined: with the guaranteed error of the sketches", "combined", "span"),
        ("certificate: the raw data, given the sketches", "certificate", "span"),
        ("outer bounds: and all that is missing", "outer", "span"),
        ("p-value", "p_value", "number"),
    )
    return Table(
        caption="How far each number may be from the truth",
        corner="measure",
        columns=(Column(title="value"),),
        rows=(
            *(
                Row(title=title, cells=(value(f"{base}/{name}", form),))
                for title, name, form in lines
            ),
            Row(
                title=f"heterogeneity {symbol('H', result)}",
                cells=(value("/heterogeneity/value"),),
            ),
            Row(title=f"{often} interval", cells=(value("/heterogeneity/interval", "span"),)),
            Row(title="levels of a full sketch, k", cells=(value("/plan/levels", "amount"),)),
        ),
    )
