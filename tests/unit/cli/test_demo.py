"""The demonstration tells the truth, in 80 columns, and leaves what it says."""

import json
import sys

import pytest
from click.testing import CliRunner

from fedparity import AuditResult, Plan, SiloSketch
from fedparity.cli.demo_commands import hospitals
from fedparity.cli.main import cli
from fedparity.privacy.ledger import Ledger


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    return CliRunner().invoke(cli, ["demo", *arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "d"


@pytest.fixture(scope="module")
def printed(folder):
    """One demonstration for all that only read what it says and leaves."""
    return run("--out", str(folder))


def test_every_hospital_is_near_parity_and_the_whole_is_not(printed, folder):
    assert printed.exit_code == 0
    answer = json.loads((folder / "result.json").read_bytes())
    alone = [silo["disparity"] for silo in answer["silos"]]

    assert max(alone) < 0.02 * answer["disparity"]["value"]
    assert answer["attribution"]["selection"] > 0.9 * answer["disparity"]["value"]
    assert answer["disparity"]["verdict"] == {"answered": "above", "all": "above"}
    assert (answer["plan"]["sketch"], answer["plan"]["estimator"]) == ("mean", "exact")
    assert [each["score"] for each in answer["thresholds"]] == [5]


def test_it_starts_with_points_direction_and_level(printed):
    text = " ".join(printed.stdout.split())

    assert "▲ B scores 1.3 points higher than A (13 % of the scale): above the review" in text
    assert "review level of 0.5 points." in text
    assert "Group records mean below 5 ratio" in text


def test_the_printed_answer_fits_80_columns_without_colours_off_a_terminal(printed):
    assert printed.exit_code == 0
    assert all(len(line) <= 80 for line in printed.stdout.splitlines())
    assert "\x1b" not in printed.stdout
    assert "5 of 5 messages ok" in printed.stdout


def test_it_ends_with_the_next_command_and_the_page_to_open(printed, folder):
    pytest.importorskip("matplotlib", reason="the page needs the extra report")
    *_, command, _, page = printed.stderr.splitlines()

    assert command.endswith(f" audit {folder}/plan.toml {folder}/inbox --details")
    assert page == f"  {folder}/report.html"
    assert "B scores 1.3 points higher than A" in (folder / "report.html").read_text("utf-8")


def test_without_the_extra_it_says_how_to_get_the_page(tmp_path, monkeypatch):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "README.txt").write_text(
        "This folder was written by fedparity demo, and may be deleted."
    )
    (tmp_path / "d" / "report.html").write_text("of an earlier demo")
    monkeypatch.setitem(sys.modules, "jinja2", None)

    printed = run("--out", "d")

    assert printed.exit_code == 0
    assert "pip install 'fedparity[report]'" in printed.stderr.splitlines()[-1]
    assert not (tmp_path / "d" / "report.html").exists()
    assert "--html" not in (tmp_path / "d" / "README.txt").read_text("utf-8")
    assert run("--out", "d", "--open").exit_code == 2


@pytest.mark.parametrize("browser", [True, False])
def test_the_page_is_opened_on_request(browser, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="the page needs the extra report")
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or browser)

    printed = run("--out", "d", "--open", "--quiet")

    assert opened == [(tmp_path / "d" / "report.html").as_uri()]
    assert ("open d/report.html" in printed.stderr) is not browser
    assert ("next:" in printed.stderr) is False


def test_the_sketches_recover_what_pooling_would_give(printed):
    """Both numbers are near: 1.3 points in the headline."""
    words = "The pooled records, which no auditor sees, are 1.31 points apart (U₂ = 0.431)."

    assert words in printed.stdout


def test_the_folder_holds_every_document(printed, folder):
    assert printed.exit_code == 0
    plan = Plan.read(folder / "plan.toml")
    result = AuditResult.read(folder / "result.json")
    messages = [SiloSketch.read(file) for file in sorted((folder / "inbox").iterdir())]
    assert result.plan.digest == plan.digest
    assert [message.silo for message in messages] == list(plan.silos)
    for hospital in hospitals(2026):
        rows = (folder / hospital.table_file).read_text(encoding="utf-8").splitlines()
        assert len(rows) == 1 + len(hospital.groups)
        kinds = [entry.entry for entry in Ledger(folder / hospital.ledger_file).entries()]
        assert kinds == ["begin", "release"]


def test_a_second_demo_replaces_the_first_and_keeps_what_is_not_its_own(tmp_path):
    first = run("--json").stdout
    mine = tmp_path / "fedparity-demo" / "aurora" / "mine.txt"
    mine.write_text("notes", encoding="utf-8")

    other, again = run("--seed", "4", "--json").stdout, run("--force", "--json").stdout

    assert again == first
    assert json.loads(other)["disparity"] != json.loads(first)["disparity"]
    assert json.loads(first)["schema"] == "fedparity/audit/1"
    assert mine.read_text(encoding="utf-8") == "notes"


def test_a_folder_of_other_things_is_left_alone_without_force(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "README.txt").write_text("my notes", encoding="utf-8")

    refused = run("--out", "mine")

    assert refused.exit_code == 2
    assert "fix: choose another folder" in refused.stderr
    assert [file.name for file in folder.iterdir()] == ["README.txt"]


def test_a_wrong_option_is_a_usage_error():
    assert run("--levels", "0").exit_code == 2


def test_outcomes_show_a_score_that_overstates_the_risk_of_one_group(tmp_path):
    """The demonstration with outcomes: same folder, one column more, error rates in the result."""
    folder = tmp_path / "demo"

    done = run("--outcomes", "--json", "--out", str(folder))

    assert done.exit_code == 0
    (table,) = json.loads(done.stdout)["tables"]
    calibration = {each["group"]: each["bins"] for each in table["outcome"]["calibration"]}
    middle = {group: bins[2]["rate"] for group, bins in calibration.items()}
    assert middle["B"]["upper"] < middle["A"]["lower"]
    header = (folder / "aurora" / "patients.csv").read_text().splitlines()[0]
    assert header == "patient,group,risk,readmitted"
    assert "--outcome readmitted" in (folder / "README.txt").read_text()
