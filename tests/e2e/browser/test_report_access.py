"""What axe finds, and what is printed."""

import re
import zlib

import pytest
from tests.e2e.browser.conftest import PHONE, THOUSAND, WIDE

pytestmark = pytest.mark.browser

SHOWN = (
    "outcomes",
    *("5", "60", THOUSAND, "below", "inconclusive", "none"),
    *("names", "missing", "ten-groups", "order-1", "unknown-terms", "grid", "squared"),
)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", SHOWN)
def test_axe_finds_nothing(open_report, axe, name, size):
    """The policy of the page would refuse axe's script, so it is set aside here, and only here."""
    page = open_report(name, size, bypass_csp=True).page
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.evaluate(axe)

    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")

    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found["violations"]] == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", ["5", "missing", "grid"])
def test_axe_finds_nothing_in_dark_colors(open_report, axe, name, size):
    page = open_report(name, size, bypass_csp=True, color_scheme="dark").page
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.evaluate(axe)

    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 23, 30)"
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found["violations"]] == []


@pytest.mark.parametrize("name", ["5", "60", THOUSAND, "ten-groups"])
def test_it_prints_with_nothing_folded(open_report, name):
    page = open_report(name).page
    page.emulate_media(media="print")

    assert not page.locator(".contents").is_visible()
    assert not page.locator(".tools").is_visible()
    rows = page.locator("#silo-table tbody tr")
    assert rows.last.is_visible()
    pages, fonts = printed(page)
    assert 5 <= pages <= 60
    assert fonts


def test_it_prints_what_a_search_hides(open_report):
    """A printed report must not silently lack silos."""
    page = open_report("60").page
    page.locator("#find").fill("silo 0001")
    page.emulate_media(media="print")

    assert page.locator("#silo-table tbody tr").nth(30).is_visible()


def test_folded_numbers_are_open_on_paper(open_report):
    page = open_report("5").page
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    assert page.locator("details:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def printed(page):
    """How many pages a PDF has, and whether it holds text in fonts."""
    data = page.pdf(prefer_css_page_size=True)
    streams = re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL)
    parts = [data, *filter(None, map(inflated, streams))]
    pages = sum(len(re.findall(rb"/Type\s*/Page\b", part)) for part in parts)
    return pages, any(b"/ToUnicode" in part for part in parts)


def inflated(stream):
    try:
        return zlib.decompressobj().decompress(stream)
    except zlib.error:
        return b""
