"""``fedparity simulate`` is the library's simulation, from a file."""

import json

import numpy as np
import pytest
from tests.unit.cli.samples import plan, run, table, write_audit, write_table

import fedparity as fp
from fedparity.engines.in_process import audit as measure

QUICK = ("--redraws", 50)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "all.csv", pooled())
    return tmp_path


def pooled():
    """The tables of three silos, one below the other."""
    silos = ("north", "south", "west")
    parts = [table(seed) for seed in range(3)]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {**joined, "hospital": np.repeat(silos, 240)}


def simulate(*options):
    return run("simulate", "all.csv", *QUICK, *options)


def test_without_a_plan_the_settings_are_options():
    options = ("--levels", 7, "--sketch", "mean", "--estimator", "exact", "--order", 1)
    given = simulate("--silo", "hospital", *options, "--range", 0, 1, "--json").stdout

    expected = measure(
        pooled(),
        silo="hospital",
        levels=7,
        sketch="mean",
        estimator="exact",
        order=1,
        score_range=(0, 1),
        redraws=50,
    )
    assert given == f"{expected.to_json()}\n"


def test_with_a_plan_the_result_is_that_of_real_silos(folder):
    write_audit(folder)

    alone = simulate("--silo", "hospital", "--plan", "plan.toml", "--json").stdout
    real = run("audit", "plan.toml", "inbox", "--json", *QUICK).stdout

    assert alone == real


def test_a_regime_deals_the_rows_to_silos_and_tells_the_correlation():
    made = simulate("--regime", "positive", "--rho", 0.9, "--silos", 4, "--json")

    document = json.loads(made.stdout)
    assert document["silos_received"] == ["silo 1", "silo 2", "silo 3", "silo 4"]
    assert document["n"] == 720
    assert made.stderr.startswith("assigned to 4 silos; score and silo: Pearson 0.")


def test_the_seed_deals_the_rows():
    one, same, other = (
        json.loads(simulate("--regime", "random", "--json", "--seed", seed).stdout)["silos"]
        for seed in (1, 1, 2)
    )

    assert one == same
    assert one != other


def test_a_regime_may_follow_a_plan_without_a_roster(folder):
    plan(silos=None).write(folder / "p.toml")

    made = simulate("--regime", "negative", "--plan", "p.toml", "--json")

    assert made.exit_code == 0, made.stderr
    assert json.loads(made.stdout)["guarantee"]["minimum_cell"] == 11


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--silo", "hospital", "--regime", "random"),
        ("--silo", "hospital", "--rho", 0.5),
        ("--silo", "hospital", "--silos", 3),
        ("--regime", "random", "--rho", 1),
        ("--silo", "hospital", "--plan", "plan.toml", "--levels", 5),
        ("--silo", "hospital", "--plan", "plan.toml", "--range", 0, 1),
    ],
)
def test_options_that_contradict_each_other_are_usage_errors(options):
    refused = simulate(*options)

    assert refused.exit_code == 2
    assert "fix: " in refused.stderr


def test_the_answer_can_be_written_and_compared_with_the_review_level():
    ended = simulate("--silo", "hospital", "--review-level", 0.01, "--fail-above", "-o", "r.json")

    assert ended.exit_code == 10
    assert fp.AuditResult.read("r.json").disparity.verdict.all == "above"
    assert simulate("--silo", "hospital", "-o", "r.json").exit_code == 2


def test_a_column_that_is_not_there_is_named():
    refused = simulate("--silo", "hospitl")

    assert refused.exit_code == 3
    assert "did you mean 'hospital'?" in refused.stderr


def test_without_a_plan_the_defaults_are_the_best_that_is_known():
    found = json.loads(simulate("--silo", "hospital", "--json").stdout)["plan"]

    assert (found["sketch"], found["estimator"], found["levels"]) == ("mean", "exact", 100)


def test_options_of_the_score_and_the_level_reach_the_result():
    options = ("--range", 0, 2, "--review-level", 0.1, "--review-unit", "share")
    found = simulate(
        "--silo", "hospital", *options, "--threshold", 0.5, "--favorable", "below", "--json"
    )
    document = json.loads(found.stdout)

    assert document["disparity"]["review_unit"] == "share"
    assert document["plan"]["favorable"] == document["thresholds"][0]["favorable"] == "below"
    assert document["plan"]["thresholds"] == [0.5]
    rate = document["thresholds"][0]["groups"][0]["rate"]
    assert rate["lower"] == rate["upper"] == rate["value"]  # the silos counted there


def test_a_step_that_no_score_lies_on_is_refused():
    refused = simulate("--silo", "hospital", "--range", 0, 1, "--step", 0.5)

    assert refused.exit_code == 3
    assert "fix: " in refused.stderr


def test_a_setting_beside_a_plan_is_named_as_it_is_typed():
    refused = simulate("--silo", "hospital", "--plan", "plan.toml", "--step", 0.5)

    assert refused.exit_code == 2
    assert "--step is for the plan to say" in refused.stderr
