"""``fedparity plan new --ask`` asks in plain words, checks each answer at once, and loses none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cli.samples import run

import fedparity as fp
from fedparity.cli.plans.plan_options import NewPlanOptions
from fedparity.cli.plans.plan_questions import _QUESTIONS, _ends
from fedparity.cli.plans.plan_text import on_the_scale, review_picture

DEFAULTS = {"title": "Risk score audit", "groups": ("A", "B"), "score_range": (0, 1)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answered(*answers, options=()):
    return run("plan", "new", "--ask", *options, input="".join(f"{each}\n" for each in answers))


def test_every_question_fills_an_option():
    assert {question.key for question in _QUESTIONS} <= set(NewPlanOptions.__annotations__)


def test_enter_everywhere_gives_a_plan():
    done = answered(*[""] * 12)

    assert (done.exit_code, done.stdout) == (0, "")
    assert fp.Plan.read("plan.toml") == fp.Plan(**DEFAULTS)


def test_answers_become_a_plan():
    done = answered(
        *("Risk, Q4", "women, men", "0 to 10", "0.5", "bad", "7, 4", "share", "0.02"),
        *("2026-10-01 to 2026-12-31", "aurora, bayside, cedar", "secure+dp", "0.5", "4000"),
    )

    assert done.exit_code == 0, done.stderr
    assert fp.Plan.read("plan.toml") == fp.Plan(
        title="Risk, Q4",
        groups=("women", "men"),
        score_range=(0, 10),
        score_step=0.5,
        thresholds=(4, 7),
        favorable="below",
        review_level=0.02,
        review_unit="share",
        period=("2026-10-01", "2026-12-31"),
        silos=("aurora", "bayside", "cedar"),
        privacy={"mode": "secure+dp", "epsilon": 0.5, "records": 4000},
    )


@pytest.mark.parametrize(
    ("place", "wrong", "reason"),
    [
        (1, "women", "'women' is one group, and there is nothing to compare it with"),
        (1, "A, A", "two groups have the same text"),
        (1, "[1, B", "is not a list of labels"),
        (2, "10", "is not the lowest and the highest score"),
        (2, "10 0", "score_range must be two numbers, the lower one first"),
        (3, "0.3", "does not divide the score range"),
        (3, "much", "'much' is not a number"),
        (4, "maybe", "'maybe' is not good or bad"),
        (5, "12", "must be above the lowest score"),
        (6, "meters", "'meters' is not a unit"),
        (7, "-1", "review_level must be a number above 0"),
        (7, "3", "no audit can exceed it"),
        (8, "October", "'October' is not two dates, the earlier one first"),
        (8, "2026-12-31 2026-10-01", "is not two dates, the earlier one first"),
        (8, "2026-12-31 2026-12-32", "period must be two dates"),
        (9, "a, a", "silo 'a' is listed twice"),
        (10, "secure", "needs a roster of 3 silos or more"),
        (10, "secret", "'secret' is not a privacy mode"),
        (11, "0", "levels must be a whole number from 1"),
        (11, "many", "is not a whole number"),
    ],
)
def test_a_wrong_answer_is_asked_again_with_the_reason(place, wrong, reason):
    answers = [""] * 12
    answers.insert(place, wrong)

    done = answered(*answers)

    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("Error: ") == 1
    assert reason in " ".join(done.stderr.split())
    assert max(map(len, done.stderr.splitlines())) <= 80
    assert fp.Plan.read("plan.toml") == fp.Plan(**DEFAULTS)


def test_what_is_given_is_not_asked_for():
    done = answered(*[""] * 10, options=("--title", "Q4", "--favorable", "below"))

    assert done.exit_code == 0, done.stderr
    assert "Title" not in done.stderr
    assert "good or bad" not in done.stderr
    assert fp.Plan.read("plan.toml") == fp.Plan(**{**DEFAULTS, "title": "Q4"}, favorable="below")


def test_quiet_asks_without_explanations():
    done = answered(*[""] * 12, options=("--quiet",))

    assert fp.Plan.read("plan.toml") == fp.Plan(**DEFAULTS)
    assert "Title [Risk score audit]: " in done.stderr
    assert "How far may the groups be apart" not in done.stderr


def test_an_interruption_keeps_the_answers_and_the_next_start_resumes(folder):
    stopped = answered("Risk, Q4", "women, men", "0 10")

    assert stopped.exit_code == 130
    assert "your answers are kept in plan.toml.draft" in stopped.stderr
    assert [file.name for file in folder.iterdir()] == ["plan.toml.draft"]

    done = answered("y", *[""] * 9)

    assert done.exit_code == 0, done.stderr
    assert "has 3 answers of an earlier start" in done.stderr
    plan = fp.Plan.read("plan.toml")
    assert (plan.title, plan.groups, plan.score_range) == ("Risk, Q4", ("women", "men"), (0, 10))
    assert [file.name for file in folder.iterdir()] == ["plan.toml"]


def test_an_answer_that_no_longer_fits_is_asked_for_again():
    answered("Risk, Q4", "women, men", "0 10", "0.5")

    done = answered("y", *[""] * 9, options=("--range", "0", "0.75"))

    assert done.exit_code == 0, done.stderr
    assert fp.Plan.read("plan.toml").score_step is None


def test_a_later_error_keeps_the_answers(folder):
    refused = answered(*[""] * 12, options=("--key", "north=none"))

    assert refused.exit_code == 3
    assert "your answers are kept" in refused.stderr
    assert answered("y").exit_code == 0
    assert [file.name for file in folder.iterdir()] == ["plan.toml"]


def test_a_draft_can_be_declined_and_a_broken_one_is_replaced(folder):
    answered("Risk, Q4")
    assert answered("n", *[""] * 12).exit_code == 0
    assert fp.Plan.read("plan.toml").title == "Risk score audit"

    (folder / "plan.toml").unlink()
    (folder / "plan.toml.draft").write_text("{", encoding="utf-8")
    done = answered(*[""] * 12)

    assert done.exit_code == 0
    assert "is not a draft of a plan" in done.stderr
    assert not (folder / "plan.toml.draft").exists()


def test_a_draft_holds_answers_as_they_were_typed(folder):
    answered("Risk, Q4", "women", "women, men")

    found = json.loads((folder / "plan.toml.draft").read_bytes())

    assert found == {
        "schema": "fedparity/plan-draft/1",
        "answers": {"title": "Risk, Q4", "groups": "women, men"},
    }


@pytest.mark.parametrize("text", ["0 10", "0, 10", "0 to 10", "0-10", "0–10", " 0 and 10 "])
def test_a_range_is_read_as_people_write_it(text):
    assert _ends(text, None) == (0.0, 10.0)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_two_numbers_are_read_back_whatever_their_sign(low, high):
    assert _ends(f"{low!r} {high!r}", None) == (low, high)


@given(low=st.integers(-100, 100), width=st.integers(1, 1000), share=st.floats(0, 0.4))
def test_the_drawing_moves_one_group_by_the_level(low, width, share):
    """The centers of gravity of the bars are as far apart as the level, to a column."""
    one, other, ruler, mark, words = review_picture((low, low + width), share * width)

    def center(line):
        heights = [" ▁▂▃▄▅▆▇█".index(each) for each in line[14:]]
        return sum(i * height for i, height in enumerate(heights)) / sum(heights)

    assert abs(center(other) - center(one) - 60 * share) <= 1
    assert abs(len(mark.strip()) - 1 - 60 * share) <= 1
    assert max(map(len, (one, other, ruler, mark, words))) <= 80


@pytest.mark.parametrize(
    ("level", "unit", "share"), [(1, "points", 0.1), (0.1, "share", 0.1), (0.25, "squared", 0.1)]
)
def test_a_level_is_the_same_distance_in_every_unit(level, unit, share):
    """Of two groups of the same size W apart, G = (W / 2)²."""
    assert on_the_scale(level, unit, (0, 10))[0] == pytest.approx(share)
    scores, groups = [0, 1], ["a", "b"]
    if unit == "squared":
        assert fp.disparity(scores, sensitive_features=groups) == pytest.approx(level)


def test_a_terminal_without_blocks_gets_plain_characters(monkeypatch):
    class Plain:
        encoding = "ascii"

    monkeypatch.setattr("sys.stderr", Plain)

    assert "@" in review_picture((0, 1), 0.05)[0]
