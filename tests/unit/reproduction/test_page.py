"""The page needs nothing but itself, runs nothing, and says what the tables say."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.unit.reproduction.samples import dataset, study
from tests.unit.reproduction.test_tables import printed_draws, table

from fedparity.experiments.reproduction.figures.heat_map import draw_heat_map
from fedparity.experiments.reproduction.figures.writing import figure_files
from fedparity.experiments.reproduction.page.page import reproduction_page
from fedparity.experiments.reproduction.parts import Part, Plot
from fedparity.experiments.reproduction.settings import Settings
from fedparity.experiments.reproduction.tables import World
from fedparity.experiments.reproduction.terms import TermsTable
from fedparity.experiments.reproduction.text_numbers import compare_numbers

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
    result = study(data=dataset(names))
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
