"""The tables of a result, each defined once: which number is in which cell, and how it is written.

A cell is a place in the JSON of the result with the form of its number. The page shows both, so that
anyone can check a number; Markdown, the sheet, a notebook and a terminal show the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult, headline_of, symbol
from fedparity.documents.result_parts import SiloResult, group_key
from fedparity.report.sentences.answers import Rates, rates_heading
from fedparity.report.sentences.naming import counted_in, given_words
from fedparity.text import NOTHING, amount, percent, pointer, written

__all__ = [
    "READING_MAGNITUDES",
    "Cell",
    "Column",
    "Row",
    "SiloColumn",
    "Table",
    "accuracy",
    "all_rates",
    "cell_text",
    "curves",
    "groups",
    "looked_up",
    "magnitudes",
    "measures",
    "pairs",
    "parts",
    "rate_tables",
    "rates_table",
    "records_of",
    "silo_cell",
    "silo_columns",
    "silo_quantiles",
    "silos",
    "terms",
    "warnings",
]

READING_MAGNITUDES = (
    "The interval describes the population, the other ranges the raw data. What chance and noise add "
    "on average is taken off the first two values."
)
_SHOWN_LEVELS: Final = 0.05, 0.25, 0.5, 0.75, 0.95
"""Of the curves; those of the silos' quantiles are the same."""


class Cell(NamedTuple):
    """A place in the JSON of the result and the format of its value, or a fixed text."""

    path: str
    """A JSON pointer; empty for a fixed text."""
    form: str = "number"
    """See :func:`fedparity.text.written`."""
    text: str = NOTHING


class Column(NamedTuple):
    """A column; ``path``, if given, continues that of the row."""

    title: str
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row; with a path, its columns name the places of the cells below it."""

    title: str
    cells: tuple[Cell, ...]
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with a caption and headings on both sides."""

    caption: str
    corner: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    is_sentence: bool = False
    """Whether the caption is a sentence about the result."""

    @property
    def heads(self) -> list[str]:
        """The headings of all columns, that of the names of the rows first."""
        return [self.corner, *(column.title for column in self.columns)]

    def texts(self, document: Mapping[str, Any]) -> list[list[str]]:
        """Return the rows as text, the name first; ``document`` is the JSON of the result."""
        return [
            [row.title, *(cell_text(cell, document) for cell in row.cells)] for row in self.rows
        ]


def cell_text(cell: Cell, document: Mapping[str, Any]) -> str:
    """Return what a cell shows."""
    return written(looked_up(document, cell.path), cell.form) if cell.path else cell.text


def looked_up(document: Any, path: str) -> Any:  # noqa: ANN401 -- JSON holds anything
    """Return what a pointer points at.

    Raises
    ------
    LookupError
        If there is nothing: a table names a field that the result does not have.

    Examples
    --------
    >>> looked_up({"silos": [{"n": {"a/b": 7}}]}, "/silos/0/n/a~1b")
    7
    """
    found = document
    for step in path.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found


def _columns(*titles: str) -> tuple[Column, ...]:
    return tuple(map(Column, titles))


def _row(title: str, base: str, fields: Mapping[str, str]) -> Row:
    """A row of the fields below a path, each with its form."""
    return Row(
        title=title, cells=tuple(Cell(f"{base}/{name}", form) for name, form in fields.items())
    )


def groups(result: AuditResult) -> Table:
    """Return each group's records, share and mean, and its rate at every threshold.

    At a single threshold its ratio to the highest rate stands beside it, with interval and answer; at
    several, :func:`rates_table` has them.
    """
    fields = {"n": "amount", "share": "percent", "mean": "number"}
    columns = [counted_in(result), "share", "mean score"]
    rates = all_rates(result)
    if len(rates) == 1:
        columns += [rates_heading(rates[0]), *_rate_columns(result)[1:]]
    else:
        columns += map(rates_heading, rates)
    rows = []
    for i, each in enumerate(result.groups):
        cells = list(_row("", f"/groups/{i}", fields).cells)
        for place in range(len(rates)):
            base = f"{_rates_path(result, place)}/groups/{i}"
            shown = _RATE_FIELDS if len(rates) == 1 else {"rate/value": "percent"}
            cells += _row("", base, shown).cells
        rows.append(Row(title=group_words(each.group), cells=tuple(cells)))
    return Table(
        caption="The groups, in all silos together",
        corner="group",
        columns=_columns(*columns),
        rows=tuple(rows),
        is_sentence=bool(rates),
    )


