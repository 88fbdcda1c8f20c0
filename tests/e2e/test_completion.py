"""Shells complete commands, options and files, without importing what is not needed."""

import shutil
import subprocess
import sys

import pytest
from tests.e2e.running import COMMAND, environment


def completed(folder, *words, shell="bash"):
    """Return what a shell is offered for the last of the words."""
    told = {
        "_FEDPARITY_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(("fedparity", *words)),
        "COMP_CWORD": str(len(words)) if shell != "fish" else words[-1],
    }
    done = subprocess.run(  # noqa: S603 -- our own command
        COMMAND,
        cwd=folder,
        env=environment(folder, **told),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_are_completed(shell, tmp_path):
    assert "plan" in " ".join(completed(tmp_path, "pl", shell=shell))


def test_bash_is_offered_commands_options_and_files(tmp_path):
    assert completed(tmp_path, "plan", "le") == ["plain,letter"]
    assert completed(tmp_path, "sketch", "--dry") == ["plain,--dry-run"]
    assert completed(tmp_path, "plan", "new", "--review-unit", "s") == [
        "plain,share",
        "plain,sd",
        "plain,squared",
    ]
    assert completed(tmp_path, "sketch", "plan.toml", "pat") == ["file,pat"]
    assert completed(tmp_path, "sketch", "plan.toml", "--sign", "aur") == ["file,aur"]


def test_names_are_completed_without_an_import_of_the_commands(tmp_path):
    code = (
        "import sys; from click.shell_completion import BashComplete\n"
        "from fedparity.cli.main import cli\n"
        "shell = BashComplete(cli, {}, 'fedparity', '_FEDPARITY_COMPLETE')\n"
        "print(*(each.value for each in shell.get_completions([], '')))\n"
        "print(*(name for name in sys.modules if name.startswith('fedparity.cli.')))\n"
    )
    done = subprocess.run(  # noqa: S603 -- our own code
        [sys.executable, "-c", code],
        env=environment(tmp_path),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    offered, modules = (line.split() for line in done.stdout.splitlines())
    assert {"demo", "doctor", "plan", "audit"} <= set(offered)
    assert set(modules) == {"fedparity.cli.main"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_itself_completes_with_the_line_that_the_manual_gives(tmp_path):
    (tmp_path / "fedparity").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m fedparity "$@"\n', encoding="utf-8"
    )
    (tmp_path / "fedparity").chmod(0o755)
    script = (
        'eval "$(_FEDPARITY_COMPLETE=bash_source fedparity)"\n'
        "COMP_WORDS=(fedparity ver) COMP_CWORD=1\n"
        "_fedparity_completion fedparity ver fedparity\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    env = environment(tmp_path)
    done = subprocess.run(  # noqa: S603 -- our own command
        [shutil.which("bash"), "-c", script],
        env={**env, "PATH": f"{tmp_path}:{env['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.stdout.split() == ["verify"], done.stderr
