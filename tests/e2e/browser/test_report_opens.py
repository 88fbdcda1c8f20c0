"""The report opens from disk without a network, silently, and reads well on any screen."""

import pytest
from tests.e2e.browser.conftest import PHONE, THOUSAND, WIDE
from tests.report_audits import AUDITS

pytestmark = pytest.mark.browser

SIZES = "5", "60", THOUSAND
ALL = (*SIZES, *AUDITS)


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_fetched_and_nothing_complains(open_report, name):
    report = open_report(name)
    page = report.page

    page.mouse.wheel(0, 3000)
    page.wait_for_timeout(50)

    assert report.requests == [page.url]
    assert report.complaints == []


@pytest.mark.parametrize("name", ALL)
def test_the_page_is_as_wide_as_the_screen(open_report, name):
    """On a desk and on a phone, whatever names there are."""
    page = open_report(name).page

    for width, height in (WIDE, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("name", ALL)
def test_the_first_screen_answers(open_report, name):
    """Verdict, headline, range and next step fill less than half of the first screen; groups and strip follow."""
    page = open_report(name).page

    def bottom(selector):
        box = page.locator(selector).first.bounding_box()
        return box["y"] + box["height"]

    places = [
        bottom(each) for each in (".verdict", "h1", ".range", ".next", ".summary table", ".strip")
    ]
    assert places == sorted(places)
    assert places[3] < WIDE[1] / 2
    assert name == "ten-groups" or places[-1] < WIDE[1]  # their table is longer than a screen


def test_tables_use_the_whole_column_before_they_scroll(open_report):
    """On a desk, tables of two categories with all their intervals need no scrolling."""
    page = open_report("outcomes").page

    cut = page.locator(".scroll.more caption").all_text_contents()

    assert [words for words in cut if "sex × region" not in words] == []


def test_on_a_phone_the_end_of_every_caption_is_on_the_screen(open_report):
    """It says that the table scrolls."""
    page = open_report("outcomes", PHONE).page

    ends = page.locator("main .scroll.more caption").evaluate_all(
        "each => each.map((one) => one.getBoundingClientRect().right)"
    )

    assert len(ends) > 5
    assert max(ends) <= PHONE[0]


def tops(page, selector):
    return [each.bounding_box()["y"] for each in page.locator(selector).all()]


def test_the_first_screen_of_a_phone_has_the_headline_the_next_step_and_the_strip(open_report):
    page = open_report("5", PHONE).page

    assert [
        top for top in tops(page, ".verdict, h1, .range, .next, .strip") if top > PHONE[1]
    ] == []


def test_without_script_everything_is_there_but_the_controls(open_report):
    page = open_report("1000", java_script_enabled=False).page

    assert page.locator("#silo-table tbody tr").count() == 1000
    assert not page.locator(".tools").is_visible()
    assert not page.locator("#save").is_visible()
    assert not page.locator("#tip").is_visible()


def test_a_page_that_was_changed_does_not_run_the_change(open_report, reports, tmp_path):
    """The policy lets in the page's own script by its hash: not one that was put there later."""
    source = reports("5").read_text(encoding="utf-8")
    report = open_report("5")
    changed = tmp_path / "changed.html"
    changed.write_text(
        source.replace("</body>", "<script>document.title = 'changed'</script></body>"),
        encoding="utf-8",
    )

    report.page.goto(changed.as_uri())

    assert report.page.title() != "changed"
    assert any("Content Security Policy" in complaint for complaint in report.complaints)