_RATE_FIELDS: Final = {
    "rate/value": "percent",
    "rate/interval": "percents",
    "ratio/value": "number",
    "ratio/interval": "span",
    "answer": "four fifths",
}


def _rate_columns(result: AuditResult) -> list[str]:
    often = f"{percent(result.confidence)} range"
    return ["rate", often, "ratio to highest rate", often, "four fifths"]


def _rates_path(result: AuditResult, place: int) -> str:
    first = len(result.thresholds)
    return f"/thresholds/{place}" if place < first else f"/tails/{place - first}"


def all_rates(result: AuditResult) -> tuple[Rates, ...]:
    """Return the rates at thresholds, then those above quantiles."""
    return (*result.thresholds, *result.tails)


def rates_table(result: AuditResult, place: int) -> Table:
    """Return each group's rate and its ratio to the highest, with intervals and the answer.

    ``place`` counts among :func:`all_rates`.
    """
    rates, base = all_rates(result)[place], _rates_path(result, place)
    return Table(
        caption=rates_heading(rates),
        corner="group",
        columns=_columns(*_rate_columns(result)),
        rows=tuple(
            _row(group_words(each.group), f"{base}/groups/{i}", _RATE_FIELDS)
            for i, each in enumerate(rates.groups)
        ),
        is_sentence=True,
    )


def rate_tables(result: AuditResult) -> tuple[Table, ...]:
    """Return the tables of rates that the table of the groups does not hold already."""
    many = len(all_rates(result))
    return tuple(rates_table(result, place) for place in range(many)) if many > 1 else ()


def warnings(result: AuditResult) -> Table:
    """Return the warnings, each by its code."""
    return Table(
        caption="Warnings",
        corner="code",
        columns=_columns("warning"),
        rows=tuple(
            Row(title=each.code, cells=(Cell(f"/warnings/{i}/text", "text"),))
            for i, each in enumerate(result.warnings)
        ),
    )


def magnitudes(result: AuditResult) -> Table:
    """Return the disparity in units that people can read, the headline's first, with bounds."""
    first, second = map(group_words, result.magnitudes.worst_pair.groups)
    return Table(
        caption="The same in other units, with what each number could be",
        corner="measure",
        columns=_columns(
            "value",
            f"{percent(result.confidence)} interval",
            "guaranteed for the silos' own records",
            "if missing data could be anything",
        ),
        rows=(
            _estimate(f"{first} and {second}, furthest apart, in points", "worst_pair"),
            _estimate("scores must move to be alike, in points", "points"),
            Row(
                title="furthest apart, as a share of the scale",
                cells=(
                    Cell("/magnitudes/worst_pair/share_of_range", "percent"),
                    *(Cell("") for _ in range(3)),
                ),
            ),
            _bounded("furthest apart, in standard deviations", "standardized/distance"),
            _bounded("difference of their means, in standard deviations", "standardized/mean_gap"),
            _bounded("one standard deviation in a group, in points", "standardized/deviation"),
            _bounded("share of the variance of all scores", "variance_share", "percent"),
            _bounded("of it by means; the rest by spread and shape", "location_share", "percent"),
            _bounded("to be alike if groups were equally large, in points", "equal_weights"),
            *(
                _bounded(
                    f"{group_words(each.group)}: from the center of all, in points", f"burden/{i}"
                )
                for i, each in enumerate(result.magnitudes.burden)
            ),
        ),
    )


def _estimate(title: str, field: str) -> Row:
    fields = {"corrected": "number", "interval": "span", "certificate": "span", "outer": "span"}
    return _row(title, f"/magnitudes/{field}", fields)


def _bounded(title: str, field: str, form: str = "number") -> Row:
    base, ends = f"/magnitudes/{field}", "percents" if form == "percent" else "span"
    value, *bounds = _row(title, base, {"value": form, "certificate": ends, "outer": ends}).cells
    return Row(title=title, cells=(value, Cell(""), *bounds))


