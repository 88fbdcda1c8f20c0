"""One glossary serves the pages of reports and the manual."""

from pathlib import Path

from tests.unit.plots.results import make_result

from fedparity.report.sentences.glossary import TERMS, glossary, manual_glossary

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "glossary.md"


def test_no_word_is_explained_twice():
    names = [term.name.casefold() for term in TERMS]

    assert len(names) == len(set(names))


def test_a_page_explains_with_the_symbols_of_its_own_result():
    second, first = dict(glossary(make_result())), dict(glossary(make_result(order=1)))

    assert "disparity G₂" in second
    assert "disparity G₁" in first
    assert "(W₁)" in first["points"]
    assert not any("{" in text for each in (*first.items(), *second.items()) for text in each)


def test_the_manual_has_every_word_of_the_pages():
    listed = manual_glossary()

    assert all(f"\n\n{term.name}\n  " in f"\n\n{listed}" for term in TERMS)
    assert "{" not in listed
    assert "%TERMS%" in PAGE.read_text("utf-8")
