"""Words that users stumbled over stay away: from what the program says, and from the manual."""

import ast
from pathlib import Path

import pytest
from tests.awkward_words import found_in

ROOT = Path(__file__).parents[2]
CODE = sorted(path for part in ("src", "reproduction/src") for path in (ROOT / part).rglob("*.py"))
TEXTS = [
    ROOT / "README.md",
    *(ROOT / "src").rglob("*.html"),
    *(ROOT / "src").rglob("*.jinja"),
    *(ROOT / "src").rglob("*.js"),
    *(ROOT / "src").rglob("*.typ"),
    *(ROOT / "src").rglob("schemas/*.json"),
    *(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]


def words_of(tree):
    """Every text of a module, the docstrings of public names too; fields of f-strings are a number."""
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            yield "".join(
                getattr(part, "value", "1") if isinstance(part, ast.Constant) else "1"
                for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside
        ):
            yield node.value


def test_no_text_of_the_program_has_them():
    found = {
        str(path.relative_to(ROOT)): words
        for path in CODE
        if (
            words := [
                each
                for text in words_of(ast.parse(path.read_text("utf-8")))
                for each in found_in(text)
            ]
        )
    }

    assert not found


def test_no_template_and_no_page_of_the_manual_has_them():
    found = {
        str(path.relative_to(ROOT)): words
        for path in TEXTS
        if (words := found_in(path.read_text("utf-8")))
    }

    assert not found


@pytest.mark.parametrize(
    "text",
    [
        "Widest gap 28.4 %",
        "A ratio\n  to best",
        'f"{k} numbers of its score\nlaw"',
        "Levels k [100]",
        "up to\n  k numbers of its score law",
        "A and B have a disparity of 0.432: above the review level 0.1",
        "between 0.329 and 0.547 with all errors counted",
        "certificate 0.1 to 0.2 given the sketches",
        "outer bounds and all that is missing",
        "Sampling noise alone would show as much",
        "groups in different silos",
        "scores differ in silos",
        "These are shares of a measure, not causes.",
        "how much larger the disparity of all is than without it",
        "the smallest 30: the rules cut them",
        "no bound counts them",
        "intervals may cover less often than stated",
        "undetermined by the sketches",
        "no threshold shows a gap above 24.2 % (KS)",
        "--tail LEVEL  Show shares above a quantile of all",
        "--confidence FLOAT  Of intervals.",
        "--redraws N  Of the bootstrap.",
        "--review-level X  What the verdict compares with.",
        "--sketch KIND  What they are.",
        "--estimator KIND  How they are read.",
        "--order P  The p of W_p.",
        "--kernel NAME  Of no effect on the result.",
        "--no-ledger  Neither ask nor write the record.",
        "Show where an unexpected error comes from; may show data.",
        "Groups, with commas",
        "B: k cut from 100 to 30: 10 records per level",
        "Not sent: all of the reasons above",
        "prints the very bytes",
        "digits: values are rounded to steps of 0.009",
        "values beyond one per 10 records",
        "holds labels that no group has",
        "check the path, and where it starts",
        "the unmask come after the consent",
        "signed: wrongly",
        "no silo of the roster is missing",
        "probability by more than a factor e^1",
        "no row was dropped for want of a score",
        "above the review level 0.5 with the whole interval",
    ],
)
def test_they_are_found_across_lines(text):
    assert found_in(text)
