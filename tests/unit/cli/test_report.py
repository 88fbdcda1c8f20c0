"""``fedparity report``, and the reports of ``audit`` and ``simulate``."""

import json

import pytest
from tests.unit.cli.samples import message, plan, run, table, write_audit, write_table

import fedparity as fp
from fedparity.cli.audit_text import audit_text
from fedparity.report import formats
from fedparity.report.formats import Preparation
from fedparity.report.markdown import markdown_report
from fedparity.report.model_card import model_card_section
from fedparity.report.table_files import csv_tables

DAY = ("--date", "2026-11-18", "--author", "An Office")
PREPARED = Preparation(date="2026-11-18", author="An Office")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def result(folder):
    """A result on disk."""
    asked = plan()
    found = fp.audit(asked, [message(asked, silo) for silo in ("north", "south")], redraws=20)
    found.write(folder / "result.json")
    return found


@pytest.fixture
def unmeasured(monkeypatch):
    """Fail as soon as anything is measured."""

    def refuse(*_, **__):
        raise AssertionError("measured before the outputs were checked")

    for name in ("audit", "simulate"):
        verb = {"audit": "audit_messages", "simulate": "measure"}[name]
        monkeypatch.setattr(f"fedparity.cli.{name}_commands.{verb}", refuse)


def test_markdown_and_model_card_are_written(folder, result):
    ended = run("report", "result.json", "--markdown", "a.md", "--model-card", "card.md", *DAY)

    assert ended.exit_code == 0
    assert ended.stdout == ""
    assert ended.stderr.splitlines() == ["wrote a.md", "wrote card.md"]
    assert (folder / "a.md").read_text(encoding="utf-8") == markdown_report(result, PREPARED)
    assert (folder / "card.md").read_text(encoding="utf-8") == model_card_section(result, PREPARED)


def test_a_dash_prints(result):
    ended = run("report", "result.json", "--markdown", "-", *DAY)

    assert ended.stdout == markdown_report(result, PREPARED)
    assert ended.stderr == ""


@pytest.mark.usefixtures("result")
def test_the_page_and_the_sheet_are_written(folder, monkeypatch):
    """What they hold is tested where they are made."""
    for name in ("html", "pdf"):
        made = formats.Format(lambda *_, name=name: name.encode(), lambda: None, is_text=False)
        monkeypatch.setitem(formats.FORMATS, name, made)

    assert run("report", "result.json", "--html", "a.html", "--pdf", "a.pdf").exit_code == 0
    assert (folder / "a.html").read_bytes() == b"html"
    assert (folder / "a.pdf").read_bytes() == b"pdf"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--open"],
        ["--date", "soon", "--markdown", "a.md"],
        ["--html", "-"],
        ["--pdf", "-"],
        ["--html", "x", "--markdown", "./x"],
        ["--markdown", "-", "--model-card", "-"],
        ["--markdown", "result.json", "--force"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_a_usage_error_with_a_fix(folder, result, arguments):
    refused = run("report", "result.json", *arguments)

    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1].startswith("fix: ")
    assert [path.name for path in folder.iterdir()] == ["result.json"]
    assert fp.AuditResult.read("result.json") == result


def test_existing_files_are_replaced_only_by_force(folder, result):
    (folder / "a.md").write_text("mine", encoding="utf-8")

    refused = run("report", "result.json", "--model-card", "b.md", "--markdown", "a.md")

    assert refused.exit_code == 2
    assert "a.md exists already" in refused.stderr
    assert not (folder / "b.md").exists()
    assert (folder / "a.md").read_text(encoding="utf-8") == "mine"
    assert run("report", "result.json", "--markdown", "a.md", "--force", *DAY).exit_code == 0
    assert (folder / "a.md").read_text(encoding="utf-8") == markdown_report(result, PREPARED)


def test_without_an_output_the_answer_is_printed(result):
    short, long = run("report", "result.json"), run("report", "result.json", "--details")

    assert short.stdout == audit_text(result) + "\n"
    assert "V_mix" not in short.stdout
    assert "V_mix" in long.stdout


