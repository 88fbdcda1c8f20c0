"""The tables of axes, outcomes and tests, each defined once, as those of :mod:`fedparity.report.tables`."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from fedparity.documents.fields import group_words
from fedparity.documents.outcome_parts import OutcomeResult
from fedparity.documents.plan_fields import Favorable
from fedparity.documents.result import AuditResult
from fedparity.documents.table_parts import TableResult
from fedparity.report.tables import Cell, Column, Row, Table
from fedparity.text import number, percent

__all__ = [
    "area_table",
    "axis_table",
    "calibration_table",
    "category_table",
    "error_table",
    "filed_tests",
    "gap_sentences",
    "given_table",
    "impact_table",
    "outcome_blocks",
    "record_cells",
    "selected_side",
    "table_name",
]

MEASURES: Final = {
    "tpr": "true positive rate",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
}


def table_name(result: AuditResult, table: TableResult) -> str:
    """Return what a table is by: its axis, or the intersections of all axes."""
    if table.by:
        return " and ".join(table.by)
    axes = [name for each in result.tables for name in each.by]
    return " × ".join(axes) if axes else "group"


def _by(result: AuditResult, place: int) -> str:
    """What tells a caption from those of the other tables; nothing if there is one table."""
    return f", by {table_name(result, result.tables[place])}" if len(result.tables) > 1 else ""


def category_table(result: AuditResult, place: int) -> Table:
    """Return every category of a table with its records and why it is not compared, if it is not."""
    table = result.tables[place]
    return Table(
        caption=f"Categories by {table_name(result, table)}",
        corner="category",
        columns=_titles("records", "share", "mean score", "status", "what is known"),
        rows=tuple(
            Row(
                title=group_words(each.group),
                cells=(
                    *record_cells(result, place, i),
                    *(
                        Cell(f"/tables/{place}/groups/{i}/{name}", form)
                        for name, form in (
                            ("mean", "number"),
                            ("status", "text"),
                            ("known", "text"),
                        )
                    ),
                ),
            )
            for i, each in enumerate(table.groups)
        ),
    )


def record_cells(result: AuditResult, place: int, category: int) -> list[Cell]:
    """Return the records and the share of a category; of one that no silo released nothing is known."""
    if result.tables[place].groups[category].status == "withheld":
        return [Cell(""), Cell("")]
    base = f"/tables/{place}/groups/{category}"
    return [Cell(f"{base}/n", "amount"), Cell(f"{base}/share", "percent")]


def axis_table(result: AuditResult) -> Table:
    """Return the disparity of every table."""
    return Table(
        caption="Disparity by axis",
        corner="by",
        columns=_titles("records", "disparity", "interval", "points, worst pair"),
        rows=tuple(
            Row(
                title=table_name(result, table),
                cells=(
                    Cell(f"/tables/{i}/n", "amount"),
                    *(
                        Cell(path, form) if table.disparity is not None else Cell("")
                        for path, form in (
                            (f"/tables/{i}/disparity/corrected", "number"),
                            (f"/tables/{i}/disparity/interval", "span"),
                            (f"/tables/{i}/magnitudes/worst_pair/corrected", "number"),
                        )
                    ),
                ),
            )
            for i, table in enumerate(result.tables)
        ),
    )


def impact_table(result: AuditResult, place: int, number_of: int, *, tail: bool) -> Table:
    """Return rates and impact ratios of a table at a threshold, or above a quantile of everyone."""
    table = result.tables[place]
    rates = (table.tails if tail else table.thresholds)[number_of]
    base = f"/tables/{place}/{'tails' if tail else 'thresholds'}/{number_of}"
    often = f"{percent(rates.confidence)} interval"
    records = {each.group: i for i, each in enumerate(table.groups)}
    return Table(
        caption=_rates_caption(result, place, number_of, tail=tail),
        corner="category",
        columns=_titles("records", "rate", often, "impact ratio", often, "four fifths"),
        rows=tuple(
            Row(
                title=group_words(each.group),
                cells=(
                    Cell(f"/tables/{place}/groups/{records[each.group]}/n", "amount"),
                    Cell(f"{base}/groups/{i}/rate/value", "percent"),
                    Cell(f"{base}/groups/{i}/rate/interval", "percents"),
                    Cell(f"{base}/groups/{i}/ratio/value", "number"),
                    Cell(f"{base}/groups/{i}/ratio/interval", "span"),
                    Cell(f"{base}/groups/{i}/answer", "four fifths"),
                ),
            )
            for i, each in enumerate(rates.groups)
        ),
    )


def _rates_caption(result: AuditResult, place: int, number_of: int, *, tail: bool) -> str:
    table = result.tables[place]
    by = table_name(result, table)
    if tail:
        level = table.tails[number_of].level
        what = "the median" if level == 0.5 else f"the {level:g} quantile"
        return f"Scoring rates by {by}: share above {what} of everyone"
    found = table.thresholds[number_of]
    side = selected_side(found.favorable)
    return f"Selection rates by {by}: share {side} a score of {number(found.score)}"


def selected_side(favorable: Favorable) -> str:
    """Return on which side of a threshold a record is selected."""
    return "at or above" if favorable == "above" else "below"


def filed_tests(result: AuditResult, place: int, number_of: int) -> Table:
    """Return the tests of equal selection rates against the group with the highest rate."""
    found = result.tables[place].tests[number_of]
    base = f"/tables/{place}/tests/{number_of}/groups"
    fields = (
        ("selected", "amount"),
        ("n", "amount"),
        ("shortfall", "number"),
        ("fisher", "number"),
        ("holm", "number"),
    )
    columns = ["selected", "of", "shortfall", "Fisher p", "Holm p", "z", "MH odds ratio"]
    rows = []
    for i, each in enumerate(found.groups):
        cells = [Cell(f"{base}/{i}/{name}", form) for name, form in fields]
        cells.append(Cell(f"{base}/{i}/z/statistic", "number") if each.z else Cell(""))
        common = each.mantel_haenszel
        cells += [
            Cell(f"{base}/{i}/mantel_haenszel/odds_ratio", "number") if common else Cell(""),
            Cell(f"{base}/{i}/mantel_haenszel/interval", "span") if common else Cell(""),
            Cell(f"{base}/{i}/breslow_day/p_value", "number") if each.breslow_day else Cell(""),
            Cell(f"{base}/{i}/standardized_mean_difference", "number"),
        ]
        rows.append(Row(title=group_words(each.group), cells=tuple(cells)))
    often = f"{percent(result.confidence)} interval"
    return Table(
        caption=f"Tests by {table_name(result, result.tables[place])} at {number(found.score)}, "
        f"against {group_words(found.reference)}",
        corner="category",
        columns=_titles(*columns, often, "Breslow-Day p", "SMD"),
        rows=tuple(rows),
    )


def area_table(result: AuditResult, place: int) -> Table:
    """Return base rates, areas under the curve and Brier scores by group."""
    outcome = _outcome(result, place)
    base = f"/tables/{place}/outcome/groups"
    often = f"{percent(outcome.confidence)} interval"
    return Table(
        caption=f"How well scores tell outcomes apart{_by(result, place)}; the records released have at least "
        "and at most",
        corner="group",
        columns=_titles(
            "positive", "negative", "base rate", "AUC", often, "at least", "at most", "Brier"
        ),
        rows=tuple(
            Row(
                title=group_words(each.group),
                cells=(
                    Cell(f"{base}/{i}/positives", "amount"),
                    Cell(f"{base}/{i}/negatives", "amount"),
                    Cell(f"{base}/{i}/base_rate/value", "percent"),
                    Cell(f"{base}/{i}/auc/value", "number"),
                    Cell(f"{base}/{i}/auc/sampling", "span"),
                    Cell(f"{base}/{i}/auc/lower", "number"),
                    Cell(f"{base}/{i}/auc/upper", "number"),
                    Cell(f"{base}/{i}/brier/value", "number") if each.brier else Cell(""),
                ),
            )
            for i, each in enumerate(outcome.groups)
        ),
    )


def error_table(result: AuditResult, place: int, number_of: int) -> Table:
    """Return the five error rates of each group at a threshold, with the largest gap of each."""
    found = _outcome(result, place).thresholds[number_of]
    base = f"/tables/{place}/outcome/thresholds/{number_of}/rates"
    rows = []
    for i, rates in enumerate(found.rates):
        cells = [
            Cell(f"{base}/{i}/groups/{j}/rate/{part}", form) if each.rate else Cell("")
            for j, each in enumerate(rates.groups)
            for part, form in (("value", "percent"), ("interval", "percents"))
        ]
        gap = rates.gap is not None
        cells.append(Cell(f"{base}/{i}/gap/value", "percent") if gap else Cell(""))
        cells.append(Cell(f"{base}/{i}/gap/interval", "percents") if gap else Cell(""))
        rows.append(Row(title=MEASURES[rates.measure], cells=tuple(cells)))
    groups = [group_words(each.group) for each in found.rates[0].groups]
    heads = [title for name in groups for title in (name, "interval")]
    return Table(
        caption=f"Errors if a score of {number(found.score)} or more is predicted positive{_by(result, place)}",
        corner="rate",
        columns=_titles(*heads, "largest gap", "interval"),
        rows=tuple(rows),
    )


def calibration_table(result: AuditResult, place: int) -> Table:
    """Return the share of positive outcomes in each public bin, by group."""
    outcome = _outcome(result, place)
    base = f"/tables/{place}/outcome/calibration"
    edges = outcome.edges
    return Table(
        caption=f"Outcomes by score: the share of positive outcomes in each bin{_by(result, place)}",
        corner="score",
        columns=_titles(
            *(
                title
                for each in outcome.calibration
                for title in (group_words(each.group), "interval")
            ),
            "largest gap",
            "interval",
        ),
        rows=tuple(
            Row(
                title=f"{number(edges[b])} to {number(edges[b + 1])}",
                cells=tuple(
                    Cell(f"{base}/{i}/bins/{b}/rate/{part}", form)
                    if each.bins[b].rate is not None
                    else Cell("")
                    for i, each in enumerate(outcome.calibration)
                    for part, form in (("value", "percent"), ("interval", "percents"))
                )
                + tuple(
                    Cell(f"/tables/{place}/outcome/calibration_gaps/{b}/gap/{part}", form)
                    if outcome.calibration_gaps[b].gap is not None
                    else Cell("")
                    for part, form in (("value", "percent"), ("interval", "percents"))
                ),
            )
            for b in range(len(edges) - 1)
        ),
    )


def given_table(result: AuditResult, place: int) -> Table:
    """Return the disparity of scores among positives and among negatives."""
    base = f"/tables/{place}/outcome/given"
    fields = (
        ("n", "amount"),
        ("corrected", "number"),
        ("interval", "span"),
        ("certificate", "span"),
        ("wasserstein", "number"),
        ("selection", "number"),
        ("within", "number"),
    )
    outcome = _outcome(result, place)
    often = f"{percent(outcome.confidence)} interval"
    return Table(
        caption=f"Disparity of scores among records with the same outcome{_by(result, place)}",
        corner="outcome",
        columns=_titles(
            "records", "disparity", often, "guaranteed range", "W₂", "selection", "within"
        ),
        rows=tuple(
            Row(
                title=each.outcome,
                cells=tuple(Cell(f"{base}/{i}/{name}", form) for name, form in fields),
            )
            for i, each in enumerate(outcome.given)
        ),
    )


def gap_sentences(result: AuditResult, place: int) -> tuple[str, ...]:
    """Return a sentence for every gap that all silos together show and no silo shows alone."""
    outcome = _outcome(result, place)
    gaps = [("area under the curve", outcome.auc_gap)]
    gaps += [
        (f"{MEASURES[rates.measure]} at {number(found.score)}", rates)
        for found in outcome.thresholds
        for rates in found.rates
    ]
    gaps += [
        (f"share of positive outcomes from {number(low)} to {number(high)}", gap)
        for (low, high), gap in zip(pairwise(outcome.edges), outcome.calibration_gaps, strict=True)
    ]
    sentences = [
        f"Hidden: the {name} of {group_words(each.local.groups[0])} is {number(each.gap.value)} above "
        f"that of {group_words(each.local.groups[1])} in all silos together; no silo shows it alone."
        for name, each in gaps
        if each.local is not None and each.gap is not None and each.local.hidden
    ]
    sentences += [
        f"Hidden: among {each.outcome} outcomes all silos together show a disparity of "
        f"{number(each.corrected)}; no silo shows one alone."
        for each in outcome.given
        if each.hidden
    ]
    return tuple(sentences)


def outcome_blocks(result: AuditResult) -> list[tuple[Table, tuple[str, ...]]]:
    """Return every table of axes and outcomes, with the sentences that follow it."""
    blocks: list[tuple[Table, tuple[str, ...]]] = []
    if len(result.tables) > 1:
        blocks.append((axis_table(result), ()))
    for place, table in enumerate(result.tables):
        blocks.append((category_table(result, place), (table.note,) if table.note else ()))
        blocks += [
            (impact_table(result, place, i, tail=False), ()) for i in range(len(table.thresholds))
        ]
        blocks += [
            (impact_table(result, place, i, tail=True), ()) for i in range(len(table.tails))
        ]
        if table.outcome is None:
            continue
        blocks.append((area_table(result, place), gap_sentences(result, place)))
        blocks += [
            (error_table(result, place, i), ()) for i in range(len(table.outcome.thresholds))
        ]
        if table.outcome.calibration:
            blocks.append((calibration_table(result, place), ()))
        blocks.append((given_table(result, place), ()))
    return blocks


def _outcome(result: AuditResult, place: int) -> OutcomeResult:
    outcome = result.tables[place].outcome
    if outcome is None:
        raise LookupError(f"table {place} of the result has no outcome")
    return outcome


def _titles(*titles: str) -> tuple[Column, ...]:
    return tuple(map(Column, titles))
