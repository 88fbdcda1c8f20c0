"""A dozen and more small audits, each of which always gives the same bytes."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.golden.running import FlowerRun, made_key, ok, sandbox

import fedparity as fp

__all__ = ["AUDITS", "SILOS", "Artifacts", "make_table", "write_table"]

Artifacts = dict[str, str]
"""What an audit gives, by name."""
Table = Mapping[str, Any]

SILOS = ("aurora", "bayside", "cedar", "dune")
REDRAWS = 100


def make_table(
    seed: int, *, groups: tuple[str, ...] = ("A", "B"), rows: int = 160, digits: int = 4
) -> dict[str, Any]:
    """Scores in [0, 1] that are higher in later groups and in later silos."""
    random = np.random.default_rng(seed)
    place = random.integers(0, len(groups), rows)
    scores = random.beta(2 + place + 0.3 * seed, 4).round(digits)
    return {
        "score": scores.tolist(),
        "group": [groups[i] for i in place],
        "sex": random.choice(["F", "M"], rows).tolist(),
        "weight": random.choice([0.5, 1.0, 2.25], rows).tolist(),
    }


def write_table(path: str, table: Table) -> str:
    """Write a table as CSV."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(table)
        rows.writerows(zip(*table.values(), strict=True))
    return path


def make_tables(silos: tuple[str, ...] = SILOS, **options: Any) -> dict[str, Table]:
    """A table for each silo."""
    return {silo: make_table(seed, **options) for seed, silo in enumerate(silos)}


def deciles() -> dict[str, Table]:
    """Tables of scores from 1 to 10."""
    tables = make_tables()
    return {
        silo: {**table, "score": [1 + int(10 * score) for score in table["score"]]}
        for silo, table in tables.items()
    }


def with_few() -> dict[str, Table]:
    """Tables in which cells are too small: group C everywhere, B in one silo."""
    tables = {}
    for place, (silo, table) in enumerate(make_tables(SILOS[:3]).items()):
        groups = list(table["group"])
        groups[:3] = ["C"] * 3
        if place == 1:
            groups[3:] = ["A"] * (len(groups) - 10) + ["B"] * 7
        tables[silo] = {**table, "group": groups}
    return tables


def untidy() -> dict[str, Table]:
    """Tables with labels to be translated, other labels, missing scores, and rows to be left out."""
    tables = {}
    for silo, table in make_tables().items():
        scores, groups = list(table["score"]), list(table["group"])
        scores[5:8] = [""] * 3
        groups[10:40] = ["b"] * 30
        groups[40:60] = ["Z"] * 20
        tables[silo] = {
            **table,
            "score": scores,
            "group": groups,
            "year": [2025, 2026, 2026, 2026] * 40,
        }
    return tables


def plan(**options: Any) -> fp.Plan:
    """The plan that the audits vary."""
    usual = {
        "title": "Risk, Q4",
        "groups": ("A", "B"),
        "score_range": (0, 1),
        "levels": 20,
        "silos": SILOS,
        "review_level": 0.1,
    }
    return fp.Plan(**(usual | options))


@dataclass(frozen=True, kw_only=True)
class Audit:
    """A plan, the tables of the silos that answer, and how both are read."""

    plan: fp.Plan | None
    tables: Mapping[str, Table] = field(default_factory=make_tables)
    reading: tuple[str, ...] = ()
    """Options of the commands that read a table."""
    named: Mapping[str, Any] = field(default_factory=dict)
    """The same for the functions."""
    answer: tuple[str, ...] = ()
    """Options of the command that answers."""
    signed: bool = False

    def written(self) -> Artifacts:
        """Write the plan, keys and tables to the folder."""
        made: Artifacts = {}
        for silo, table in self.tables.items():
            write_table(f"{silo}.csv", table)
        Path("inbox").mkdir()
        if self.plan is not None:
            asked = self.plan
            if self.signed:
                publics = {s: made_key(f"{s}.key", i) for i, s in enumerate(SILOS, start=1)}
                made_key("auditor.key", 99)
                asked = replace(asked, keys=publics)
            asked.write("plan.toml")
            if self.signed:
                ok("plan", "sign", "plan.toml", "--key", "auditor.key")
            asked = fp.Plan.read("plan.toml")
            made["plan.toml"] = Path("plan.toml").read_text("utf-8")
            made["plan digest"] = asked.digest
            made["plan show"] = ok("plan", "show", "plan.toml")
            made["plan check"] = ok("plan", "check", "plan.toml")
        return made

    def sign(self, silo: str) -> tuple[str, ...]:
        """The options with which a silo signs."""
        return ("--sign", f"{silo}.key") if self.signed else ()

    def reports(self, command: str, *arguments: str) -> Artifacts:
        """What the command that answers prints and writes, in every format."""
        key = ("--sign", "auditor.key") if self.signed else ()
        usual = (command, *arguments, "--redraws", str(REDRAWS), *self.answer)
        made = {"terminal.txt": ok(*usual, *key, "-o", "result.json")}
        made["result.json"] = Path("result.json").read_text("utf-8")
        made["details.txt"] = ok(*usual, "--details")
        return made | reports()


