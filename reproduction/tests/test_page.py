"""The page needs nothing but itself, runs nothing, and says what the tables say."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from reproduction.tests.samples import dataset, study
from reproduction.tests.test_tables import printed_draws, table

from fedparity_reproduction.experiments import Part, Plot
from fedparity_reproduction.figure_style import figure_files
from fedparity_reproduction.page import reproduction_page
from fedparity_reproduction.runner import Settings
from fedparity_reproduction.study_figures import draw_heat_map
from fedparity_reproduction.tables import World, compare_numbers
from fedparity_reproduction.terms import TermsTable

HOSTILE = "<script>alert(1)</script>\"'&"


class Elements(HTMLParser):
    """Collects tags and their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Take an element."""
        self.found.append((tag, dict(attrs)))

    def all(self, tag):
        """Return the attributes of all elements of a tag."""
        return [attrs for name, attrs in self.found if name == tag]


def part(names=("black", "white")):
    result = study(dataset=dataset(names=names))
    random = np.random.default_rng(0)
    scenarios = ("random", "positive", "positive, renamed", "negative")
    return Part(
        name="law",
        title="Law",
        datasets=(result.study.dataset,),
        tables=(table(World((), printed_draws)),),
        terms=TermsTable("Law", {name: random.random((3, 6)) + 1 for name in scenarios}),
        numbers=compare_numbers("synthetic", {"U2": np.full(3, 0.00762)}),
        study=result,
        plots=(Plot("law-k95", "k95", "Numbers.", "fig:x", lambda: draw_heat_map(result)),),
    )


@pytest.fixture(scope="module")
def page():
    made = part()
    drawings = {plot.name: figure_files(plot.draw)["svg"] for plot in made.plots}
    return reproduction_page([made], Settings(), drawings)


def test_nothing_is_fetched_or_run(page):
    elements = Elements(page)

    assert not {"script", "link", "iframe", "object", "base", "form"} & {
        n for n, _ in elements.found
    }
    assert all(image["src"].startswith("data:image/svg+xml,") for image in elements.all("img"))
    assert not [attrs for _, attrs in elements.found if "style" in attrs]
    assert not [n for _, attrs in elements.found for n in attrs if n.startswith("on")]


def test_the_policy_allows_this_style_and_pictures_only(page):
    policy = next(
        meta["content"]
        for meta in Elements(page).all("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    )

    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_figures_have_alternative_texts_and_captions(page):
    elements = Elements(page)

    assert all(len(image["alt"]) > 10 for image in elements.all("img"))
    assert len(elements.all("figcaption")) == len(elements.all("img")) == 1


def test_each_printed_row_has_a_verdict_in_a_word_and_a_shape(page):
    assert page.count('<td class="judged"') == 2 * 5  # counts are not printed for Law
    assert "▲" in page
    assert "because the paper divides H₂ by the range of the scores" in page


def test_the_tally_counts_the_rows_of_the_paper(page):
    matches = re.search(r"(\d+) rows and numbers match", page)
    differs = re.search(r"(\d+) differ, each", page)

    assert (int(matches[1]), int(differs[1])) == (2 * 3 + 1, 2)


def test_links_lead_to_places_of_the_page(page):
    elements = Elements(page)
    places = {attrs["id"] for _, attrs in elements.found if "id" in attrs}

    assert {link["href"] for link in elements.all("a")} <= {f"#{place}" for place in places}


def test_a_name_cannot_become_markup():
    hostile = part((HOSTILE, "white"))
    page = reproduction_page([hostile], Settings(), {"law-k95": b"<svg/>"})

    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_same_parts_give_the_same_page(page):
    made = part()
    drawings = {plot.name: figure_files(plot.draw)["svg"] for plot in made.plots}

    assert reproduction_page([made], Settings(), drawings) == page


def test_a_quick_page_says_so_and_prints_no_k95(page):
    """Ten allocations do not tell what holds in 95 % of them."""
    made, drawings = part(), {"law-k95": b"<svg/>"}
    quick = reproduction_page([made], Settings.of_size(quick=True), drawings)

    assert "This is a quick look" in quick
    assert "This is a quick look" not in page
    assert 'id="k95"' in page
    assert 'id="k95"' not in quick
    assert "k95 of its estimator" in page
    assert "k95 of its estimator" not in quick
