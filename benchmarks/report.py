"""Time and size of the HTML report: 60 silos in a fresh process, and 1,000 against that.

Run with ``make bench``. A process starts, imports what it needs, reads a result and renders it, as
``fedparity report`` does. Exits with an error if a bar is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import fedparity as fp
from fedparity.documents.result import AuditResult

ROUNDS = 5
SECONDS, TIMES = 3.0, 6.0
"""60 silos take less than so many seconds, and 1,000 less than so many times that."""
SIZES = {50: 300_000, 1_000: 1_000_000}
"""Bytes that a report of so many silos may have."""


def audited(silos: int) -> AuditResult:
    """Two groups with 100 levels in each silo."""
    random = np.random.default_rng(5)
    size = 300 * silos
    groups, names = random.choice(["A", "B"], size), random.integers(0, silos, size)
    return fp.simulate(
        {
            "score": random.beta(3 + (groups == "B") + names / silos, 4),
            "group": groups,
            "silo": np.char.mod("Hospital %04d", names),
        },
        score="score",
        group="group",
        silo="silo",
        score_range=(0, 1),
        review_level=0.002,
        redraws=50,
    )


def seconds(source: Path, target: Path) -> float:
    """Of the processor, from the start of one process to its end: neighbors do not count."""
    files = str(source), "--html", str(target), "--force"
    command = [sys.executable, "-m", "fedparity", "report", *files]
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own command
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def main() -> None:
    """Measure everything, and say which bars hold."""
    with TemporaryDirectory() as held:
        folder = Path(held)
        for silos in (50, 60, 1_000):
            audited(silos).write(folder / f"{silos}.json")
        best: dict[int, float] = {}
        for _ in range(ROUNDS):
            for silos in (50, 60, 1_000):
                taken = seconds(folder / f"{silos}.json", folder / f"{silos}.html")
                best[silos] = min(taken, best.get(silos, taken))
        sizes = {silos: (folder / f"{silos}.html").stat().st_size for silos in SIZES}
    rows = [
        ("60 silos, seconds", best[60], SECONDS),
        ("1,000 silos, times that", best[1_000] / best[60], TIMES),
        *(
            (f"{silos:,} silos, kB", sizes[silos] / 1e3, most / 1e3)
            for silos, most in SIZES.items()
        ),
    ]
    print("the report of               measured     below")
    for name, measured, bar in rows:
        print(f"{name:26} {measured:9.2f} {bar:9.2f}  {'ok' if measured < bar else 'MISSED'}")
    if any(measured >= bar for _, measured, bar in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
