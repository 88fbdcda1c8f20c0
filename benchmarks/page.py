"""The page that sketches next to the command, on the same file: time and memory of each, and their ratio.

The page runs in headless Chromium from the disk, as a silo opens it; its time is from the press of the
button to all that would leave, and its memory that of all processes of the browser above what they had
with the page open. The command runs in a process of its own. Both must give the same bytes.

    python benchmarks/page.py [--rows 1e7]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import sync_playwright
from processes import family_megabytes

import fedparity as fp
from fedparity.page.build_page import build_page

PLAN = fp.Plan(title="Speed", groups=("A", "B"), score_range=(0, 10), silos=("aurora",))
COLUMNS = "--score", "risk", "--group", "group"


def main() -> None:
    """Print what both take, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = written(folder / "table.csv", rows)
        PLAN.write(folder / "plan.toml")
        (folder / "silo.html").write_bytes(build_page(PLAN))
        print(f"{rows:,} rows, {table.stat().st_size / 1e6:,.0f} MB", flush=True)
        command = timed(lambda: by_command(folder))
        print("command {1:5.1f} s {2:7,.0f} MB".format(*command), flush=True)
        page = by_page(folder)
        print("page    {1:5.1f} s {2:7,.0f} MB".format(*page))
        print(
            f"page to command: {page[1] / command[1]:.1f} of time, {page[2] / command[2]:.1f} of memory"
        )
        if page[0] != command[0]:
            raise SystemExit("the page and the command give different bytes")


def written(path: Path, rows: int) -> Path:
    """Write a table with a column that nobody asks for."""
    random = np.random.default_rng(0)
    columns = {
        "patient": np.arange(rows),
        "group": np.array(["A", "B"])[random.integers(0, 2, rows)],
        "risk": random.random(rows) * 10,
    }
    pl.DataFrame(columns).write_csv(path)
    return path


@contextmanager
def watched() -> Iterator[Callable[[], float]]:
    """Give the largest memory so far of what this process has started, above that of the beginning."""
    start = peak = family_megabytes()
    stop = threading.Event()

    def look() -> None:
        nonlocal peak
        while not stop.wait(0.05):
            peak = max(peak, family_megabytes())

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield lambda: peak - start
    finally:
        stop.set()
        watching.join()


def timed(work: Callable[[], bytes]) -> tuple[bytes, float, float]:
    """Return what some work returns, its seconds and its megabytes."""
    with watched() as megabytes:
        started = time.perf_counter()
        found = work()
        return found, time.perf_counter() - started, megabytes()


def by_command(folder: Path) -> bytes:
    """Return the message that the command writes."""
    words = ["sketch", "plan.toml", "table.csv", "--silo", "aurora", *COLUMNS, "-o", "m.json"]
    subprocess.run(  # noqa: S603 -- our own code
        [sys.executable, "-m", "fedparity", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        env=os.environ | {"XDG_STATE_HOME": str(folder), "HOME": str(folder)},
    )
    return (folder / "m.json").read_bytes()


def by_page(folder: Path) -> tuple[bytes, float, float]:
    """Return the message that the page shows, with its time and memory."""
    path = os.environ.get("FEDPARITY_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(600_000)
        page.goto((folder / "silo.html").as_uri())
        frame = page.frames[-1]
        frame.locator("#file").set_input_files(folder / "table.csv")
        frame.locator("#score").select_option("risk")
        frame.locator("#group-0").select_option("group")

        def compute() -> bytes:
            frame.locator("#compute").click()
            frame.locator("#leaves:not([hidden])").wait_for()
            return (frame.locator("#bytes").text_content() or "").encode()

        found = timed(compute)
        browser.close()
    return found


if __name__ == "__main__":
    main()
