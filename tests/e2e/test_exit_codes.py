"""Every exit code, by the real command."""

import json
import sys

import numpy as np
import pytest
from tests.e2e.running import files, run, start

PLAN = ("--title", "Q4", "--group", "A", "--group", "B", "--range", "0", "1")
OPTIONS = ("--silo", "north", "--silo", "south", "--review-level", "0.001")
SKETCH = ("sketch", "plan.toml", "north.csv", "--silo", "north")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A plan of two silos and the table and message of one of them."""
    folder = tmp_path_factory.mktemp("audit")
    write_table(folder / "north.csv", 0)
    assert run("plan", "new", *PLAN, *OPTIONS, folder=folder)[0] == 0
    assert run(*SKETCH, folder=folder)[0] == 0
    return folder


def write_table(path, seed):
    random = np.random.default_rng(seed)
    rows = [f"{g},{random.beta(2 + 3 * (g == 'B'), 5)}" for g in "AB" for _ in range(200)]
    path.write_text("\n".join(["group,score", *rows]), encoding="utf-8")


def ends_with_a_fix(err):
    return err.splitlines()[-1].startswith("fix: ")


def test_0_all_went_well(made):
    code, out, err = run("verify", "plan.toml", "north.sketch.json", folder=made)

    assert (code, err) == (0, "")
    assert "1 of 1 message ok" in out


def test_1_a_bug(made):
    """There is none to call, so one is put in the way."""
    broken = (
        "import fedparity.cli.plans.plan_commands as show, fedparity.cli.main as main\n"
        "def plan_text(plan): raise ValueError('0.123456789')\n"
        "show.plan_text = plan_text\n"
        "main.main()\n"
    )
    command = (sys.executable, "-c", broken)

    code, out, err = run("plan", "show", "plan.toml", folder=made, command=command)

    assert (code, out) == (1, "")
    assert "an unexpected ValueError" in err
    assert "0.123456789" not in err
    assert "Traceback" not in err
    assert ends_with_a_fix(err)


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "plan.toml"),
        ("sketch", "plan.toml", "north.csv"),
        ("plan", "new", "new.toml"),
        SKETCH,
    ],
    ids=["no messages", "no silo", "nobody to ask", "output exists"],
)
def test_2_usage(made, arguments):
    code, out, err = run(*arguments, folder=made)

    assert (code, out) == (2, "")
    assert ends_with_a_fix(err)


@pytest.mark.parametrize(
    "arguments",
    [
        ("sketch", "plan.toml", "north.csv", "--silo", "north", "--score", "scor", "--dry-run"),
        ("sketch", "plan.toml", "nowhere.csv", "--silo", "north", "--dry-run"),
        ("plan", "check", "north.csv"),
        ("verify", "plan.toml", "north.csv"),
        ("audit", "plan.toml", "north.csv"),
    ],
    ids=["no column", "no table", "no plan", "verify no message", "audit no message"],
)
def test_3_bad_data_or_message(made, arguments):
    code, _, err = run(*arguments, folder=made)

    assert code == 3
    assert ends_with_a_fix(err)


def test_4_refused_by_a_rule(made, tmp_path):
    """Another release of the same silo under the same plan, from a table with one row less."""
    rows = (made / "north.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "north.csv").write_text("\n".join(rows[:-1]), encoding="utf-8")
    (tmp_path / "plan.toml").write_bytes((made / "plan.toml").read_bytes())

    code, out, err = run(*SKETCH, folder=tmp_path, home=made)

    assert (code, out) == (4, "")
    assert "already made another release" in err
    assert ends_with_a_fix(err)
    assert files(tmp_path) == ["north.csv", "plan.toml"]


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_5_a_silo_is_missing(made, command):
    code, _, err = run(command, "plan.toml", "north.sketch.json", "--require-all", folder=made)

    assert code == 5
    assert "'south'" in err
    assert ends_with_a_fix(err)


def test_10_above_the_review_level(tmp_path):
    (tmp_path / "plan.toml").write_text(
        'schema = "fedparity/plan/1"\ntitle = "Q4"\ngroups = ["A", "B"]\n'
        "score_range = [0, 1]\nreview_level = 0.001\n",
        encoding="utf-8",
    )
    write_table(tmp_path / "north.csv", 0)
    assert run(*SKETCH, "--no-ledger", folder=tmp_path)[0] == 0
    arguments = ("audit", "plan.toml", "north.sketch.json", "--fail-above", "--json")

    code, out, err = run(*arguments, folder=tmp_path)

    assert (code, err) == (10, "")
    assert json.loads(out)["disparity"]["verdict"] == {"all": "above", "answered": "above"}


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are POSIX")
def test_141_nobody_reads_the_output(made):
    process = start("plan", "show", "plan.toml", folder=made)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()

    assert (process.wait(60), err) == (141, "")
