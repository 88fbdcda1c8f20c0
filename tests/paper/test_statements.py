"""The list of statements is complete, and each is tested or says why not."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest
from tests.paper.statements import STATEMENTS, TESTED
from tests.tiers import NO_PAPER

KINDS = "definition|lemma|proposition|corollary|theorem|remark|algorithm"


def as_identifier(label):
    """Return a label as it appears in the name of a test."""
    return re.sub(r"\W+", "_", label).lower()


@cache
def names_of_tests():
    """Return the names of all test functions in this folder, without their prefix."""
    return [
        node.name.removeprefix("test_")
        for path in sorted(Path(__file__).parent.glob("test_*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def statement_of(name):
    """Return the statement that a test is about: the longest label that its name begins with."""
    about = [label for label in STATEMENTS if f"{name}_".startswith(f"{as_identifier(label)}_")]
    return max(about, key=len, default=None)


def labels_in(latex):
    """Return the labels of all numbered statements of a LaTeX file, in order.

    A remark without a label is named after the statement before it; the second half of an
    algorithm that is set in two parts has none and is no statement of its own.
    """
    labels = []
    for kind, body in re.findall(rf"\\begin{{({KINDS})}}(.*?)\\end{{\1}}", latex, re.DOTALL):
        own = [name for name in re.findall(r"\\label{(.*?)}", body) if not name.startswith("eq:")]
        if own:
            labels.append(own[0])
        elif kind == "remark":
            labels.append(f"remark after {labels[-1]}")
    return labels


@pytest.mark.parametrize(
    "label", [label for label, state in STATEMENTS.items() if state == TESTED]
)
def test_every_statement_marked_as_tested_has_a_test(label):
    """Some test of this folder is named after it, and not after a longer label."""
    assert label in {statement_of(name) for name in names_of_tests()}


def test_every_other_statement_has_a_reason():
    """What is not tested says why, in a sentence."""
    reasons = [state for state in STATEMENTS.values() if state != TESTED]

    assert all(len(reason.split()) > 5 for reason in reasons)


def test_two_statements_never_share_the_name_of_a_test():
    """Labels differ even when written as identifiers, so that a name says which is meant."""
    assert len({as_identifier(label) for label in STATEMENTS}) == len(STATEMENTS)


def test_list_of_statements_is_that_of_the_paper():
    """Every numbered statement of the paper is in the list, once, and nothing else is."""
    path = os.environ.get("FEDPARITY_PAPER")
    if path is None:
        pytest.skip(NO_PAPER)

    labels = labels_in(Path(path).read_text(encoding="utf-8"))

    assert sorted(labels) == sorted(STATEMENTS)
