"""``fedparity engine flower``: what it writes, what it shows, and what it starts."""

import json
import os
import subprocess
import sys
import tomllib

import pytest
from tests.unit.cli.samples import SILOS, plan, run, table, write_table

import fedparity as fp
from fedparity.engines.flower import QUIET
from fedparity.engines.remote import ALLOWED

NEW = ("engine", "flower", "new")
PREVIEW = ("engine", "flower", "preview")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a plan and a table for the first silo."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDPARITY_LEDGER", str(tmp_path / "ledger.jsonl"))
    plan().write("plan.toml")
    write_table(tmp_path / "records.csv", table(0))
    return tmp_path


def settings(folder, **changes):
    """The settings of a silo in a file."""
    values = {
        "silo": "north",
        "plan": fp.Plan.read(folder / "plan.toml").digest,
        "data": "records.csv",
        **changes,
    }
    lines = (f"{key} = {json.dumps(value)}" for key, value in values.items() if value is not None)
    (folder / "north.toml").write_text("\n".join(lines))
    return "north.toml"


def test_the_app_holds_the_plan_and_settings_of_each_silo(folder):
    done = run(*NEW, "app", "--quorum", 2, "--time-limit", 90, "--json")

    assert done.exit_code == 0, done.stderr
    project = tomllib.loads((folder / "app" / "pyproject.toml").read_text())
    app = project["tool"]["flwr"]["app"]
    assert app["config"]["quorum"] == 2
    assert app["config"]["time-limit"] == 90.0
    assert app["fab-exclude"] == ["silos/**"]
    for module, _, name in (ref.partition(":") for ref in app["components"].values()):
        file = folder / "app" / f"{module.replace('.', '/')}.py"
        assert f"{name} = " in file.read_text()
    digest = fp.Plan.read("plan.toml").digest
    assert fp.Plan.read(folder / "app" / "audit_app" / "plan.toml").digest == digest
    for silo in SILOS:
        own = tomllib.loads((folder / "app" / "silos" / f"{silo}.toml").read_text())
        assert (own["silo"], own["plan"]) == (silo, "")
    assert json.loads(done.stdout)["plan"] == digest


def test_the_settings_it_writes_can_be_previewed_once_the_operator_has_approved_the_plan(folder):
    """The digest is the operator's to write down, not the auditor's to fill in."""
    run(*NEW, "app")
    file = folder / "app/silos/north.toml"
    empty = run(*PREVIEW, "app/silos/north.toml")
    digest = fp.Plan.read("plan.toml").digest
    assert digest in run("plan", "show", "plan.toml").stdout
    file.write_text(file.read_text().replace('plan = ""', f'plan = "{digest}"'))

    done = run(*PREVIEW, "app/silos/north.toml")

    assert (empty.exit_code, done.exit_code) == (3, 0), done.stderr
    assert "which plan was approved" in empty.stderr


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("option", [("--node-config", "{}"), ("--node-config={}",)])
def test_a_node_does_not_start_while_no_plan_is_approved(option, monkeypatch):
    run(*NEW, "app")
    monkeypatch.setattr("os.execvpe", lambda *_: pytest.fail("it was started"))
    arguments = [each.format("app/silos/north.toml") for each in option]

    done = run("engine", "flower", "start", "flower-supernode", "--insecure", *arguments)

    assert done.exit_code == 3
    assert "which plan was approved" in done.stderr


def test_silos_of_one_file_name_get_two_files(folder):
    plan(silos=("St. A", "St- A", "st- a"), title='"Q" \\ 4').write("plan.toml", overwrite=True)

    assert run(*NEW, "app").exit_code == 0

    found = [tomllib.loads(each.read_text()) for each in (folder / "app/silos").iterdir()]
    assert {each["silo"] for each in found} == {"St. A", "St- A", "st- a"}
    assert tomllib.loads((folder / "app/pyproject.toml").read_text())["project"]["version"]


def test_a_folder_with_something_in_it_is_refused(folder):
    (folder / "app").mkdir()
    (folder / "app" / "notes.txt").write_text("mine")

    done = run(*NEW, "app")

    assert done.exit_code == 2
    assert "not empty" in done.stderr
    assert [each.name for each in (folder / "app").iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("changes", "options", "said"),
    [
        ({"silos": None}, (), "lists no silos"),
        ({}, ("--quorum", 4), "between 1 and 3"),
        ({"privacy": {"mode": "secure", "bins": 16, "threshold": 3}}, ("--quorum", 2), "3"),
    ],
    ids=["no roster", "more than all", "fewer than the threshold"],
)
def test_a_quorum_must_fit_the_roster(folder, changes, options, said):
    plan(**changes).write("plan.toml", overwrite=True)

    done = run(*NEW, "app", *options)

    assert done.exit_code == 2
    assert said in done.stderr
    assert not (folder / "app").exists()


