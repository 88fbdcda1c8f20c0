"""``fedparity page`` writes a page once, says its sha256, and finds a byte that was changed."""

import json
from hashlib import sha256

import pytest
from click.testing import CliRunner

import fedparity as fp
from fedparity.cli.main import ExitCode, cli


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1)).write(tmp_path / "plan.toml")
    return tmp_path


def run(*words):
    return CliRunner().invoke(cli, ["page", "plan.toml", *words], standalone_mode=True)


def test_it_prints_the_sha256_of_what_it_wrote(folder):
    done = run("-o", "silo.html")

    digest = sha256((folder / "silo.html").read_bytes()).hexdigest()
    assert done.exit_code == ExitCode.OK
    assert done.stdout == f"sha256 {digest}\n"
    assert json.loads(run("--verify", "silo.html", "--json").stdout)["sha256"] == digest


def test_a_changed_byte_is_found(folder):
    run("-o", "silo.html")
    page = folder / "silo.html"
    page.write_bytes(page.read_bytes().replace(b"connect-src 'none'", b"connect-src *     "))

    done = run("--verify", "silo.html")

    assert done.exit_code == ExitCode.BAD_INPUT
    assert "is not the page of this plan and this version" in done.stderr


def test_no_file_is_replaced_unless_asked(folder):
    (folder / "silo.html").write_text("mine", "utf-8")

    assert run("-o", "silo.html").exit_code == ExitCode.USAGE
    assert (folder / "silo.html").read_text("utf-8") == "mine"
    assert run("-o", "silo.html", "--force").exit_code == ExitCode.OK


@pytest.mark.usefixtures("folder")
def test_it_writes_or_verifies():
    assert run().exit_code == run("-o", "a.html", "--verify", "b.html").exit_code == ExitCode.USAGE


def test_a_plan_with_noise_is_refused_with_the_command(folder):
    with (folder / "plan.toml").open("a", encoding="utf-8") as file:
        file.write('\n[privacy]\nmode = "dp"\nepsilon = 1.0\n')

    done = run("-o", "silo.html")

    assert done.exit_code == ExitCode.REFUSED
    assert "fedparity sketch" in done.stderr
