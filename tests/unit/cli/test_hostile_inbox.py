"""What anybody can put into a folder of messages does not stop the auditor, or fill the memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.samples import run, write_audit

import fedparity as fp

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs links and pipes")
JUNK = 12
SIZE = 30 * 2**20


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spoil(inbox):
    """Put everything into a folder that is no file."""
    (inbox / "circle.json").symlink_to("circle.json")
    (inbox / "nowhere.json").symlink_to("no-such-file")
    (inbox / "folder.json").mkdir()
    os.mkfifo(inbox / "pipe.json")
    return ("circle", "nowhere", "folder", "pipe")


@pytest.mark.parametrize("command", ["verify", "audit"])
@pytest.mark.parametrize("named", ["inbox", "inbox/*.json"])
def test_what_is_no_file_is_skipped_and_named(folder, command, named):
    write_audit(folder)
    names = spoil(folder / "inbox")

    done = run(command, "plan.toml", named)

    assert done.exit_code == 0, done.stderr
    for name in names:
        assert f"skipped inbox/{name}.json: it is not a file" in done.stderr


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_what_was_named_one_by_one_is_refused_at_once(folder, command):
    """Whoever named it wants it: it is not skipped, and nobody waits for it."""
    write_audit(folder)
    for name in spoil(folder / "inbox"):
        done = run(command, "plan.toml", f"inbox/{name}.json")

        assert done.exit_code == 3
        assert "fix: " in done.output


def test_a_folder_of_pipes_holds_no_message(folder):
    write_audit(folder)
    (folder / "pipes").mkdir()
    os.mkfifo(folder / "pipes" / "a.json")

    done = run("verify", "plan.toml", "pipes")

    assert done.exit_code == 3
    assert "holds no message" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "audit"])
@pytest.mark.parametrize("kind", ["zeros", "another plan"])
def test_junk_is_read_one_file_at_a_time(folder, command, kind):
    """The most memory that the process ever has does not grow with the number of such files."""
    asked = write_audit(folder)
    junk = b"[" + b"0," * (SIZE // 2) + b"0]"
    if kind == "another plan":
        values = [0.5] * 250_000
        cells = [
            fp.documents.SketchedCell(group=g, count=10**9, values=values, mean_square=0)
            for g in "AB"
        ]
        sent = fp.SiloSketch(
            plan="sha256:" + 64 * "0", silo="x", kind="mean", cells=cells, software="x"
        )
        junk = json.dumps(sent.to_dict(), indent=30).encode()
    assert asked.levels < 100
    most = {}
    for number in (1, JUNK):
        for place in range(number):
            (folder / "inbox" / f"{place}.json").write_bytes(junk)
        code = (
            "import resource, sys; from fedparity.cli.main import cli\n"
            f"try: cli(['{command}', 'plan.toml', 'inbox'])\n"
            "except SystemExit as end: assert end.code == 3, end.code\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        done = subprocess.run(  # noqa: S603 -- our own code
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(Path(fp.__file__).parents[1])},
        )
        most[number] = int(done.stderr.split()[-1])

    assert most[JUNK] < 1.25 * most[1]