def test_it_shows_what_sketch_would_show(folder):
    shown = run(*PREVIEW, settings(folder))

    assert shown.exit_code == 0, shown.stderr
    expected = run("sketch", "plan.toml", "records.csv", "--silo", "north", "--dry-run")
    assert shown.stdout == expected.stdout
    assert sorted(each.name for each in folder.iterdir()) == [
        *("north.toml", "plan.toml", "records.csv"),
    ]


def test_under_noise_no_number_is_shown_and_nothing_spent(folder):
    plan(privacy={"mode": "dp", "epsilon": 1.0, "bins": 8}).write("plan.toml", overwrite=True)

    shown = run(*PREVIEW, settings(folder))

    assert shown.exit_code == 0, shown.stderr
    assert "nothing was" in shown.stdout
    assert not (folder / "ledger.jsonl").exists()


@pytest.mark.usefixtures("lenient_law")
def test_in_a_secure_sum_the_masked_numbers_are_described(folder):
    plan(privacy={"mode": "secure", "bins": 16}).write("plan.toml", overwrite=True)

    shown = run(*PREVIEW, settings(folder))

    assert shown.exit_code == 0, shown.stderr
    assert "each hidden by masks" in shown.stdout


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"plan": "sha256:" + 64 * "0"}, 4, "agreed to"),
        ({"silo": "nobody"}, 3, "nobody"),
        ({"silo": None}, 3, "lack 'silo'"),
        ({"plan": None}, 3, "which plan was approved"),
        ({"data": None}, 3, "lack 'data'"),
        ({"data": "elsewhere.csv"}, 3, "elsewhere.csv"),
        ({"scores": "risk"}, 3, "write 'score' instead"),
        ({"again": "yes"}, 3, "true or false"),
        ({"data": ["a.csv"]}, 3, "a text, a number"),
        ({"data": "postgresql://ann:secret@db/x"}, 3, "holds a password"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_settings_that_cannot_be_answered_are_refused(folder, changes, code, said):
    done = run(*PREVIEW, settings(folder, **changes))

    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    assert "fix: " in done.stderr
    assert "secret" not in done.stderr.replace("secret@", "")


@pytest.mark.parametrize("text", [b"silo = ", b"\xff\xfe"], ids=["not TOML", "not UTF-8"])
def test_a_file_that_is_no_settings_is_refused(folder, text):
    (folder / "north.toml").write_bytes(text)

    done = run(*PREVIEW, "north.toml")

    assert done.exit_code == 3
    assert "north.toml" in done.stderr


def test_a_command_runs_with_what_it_does_unasked_switched_off(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execvpe", lambda *given: started.append(given))
    monkeypatch.setenv("FLWR_TELEMETRY_ENABLED", "1")

    done = run("engine", "flower", "start", "flwr", "run", ".", "--stream", "--help")

    assert done.exit_code == 0, done.stderr
    [(command, arguments, environment)] = started
    assert (command, arguments) == ("flwr", ["flwr", "run", ".", "--stream", "--help"])
    assert QUIET.items() <= environment.items()
    assert environment["PATH"].startswith(os.path.dirname(sys.executable))  # noqa: PTH120


@pytest.mark.parametrize(
    ("command", "allowed"), [("flwr", "1"), ("flower-supernode", None), ("flower-superlink", None)]
)
def test_only_the_processes_of_flwr_may_simulate_silos(monkeypatch, command, allowed):
    started = []
    monkeypatch.setattr(os, "execvpe", lambda *given: started.append(given))
    monkeypatch.setenv(ALLOWED, "1")

    run("engine", "flower", "start", command)

    assert started[0][2].get(ALLOWED) == allowed


def test_another_command_is_not_run():
    done = run("engine", "flower", "start", "rm", "-rf", "x")

    assert done.exit_code == 2


def test_without_flower_the_extra_is_named(monkeypatch):
    def nowhere(*_):
        raise FileNotFoundError

    monkeypatch.setattr(os, "execvpe", nowhere)

    done = run("engine", "flower", "start", "flwr")

    assert done.exit_code == 2
    assert "fedparity[flower]" in done.stderr


def test_starting_a_command_imports_neither_numpy_nor_flower():
    """The process becomes another one: what it imports is imported in vain."""
    code = (
        "import sys, fedparity.cli.engine_commands; "
        "print(sorted({'numpy', 'flwr'} & sys.modules.keys()))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603

    assert done.stdout.decode().strip() == "[]"


def test_the_preview_of_a_secure_sum_refuses_a_silo_that_is_not_in_the_plan(folder):
    plan(privacy={"mode": "secure", "bins": 16}).write("plan.toml", overwrite=True)

    done = run(*PREVIEW, settings(folder, silo="nobody"))

    assert (done.exit_code, done.stdout) == (3, "")
    assert "nobody" in done.stderr
