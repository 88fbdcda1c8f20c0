"""On a terminal ``fedparity plan new`` asks, with an answer ready for everything."""

import os
import subprocess
import sys

import pytest
from tests.e2e.running import COMMAND, environment

import fedparity as fp

ANSWERS = (
    *("Risk, Q4", "women", "women, men"),  # one group is not enough
    *("", "-3", "10", "0.3", "0.5", "50"),  # a range upside down, a step that does not divide it
    *("12, 4", "7, 4", "below"),  # a threshold beyond the range
    *("0", "0.02", "share", "aurora, bayside"),  # no level of zero
)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX")
def test_answers_become_a_plan(tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 -- our own command
        [*COMMAND, "plan", "new"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    os.close(theirs)
    os.write(ours, "".join(f"{answer}\n" for answer in ANSWERS).encode())
    out, err = process.communicate(timeout=60)
    os.close(ours)

    assert (process.returncode, out) == (0, ""), err
    assert "Groups, with commas [A, B]: " in err
    assert err.count("Error: ") == err.count("fix: ") == 5
    assert fp.Plan.read(tmp_path / "plan.toml") == fp.Plan(
        title="Risk, Q4",
        groups=("women", "men"),
        score_range=(0, 10),
        score_step=0.5,
        levels=50,
        sketch="counts",
        thresholds=(4, 7),
        favorable="below",
        review_level=0.02,
        review_unit="share",
        silos=("aurora", "bayside"),
    )