def measures(result: AuditResult) -> Table:
    """Return the disparity as the paper defines it, with every kind of range and its parts."""
    often = f"{percent(result.confidence)} interval"
    found, terms = result.disparity, result.decomposition
    rows = [
        _measure(
            f"Disparity {symbol('G', result)}", often, "/disparity/value", "/disparity/interval"
        ),
        _measure("corrected", "without what noise adds on average", "/disparity/corrected"),
        _measure(
            "combined", "with the guaranteed error of the sketches", ends="/disparity/combined"
        ),
        _measure(
            "certificate",
            f"guaranteed range for the silos' own records, {given_words(result)}",
            ends="/disparity/certificate",
        ),
    ]
    if found.outer != found.certificate:
        rows.append(
            _measure(
                "outer bounds",
                "guaranteed range if missing data could be anything",
                ends="/disparity/outer",
            )
        )
    rows += [
        _measure(
            "p-value",
            "how often chance gives as much if the groups are alike",
            "/disparity/p_value",
        ),
        _measure(
            f"Heterogeneity {symbol('H', result)}",
            often,
            "/heterogeneity/value",
            "/heterogeneity/interval",
        ),
    ]
    for title, name in (("Selection between silos", "selection"), ("Within silos", "within")):
        base, split = "/attribution", result.attribution
        if getattr(split, name) is not None and getattr(split.intervals, name) is not None:
            rows.append(_measure(title, often, f"{base}/{name}", f"{base}/intervals/{name}"))
    if terms.v_mix is not None:
        rows.append(_measure("V_mix", "mixture discrepancy", "/decomposition/v_mix"))
        rows.append(_measure("V_bar", "disparity of the centers", "/decomposition/v_bar"))
    if terms.remainder is not None:
        rows.append(_measure("R", "interaction of the two", "/decomposition/remainder"))
    return Table(
        caption="How sure, in detail",
        corner="measure",
        columns=_columns("value", "range", "meaning"),
        rows=tuple(rows),
    )


def _measure(title: str, meaning: str, value: str = "", ends: str = "") -> Row:
    cells = Cell(value, text=""), Cell(ends, "span", text=""), Cell("", text=meaning)
    return Row(title=title, cells=cells)


def pairs(result: AuditResult, *, details: bool = False) -> Table:
    """Return the distances of every two groups; ``details`` adds the certificate and the Cramér distance."""
    fields = {"corrected": "number", "interval": "span", "mean_gap": "signed"}
    titles = [
        "points apart",
        f"{percent(result.confidence)} interval",
        "mean of the first minus the second",
    ]
    if details:
        fields |= {"certificate": "span", "cramer": "number"}
        titles += ["guaranteed for the silos' own records", symbol("C", result)]
    return Table(
        caption="Distances between two groups, in score points"
        + (", in detail" if details else ""),
        corner="groups",
        columns=_columns(*titles),
        rows=tuple(
            _row(" and ".join(map(group_words, pair.groups)), f"/pairs/{i}", fields)
            for i, pair in enumerate(result.pairs)
        ),
    )


def curves(result: AuditResult) -> Table:
    """Return the scores of the groups and of their center at a few ranks."""
    levels = result.curves.levels
    places = [min(range(len(levels)), key=lambda i: abs(levels[i] - u)) for u in _SHOWN_LEVELS]
    fields = {str(place): "number" for place in places}
    center = "barycenter" if result.plan.order == 2 else "median center"
    return Table(
        caption="Scores at the same rank",
        corner="group",
        columns=_columns(*(f"rank {percent(levels[i])}" for i in places)),
        rows=(
            *(
                _row(group_words(each.group), f"/curves/groups/{i}/quantiles", fields)
                for i, each in enumerate(result.curves.groups)
            ),
            _row(center, "/curves/center", fields),
        ),
    )


def silo_quantiles(result: AuditResult, silos: Iterable[int]) -> Table:
    """Return the scores of each group inside the silos at these positions."""
    rows = []
    for index in silos:
        for each in result.groups:  # in reporting order, which a mapping read from JSON has not
            if result.silos[index].quantiles[each.group] is not None:
                path = pointer("silos", index, "quantiles", group_key(each.group))
                cells = tuple(Cell(f"{path}/{i}") for i in range(len(_SHOWN_LEVELS)))
                title = f"{result.silos[index].silo}, {group_words(each.group)}"
                rows.append(Row(title=title, cells=cells, path=path))
    return Table(
        caption="Scores at the same rank, by silo and group",
        corner="silo and group",
        columns=tuple(
            Column(f"rank {percent(level)}", f"/{i}") for i, level in enumerate(_SHOWN_LEVELS)
        ),
        rows=tuple(rows),
    )


