"""Every command of the how-tos runs in a fresh folder and prints what the page says."""

import sys

import pytest
from tests.e2e.console import agrees, run_step, steps
from tests.e2e.running import ROOT, environment

PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
]
PAGES = [
    page
    for page in PAGES
    if "_build" not in page.parts and steps(page.read_text(encoding="utf-8"))
]


@pytest.fixture
def command(tmp_path):
    """An environment in which the commands of both projects have their names."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, module in {
        "fedparity": "fedparity",
        "fedparity-reproduce": "fedparity_reproduction",
    }.items():
        text = f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n'
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    env = environment(tmp_path / "home")
    return {**env, "PATH": f"{folder}:{env['PATH']}"}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the pages are written for a POSIX shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_followed_by_copying(page, command, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()

    for step in steps(page.read_text(encoding="utf-8")):
        code, printed = run_step(step, folder, command)

        assert code == 0, f"$ {step.command}\n{printed}"
        assert agrees(step, printed), f"$ {step.command}\n{printed}"


def test_the_three_roles_have_a_page():
    names = {page.name for page in PAGES}

    assert names >= {"audit-as-auditor.md", "sketch-as-silo.md", "audit-in-a-notebook.md"}