def reports() -> Artifacts:
    """The reports of ``result.json``."""
    files = {"html": "page.html", "markdown": "page.md", "model-card": "card.md"}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    ok("report", "result.json", *options, "--tables", "tables", "--date", "2026-11-18")
    paths = [*files.values(), *map(str, sorted(Path("tables").iterdir()))]
    return {path: Path(path).read_text("utf-8") for path in paths}


def by_files(audit: Audit) -> Artifacts:
    """Every silo's message in a file, by the commands and by the functions."""
    made = audit.written()
    for silo in audit.tables:
        asked = ("sketch", "plan.toml", f"{silo}.csv", "--silo", silo, *audit.reading)
        made[f"dry run {silo}.txt"] = ok(*asked, "--dry-run")
        path = f"inbox/{silo}.sketch.json"
        ok(*asked, *audit.sign(silo), "--no-ledger", "-o", path)
        made[f"message {silo}.json"] = Path(path).read_text("utf-8")
        message = fp.sketch(
            f"{silo}.csv",
            plan=fp.Plan.read("plan.toml"),
            silo=silo,
            ledger=False,
            **audit.named,
        )
        made[f"fp.sketch {silo}.json"] = message.to_bytes().decode()
    made["verify.txt"] = ok("verify", "plan.toml", "inbox")
    return made | audit.reports("audit", "plan.toml", "inbox") | by_function()


def by_function() -> Artifacts:
    """The result of all messages of the inbox, by the function."""
    paths = sorted(Path("inbox").glob("*.json"))
    result = fp.audit(fp.Plan.read("plan.toml"), paths, redraws=REDRAWS)
    return {"fp.audit.json": result.to_json()}


def by_rounds(audit: Audit) -> Artifacts:
    """All rounds of a secure sum in files; silos without a table drop out."""
    made = audit.written()
    plan_ = fp.Plan.read("plan.toml")

    def step(name: str, silo: str, *arguments: str) -> None:
        path = f"inbox/{silo}.{name}.json"
        words = ("secure", name, "plan.toml", *arguments, "--silo", silo, "-o", path)
        ok(*words, *audit.sign(silo))
        made[f"message {silo} {name}.json"] = Path(path).read_text("utf-8")

    for silo in plan_.silos or ():
        step("keys", silo)
    for silo in plan_.silos or ():
        step("shares", silo, "inbox")
    for silo in audit.tables:
        dry = ("secure", "mask", "plan.toml", f"{silo}.csv", "--silo", silo, "--dry-run")
        made[f"dry run {silo}.txt"] = ok(*dry, *audit.sign(silo))
        step("mask", silo, f"{silo}.csv", "inbox")
    ok("secure", "request", "plan.toml", "inbox", "-o", "inbox/request.json")
    made["message request.json"] = Path("inbox/request.json").read_text("utf-8")
    for name in ("consent", "unmask") if audit.signed else ("unmask",):
        for silo in audit.tables:
            step(name, silo, "inbox")
    made["verify.txt"] = ok("verify", "plan.toml", "inbox")
    return made | audit.reports("audit", "plan.toml", "inbox") | by_function()


def by_simulation(audit: Audit) -> Artifacts:
    """One table with a column of silos, by the command and by the function."""
    made = audit.written()
    columns = next(iter(audit.tables.values()))
    pooled = {
        name: [cell for table in audit.tables.values() for cell in table[name]] for name in columns
    }
    pooled["silo"] = [silo for silo, table in audit.tables.items() for _ in table["score"]]
    write_table("all.csv", pooled)
    given = () if audit.plan is None else ("--plan", "plan.toml")
    made |= audit.reports("simulate", "all.csv", "--silo", "silo", *audit.reading, *given)
    result = fp.simulate("all.csv", silo="silo", plan=audit.plan, redraws=REDRAWS, **audit.named)
    return made | {"fp.simulate.json": result.to_json()}


