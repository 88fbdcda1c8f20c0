"""Ctrl-C during a long sketch leaves nothing behind."""

import signal
import sys
import time

import pytest
from tests.e2e.running import files, finish, run, start

SLOW = """
import sys, time
from fedparity.tables.table import TableRecords

batches = TableRecords.batches
def slowly(records):
    for task in batches(records):
        def late(task=task):
            open("reading", "w").close()
            time.sleep(0.1)
            return task()
        for _ in range(1200):
            yield late
TableRecords.batches = slowly

from fedparity.cli.main import main
main()
"""
"""The real command, on a table that takes a minute or more to read."""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_ctrl_c_leaves_no_file_and_ends_with_130(tmp_path):
    plan = ("--title", "Q4", "--group", "A", "--group", "B", "--range", "0", "1")
    run("plan", "new", *plan, folder=tmp_path)
    rows = "".join(f"{'AB'[i % 2]},0.{i}\n" for i in range(100))
    (tmp_path / "data.csv").write_text(f"group,score\n{rows}", encoding="utf-8")
    before = files(tmp_path)
    arguments = ("sketch", "plan.toml", "data.csv", "--silo", "north")
    process = start(*arguments, folder=tmp_path, command=(sys.executable, "-c", SLOW))
    reading = tmp_path / "reading"
    deadline = time.monotonic() + 60
    while not reading.exists() and time.monotonic() < deadline:
        time.sleep(0.02)

    process.send_signal(signal.SIGINT)
    code, out, err = finish(process, timeout=25)

    reading.unlink()
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert files(tmp_path) == before
