"""``fedparity plan check`` finds every mistake; ``plan show`` says it in plain words."""

import json

import pytest
from tests.unit.cli.samples import plan, run

MISTAKEN = """schema = "fedparity/plan/1"
title = "Q4"
groups = ["A", "A"]
score_range = [0, 1]
level = 50
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_mistake_is_listed_with_its_line_and_a_fix(folder):
    (folder / "p.toml").write_text(MISTAKEN, encoding="utf-8")

    found = run("plan", "check", "p.toml")

    assert found.exit_code == 3
    assert "p.toml:3: two groups have the same text" in found.stdout
    assert "p.toml:5: 'level' is not a key" in found.stdout
    assert found.stdout.count("  fix: ") == 2
    assert "error: p.toml has 2 mistakes." in found.stderr


def test_mistakes_as_json(folder):
    (folder / "p.toml").write_text(MISTAKEN, encoding="utf-8")

    found = run("plan", "check", "p.toml", "--json")

    document = json.loads(found.stdout)
    assert found.exit_code == 3
    assert document["digest"] is None
    assert [mistake["line"] for mistake in document["mistakes"]] == [3, 5]


def test_a_valid_plan_prints_its_digest(folder):
    plan().write(folder / "p.toml")

    assert run("plan", "check", "p.toml").stdout == f"{plan().digest}\n"


def test_a_plan_that_is_not_there_is_bad_input():
    assert run("plan", "check", "nowhere.toml").exit_code == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "below or above the review level, 0.01 score points between the two groups furthest"),
        ({"review_unit": "share"}, "0.01 of the score range between"),
        ({"review_unit": "sd"}, "0.01 standard deviations of the score between"),
        ({"review_unit": "squared"}, "the review level, a disparity G of 0.01, or inconclusive"),
        ({"thresholds": [0.5, 0.7], "favorable": "below"}, "at or above 0.5, 0.7 (below is good)"),
        ({"thresholds": [0.5]}, "a threshold with fewer than 11 records beside it"),
        ({"score_step": 0.1}, "in steps of 0.1; at most 24 numbers in all"),
        (
            {"score_step": 0.1, "levels": 11, "disclosure": {"records_per_level": 15}},
            "counts of fewer than 15 records: neighboring scores are counted together",
        ),
        ({"score_step": 0.1, "levels": 11}, "how many at each of the 11 scores there can be"),
        ({"sketch": "quantile"}, "up to 10 numbers, the quantiles of its scores"),
        ({}, "the mean square of what these leave out"),
        ({}, "fine detail: values are rounded to 0.005"),
        ({"review_level": None}, "the plan names no review level"),
        ({"silos": None}, "whichever silos answer"),
        ({"sketch": "mean"}, "means of its scores between quantiles"),
        ({"estimator": "exact", "order": 1, "trim": 0.1}, "G₁ of all silos together (exact"),
        ({"totals": {"north": 300}}, "public total of a silo"),
        ({"disclosure": {"minimum_cell": 1, "records_per_level": 0, "rounding": 0}}, "nothing: "),
        ({"privacy": {"mode": "dp", "epsilon": 1}}, "(epsilon = 1)"),
        ({"title": "東京" * 60, "groups": [f"group {i}" for i in range(30)]}, "and 22 more"),
        ({"groups": (("F", "65+"), ("M", "65+"))}, "F & 65+, M & 65+"),
    ],
)
def test_a_plan_is_shown_in_plain_words_in_80_columns(changes, words, folder):
    asked = plan(**changes)
    asked.write(folder / "p.toml")

    shown = run("plan", "show", "p.toml").stdout

    assert words in " ".join(shown.split())
    assert asked.digest in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_plan_as_json_states_every_default(folder):
    plan().write(folder / "p.toml")

    document = json.loads(run("plan", "show", "p.toml", "--json").stdout)

    assert document == {**plan().to_dict(), "digest": plan().digest}


def test_a_plan_that_may_not_say_what_was_meant_is_valid_with_a_warning(folder):
    plan(score_step=0.25, sketch="quantile").write(folder / "p.toml")

    found = run("plan", "check", "p.toml")
    document = json.loads(run("plan", "check", "p.toml", "--json").stdout)

    assert found.exit_code == 0
    assert 'warning: sketch = "quantile" is obeyed' in found.stderr
    assert document["mistakes"] == []
    assert len(document["warnings"]) == 1
