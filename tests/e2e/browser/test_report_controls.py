"""Values under the pointer and the keys, the table of silos, and saving the result."""

import re

import pytest
from tests.e2e.browser.conftest import THOUSAND, audit

from fedparity.documents.result import AuditResult

pytestmark = pytest.mark.browser


def names(page):
    """The silos in the order of the rows that are seen."""
    return page.locator("#silo-table tbody tr:visible th bdi").all_text_contents()


@pytest.mark.parametrize("name", ["5", "60", THOUSAND])
def test_the_pointer_reads_a_mark(open_report, name):
    page = open_report(name).page
    mark = page.locator(".forest svg [data-path^='/silos/']").first
    mark.scroll_into_view_if_needed()

    mark.hover(force=True)

    index = int(mark.get_attribute("data-path").split("/")[2])
    silo = audit(name).silos[index]
    said = page.locator("#tip").inner_text()
    assert silo.silo in said
    assert f"{silo.wasserstein:.5g}"[:5] in said


def test_the_pointer_reads_the_curves(open_report):
    """Near the right end every group has all its scores below, or all but a few."""
    page = open_report("5").page
    plot = page.locator(".cdf .plot")
    plot.scroll_into_view_if_needed()
    box = plot.locator("svg").bounding_box()

    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] / 2)

    assert re.search(r"A: (99\.\d|100) %", page.locator("#tip").inner_text())


def test_arrow_keys_read_the_marks_one_by_one(open_report):
    page = open_report("5").page
    page.locator(".strip").focus()
    said = set()

    for _ in range(5):
        page.keyboard.press("ArrowRight")
        said.add(page.locator("#tip").inner_text())

    assert len(said) == 5
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()


def test_arrow_keys_read_the_curves(open_report):
    page = open_report("5").page
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.locator(".quantiles .plot").focus()

    for _ in range(25):
        page.keyboard.press("ArrowRight")

    said = page.locator("#tip").inner_text()
    assert said.startswith("rank 5")
    assert "barycenter: " in said


def test_a_number_in_the_text_shows_more_digits(open_report):
    page = open_report("5").page

    page.locator("span[data-path='/magnitudes/worst_pair/corrected']").first.hover()

    worst = audit("5").magnitudes.worst_pair
    assert f"{worst.corrected:.6g}" in page.locator("#tip").inner_text()


@pytest.mark.parametrize("name", ["5", "60", THOUSAND])
def test_a_heading_sorts_by_the_exact_numbers(open_report, name):
    """The largest first, then the smallest; names from A on."""
    page = open_report(name).page
    result = audit(name)
    if page.locator("#unfold").count():
        page.locator("#unfold").click()
    head = page.locator("#silo-table th", has_text="W₂ alone")
    ranked = sorted(result.silos, key=lambda silo: silo.wasserstein)

    head.locator("button").click()

    assert head.get_attribute("aria-sort") == "descending"
    assert names(page) == [silo.silo for silo in reversed(ranked)]
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert names(page) == [silo.silo for silo in ranked]
    page.locator("#silo-table th button").first.click()
    assert names(page) == sorted(names(page))
    assert page.locator("#silo-table [aria-sort]").count() == 1


def test_silos_without_a_number_stay_last(open_report):
    """In both directions; those that sent nothing too."""
    page = open_report("missing").page
    result = audit("missing")
    without = {silo.silo for silo in result.silos if silo.disparity is None}
    assert without
    button = page.locator("#silo-table th", has_text="W₂ alone").locator("button")

    for _ in range(2):
        button.click()
        order = names(page)
        last = len(without) + len(result.silos_missing)
        assert set(order[-last:]) == without | set(result.silos_missing)


def test_a_long_table_is_folded_and_searched(open_report):
    page = open_report("1000").page
    assert len(names(page)) == 25

    page.locator("#find").fill("silo 099")

    assert names(page) == [f"silo {i:04}" for i in range(990, 1000)]
    assert page.locator("#found").inner_text() == "10 of 1,000 silos"
    page.locator("#find").fill("")
    page.locator("#unfold").click()
    assert page.locator("#unfold").get_attribute("aria-expanded") == "true"
    assert len(names(page)) == 1000


@pytest.mark.parametrize("name", ["5", "60", THOUSAND, "names"])
def test_the_result_is_saved_byte_for_byte(open_report, name, tmp_path):
    page = open_report(name).page

    with page.expect_download() as waiting:
        page.locator("#save").click()
    saved = tmp_path / "saved.json"
    waiting.value.save_as(saved)

    audit(name).write(tmp_path / "written.json")
    assert saved.read_bytes() == (tmp_path / "written.json").read_bytes()
    assert AuditResult.read(saved) == audit(name)


def test_the_keyboard_reaches_everything(open_report):
    """First the link that skips, then each control; where the focus is can be seen."""
    page = open_report("missing").page
    reached = []

    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.className")
        )

    assert reached[0] == "skip"
    assert {"find", "save"} <= set(reached)
    page.locator("#find").focus()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
