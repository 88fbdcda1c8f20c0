"""Templates: every section names its clause and its limits, and every number is the result's."""

import re
from dataclasses import replace

import pytest
from tests.outcome_audits import outcome_result
from tests.unit.cli.samples import run
from tests.unit.plots.results import make_result

from fedparity.documents.tabular import Parts
from fedparity.report.filing_templates import (
    TEMPLATES,
    VERIFY,
    filing,
    html_filing,
    markdown_filing,
)
from fedparity.text import amount, number, percent


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("make", [outcome_result, make_result], ids=["outcomes", "plain"])
def test_every_section_names_a_clause_and_what_it_does_not_show(template, make):
    found = filing(make(), template)

    assert found.sections
    for section in found.sections:
        assert section.clause
        assert section.not_shown
        assert section.tables or section.sentences


@pytest.mark.parametrize("template", TEMPLATES)
def test_both_formats_say_that_the_primary_text_decides(template):
    result = outcome_result()

    assert VERIFY in html_filing(result, template)
    assert VERIFY in markdown_filing(result, template).replace("\\", "")


@pytest.mark.parametrize("template", TEMPLATES)
def test_no_template_says_that_a_rule_is_met(template):
    words = markdown_filing(outcome_result(), template).lower()

    assert not re.search(r"\b(complies|compliant|passes|passed|fair)\b", words)


def test_ll144_has_three_tables_with_the_rates_of_the_result():
    result = outcome_result()
    found = filing(result, "ll144")
    shown = [section.tables[0] for section in found.sections if section.tables]
    document = result.to_dict()

    assert len(shown) == 3
    for table, of_result in zip(shown, result.tables, strict=True):
        texts = {row[0]: row[1:] for row in table.texts(document)}
        assert len(texts) == len(of_result.groups)
        for row in of_result.tails[0].groups:
            name = " & ".join(row.group) if isinstance(row.group, tuple) else row.group
            assert texts[name][2:4] == [percent(row.rate.value), number(row.ratio.value)]


def test_ll144_counts_people_of_unknown_category_once():
    result = outcome_result()
    region = next(table for table in result.tables if table.by == ("region",))
    unknown = next(each for each in region.groups if each.status == "unknown")

    words = markdown_filing(result, "ll144")

    assert f"n/a: {amount(unknown.n)}." in words


def test_ll144_names_the_categories_that_every_silo_withheld():
    """They may be below two percent: nothing is known of it, and the page says so."""
    result = outcome_result()
    region = next(table for table in result.tables if table.by == ("region",))
    groups = [
        replace(each, status="withheld") if each.group == "n/a" else each for each in region.groups
    ]
    tables = Parts(
        replace(each, groups=Parts(groups)) if each is region else each for each in result.tables
    )

    words = markdown_filing(replace(result, tables=tables), "ll144")

    assert "Every silo withheld" not in markdown_filing(result, "ll144")
    assert "Every silo withheld n/a: their number and share are not known." in words


def test_ll144_says_which_scores_are_selected():
    """Low scores are favorable in this plan: a rate at 0.5 alone could be read either way."""
    assert "selected below 0.5" in markdown_filing(outcome_result(), "ll144")


@pytest.mark.parametrize("template", ["ugesp", "insurance", "ai-act", "hospital"])
def test_whoever_is_in_no_row_is_named(template):
    """People of an unknown region are compared with nobody, and a reader must see that they exist."""
    words = markdown_filing(outcome_result(), template).replace("\\", "")

    assert "In no row of this table: n/a (unknown)." in words


def test_a_group_whose_outcomes_were_not_released_is_named():
    result = outcome_result()
    region = next(table for table in result.tables if table.by == ("region",))
    outcome = replace(
        region.outcome,
        groups=Parts(each for each in region.outcome.groups if each.group != "west"),
    )
    tables = Parts(
        replace(each, outcome=outcome) if each is region else each for each in result.tables
    )

    words = markdown_filing(replace(result, tables=tables), "hospital")

    assert "west (its outcomes were not released), n/a (unknown)" in words.replace(" and ", ", ")


@pytest.mark.parametrize("template", ["ugesp", "insurance"])
def test_what_is_missing_for_selection_rates_is_named(template):
    result = outcome_result()
    tables = Parts(replace(each, thresholds=Parts(), tests=Parts()) for each in result.tables)

    words = markdown_filing(replace(result, tables=tables), template)

    assert "The plan names no threshold" in words
    assert "The plan has no axes" not in words
    assert "The plan has no axes" in markdown_filing(make_result(), template)


def test_a_table_in_which_nothing_is_compared_says_why():
    result = outcome_result()
    tables = Parts(
        replace(each, thresholds=Parts(), tests=Parts(), note="fewer than two categories")
        for each in result.tables
    )

    words = markdown_filing(replace(result, tables=tables), "ugesp")

    assert "Nothing is compared: fewer than two categories." in words


def test_a_result_without_scoring_rates_says_how_to_get_them():
    assert "--tail 0.5" in markdown_filing(outcome_result(tail=False), "ll144")


def test_names_are_escaped():
    page = html_filing(outcome_result(), "ll144")

    assert "f &amp; east" in page
    assert "<script" not in page


@pytest.fixture
def result_file(tmp_path):
    path = tmp_path / "result.json"
    path.write_bytes(outcome_result().file_bytes())
    return path


@pytest.mark.parametrize("ending", ["html", "md"])
def test_the_command_writes_a_template(result_file, tmp_path, ending):
    target = tmp_path / f"summary.{ending}"

    ran = run("report", str(result_file), "--template", "ll144", "-o", str(target))

    assert ran.exit_code == 0
    assert "6 RCNY § 5-301" in target.read_text("utf-8")


@pytest.mark.parametrize(
    "options", [["--template", "ll144"], ["-o", "x.md"], ["--template", "ugesp", "-o", "x.docx"]]
)
def test_an_incomplete_command_writes_nothing(result_file, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)

    ran = run("report", str(result_file), *options)

    assert ran.exit_code == 2
    assert list(tmp_path.iterdir()) == [result_file]


def test_outcomes_are_in_the_markdown_report():
    from fedparity.report.markdown import markdown_report  # noqa: PLC0415

    words = markdown_report(outcome_result())

    assert "By axis and by outcome" in words
    assert "true positive rate" in words
