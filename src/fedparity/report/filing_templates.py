"""Templates: the tables that a rule requires, each with the clause it answers and what it does not show.

What a rule requires was collected from secondary sources. So every template says that its user must
compare it with the primary text, and none says that a rule is met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final, Literal, TypeAlias, get_args

from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult
from fedparity.documents.table_parts import TableResult
from fedparity.report.markdown import plain, table_lines
from fedparity.report.outcome_tables import (
    area_table,
    axis_table,
    calibration_table,
    error_table,
    filed_tests,
    gap_sentences,
    given_table,
    impact_table,
    record_cells,
    selected_side,
    table_name,
)
from fedparity.report.tables import Cell, Column, Row, Table
from fedparity.text import amount, named, number, percent

__all__ = [
    "TEMPLATES",
    "Filing",
    "Section",
    "TemplateName",
    "filing",
    "html_filing",
    "markdown_filing",
]

TemplateName: TypeAlias = Literal["ll144", "ugesp", "insurance", "ai-act", "hospital"]
TEMPLATES: Final[tuple[TemplateName, ...]] = get_args(TemplateName)

VERIFY = (
    "The requirements below were collected from secondary sources: compare them with the primary text "
    "before you file this. These are measurements; whether a rule is met is a legal judgment."
)
_BLANK = "________________"
_MEDIAN = 0.5
_WITHOUT_OUTCOME = "its outcomes were not released"


@dataclass(frozen=True, kw_only=True)
class Section:
    """One answer: a table or sentences, with its clause and its limits."""

    heading: str
    clause: str
    tables: tuple[Table, ...] = ()
    sentences: tuple[str, ...] = ()
    not_shown: str


@dataclass(frozen=True, kw_only=True)
class Filing:
    """A result in the order that a rule requires."""

    title: str
    rule: str
    facts: tuple[tuple[str, str], ...]
    """What a summary starts with; blanks are for its author to fill in."""
    sections: tuple[Section, ...]


def filing(result: AuditResult, template: TemplateName) -> Filing:
    """Return a result in the form of a template."""
    return _BUILDERS[template](result)


# -- New York City, Local Law 144 ---------------------------------------------------------------


def _ll144(result: AuditResult) -> Filing:
    sections = [
        Section(
            heading=f"By {table_name(result, table)}",
            clause="6 RCNY § 5-301: share of each category above the median of the full sample, and its "
            "ratio to the highest; for sex, for race/ethnicity, and for their intersections",
            tables=(_ll144_table(result, place),),
            sentences=_about_median(result, place),
            not_shown="causes, and anything about people whose category no silo could release",
        )
        for place, table in enumerate(result.tables)
    ]
    if not any(table.by for table in result.tables):
        sections.append(_without_axes("6 RCNY § 5-301"))
    unknown = [each for table in result.tables if table.by for each in _of(table, "unknown")]
    words = "; ".join(f"{group_words(each.group)}: {amount(each.n)}" for each in unknown)
    aside = [each for table in result.tables for each in _of(table, "set aside")]
    withheld = named(
        [
            group_words(each.group)
            for table in result.tables
            if table.by
            for each in _of(table, "withheld")
        ]
    )
    sections += [
        Section(
            heading="People whose category is not known",
            clause="6 RCNY § 5-301: the number of people whose category is unknown",
            sentences=(f"{words}." if words else "No category of the plan is called unknown.",),
            not_shown="to which categories they belong",
        ),
        Section(
            heading="Categories below two percent",
            clause="6 RCNY § 5-301: categories below 2 % may be left out, with the reason, their number "
            "and their rate",
            sentences=(
                tuple(
                    f"{group_words(each.group)}: {amount(each.n)} records, {each.known}; rate "
                    f"{_rates_of(each)}."
                    for each in aside
                )
                or ("No category was set aside for its size.",)
            )
            + (
                (f"Every silo withheld {withheld}: their number and share are not known.",)
                if withheld
                else ()
            ),
            not_shown="how they compare with the others: they are in no ratio",
        ),
    ]
    return Filing(
        title="Summary of a bias audit",
        rule="New York City Local Law 144, 6 RCNY § 5-301",
        facts=(
            ("date of the audit", _BLANK),
            ("date on which the tool was distributed", _BLANK),
            ("source of the data", f"{len(result.silos_received)} silos; {_BLANK}"),
            ("records that silos released", amount(_everyone(result))),
            ("plan", result.plan.digest),
        ),
        sections=tuple(sections),
    )


def _ll144_table(result: AuditResult, place: int) -> Table:
    """All categories of a table: scoring rate and impact ratio, and selection rate where there is one."""
    table = result.tables[place]
    median = next((i for i, each in enumerate(table.tails) if each.level == _MEDIAN), None)
    rows = []
    for i, each in enumerate(table.groups):
        cells = record_cells(result, place, i)
        found = (
            {}
            if median is None
            else {row.group: j for j, row in enumerate(table.tails[median].groups)}
        )
        cells += _rate_cells(f"/tables/{place}/tails/{median}", found.get(each.group))
        if table.thresholds:
            at = {row.group: j for j, row in enumerate(table.thresholds[0].groups)}
            cells += _rate_cells(f"/tables/{place}/thresholds/0", at.get(each.group))
        cells.append(Cell("", text="" if each.status == "compared" else each.status))
        rows.append(Row(title=group_words(each.group), cells=tuple(cells)))
    titles = ["records", "share", "scoring rate", "impact ratio"]
    if table.thresholds:
        at_first = table.thresholds[0]
        side = selected_side(at_first.favorable)
        titles += [f"selected {side} {number(at_first.score)}", "impact ratio"]
    return Table(
        caption=f"Rates and impact ratios by {table_name(result, table)}",
        corner="category",
        columns=tuple(map(Column, (*titles, "not compared"))),
        rows=tuple(rows),
    )


def _rate_cells(base: str, place: int | None) -> list[Cell]:
    if place is None:
        return [Cell(""), Cell("")]
    return [
        Cell(f"{base}/groups/{place}/rate/value", "percent"),
        Cell(f"{base}/groups/{place}/ratio/value", "number"),
    ]


def _about_median(result: AuditResult, place: int) -> tuple[str, ...]:
    """Whose scores have the median: without people who are in no ratio, although the rule says the full sample."""
    table = result.tables[place]
    if table.note:
        return (f"Nothing is compared: {table.note}.",)
    found = next((each for each in table.tails if each.level == _MEDIAN), None)
    if found is None:
        return ("Scoring rates are not in this result: audit again with --tail 0.5.",)
    compared = sum(each.n for each in table.groups if each.status == "compared")
    words = f"The median is {number(found.cutoff.value)}, that of the {amount(compared)} records compared here"
    if compared < _everyone(result):
        words += f", not of all {amount(_everyone(result))} that silos released"
    low = "; in this plan a low score is favorable, so a high scoring rate is not an advantage"
    return (f"{words}{low if result.plan.favorable == 'below' else ''}.",)


def _everyone(result: AuditResult) -> int | float:
    """The records of the table that holds most: an axis counts people whose intersection is withheld."""
    return max([result.n, *(table.n for table in result.tables)])


def _rates_of(each: Any) -> str:  # noqa: ANN401 -- a row of a table
    rates = [percent(rate.value) for rate in each.rates if rate is not None]
    return ", ".join(rates) if rates else "not known, as the plan has no threshold"


def _of(table: Any, status: str) -> list[Any]:  # noqa: ANN401 -- a table of the result
    return [each for each in table.groups if each.status == status]


def _without_axes(clause: str) -> Section:
    return Section(
        heading="No axes",
        clause=clause,
        sentences=(
            (
                "The plan has no axes, so there are no tables by sex, by race and by both: write axes into "
                "the plan, and ask the silos again."
            ),
        ),
        not_shown="everything that the rule asks for by category",
    )


# -- UGESP, insurance, AI Act, hospitals --------------------------------------------------------


def _ugesp(result: AuditResult) -> Filing:
    sections = [
        *_selection(result, "29 CFR 1607.4: the four-fifths rule"),
        *_significance(
            result,
            heading="Significance, shortfall and sites combined",
            clause="29 CFR 1607.4 and practice: significance (Fisher for small numbers, two "
            "standard deviations), shortfall, several sites combined (Mantel-Haenszel, Breslow-Day)",
            not_shown="whether applicants were equally qualified, or why rates differ",
        ),
    ]
    return _filing(
        result, "Adverse impact", "Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4",
        sections,
    )  # fmt: skip


def _insurance(result: AuditResult) -> Filing:
    letter = "NYDFS Circular Letter 2024-7 (verify the list of metrics in the letter): adverse impact ratio"
    sections = [
        *_selection(result, letter),
        *_significance(
            result,
            heading="Odds ratios, standardized differences and tests",
            clause="NYDFS Circular Letter 2024-7 (verify in the letter): odds ratio, standardized "
            "mean difference, z tests",
            not_shown="marginal effects, and a search for less discriminatory alternatives",
        ),
        _drivers(result),
        Section(
            heading="Estimated race",
            clause="Colorado Regulation 10-1-1 (the detailed test was a draft: verify its status)",
            sentences=("Groups are those that the silos' tables state; none was estimated.",),
            not_shown="results by estimated race (BIFSG), and controls for other factors",
        ),
    ]
    return _filing(
        result, "Unfair discrimination testing", "NYDFS Circular Letter 2024-7; Colorado Regulation 10-1-1",
        sections,
    )  # fmt: skip


def _drivers(result: AuditResult) -> Section:
    parts = result.attribution
    words = "The privacy mode does not show silos apart, so the disparity is not attributed."
    if parts.selection is not None and parts.within is not None:
        words = (
            f"Of a disparity of {number(result.disparity.value)}, {number(parts.selection)} comes from "
            f"which group is in which silo, and {number(parts.within)} from how scores differ inside silos."
        )
    return Section(
        heading="Drivers of disparity",
        clause="NYDFS Circular Letter 2024-7 (verify in the letter): drivers of disparity",
        sentences=(words,),
        not_shown="which variables of the model drive it; this splits a number and explains no causes",
    )


def _ai_act(result: AuditResult) -> Filing:
    sections = []
    if result.tables:
        sections.append(
            Section(
                heading="Examination for bias",
                clause="EU AI Act, Art. 10(2)(f) and (g): examination in view of possible biases",
                tables=(axis_table(result),),
                not_shown="bias of the training data, or of groups that the plan does not name",
            )
        )
    sections += _accuracy(
        result,
        "EU AI Act, Art. 15 and Annex IV(2)(g), (3): accuracy for specific groups, discriminatory impact",
        "robustness, cybersecurity, and accuracy on other data",
    )
    signed = "is signed" if result.signature is not None else "is not signed"
    sections.append(
        Section(
            heading="Test log",
            clause="EU AI Act, Annex IV(2)(g): test logs and reports, dated and signed",
            sentences=(
                (
                    f"Plan {result.plan.digest}, {result.software}; the result {signed}. Date and responsible "
                    f"person: {_BLANK}"
                ),
            ),
            not_shown="that the plan was agreed before the data were seen; the silos' ledgers show that",
        )
    )
    return _filing(result, "Bias and accuracy by group", "Regulation (EU) 2024/1689", sections)


def _hospital(result: AuditResult) -> Filing:
    sections = list(
        _accuracy(
            result,
            "45 CFR 92.210 (verify its present status): reasonable efforts to identify risk of "
            "discrimination: who is missed, who is wrongly flagged, calibration by group",
            "clinical consequences, or what mitigated a gap",
        )
    )
    sections.append(
        Section(
            heading="Local validation and monitoring",
            clause="Joint Commission and CHAI guidance (voluntary): local validation, monitoring",
            sentences=(
                (
                    f"{len(result.silos_received)} silos answered, and {len(result.silos_missing)} did not. "
                    "This is one audit: repeat it to monitor."
                ),
            ),
            not_shown="change over time",
        )
    )
    return _filing(
        result, "Patient care decision support", "HHS, Section 1557, 45 CFR 92.210", sections
    )


def _selection(result: AuditResult, clause: str) -> Iterator[Section]:
    if not result.tables:
        yield _without_axes(clause)
    for place, table in enumerate(result.tables):
        without = Section(
            heading=f"Selection rates by {table_name(result, table)}",
            clause=clause,
            sentences=(
                f"Nothing is compared: {table.note}."
                if table.note
                else "The plan names no threshold, so there are no selection rates: write thresholds into "
                "the plan, and ask the silos again.",
            ),
            not_shown="selection rates of any category",
        )
        if not table.thresholds:
            yield without
        for i, found in enumerate(table.thresholds):
            yield replace(
                without,
                tables=(impact_table(result, place, i, tail=False),),
                sentences=_absent(table, found.groups),
                not_shown="whether a difference has a reason that the rule accepts",
            )


def _significance(
    result: AuditResult, *, heading: str, clause: str, not_shown: str
) -> Iterator[Section]:
    for place, table in enumerate(result.tables):
        for i, tests in enumerate(table.tests):
            if tests.groups:
                yield Section(
                    heading=f"{heading}, by {table_name(result, table)}",
                    clause=clause,
                    tables=(filed_tests(result, place, i),),
                    sentences=tuple(filter(None, (tests.assumptions, tests.not_given))),
                    not_shown=not_shown,
                )


def _absent(table: TableResult, shown: Iterable[Any]) -> tuple[str, ...]:
    """Which categories are in no row, and why."""
    rows = {each.group for each in shown}
    words = [
        f"{group_words(each.group)} ({_WITHOUT_OUTCOME if each.status == 'compared' else each.status})"
        for each in table.groups
        if each.group not in rows
    ]
    return (f"In no row of this table: {named(words)}.",) if words else ()


def _accuracy(result: AuditResult, clause: str, not_shown: str) -> Iterator[Section]:
    found = False
    for place, table in enumerate(result.tables):
        if table.outcome is None:
            continue
        found = True
        shown = [area_table(result, place)]
        shown += [error_table(result, place, i) for i in range(len(table.outcome.thresholds))]
        if table.outcome.calibration:
            shown.append(calibration_table(result, place))
        shown.append(given_table(result, place))
        yield Section(
            heading=f"Accuracy by {table_name(result, table)}",
            clause=clause,
            tables=tuple(shown),
            sentences=(
                *_absent(table, table.outcome.groups),
                *gap_sentences(result, place),
                *filter(None, (table.outcome.not_given,)),
            ),
            not_shown=not_shown,
        )
    if not found:
        yield Section(
            heading="No outcomes",
            clause=clause,
            sentences=(
                (
                    "The result has no outcomes, so accuracy by group was not measured: write [outcome] into "
                    "the plan, and ask the silos again."
                ),
            ),
            not_shown="accuracy for any group",
        )


def _filing(result: AuditResult, title: str, rule: str, sections: list[Section]) -> Filing:
    return Filing(
        title=f"{title}: {result.plan.title}",
        rule=rule,
        facts=(
            ("date and author", _BLANK),
            (
                "silos",
                f"{len(result.silos_received)} answered, {len(result.silos_missing)} missing",
            ),
            ("records that silos released", amount(_everyone(result))),
            ("confidence of intervals", percent(result.confidence)),
            ("plan", result.plan.digest),
        ),
        sections=tuple(sections),
    )


_BUILDERS: Final[Mapping[TemplateName, Callable[[AuditResult], Filing]]] = {
    "ll144": _ll144,
    "ugesp": _ugesp,
    "insurance": _insurance,
    "ai-act": _ai_act,
    "hospital": _hospital,
}


# -- Markdown and HTML --------------------------------------------------------------------------


def markdown_filing(result: AuditResult, template: TemplateName) -> str:
    """Return a result in the form of a template, as Markdown."""
    found, document = filing(result, template), result.to_dict()
    blocks = [
        [f"# {plain(found.title)}"],
        [f"**{plain(found.rule)}.** {plain(VERIFY)}"],
        [f"- {plain(name)}: {plain(value)}" for name, value in found.facts],
    ]
    for section in found.sections:
        blocks.append([f"## {plain(section.heading)}"])
        blocks.append([f"Answers: {plain(section.clause)}."])
        for table in section.tables:
            blocks.append([f"**{plain(table.caption)}**"])
            blocks.append(table_lines(table, document))
        blocks += [[plain(sentence)] for sentence in section.sentences]
        blocks.append([f"Does not show: {plain(section.not_shown)}."])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


_STYLE = (
    "body{font:13px/1.4 system-ui,sans-serif;color:#1f2933;max-width:60rem;margin:1.5rem auto;padding:0 1rem}"
    "h1{font-size:1.4rem;margin:0 0 .3rem}h2{font-size:1.05rem;margin:1rem 0 .2rem}p{margin:.3rem 0}"
    "dl{display:grid;grid-template-columns:max-content auto;gap:0 1rem;margin:.5rem 0}dd{margin:0;overflow-wrap:anywhere}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;margin:.4rem 0;font-size:.92em}caption{text-align:left;font-weight:600}"
    "td{white-space:nowrap}th,td{padding:.1rem .5rem;border-bottom:1px solid #e4e7eb;text-align:right}th:first-child{text-align:left;font-weight:400}"
    "thead th{font-weight:600;vertical-align:bottom}.clause,.limit{color:#52606d;font-size:.92em}"
    "@page{size:A4;margin:14mm}@media print{body{margin:0;font-size:9.5pt;max-width:none}tr,section{break-inside:avoid}}"
)


def html_filing(result: AuditResult, template: TemplateName) -> str:
    """Return a result in the form of a template, as one page of HTML without scripts."""
    found, document = filing(result, template), result.to_dict()
    facts = "".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in found.facts)
    sections = "\n".join(_html_section(section, document) for section in found.sections)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(found.title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><main>\n<h1>{escape(found.title)}</h1>\n"
        f"<p><strong>{escape(found.rule)}.</strong> {escape(VERIFY)}</p>\n<dl>{facts}</dl>\n"
        f"{sections}\n</main></body></html>\n"
    )


def _html_section(section: Section, document: Mapping[str, Any]) -> str:
    tables = "".join(_html_table(table, document) for table in section.tables)
    sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in section.sentences)
    return (
        f"<section><h2>{escape(section.heading)}</h2>"
        f'<p class="clause">Answers: {escape(section.clause)}.</p>{tables}{sentences}'
        f'<p class="limit">Does not show: {escape(section.not_shown)}.</p></section>'
    )


def _html_table(table: Table, document: Mapping[str, Any]) -> str:
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in table.texts(document)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.caption)}"><table>'
        f"<caption>{escape(table.caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )
