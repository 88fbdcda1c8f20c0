"""``fedparity doctor`` says what is there and what is wrong, and changes nothing."""

import json
import os
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from tests.laws import LENIENT
from tests.unit.cli.samples import plan, run, table, write_table

from fedparity.cli import doctor_commands
from fedparity.cli.doctor_commands import GIVES, Package, installed_extras
from fedparity.privacy.ledger import Ledger

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))[
    "project"
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name in ("FEDPARITY_POLICY", "FEDPARITY_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    plan().write("plan.toml")
    write_table(tmp_path / "data.csv", table(1))
    return tmp_path


def findings(*arguments):
    done = run("doctor", *arguments, "--json")
    return done.exit_code, json.loads(done.stdout)


def test_every_extra_has_words():
    extras = set(PROJECT["optional-dependencies"]) - {"all"}

    assert extras <= set(GIVES)


def test_versions_are_lower_and_upper_ends_only():
    """Others would not be compared."""
    for needed in PROJECT["optional-dependencies"].values():
        for each in needed:
            assert set(re.findall(r"[<>=!~]+", each.partition(";")[0])) <= {">=", "<"}


def test_it_fits_80_columns_and_writes_nothing(folder):
    before = sorted(folder.rglob("*"))

    done = run("doctor", "plan.toml", "data.csv", "--silo", "north")

    assert done.exit_code == 0, done.stdout
    paths = [line for line in done.stdout.splitlines() if str(folder) in line]
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if line not in paths)
    assert "data.csv fits the plan" in done.stdout
    assert "Rows of the table" in done.stdout
    assert sorted(folder.rglob("*")) == before


def test_the_installation_is_that_of_the_metadata():
    code, found = findings()

    assert code == 0
    assert found["ok"]
    assert [each["name"] for each in found["packages"]] == ["click", "narwhals", "numpy", "rich"]
    for each in found["packages"]:
        assert each["version"] == metadata.version(each["name"])
    assert "all" not in {each["extra"] for each in found["extras"]}


def test_a_missing_package_and_one_that_is_too_old_are_named(monkeypatch):
    needed = ["numba>=0.60; extra == 'fast'", "flwr<1.42,>=1.41; extra == 'flower'", "click>=8.2"]
    versions = {"flwr": "1.9.0", "click": "8.2"}
    monkeypatch.setattr(metadata, "requires", lambda _: needed)

    def version(name):
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    shown = run("doctor").stdout

    assert installed_extras() == (
        (Package("click", ">=8.2", "8.2"),),
        {
            "fast": (Package("numba", ">=0.60", None),),
            "flower": (Package("flwr", "<1.42,>=1.41", "1.9.0"),),
        },
    )
    assert "needs numba>=0.60\n" in shown
    assert "needs flwr<1.42,>=1.41 (1.9.0 is installed)" in shown
    assert "pip install 'fedparity[fast]'; all: 'fedparity[all]'" in shown


def test_it_works_from_a_folder_that_was_not_installed(monkeypatch):
    def requires(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)

    assert "run from a folder, not installed" in run("doctor").stdout


@pytest.mark.parametrize("numba", [None, object()])
def test_the_kernel_is_named(numba, monkeypatch):
    monkeypatch.setattr(doctor_commands, "find_spec", lambda _: numba)

    kernel = "numpy; [fast]" if numba is None else "numba for 40,000,000 rows or more"
    assert f"kernel  {kernel}" in run("doctor").stdout


def test_policy_and_ledger_are_where_they_are(folder):
    run("policy", "new")
    Ledger(folder / "state" / "fedparity" / "ledger.jsonl").begin()

    code, found = findings()

    assert code == 0
    assert found["policy"]["path"] == str(folder / "config" / "fedparity" / "policy.toml")
    assert found["ledger"] == {
        "path": str(folder / "state" / "fedparity" / "ledger.jsonl"),
        "exists": True,
        "writable": True,
        "entries": 1,
        "ok": True,
        "error": None,
        "fix": None,
        "notes": [],
    }


def test_a_policy_that_cannot_be_read_is_a_mistake(folder):
    (folder / "p.toml").write_text("schema = 1", encoding="utf-8")

    code, found = findings("--policy", "p.toml")

    assert (code, found["ok"], found["policy"]["ok"]) == (3, False, False)
    assert found["ledger"]["path"] is None


def test_a_damaged_ledger_is_refused(folder):
    (folder / "l.jsonl").write_text("{}\n", encoding="utf-8")

    assert findings("--ledger", "l.jsonl")[0] == 4


def test_a_ledger_that_may_not_be_written_is_refused(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)

    code, found = findings()

    assert (code, found["ledger"]["writable"]) == (4, False)
    assert "may not write the ledger" in found["ledger"]["error"]


def test_a_plan_with_a_mistake_is_bad_input(folder):
    (folder / "plan.toml").write_text("title = 1", encoding="utf-8")

    code, found = findings("plan.toml", "data.csv")

    assert code == 3
    assert "mistakes" in found["plan"]["error"]
    assert found["data"] == []


def test_a_plan_that_the_policy_forbids_is_refused():
    plan(disclosure={"minimum_cell": 1}).write("weak.toml")

    code, found = findings("weak.toml")

    assert code == 4
    assert found["plan"]["fix"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("data.csv", "--score", "risk"), "risk"),
        (("nowhere.csv",), "there is no file"),
        (("data.csv", "--map", "A=B", "--map", "B=Z"), "Z"),
    ],
)
def test_a_table_that_does_not_fit_says_what_a_dry_run_says(arguments, words):
    code, found = findings("plan.toml", *arguments)
    dry = run("sketch", "plan.toml", *arguments, "--silo", "north", "--dry-run")

    assert code == 3
    assert words in found["data"][0]["error"]
    assert found["data"][0]["error"] in dry.stderr


def test_labels_and_ranges_are_checked(folder):
    write_table(folder / "other.csv", {**table(1), "score": 5 * table(1)["score"]})
    columns = table(2)
    columns["group"][:] = "Z"
    write_table(folder / "labels.csv", columns)

    code, found = findings("plan.toml", "data.csv", "other.csv", "labels.csv")

    assert code == 3
    assert [each["ok"] for each in found["data"]] == [True, False, False]


def test_all_faults_of_a_table_are_listed_with_their_lines(folder):
    good = "".join(f"0.{place},A\n0.{place},B\n" for place in range(10, 40))
    (folder / "faulty.csv").write_text(f"score,group\n{good}x,A\n5,A\n0.5,\n")

    code, found = findings("plan.toml", "faulty.csv")
    shown = run("doctor", "plan.toml", "faulty.csv").stdout

    assert code == 3
    assert "3 kinds of faults" in found["data"][0]["error"]
    assert re.findall(r"^ +(\d)\. .*$", shown, re.MULTILINE) == ["1", "2", "3", "2", "3"]
    assert "(line 62)" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_the_ledger_is_asked_for_a_silo_that_is_named():
    sketched = ("plan.toml", "data.csv", "--silo", "north")
    assert findings(*sketched)[0] == 0
    assert run("sketch", *sketched).exit_code == 0
    plan(title="Q5").write("again.toml")

    code, found = findings("again.toml", *sketched[1:])

    assert code == 4
    assert found["data"][0]["error"]


@pytest.mark.parametrize("mode", ["dp", "secure"])
def test_privacy_modes_are_checked_without_a_release(mode, folder):
    pytest.importorskip("opendp", reason="noise needs the extra dp")
    terms = {"mode": mode} | ({"epsilon": 1} if mode == "dp" else {})
    plan(privacy=terms).write("private.toml")
    (folder / "policy.toml").write_text(LENIENT, encoding="utf-8")

    code, found = findings("private.toml", "data.csv", "--policy", "policy.toml")

    assert code == 0, found
    assert found["data"][0]["groups"] is None  # no number of the data


def test_a_table_without_a_plan_is_a_usage_error():
    assert run("doctor", "--url-file", "nowhere").exit_code == 2