@pytest.mark.usefixtures("result")
def test_the_page_is_opened_where_it_was_written(folder, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    made = formats.FORMATS["html"]._replace(render=lambda *_: b"page", check=lambda: None)
    monkeypatch.setitem(formats.FORMATS, "html", made)

    assert run("report", "result.json", "--html", "a.html", "--open").exit_code == 0
    assert opened == [(folder / "a.html").as_uri()]


def test_tables_are_written_to_a_folder_that_is_not_there(folder, result):
    ended = run("report", "result.json", "--tables", "tables")
    again = run("report", "result.json", "--tables", "tables")

    assert ended.exit_code == 0
    assert again.exit_code == 2
    assert (folder / "tables" / "groups.csv").read_bytes() == csv_tables(result)["groups.csv"]
    assert run("report", "result.json", "--tables", "tables", "--force").exit_code == 0


def put(*path):
    """A change of a result's JSON: the last of ``path`` put where the others lead."""

    def change(document):
        *way, name, value = path
        for step in way:
            document = document[step]
        document[name] = value

    return change


SPOILED = {
    "missing field": lambda document: document.pop("disparity"),
    "unknown field": put("more", 1),
    "unknown verdict": put("disparity", "verdict", "passed"),
    "other verdict": put("disparity", "verdict", "below"),
    "other level": put("disparity", "review_level", None),
    "not a number": put("disparity", "value", None),
    "no groups": put("groups", []),
    "no pairs": put("pairs", []),
    "no silos": put("silos", []),
    "another silo": put("silos", 0, "silo", "elsewhere"),
    "another name": put("attribution", "silos", 0, "silo", "elsewhere"),
    "a silo without a group": lambda document: document["silos"][0]["n"].pop("A"),
    "empty range": put("plan", "score_range", [1, 1]),
    "other order": put("plan", "order", 1),
    "certainty": put("confidence", 1),
    "another schema": put("schema", "fedparity/plan/1"),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_a_changed_result_ends_with_3_and_leaves_nothing(folder, result, kind):
    """What was changed is found, and no report is made of it."""
    document = json.loads(result.to_json())
    SPOILED[kind](document)
    (folder / "bad.json").write_text(json.dumps(document), encoding="utf-8")

    refused = run("report", "bad.json", "--markdown", "a.md")

    assert refused.exit_code == 3, refused.stderr
    assert refused.stderr.startswith("error: bad.json: ")
    assert not (folder / "a.md").exists()


@pytest.mark.parametrize("kept", [0, 1, 500, -2])
def test_a_cut_result_ends_with_3_and_leaves_nothing(folder, result, kept):
    (folder / "bad.json").write_text(result.to_json()[:kept], encoding="utf-8")

    refused = run("report", "bad.json", "--markdown", "a.md")

    assert refused.exit_code == 3, refused.stderr
    assert not (folder / "a.md").exists()


def test_a_missing_result_ends_with_3():
    assert run("report", "nowhere.json", "--markdown", "-").exit_code == 3


@pytest.mark.usefixtures("result")
def test_if_one_format_breaks_no_file_is_written(folder, monkeypatch):
    def refuse(*_):
        raise ZeroDivisionError

    broken = formats.FORMATS["model-card"]._replace(render=refuse)
    monkeypatch.setitem(formats.FORMATS, "model-card", broken)

    ended = run("report", "result.json", "--markdown", "a.md", "--model-card", "b.md")

    assert ended.exit_code == 1
    assert [path.name for path in folder.iterdir()] == ["result.json"]


def test_an_audit_writes_reports_beside_its_answer(folder):
    write_audit(folder)
    ended = run(
        "audit", "plan.toml", "inbox", "--redraws", 20, "-o", "r.json", "--markdown", "a.md", *DAY
    )
    result = fp.AuditResult.read("r.json")

    assert "review level" in ended.stdout.replace("review\n  level", "review level")
    assert {"wrote a.md", "wrote r.json"} <= set(ended.stderr.splitlines())
    assert (folder / "a.md").read_text(encoding="utf-8") == markdown_report(result, PREPARED)


def test_a_report_that_is_printed_takes_the_place_of_the_text(folder):
    write_audit(folder)
    ended = run(
        "audit", "plan.toml", "inbox", "--redraws", 20, "-o", "r.json", "--markdown", "-", *DAY
    )

    assert ended.stdout == markdown_report(fp.AuditResult.read("r.json"), PREPARED)


def test_a_simulation_writes_reports_too(folder):
    write_table(folder / "t.csv", {**table(0), "site": table(1)["group"]})
    command = ["simulate", "t.csv", "--silo", "site", "--score", "score", "--group", "group"]

    ended = run(*command, "--redraws", 20, "--range", 0, 1, "--model-card", "card.md")

    assert ended.exit_code == 0, ended.stderr
    assert (folder / "card.md").read_text(encoding="utf-8").startswith("---\ntags:")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--markdown", "there.md"],
        ["--html", "there.md"],
        ["--markdown", "-", "--json"],
        ["--markdown", "same", "-o", "same"],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("unmeasured")
def test_outputs_are_checked_before_anything_is_measured(folder, arguments):
    write_audit(folder)
    (folder / "there.md").write_text("mine", encoding="utf-8")

    refused = run("audit", "plan.toml", "inbox", *arguments)

    assert refused.exit_code == 2
    assert (folder / "there.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("unmeasured")
def test_missing_packages_are_told_before_anything_is_measured(folder, monkeypatch):
    write_audit(folder)
    monkeypatch.setattr("fedparity.errors.base.find_spec", lambda _: None)

    refused = run("audit", "plan.toml", "inbox", "--html", "a.html")

    assert refused.exit_code == 2
    assert "pip install 'fedparity[report]'" in refused.stderr
