"""An audit over Flower against the same audit in files and in one process.

    python benchmarks/engines.py              3, 100 and 1,000 silos, k = 20 and 100
    python benchmarks/engines.py --silos 100  only so many
    python benchmarks/engines.py --write      also writes the table of the documentation

Flower's own ServerApp and ClientApp run over a grid in this process, whose messages are serialized: what
is timed is the engine, not a network. One process does the work of all silos: each with its own file,
ledger and folder, or simulated ones of one table. Ways take turns, and the best of several rounds
counts. Ends with exit code 1 if the bar is missed, or the results are not the same bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

import fedparity as fp
import fedparity.engines.remote.remote_audit
from fedparity.engines.flower.apps import auditor_app, silo_app
from fedparity.engines.remote import ALLOWED
from fedparity.privacy.policy import Policy
from fedparity.silo.permit import Permit
from fedparity.silo.sketch import prepare

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "reference" / "engine-speed-table.md"
SECONDS = 5.0
"""Bar: 1,000 simulated silos over Flower, in all."""
RECORDS = 400
ROUNDS = {3: 5, 100: 3, 1000: 2}


def load_grid() -> Any:  # noqa: ANN401 -- a module of the tests
    """Return the module of the grid in one process, which belongs to the tests."""
    spec = importlib.util.spec_from_file_location("flower_grid", ROOT / "tests" / "flower_grid.py")
    if spec is None or spec.loader is None:
        sys.exit("error: tests/flower_grid.py is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Times:
    """Seconds until the messages were there, and of the audit of them."""

    exchange: float
    audit: float

    @property
    def whole(self) -> float:
        """Both."""
        return self.exchange + self.audit


class Case:
    """So many silos with their files in a folder, and a plan for them."""

    def __init__(self, silos: int, levels: int, folder: Path) -> None:
        self.folder, self.run = folder, 0
        self.names = [f"silo-{place:04d}" for place in range(silos)]
        self.plan = fp.Plan(
            title="benchmark",
            groups=("A", "B"),
            score_range=(0.0, 1.0),
            levels=levels,
            silos=self.names,
        )
        self.results: set[str] = set()
        self._write()

    def _write(self) -> None:
        random = np.random.default_rng(0)
        pooled = ["silo,score,group"]
        for name in self.names:
            groups = np.where(random.random(RECORDS) < 0.4, "A", "B")
            scores = random.beta(2, 3, RECORDS).round(4)
            rows = [f"{score},{group}" for score, group in zip(scores, groups, strict=True)]
            self.data(name).write_text("\n".join(["score,group", *rows]) + "\n")
            pooled += [f"{name},{row}" for row in rows]
        (self.folder / "all.csv").write_text("\n".join(pooled) + "\n")

    def data(self, name: str) -> Path:
        """The file of a silo."""
        return self.folder / f"{name}.csv"

    def fresh(self) -> Path:
        """A new folder: a silo answers a plan once."""
        self.run += 1
        place = self.folder / f"run-{self.run}"
        place.mkdir()
        return place

    def flower(self, grids: Any, *, simulated: bool = False) -> Times:  # noqa: ANN401 -- a module
        """Ask all silos over Flower."""
        place, app = self.fresh(), silo_app()
        config = {"output": str(place / "out"), "wait": 0.0, "time-limit": 600.0}
        if simulated:
            config["simulated-data"] = str(self.folder / "all.csv")
        nodes = {
            number: (app, self._simulated(number) if simulated else self._settings(name, place))
            for number, name in enumerate(self.names)
        }
        spent: list[float] = []

        def audit(*given: Any, **options: Any) -> fp.AuditResult:  # noqa: ANN401 -- as audit
            start = perf_counter()
            result = fp.audit(*given, **options)
            spent.append(perf_counter() - start)
            return result

        with (
            patch.object(fedparity.engines.remote.remote_audit, "audit", audit),
            patch.dict(os.environ, {ALLOWED: "1"}),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            start = perf_counter()
            numbered = {number + 10: node for number, node in nodes.items()}
            grid = grids.LocalGrid(numbered, run_config=config)
            grids.run_server(auditor_app(self.plan), grid, config)
            whole = perf_counter() - start
        self.results.add((place / "out" / "result.json").read_text("utf-8").rstrip("\n"))
        return Times(whole - spent[0], spent[0])

    def _settings(self, name: str, place: Path) -> dict[str, Any]:
        """Those of a silo that keeps a ledger."""
        return {
            "silo": name,
            "plan": self.plan.digest,
            "data": str(self.data(name)),
            "ledger": str(place / f"{name}.ledger"),
            "folder": str(place / f"{name}.left"),
        }

    def _simulated(self, position: int) -> dict[str, Any]:
        """Those of Flower's simulation."""
        return {"partition-id": position, "num-partitions": len(self.names)}

    def files(self) -> Times:
        """Let every silo write its message to a file, and audit the files."""
        place = self.fresh()
        start = perf_counter()
        for name in self.names:
            data = str(self.data(name))
            permit = Permit.of(
                self.plan, name, data=data, policy=Policy(), ledger=place / f"{name}.ledger"
            )
            permit.check()
            release = prepare(data, plan=self.plan, silo=name, score="score", group="group")
            permit.write(place / f"{name}.json", release.sketch)
        written = perf_counter()
        result = fp.audit(self.plan, sorted(place.glob("*.json")))
        self.results.add(result.to_json())
        return Times(written - start, perf_counter() - written)

    def simulate(self) -> Times:
        """Audit one table of all silos."""
        start = perf_counter()
        data = str(self.folder / "all.csv")
        result = fp.simulate(data, silo="silo", score="score", group="group", plan=self.plan)
        self.results.add(result.to_json())
        return Times(0.0, perf_counter() - start)


