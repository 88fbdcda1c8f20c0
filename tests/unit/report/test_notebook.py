"""A result in a notebook: small, still, and safe."""

from html.parser import HTMLParser

import pytest
from tests.report_results import (
    aside_result,
    changed,
    incomplete_result,
    judged,
    plain_result,
    result_of_silos,
    summed_result,
)

from fedparity.report.notebook import notebook_html
from fedparity.report.sentences.answers import points_range, verdict_for_all
from fedparity.report.sentences.caveats import left_out, what_weakens
from fedparity.report.sentences.naming import VERDICTS
from fedparity.text import number, percents


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks that tags are closed in order."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), set(), "", []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Remember a tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        """Check that it closes the last one."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Remember what is read."""
        self.text += data


@pytest.mark.parametrize("verdict", VERDICTS)
def test_it_shows_verdict_value_and_interval(verdict):
    result = judged(plain_result(), verdict)
    page = Page(result._repr_html_())

    assert page.text.startswith(VERDICTS[verdict].shape)
    assert points_range(result) in page.text
    assert number(result.disparity.value) in page.text


def test_it_shows_whom_it_leaves_out_and_the_rates():
    result = aside_result()
    page = Page(notebook_html(result))

    for told in (
        *left_out(result),
        "Share with a score below 5",
        " ".join(verdict_for_all(result)),
    ):
        assert told in page.text
    assert percents(result.thresholds[0].groups[0].rate.interval) in page.text


def test_it_holds_no_script_no_style_sheet_and_no_color():
    page = notebook_html(incomplete_result())

    assert Page(page).tags <= {*("div", "p", "table", "thead", "tbody", "tr", "th", "td")} | {
        "details",
        "summary",
    }
    assert Page(page).attributes <= {"open", "scope", "style"}
    assert "color" not in page


def test_names_are_escaped():
    title = "<script>alert('x')</script> & \"quotes\""
    page = Page(notebook_html(changed(plain_result(), "plan", title=title)))

    assert title in page.text
    assert "script" not in page.tags


def test_its_size_does_not_grow_with_the_silos():
    few, many = (len(notebook_html(result_of_silos(count))) for count in (20, 1000))

    assert many < few + 200


def test_what_is_not_known_is_a_dash():
    assert "None" not in notebook_html(summed_result())


def test_warnings_stand_in_the_page_and_in_one_line_by_their_codes():
    result = plain_result()
    coded = [each for each in what_weakens(result) if each.code]
    page = Page(notebook_html(result))

    assert coded
    for each in coded:
        assert each.text in page.text
        assert each.code in page.text
    for warning in incomplete_result().warnings:
        assert warning.code in repr(incomplete_result())
