"""A report is saved whole, in the format that its name says."""

import importlib.util

import pytest
from tests.report_results import plain_result

from fedparity.errors import MissingExtraError, OutputError, base
from fedparity.report.formats import Preparation
from fedparity.report.markdown import markdown_report


@pytest.mark.parametrize("name", ["audit.md", "AUDIT.MD"])
def test_the_ending_decides_and_the_path_comes_back(tmp_path, name):
    path = plain_result().save_report(tmp_path / name, author="An Office", date="2026-11-18")

    assert path == str(tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8") == markdown_report(
        plain_result(), Preparation(date="2026-11-18", author="An Office")
    )


@pytest.mark.parametrize("name", ["audit", "audit.docx", "audit.json", ".md"])
def test_another_ending_is_refused_with_those_there_are(tmp_path, name):
    with pytest.raises(OutputError, match=r"ends in \.html, \.md, \.pdf"):
        plain_result().save_report(tmp_path / name)

    assert not any(tmp_path.iterdir())


def test_a_file_is_replaced_only_by_force(tmp_path):
    path = tmp_path / "audit.md"
    path.write_text("mine", encoding="utf-8")

    with pytest.raises(OutputError, match="exists already"):
        plain_result().save_report(path)
    assert path.read_text(encoding="utf-8") == "mine"

    plain_result().save_report(path, overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("## ")


@pytest.mark.parametrize(
    ("ending", "package", "extra"),
    [
        (".html", "jinja2", "report"),
        (".html", "matplotlib", "report"),
        (".pdf", "matplotlib", "pdf"),
        (".pdf", "typst", "pdf"),
        (".xlsx", "xlsxwriter", "excel"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, ending, package, extra):
    found = importlib.util.find_spec
    monkeypatch.setattr(base, "find_spec", lambda name: None if name == package else found(name))

    with pytest.raises(MissingExtraError, match=rf"{package}.*\n.*fedparity\[{extra}\]"):
        plain_result().save_report(tmp_path / f"audit{ending}")

    assert not any(tmp_path.iterdir())
