"""Time of an audit of 10,000 silos: in Python, and by the command in a fresh process.

Run with ``python benchmarks/many_silos.py``. Two groups of about 200 records in each silo, k = 100 reduced by the default
rules. Times are those of the processor, so that neighbors count little. Exits with an error if a bar is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import fedparity as fp

SILOS = 10_000
RECORDS = 400
"""Of each silo, on average."""
ROUNDS = 3
SECONDS = {"fp.audit of messages": 5.0, "fedparity audit --json": 5.0}
"""Each takes less than so many seconds of the processor."""
PLAN = fp.Plan(title="Many silos", groups=("A", "B"), score_range=(0.0, 1.0), levels=100)


def write_messages(folder: Path) -> list[Path]:
    """The files that the silos send, and the plan."""
    random = np.random.default_rng(11)
    PLAN.write(folder / "plan.toml")
    paths = []
    for silo in range(SILOS):
        group = random.choice(["A", "B"], random.poisson(RECORDS))
        scores = random.beta(3 + (group == "B") + silo / SILOS, 4)
        message = fp.sketch(
            {"z": scores, "g": group},
            plan=PLAN,
            silo=f"Hospital {silo:05d}",
            score="z",
            group="g",
            ledger=False,
        )
        paths.append(folder / f"{silo:05d}.json")
        message.write(paths[-1])
    return paths


def in_python(messages: list[fp.SiloSketch]) -> float:
    """Seconds of an audit of messages that are in memory."""
    before = time.process_time()
    fp.audit(PLAN, messages)
    return time.process_time() - before


def by_command(folder: Path) -> float:
    """Seconds of the command, from its start to its end."""
    files = str(folder / "plan.toml"), str(folder / "*.json"), "--json"
    command = [sys.executable, "-m", "fedparity", "audit", *files]
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own command
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def main() -> None:
    """Measure both, and say which bars hold."""
    best = dict.fromkeys(SECONDS, np.inf)
    with TemporaryDirectory() as held:
        folder = Path(held)
        messages = [fp.SiloSketch.read(path) for path in write_messages(folder)]
        for _ in range(ROUNDS):
            taken = in_python(messages), by_command(folder)
            best = {name: min(best[name], new) for name, new in zip(best, taken, strict=True)}
    for name, seconds in best.items():
        holds = seconds <= SECONDS[name]
        print(
            f"{name:30} {seconds:6.2f} s   bar {SECONDS[name]:.0f} s   {'ok' if holds else 'MISSED'}"
        )
    if any(best[name] > SECONDS[name] for name in best):
        sys.exit(1)


if __name__ == "__main__":
    main()