def measured(case: Case, rounds: int) -> dict[str, Times]:
    """Return the best time of each way, which take turns."""
    grids = load_grid()
    ways: dict[str, Callable[[], Times]] = {
        "flower": lambda: case.flower(grids),
        "simulated": lambda: case.flower(grids, simulated=True),
        "files": case.files,
        "simulate": case.simulate,
    }
    best: dict[str, Times] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            gc.collect()
            found = way()
            best[name] = min(best.get(name, found), found, key=lambda times: times.whole)
    return best


def row(silos: int, levels: int, best: dict[str, Times]) -> str:
    """Return a line of the table."""
    flower, asked = best["flower"], best["simulated"]
    files, alone = best["files"].whole, best["simulate"].whole
    return (
        f"| {silos:,} | {levels} | {asked.exchange:.2f} s | {asked.audit:.2f} s | "
        f"{asked.whole:.2f} s | {alone:.2f} s | {asked.whole / alone:.2f} × | "
        f"{flower.whole:.2f} s | {files:.2f} s | {flower.whole / files:.2f} × |"
    )


def main() -> int:
    """Print the table; return 1 if the bar is missed, or two results differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--silos", type=int, action="append", help="instead of 3, 100 and 1,000")
    parser.add_argument("--write", action="store_true", help="write the documentation's table")
    chosen = parser.parse_args()
    titles = (
        "silos | k | Flower, simulated silos: exchange | audit | in all | `simulate` | ratio | "
        "Flower, each with a ledger | files | ratio"
    )
    lines = [f"| {titles} |", f"|{'---:|' * 10}"]
    print("\n".join(lines))
    slowest, same = 0.0, True
    for silos in chosen.silos or list(ROUNDS):
        for levels in (20, 100):
            with TemporaryDirectory() as folder:
                case = Case(silos, levels, Path(folder))
                best = measured(case, ROUNDS.get(silos, 3))
            lines.append(row(silos, levels, best))
            print(lines[-1], flush=True)
            same &= len(case.results) == 1
            if silos == 1000:
                slowest = max(slowest, best["simulated"].whole)
    lines.append("")
    if slowest:
        verdict = "met" if slowest <= SECONDS else "MISSED"
        lines.append(
            f"- 1,000 simulated silos over Flower, in all: {slowest:.2f} s, at most {SECONDS:g} s wanted: {verdict}"
        )
    lines.append(f"- the results are the same bytes: {'yes' if same else 'NO'}")
    print("\n".join(lines[lines.index("") :]))
    if chosen.write:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(slowest > SECONDS or not same)


if __name__ == "__main__":
    sys.exit(main())
