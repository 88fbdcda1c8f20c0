"""Reports made by the real command from the files of a real audit."""

import pytest
from tests.e2e.running import files, run

import fedparity as fp
from fedparity.errors import MissingExtraError, base
from fedparity.report.formats import Preparation
from fedparity.report.markdown import markdown_report

DAY = "2026-11-18"
PREPARED = Preparation(date=DAY)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The folder of a demonstration, with its result."""
    folder = tmp_path_factory.mktemp("report")
    code, _, err = run("demo", "--out", "demo", folder=folder)
    assert code == 0, err
    return folder / "demo"


def test_every_format_is_written(audited, tmp_path):
    try:
        base.check_html()
        base.check_pdf()
    except MissingExtraError as missing:
        pytest.skip(missing.message)
    home = tmp_path / "home"  # matplotlib keeps a list of fonts there
    folder = tmp_path / "work"
    folder.mkdir()
    names = {"--html": "a.html", "--pdf": "a.pdf", "--markdown": "a.md", "--model-card": "c.md"}
    options = [word for pair in names.items() for word in pair]

    code, out, err = run("report", audited / "result.json", *options, folder=folder, home=home)

    assert (code, out) == (0, ""), err
    assert sorted(err.splitlines()) == sorted(f"wrote {name}" for name in names.values())
    assert (folder / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (folder / "a.pdf").read_bytes().startswith(b"%PDF-")
    assert set(files(folder)) == set(names.values())


def test_what_is_printed_is_what_python_makes(audited, tmp_path):
    code, out, err = run(
        "report", audited / "result.json", "--markdown", "-", "--date", DAY, folder=tmp_path
    )

    assert (code, err) == (0, "")
    assert out == markdown_report(fp.AuditResult.read(audited / "result.json"), PREPARED)
    assert files(tmp_path) == []


def test_an_audit_and_its_report_say_the_same(audited, tmp_path):
    """The Markdown of an audit is that of the result it wrote."""
    command = ["audit", audited / "plan.toml", audited / "inbox", "-o", "r.json"]

    code, out, err = run(
        *command, "--markdown", "-", "--date", DAY, "--fail-above", folder=tmp_path
    )

    assert code == 10, err
    assert out == markdown_report(fp.AuditResult.read(tmp_path / "r.json"), PREPARED)


def test_a_cut_file_ends_with_3(audited, tmp_path):
    text = (audited / "result.json").read_text(encoding="utf-8")
    (tmp_path / "cut.json").write_text(text[:4000], encoding="utf-8")

    code, out, err = run("report", "cut.json", "--markdown", "-", folder=tmp_path)

    assert (code, out) == (3, "")
    assert err.startswith("error: cut.json")
    assert "\nfix: " in err
