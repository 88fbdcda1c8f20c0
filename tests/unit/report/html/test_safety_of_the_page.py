"""The page runs its own script and nothing else, whatever names the silos have."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from tests.report_audits import AUDITS, GROUPS, NAMES
from tests.unit.report.html.page_reading import Page, report, tag, words

OUTSIDE = {"src", "srcset", "action", "formaction", "poster", "ping", "data", "background"}
"""Attributes that fetch."""


@pytest.fixture(scope="module", params=[*AUDITS])
def page(request):
    return Page(report(request.param))


def policy_of(page):
    (meta,) = [m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    return dict(rule.split(" ", 1) for rule in meta.get("content").split("; "))


def digest(text):
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_the_policy_lets_in_exactly_the_script_and_the_style_of_the_page(page):
    """By their hashes; nothing is fetched, framed or sent."""
    (script,) = [each for each in page.all("script") if each.get("type") is None]
    (style,) = page.all("style")

    rules = policy_of(page)

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == digest(script.text)
    assert rules["style-src"] == digest(style.text)
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in page.source.partition("</head>")[0].partition("<style>")[0]


def test_the_policy_stands_before_anything_it_governs(page):
    """A policy in a meta element holds only for what follows it."""
    assert page.source.index("Content-Security-Policy") < page.source.index("<style")


def test_no_attribute_holds_style_or_script_or_an_address(page):
    for element in page.root.iter():
        for name, value in element.attrib.items():
            assert name != "style"
            assert not name.startswith("on")
            assert name not in OUTSIDE
            if name.endswith("href"):
                assert value.startswith("#")


def test_no_address_of_anywhere_is_in_the_page(page):
    """But the names of the languages, which are written like addresses."""
    code = page.source.replace(page.by_id("result").text, "")

    found = set(re.findall(r"[a-z]+://[^\s\"'<>)]+", code))

    assert found <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_there_is_one_script_and_one_block_of_data(page):
    kinds = [each.get("type") for each in page.all("script")]

    assert sorted(kinds, key=str) == [None, "application/json"]


def test_names_are_text():
    """A silo may be called anything: it becomes no element, and its name is shown in full."""
    page = Page(report("names"))

    shown = {words(each) for each in page.all("bdi")}

    assert not {"img", "b"} & {tag(each) for each in page.root.iter()}
    assert {name.strip() for name in NAMES} <= shown
    assert set(GROUPS) <= shown
    assert list(page.all("h1")[0]) == []


def test_unknown_promises_are_shown_as_text():
    page = Page(report("unknown-terms"))
    (table,) = [t for t in page.all("table") if "rules" in words(t.find("caption"))]

    shown = {words(row[0]): words(row[1]) for row in table.iter("tr")}

    assert shown["privacy mode"] == "secure+dp"
    assert shown["epsilon, per release"] == "0.5"
    assert (shown["future"], shown["flag"], shown["unset"]) == ("<b>", "yes", "–")
