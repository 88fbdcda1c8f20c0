"""One process per measurement: time, and the memory used above the start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Measured", "family_megabytes", "in_turn", "report"]

_MOST_RUNS, _LONG = 3, 2.0


@dataclass(frozen=True)
class Measured:
    """The best of several runs of one method."""

    seconds: float
    megabytes: float
    """Largest peak memory above the start of a run, of all runs."""
    answer: Any
    """What the method returned, the same in all runs."""


def report(prepare: Callable[[], Callable[[], Any]]) -> None:
    """Prepare a method, run it up to three times, and print what it took as JSON.

    The fastest run counts; methods that take seconds run once.
    """
    method = prepare()
    for process in _family():
        (process / "clear_refs").write_text("5")  # forget the peak so far
    before = _megabytes("VmRSS")
    runs: list[float] = []
    while len(runs) < _MOST_RUNS and sum(runs) < _LONG:
        start = time.perf_counter()
        answer = method()
        runs.append(time.perf_counter() - start)
    peak = _megabytes("VmHWM") - before
    print(json.dumps({"seconds": min(runs), "megabytes": peak, "answer": answer}))


def _megabytes(field: str) -> float:
    """Memory of this process and of those it started, such as Java."""
    return sum(_kilobytes(process, field) for process in _family()) / 1024


def family_megabytes() -> float:
    """Return the memory of this process and of those it started, as it is now."""
    total = 0
    for process in _family():
        with suppress(OSError):  # it has ended meanwhile
            total += _kilobytes(process, "VmRSS")
    return total / 1024


def _kilobytes(process: Path, field: str) -> int:
    lines = (process / "status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(field))


def _family() -> list[Path]:
    """Return this process and those that it started."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            parents[int(process.name)] = int(fields[1])
    family = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return [Path("/proc") / str(process) for process in sorted(family)]


def in_turn(
    script: str,
    methods: Sequence[str],
    arguments: Mapping[str, object],
    *,
    rounds: int = 5,
    compiled: Sequence[str] = (),
) -> dict[str, Measured]:
    """Run every method in a process of its own, one after the other, several times over.

    The machine's noise then meets all of them alike. Methods that are ``compiled`` run once more
    before, which does not count: the first process compiles what later ones load, and needs more
    memory for that.
    """
    for method in methods:
        if method in compiled:
            print(f"\r  compiling: {method:<30}", end="", file=sys.stderr)
            _run(script, method, arguments)
    runs: dict[str, list[dict[str, Any]]] = {method: [] for method in methods}
    for round_ in range(rounds):
        for method in methods:
            print(f"\r  round {round_ + 1}/{rounds}: {method:<30}", end="", file=sys.stderr)
            runs[method].append(_run(script, method, arguments))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return {
        method: Measured(
            min(run["seconds"] for run in own),
            max(run["megabytes"] for run in own),
            own[0]["answer"],
        )
        for method, own in runs.items()
    }


def _run(script: str, method: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    options = [f"--{name}={value}" for name, value in arguments.items()]
    done = subprocess.run(  # noqa: S603 -- our own script
        [sys.executable, script, f"--method={method}", *options],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
