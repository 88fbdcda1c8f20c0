"""The page as a whole: what it says first, how large it is, that it is the same each time."""

import json
import subprocess
import sys
from itertools import pairwise

import pytest
from tests.e2e.running import environment
from tests.report_audits import AUDITS, named_audit, synthetic
from tests.unit.report.html.page_reading import Page, report, words

from fedparity.documents.result import AuditResult
from fedparity.report import sentences, tables
from fedparity.report.html.page import html_report
from fedparity.report.tables import all_rates

SHAPES = {"above": "▲", "below": "▼", "inconclusive": "◆", "none": "–"}


@pytest.mark.parametrize("verdict", SHAPES)
def test_a_verdict_is_a_word_and_a_shape(verdict):
    page = Page(report(verdict))
    [badge] = [each for each in page.all("p") if "verdict" in each.get("class", "")]

    assert badge.get("class") == f"verdict {verdict}"
    assert words(badge)[0] == SHAPES[verdict]
    assert {"none": "no"}.get(verdict, verdict) in words(badge).lower()


@pytest.mark.parametrize("name", [*AUDITS])
def test_the_first_screen_answers_in_the_order_of_the_questions(name):
    """The headline, who is worse off, one range, who is left out, what next; then the rest."""
    result = named_audit(name)
    page = Page(report(name))
    said = [
        " ".join(words(each).split())
        for each in page.by_id("summary").iter()
        if each.get("data-sentence") is not None
    ]

    answers = [
        sentences.in_points(result),
        *filter(None, [sentences.worse_off(result)]),
        sentences.points_range(result),
        *(" ".join(each) for each in filter(None, [sentences.verdict_for_all(result)])),
        *sentences.left_out(result),
        " ".join(sentences.next_steps(result)),
        sentences.in_means(result),
        sentences.seen_alone(result),
        sentences.what_dominates(result),
        *(each.text for each in sentences.what_weakens(result)),
    ]

    places = [said.index(" ".join(answer.split())) for answer in answers]
    assert places == sorted(places)
    others = 2 + 2 * (
        sentences.shares(result) is not None
    )  # circumstances, the badge, both shares
    if all_rates(result):  # caption and headings of the groups
        others += 1 + len(tables.groups(result).columns)
    assert len(places) == len(said) - others


@pytest.mark.parametrize("name", [*AUDITS])
def test_what_few_readers_need_is_folded(name):
    """All four kinds of ranges, the p-value, the paper's terms, and every formula."""
    page = Page(report(name))
    [folded] = [each for each in page.all("details") if each.get("class") == "sure"]
    inside = set(map(id, folded.iter()))

    def is_folded(element):
        return id(element) in inside

    assert words(folded.find("summary")).startswith("Details: the four kinds of ranges")
    assert all(map(is_folded, page.all("math")))
    for path in ("p_value", "combined", "certificate", "outer"):
        held = [e for e in page.all("span") if e.get("data-path") == f"/disparity/{path}"]
        assert held
        assert all(map(is_folded, held))
    assert not any(
        is_folded(each) for each in page.all("span") if "thresholds" in each.get("data-path", "")
    )


@pytest.mark.parametrize("name", ["grid", "squared"])
def test_every_threshold_and_tail_has_its_table(name):
    result = named_audit(name)
    page = Page(report(name))
    told = [words(each) for each in page.all("caption") if each.get("data-sentence") is not None]

    rates = (*result.thresholds, *result.tails)
    assert told == ["The groups, in all silos together", *map(sentences.rates_heading, rates)]
    shown = {each.path for each in page.shown()}
    for i, each in enumerate(result.thresholds):
        for j in range(len(each.groups)):
            base = f"/thresholds/{i}/groups/{j}"
            fields = ("rate/value", "rate/interval", "ratio/value", "answer")
            assert {f"{base}/{field}" for field in fields} <= shown


def test_headings_are_in_order():
    """One first heading; no level is left out on the way down."""
    page = Page(report("above"))
    levels = [int(each.tag[1]) for each in page.root.iter() if each.tag in ("h1", "h2", "h3")]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_id_is_there_once():
    page = Page(report("ten-groups"))
    names = [each.get("id") for each in page.root.iter() if each.get("id")]

    assert len(names) == len(set(names))
    targets = {each.get("href")[1:] for each in page.all("a") if each.get("href")}
    assert targets <= set(names)


@pytest.mark.parametrize(("silos", "limit"), [(50, 300_000), (1_000, 1_000_000)])
def test_the_page_is_small(silos, limit):
    page = html_report(synthetic(silos, redraws=20, levels=100, records=400))

    assert len(page.encode()) < limit


def test_missing_silos_are_in_the_table():
    page = Page(report("missing"))
    absent = [row for row in page.by_id("silo-table").iter("tr") if row.get("class") == "absent"]

    assert [words(row[0]) for row in absent] == ["Ivy Lane", "Jade <Hill>"]
    assert all(words(row[-1]) == "sent nothing" for row in absent)


@pytest.mark.parametrize("name", [*AUDITS])
def test_a_result_read_from_a_file_gives_the_same_page(name):
    """JSON sorts the names of groups; the page keeps the plan's order."""
    result = named_audit(name)
    read = AuditResult.from_dict(json.loads(result.to_json()))

    assert html_report(read) == report(name)


def test_the_same_result_gives_the_same_bytes(tmp_path):
    """In another process, where sets and dictionaries are in another order."""
    named_audit("names").write(tmp_path / "result.json")
    code = (
        "import sys; from fedparity.documents.result import AuditResult\n"
        "from fedparity.report.html.page import html_report\n"
        "sys.stdout.buffer.write(html_report(AuditResult.read(sys.argv[1])).encode())"
    )

    pages = {
        subprocess.run(  # noqa: S603 -- our own code
            [sys.executable, "-c", code, tmp_path / "result.json"],
            env=environment(tmp_path, PYTHONHASHSEED=seed),
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert pages == {report("names").encode()}


def test_rates_come_first_where_there_are_some():
    for name in AUDITS:
        page = Page(report(name))
        [contents] = [each for each in page.all("nav") if each.get("class") == "contents"]
        places = [link.get("href") for link in contents.iter() if link.get("href")]

        assert (places[0] == "#groups") == bool(all_rates(named_audit(name))), name
        assert "#groups" in places