def parts(result: AuditResult) -> Table:
    """Return the two parts of the attribution."""
    return Table(
        caption=f"Parts of {symbol('G', result)}",
        corner="part",
        columns=_columns("value", f"{percent(result.confidence)} interval"),
        rows=tuple(
            _row(name, "/attribution", {name: "number", f"intervals/{name}": "span"})
            for name in ("selection", "within")
        ),
    )


def terms(result: AuditResult) -> Table:
    """Return the terms of the decomposition, and what they prove."""
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
        columns=_columns("value"),
        rows=tuple(
            _row(title, "/decomposition", {name: "number"}) for name, title in titles.items()
        ),
    )


def accuracy(result: AuditResult) -> Table:
    """Return every kind of range around the disparity, one below the other."""
    often = percent(result.confidence)
    lines = (
        (f"disparity {symbol('G', result)}", "/disparity/value", "number"),
        ("without what noise adds on average", "/disparity/corrected", "number"),
        (f"{often} interval: sampling and sketches", "/disparity/interval", "span"),
        ("combined: with the guaranteed error of the sketches", "/disparity/combined", "span"),
        (
            "certificate: guaranteed range for the silos' own records",
            "/disparity/certificate",
            "span",
        ),
        (
            "outer bounds: guaranteed range if missing data could be anything",
            "/disparity/outer",
            "span",
        ),
        ("p-value", "/disparity/p_value", "number"),
        (f"heterogeneity {symbol('H', result)}", "/heterogeneity/value", "number"),
        (f"{often} interval", "/heterogeneity/interval", "span"),
        ("levels of a full sketch, k", "/plan/levels", "amount"),
    )
    return Table(
        caption="How far each number may be from the truth",
        corner="measure",
        columns=_columns("value"),
        rows=tuple(Row(title=title, cells=(Cell(path, form),)) for title, path, form in lines),
    )


class SiloColumn(NamedTuple):
    """A column of numbers: those at ``path``, with the position of the silo for the star."""

    title: str
    path: str
    form: str
    over: str = ""
    """What is counted, above a title that is the name of a group."""


def silo_columns(result: AuditResult) -> tuple[SiloColumn, ...]:
    """Return what a silo shows alone, in the headline's unit, its interval, and its influence."""
    shown = headline_of(result)
    often = f"{percent(result.confidence)} interval"
    return (
        SiloColumn(shown.column, f"/silos/*/{shown.alone}", "number"),
        *([SiloColumn(often, "/silos/*/interval", "span")] if shown.has_intervals else []),
        SiloColumn("influence", "/attribution/silos/*/influence", "signed"),
    )


def silo_cell(column: SiloColumn, position: int) -> Cell:
    """Return the cell of a silo in a column."""
    # a group may be called "*": only the first star is replaced by the position
    return Cell(column.path.replace("*", str(position), 1), column.form)


def silos(result: AuditResult, most: int) -> Table:
    """Return each silo's records, what it shows alone, its influence and its note.

    Of more silos than ``most``, those of largest influence are shown, the largest first.
    """
    positions, columns = range(len(result.silos)), silo_columns(result)
    influence = [each.influence or 0.0 for each in result.attribution.silos]
    shown: Iterable[int] = positions
    if len(positions) > most:
        shown = sorted(positions, key=lambda position: -abs(influence[position]))[:most]
    return Table(
        caption="Silos" if len(positions) <= most else f"The {most} silos of largest influence",
        corner="silo",
        columns=_columns(counted_in(result), *(column.title for column in columns), "note"),
        rows=tuple(
            Row(
                title=result.silos[position].silo,
                cells=(
                    Cell("", text=records_of(result.silos[position])),
                    *(silo_cell(column, position) for column in columns),
                    Cell("", text=result.silos[position].note),
                ),
            )
            for position in shown
        ),
    )


def records_of(silo: SiloResult) -> str:
    """Return a silo's records, with a plus where a cell was withheld."""
    known = [count for count in silo.n.values() if count is not None]
    if not known:
        return NOTHING
    return f"{amount(sum(known))}{'+' if len(known) < len(silo.n) else ''}"
