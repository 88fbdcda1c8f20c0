"""``fedparity plan new`` writes the plan that its options describe, and asks only a person."""

import pytest
from tests.unit.cli.samples import run

import fedparity as fp
from fedparity.documents.signing import generate_key, public_text

NEEDED = ("--title", "Q4", "--group", "A", "--group", "B", "--range", "0", "1")
KEY = public_text(generate_key())


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(*options):
    result = run("plan", "new", *NEEDED, *options)
    assert result.exit_code == 0, result.stderr
    return fp.Plan.read("plan.toml")


def test_three_options_are_enough_and_the_rest_is_default():
    assert written() == fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))


def test_every_option_reaches_the_plan():
    given = written(
        *("--levels", 20, "--sketch", "quantile", "--estimator", "grid", "--order", 1),
        *("--step", 0.01, "--threshold", 0.7, "--threshold", 0.5, "--favorable", "below"),
        *("--review-level", 0.05, "--review-unit", "sd"),
        *("--silo", "north", "--silo", "south shore"),
        *("--minimum-cell", 20, "--records-per-level", 5, "--rounding", 0),
        *("--key", f"north={KEY}", "--total", "north=400"),
        *("--period", "2026-10-01", "2026-12-31"),
        *("--privacy", "dp", "--epsilon", 0.5, "--budget", 2, "--records", 4000),
    )

    assert given == fp.Plan(
        title="Q4",
        groups=("A", "B"),
        score_range=(0, 1),
        score_step=0.01,
        levels=20,
        sketch="quantile",
        estimator="grid",
        thresholds=(0.5, 0.7),
        favorable="below",
        period=("2026-10-01", "2026-12-31"),
        order=1,
        review_level=0.05,
        review_unit="sd",
        silos=("north", "south shore"),
        disclosure={"minimum_cell": 20, "records_per_level": 5, "rounding": 0},
        keys={"north": KEY},
        totals={"north": 400},
        privacy={"mode": "dp", "epsilon": 0.5, "budget": 2, "records": 4000},
    )


def test_keys_come_from_a_folder_of_public_keys(folder):
    (folder / "keys").mkdir()
    (folder / "keys" / "north.pub").write_text(f"{KEY}\n", encoding="utf-8")

    assert written("--keys-from", "keys").keys == {"north": KEY}


def test_a_folder_without_keys_is_refused(folder):
    (folder / "keys").mkdir()

    assert run("plan", "new", *NEEDED, "--keys-from", "keys").exit_code == 3


def test_an_intersection_is_written_as_a_list():
    groups = ("--group", '["F", "65+"]', "--group", '["M", "65+"]')
    run("plan", "new", "--title", "Q4", *groups, "--range", 0, 1)

    assert fp.Plan.read("plan.toml").groups == (("F", "65+"), ("M", "65+"))


@pytest.mark.parametrize(
    "options",
    [("--total", "north=many"), ("--key", "north"), ("--group", "[1"), ("--epsilon", "1")],
)
def test_what_is_not_a_pair_or_a_list_is_a_usage_error(options, folder):
    assert run("plan", "new", *NEEDED, *options).exit_code == 2
    assert not list(folder.iterdir())


def test_the_digest_and_the_next_command_are_printed():
    told = run("plan", "new", *NEEDED).stderr

    assert fp.Plan.read("plan.toml").digest in told
    assert "fedparity plan show plan.toml" in told
    assert "fedparity plan letter plan.toml -o letters" in told


def test_an_existing_plan_is_kept_without_force():
    first = written()

    refused = run("plan", "new", *NEEDED, "--levels", 5)
    assert refused.exit_code == 2
    assert "exists already" in run("plan", "new").stderr  # before anything is asked
    assert fp.Plan.read("plan.toml") == first
    assert written("--levels", 5, "--force").levels == 5


def test_off_a_terminal_nothing_is_asked(folder):
    refused = run("plan", "new", "--title", "Q4", input="A, B\n0\n1\n")

    assert refused.exit_code == 2
    assert "a plan needs --group (twice or more), --range." in refused.stderr
    assert not list(folder.iterdir())


def test_a_mistake_in_the_options_is_a_mistake_of_the_plan():
    refused = run("plan", "new", "--title", "Q4", "--group", "A", "--group", "A", "--range", 0, 1)

    assert refused.exit_code == 3
    assert "two groups have the same text" in refused.stderr


def test_means_of_few_scores_are_obeyed_with_a_warning():
    deciles = ("--title", "Q4", "--group", "A", "--group", "B", "--range", 1, 10, "--step", 1)
    told = run("plan", "new", *deciles, "--sketch", "mean")

    assert told.exit_code == 0
    assert 'warning: sketch = "mean" is obeyed, but scores have 10 points only' in told.stderr
    assert fp.Plan.read("plan.toml").sketch == "mean"
    assert "warning" not in run("plan", "new", "other.toml", *deciles).stderr
    assert fp.Plan.read("other.toml").sketch == "counts"


def test_a_review_level_beyond_the_scale_is_a_warning():
    told = run("plan", "new", *NEEDED, "--review-level", 2)

    assert told.exit_code == 0
    assert (
        "warning: a review level of 2 points is not below the whole score range, 1" in told.stderr
    )
