"""The numbers in the page are the numbers in the JSON: all of them, and no other."""

import re

import pytest
from tests.report_audits import AUDITS, named_audit, synthetic
from tests.unit.report.html.page_reading import Page, report, tag, words

from fedparity.report.html.page import html_report
from fedparity.report.tables import looked_up
from fedparity.text import written

ALLOWED = {
    "bdi": "names of groups and silos",
    "title": "the verdict in words, from a tested sentence",
    "style": "not shown",
    "script": "not shown",
    "math": "formulas",
    "svg": "drawings, which have tests of their own",
    "pre": "the command, from a tested sentence",
}
FIXED = re.compile(
    r"rank [\d.]+ %( to 95 %)?|[\d.]+ % (?:interval|range)|[GHWC][₁₂]|0 means|is 0 exactly|order 1 the"
)
"""Ranks and confidences in headings, symbols, and what 0 means: no numbers of the result."""


@pytest.fixture(scope="module", params=[*AUDITS])
def page(request):
    return Page(report(request.param)), named_audit(request.param)


def test_the_page_holds_the_result_whole(page):
    read, result = page

    assert read.result == result.to_dict()


def test_every_number_is_the_one_at_its_path(page):
    read, _ = page
    document = read.result

    shown = list(read.shown())

    assert len(shown) > 60
    for each in shown:
        assert each.text == written(looked_up(document, each.path), each.form), each.path


def test_every_silo_and_group_is_in_the_table(page):
    read, result = page
    rows = [row for row in read.by_id("silo-table").iter("tr") if row.get("data-i")]

    assert [words(row[0]) for row in rows] == [silo.silo.strip() for silo in result.silos]
    assert [int(row.get("data-i")) for row in rows] == [*range(len(result.silos))]


def test_no_number_stands_without_a_path(page):
    read, _ = page

    assert list(stray_numbers(read)) == []


def stray_numbers(read):
    """Texts with a digit that neither a path, nor a tested sentence, nor the list above covers."""
    named = {id(cell) for table in read.root.iter("table") for cell in named_cells(table)}
    for element in read.root.iter():
        for text, owner in ((element.text, element), (element.tail, read.parents.get(element))):
            if not text or owner is None or not has_digit(text):
                continue
            covered = any(
                tag(each) in ALLOWED
                or (each.get("data-path") is not None and each.tag != "th")
                or each.get("data-sentence") is not None
                or each.get("class") == "place"
                or id(each) in named
                for each in read.ancestors(owner)
            )
            if not covered and has_digit(FIXED.sub("", text)):
                yield text


def named_cells(table):
    heads = [th for th in table.iter("th") if th.get("scope") == "col"]
    for row in table.iter("tr"):
        if row.get("data-i") is None and row.get("data-row") is None:
            continue
        cells = [each for each in row if each.tag in ("th", "td")]
        yield from (
            c for h, c in zip(heads, cells, strict=False) if h.get("data-path") is not None
        )


def has_digit(text):
    return any(letter.isdigit() for letter in text)


def test_sorted_columns_name_what_they_sort_by():
    read = Page(html_report(synthetic(3)))
    heads = [th for th in read.by_id("silo-table").iter("th") if th.get("scope") == "col"]

    assert all(th.get("data-path", "").count("*") == 1 for th in heads if list(th))
