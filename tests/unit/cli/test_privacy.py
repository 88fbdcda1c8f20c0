"""The commands under a plan with noise: what they show, spend, refuse and write."""

import json

import numpy as np
import pytest
from tests.unit.cli.samples import plan, run, table, write_audit, write_table

import fedparity as fp
from fedparity.privacy.ledger import Ledger

NOISE = {"mode": "dp", "epsilon": 1.0, "bins": 16}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDPARITY_LEDGER", str(tmp_path / "ledger.jsonl"))
    plan(privacy=NOISE).write("plan.toml")
    write_table(tmp_path / "north.csv", table(0))
    return tmp_path


def sketch(*options, asked="plan.toml", data="north.csv"):
    return run("sketch", asked, data, "--silo", "north", *options)


def test_a_release_is_written_and_its_cost_entered(folder):
    done = sketch()

    assert done.exit_code == 0
    message = fp.SiloSketch.read(folder / "north.sketch.json")
    fp.documents.check_message(plan(privacy=NOISE), message)
    entry = Ledger(folder / "ledger.jsonl").entries()[-1]
    assert (entry.epsilon, entry.message) == (NOISE["epsilon"], message.digest)
    assert "cost epsilon = 1; the plan's budget for all tables of north is 1" in " ".join(
        done.stderr.split()
    )


def test_a_second_release_is_refused_with_exit_code_4(folder):
    sketch()

    again = sketch("-o", "second.json")

    assert again.exit_code == 4
    assert not (folder / "second.json").exists()


@pytest.mark.usefixtures("folder")
def test_another_plan_is_beyond_the_budget_whatever_the_reason():
    sketch()
    plan(privacy={**NOISE, "bins": 32}).write("finer.toml")

    refused = sketch("-o", "second.json", asked="finer.toml")
    reason = ("--again-because", "finer bins")
    other = sketch("-o", "third.json", *reason, asked="finer.toml")

    assert refused.exit_code == other.exit_code == 4
    assert "left before" in refused.stderr
    assert "have cost epsilon = 1" in other.stderr


@pytest.mark.usefixtures("folder")
def test_a_spent_budget_is_found_before_the_data_are_read():
    sketch()
    plan(privacy={**NOISE, "bins": 32}).write("finer.toml")

    assert sketch("-o", "b.json", asked="finer.toml", data="nowhere.csv").exit_code == 4


def test_a_dry_run_shows_the_noise_and_spends_nothing(folder):
    shown = sketch("--dry-run")

    assert shown.exit_code == 0
    assert "discrete Laplace of scale 1" in shown.stdout
    assert "So far 0 is spent" in " ".join(shown.stdout.split())
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert sorted(path.name for path in folder.iterdir()) == ["north.csv", "plan.toml"]


def test_a_dry_run_is_the_same_for_any_data(folder):
    """So nobody can read a number of the data off it, and none is in a log."""
    write_table(folder / "other.csv", table(5, rows=77))

    for option in ((), ("--json",)):
        first, second = (
            sketch("--dry-run", *option),
            sketch("--dry-run", *option, data="other.csv"),
        )
        assert first.stdout == second.stdout
    assert json.loads(first.stdout)["guarantee"]["epsilon"] == 1.0


def test_the_log_of_a_release_holds_no_true_number(folder):
    write_table(folder / "north.csv", table(0, rows=7919))

    done = sketch("--verbose", "--json")

    assert "7919" not in done.stdout + done.stderr
    assert "7,919" not in done.stdout + done.stderr
    assert "noisy counts" in done.stderr


@pytest.mark.usefixtures("folder")
def test_weights_are_refused_before_anything_is_read():
    assert sketch("--weight", "w", data="nowhere.csv").exit_code == 4


def test_without_a_ledger_nothing_is_added_up(folder):
    done = sketch("--no-ledger")

    assert done.exit_code == 0
    assert "nothing records what is spent" in done.stderr
    assert not (folder / "ledger.jsonl").exists()


def test_messages_are_verified_and_audited(folder):
    (folder / "audit").mkdir()
    write_audit(folder / "audit", privacy=NOISE)

    checked = run("verify", "audit/plan.toml", "audit/inbox")
    found = run("audit", "audit/plan.toml", "audit/inbox", "--redraws", "40", "--details")

    assert checked.exit_code == 0
    assert "3 of 3 messages ok" in checked.stdout
    assert found.exit_code == 0
    assert "histograms of 16 bins" in " ".join(found.stdout.split())


def test_a_plan_with_noise_is_simulated(folder):
    write_table(folder / "pooled.csv", {**table(1), "silo": np.full(240, "north")})

    found = run(
        "simulate",
        "pooled.csv",
        "--silo",
        "silo",
        "--plan",
        "plan.toml",
        "--json",
        "--redraws",
        "40",
    )

    assert json.loads(found.stdout)["guarantee"]["mode"] == "dp"
    assert not (folder / "ledger.jsonl").exists()


def test_the_price_of_noise_is_planned_in_plain_words():
    asked = ("plan", "privacy", "--epsilon", "1", "--records", "5000", "--replicates", "20")
    shown, as_json = run(*asked), run(*asked, "--json")
    found = fp.planning.plan_privacy(epsilon=1.0, records=5000, replicates=20)

    assert json.loads(as_json.stdout) == json.loads(json.dumps(found.to_dict()))
    assert "5 silos, 2 groups of 5,000 records each" in " ".join(shown.stdout.split())
    assert "*       1    32" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "0.02", "--records", "200"), "more than the disparity itself"),
        (("--epsilon", "1", "--records", "5000"), "Sampling leaves more open"),
        (("--epsilon", "4", "--records", "5000"), "protects single records weakly"),
        (
            ("--epsilon", "1", "--records", "900", "--mode", "secure+dp", "--honest", "5"),
            "inside a secure sum, 1 dose",
        ),
    ],
)
def test_the_answer_says_what_it_means(options, words):
    shown = run("plan", "privacy", *options, "--replicates", "20").stdout

    assert words in " ".join(shown.split())


def test_a_plan_that_cannot_be_is_refused():
    assert (
        run("plan", "privacy", "--epsilon", "1", "--records", "9", "--honest", "2").exit_code == 2
    )