def by_flower(audit: Audit) -> Artifacts:
    """The two apps over a grid in this process."""
    made = audit.written()
    assert audit.plan is not None
    tables = {s: {n: t[n] for n in ("score", "group")} for s, t in audit.tables.items()}
    asked = FlowerRun(
        plan=audit.plan,
        tables=tables,
        folder=Path("flower"),
        config={"redraws": REDRAWS, "quorum": len(tables)},
    )
    Path("result.json").write_text(asked.go(), "utf-8")
    made["result.json"] = Path("result.json").read_text("utf-8")
    made |= {f"message {name}": data.decode() for name, data in sorted(asked.messages.items())}
    return made | reports()


def _made(engine: Callable[[Audit], Artifacts], audit: Audit) -> Callable[[], Artifacts]:
    def make() -> Artifacts:
        with sandbox():
            return engine(audit)

    return make


SECURE = {"mode": "secure", "bins": 16, "threshold": 3}
PAIRS = tuple((group, sex) for group in ("A", "B") for sex in ("F", "M"))

AUDITS: dict[str, Callable[[], Artifacts]] = {
    "mean": _made(by_files, Audit(plan=plan(thresholds=(0.3, 0.6)))),
    "quantile": _made(
        by_files,
        Audit(
            plan=plan(
                sketch="quantile",
                estimator="grid",
                groups=("A", "B", "C"),
                review_level=0.2,
                review_unit="share",
                trim=0.05,
            ),
            tables=make_tables(groups=("A", "B", "C")),
        ),
    ),
    "counts": _made(
        by_files,
        Audit(
            plan=plan(
                score_range=(1, 10),
                score_step=1,
                thresholds=(5,),
                favorable="below",
                review_level=0.8,
                review_unit="sd",
            ),
            tables=deciles(),
            answer=("--tail", "0.5", "--tail", "0.9"),
        ),
    ),
    "intersections": _made(
        by_files,
        Audit(
            plan=plan(groups=PAIRS, order=1, review_level=0.05),
            reading=("--group", "group", "--group", "sex"),
            named={"group": ["group", "sex"]},
        ),
    ),
    "weights": _made(
        by_files,
        Audit(
            plan=plan(review_level=None),
            reading=("--weight", "weight"),
            named={"weight": "weight"},
            answer=("--threshold", "0.5", "--confidence", "0.9", "--seed", "3"),
        ),
    ),
    "withheld": _made(
        by_files,
        Audit(
            plan=plan(
                groups=("A", "B", "C"),
                totals={"aurora": 160, "dune": 90},
                thresholds=(0.5,),
                review_level=0.02,
                review_unit="squared",
            ),
            tables=with_few(),
        ),
    ),
    "untidy": _made(
        by_files,
        Audit(
            plan=plan(groups=("A", "B", "other"), estimator="grid"),
            tables=untidy(),
            reading=(
                *("--map", "b=B", "--other", "other"),
                *("--missing", "drop", "--where", "year = 2026"),
            ),
            named={
                "mapping": {"b": "B"},
                "other": "other",
                "missing": "drop",
                "where": "year = 2026",
            },
        ),
    ),
    "signed": _made(by_files, Audit(plan=plan(period=("2026-10-01", "2026-12-31")), signed=True)),
    "dp": _made(
        by_files,
        Audit(plan=plan(privacy={"mode": "dp", "epsilon": 1, "bins": 16}, thresholds=(0.5,))),
    ),
    "secure": _made(
        by_rounds,
        Audit(plan=plan(privacy=SECURE), tables=make_tables(SILOS[:3]), signed=True),
    ),
    "secure+dp": _made(
        by_rounds,
        Audit(
            plan=plan(
                privacy={**SECURE, "mode": "secure+dp", "epsilon": 1, "dose": "split", "honest": 3}
            )
        ),
    ),
    "simulated": _made(
        by_simulation,
        Audit(
            plan=None,
            reading=("--order", "1", "--sketch", "quantile", "--levels", "15"),
            named={"order": 1, "sketch": "quantile", "levels": 15},
        ),
    ),
    "simulated plan": _made(
        by_simulation, Audit(plan=plan(silos=(*SILOS, "elm")), tables=make_tables())
    ),
    "flower": _made(by_flower, Audit(plan=plan(silos=(*SILOS, "elm")))),
    "flower dp": _made(
        by_flower, Audit(plan=plan(privacy={"mode": "dp", "epsilon": 2, "bins": 12}))
    ),
    "flower secure": _made(by_flower, Audit(plan=plan(privacy=SECURE))),
}
"""How each is made, in a folder of its own."""
