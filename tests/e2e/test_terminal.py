"""On a terminal ``fedparity plan new`` asks, with an answer ready for everything, and Ctrl-C loses none."""

import os
import subprocess
import sys
import time

import pytest
from tests.e2e.running import COMMAND, environment

import fedparity as fp

FIRST = ("Risk, Q4", "women", "women, men", "10 0", "0 10")  # one group; a range upside down
THEN = (
    *("0.3", "0.5", "bad"),  # a step that does not divide the range
    *("12, 4", "7, 4", "share"),  # a threshold beyond the range
    *("0", "0.02", "", "aurora, bayside", ""),  # no level of zero
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX")


class Terminal:
    """A command whose three streams are a terminal."""

    def __init__(self, folder, *arguments):
        pty = pytest.importorskip("pty")
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(  # noqa: S603 -- our own command
            [*COMMAND, *arguments],
            cwd=folder,
            env={**environment(folder), "TERM": "xterm", "COLUMNS": "80"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,  # noqa: PLW1509 -- Ctrl-C is to be a signal; no thread runs
        )
        os.close(theirs)
        self.seen = ""

    def wait_for(self, text):
        """Read until the terminal shows a text."""
        deadline = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            self._read()

    def type(self, text):
        """Type a text."""
        os.write(self.ours, text.encode())

    def end(self):
        """Read until the command ends; return its code."""
        while self._read():
            pass
        os.close(self.ours)
        return self.process.wait(timeout=60)

    def _read(self):
        try:
            data = os.read(self.ours, 4096)
        except OSError:  # Linux: the other side is closed
            data = b""
        self.seen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return data


def _own_terminal():
    import fcntl  # noqa: PLC0415 -- POSIX
    import termios  # noqa: PLC0415

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_conversation_survives_ctrl_c_and_becomes_a_plan(tmp_path):
    first = Terminal(tmp_path, "plan", "new")
    first.wait_for("Title [Risk score audit]: ")
    first.type("".join(f"{answer}\n" for answer in FIRST))
    first.wait_for("Step of the scores (empty: any number is possible): ")
    first.type("\x03")

    assert first.end() == 130
    assert "your answers are kept in plan.toml.draft" in first.seen
    assert "Traceback" not in first.seen

    second = Terminal(tmp_path, "plan", "new")
    second.wait_for("has 3 answers of an earlier start. Go on from there? [Y/n]: ")
    second.type("\n")
    second.wait_for("Step of the scores (empty: any number is possible): ")
    second.type("".join(f"{answer}\n" for answer in THEN))

    assert second.end() == 0, second.seen
    assert "0.2 points on your 0–10 scale (2 % of it)" in second.seen
    seen = first.seen + second.seen
    assert seen.count("Error: ") == seen.count("fix: ") - 1 == 5  # one fix is for the interruption
    assert not (tmp_path / "plan.toml.draft").exists()
    assert fp.Plan.read(tmp_path / "plan.toml") == fp.Plan(
        title="Risk, Q4",
        groups=("women", "men"),
        score_range=(0, 10),
        score_step=0.5,
        sketch="counts",
        thresholds=(4, 7),
        favorable="below",
        review_level=0.02,
        review_unit="share",
        silos=("aurora", "bayside"),
    )


def test_a_first_look_is_help(tmp_path):
    look = Terminal(tmp_path)

    assert look.end() == 0
    assert look.seen.startswith("Usage: ")
    assert "\x1b" not in look.seen
