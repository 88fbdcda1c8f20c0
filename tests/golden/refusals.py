"""Help of every command, what some commands print, and what mistakes lead to."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
from tests.golden.audits import Artifacts, make_table, write_table
from tests.golden.running import cli, made_key, ok, run, sandbox

import fedparity as fp

__all__ = ["command_help", "other_commands", "refusals"]

SKETCH = ("sketch", "plan.toml", "north.csv", "--silo", "north", "--dry-run")
NEW = ("plan", "new", "new.toml", "--title", "Q4", "--group", "A", "--group", "B")

REFUSED: dict[str, tuple[str, ...]] = {
    "unknown command": ("adit",),
    "unknown option": ("audit", "plan.toml", "inbox", "--thresold", "0.5"),
    "no messages": ("audit", "plan.toml"),
    "no silo": ("sketch", "plan.toml", "north.csv"),
    "no plan file": ("sketch", "nowhere.toml", "north.csv", "--silo", "north"),
    "plan is no TOML": ("plan", "check", "broken.toml"),
    "plan with mistakes": ("plan", "check", "mistakes.toml"),
    "plan with mistakes in use": ("audit", "mistakes.toml", "inbox"),
    "plan is a table": ("plan", "show", "north.csv"),
    "plan of one group": (*NEW[:-2], "--range", "0", "1"),
    "plan of a range upside down": (*NEW, "--range", "1", "0"),
    "plan with a threshold outside": (*NEW, "--range", "0", "1", "--threshold", "2"),
    "plan without a range": NEW,
    "existing plan": ("plan", "new", "plan.toml", *NEW[3:], "--range", "0", "1"),
    "no table": ("sketch", "plan.toml", "nowhere.csv", "--silo", "north", "--dry-run"),
    "no column": (*SKETCH, "--score", "scor"),
    "no group column": (*SKETCH, "--group", "race"),
    "wrong label": ("sketch", "plan.toml", "labels.csv", "--silo", "north", "--dry-run"),
    "score out of range": ("sketch", "plan.toml", "range.csv", "--silo", "north", "--dry-run"),
    "missing score": ("sketch", "plan.toml", "gaps.csv", "--silo", "north", "--dry-run"),
    "score is a text": ("sketch", "plan.toml", "texts.csv", "--silo", "north", "--dry-run"),
    "no weights": (*SKETCH, "--weight", "heft"),
    "wrong condition": (*SKETCH, "--where", "score >"),
    "strange silo": ("sketch", "plan.toml", "north.csv", "--silo", "east", "--dry-run"),
    "existing message": ("sketch", "plan.toml", "north.csv", "--silo", "north", "-o", "north.json"),
    "second release": ("sketch", "plan.toml", "less.csv", "--silo", "north", "-o", "less.json"),
    "tampered message": ("audit", "plan.toml", "tampered"),
    "tampered messages": ("verify", "plan.toml", "tampered"),
    "duplicate silo": ("audit", "plan.toml", "twice"),
    "message of another plan": ("audit", "other.toml", "inbox"),
    "message is a table": ("audit", "plan.toml", "north.csv"),
    "empty inbox": ("audit", "plan.toml", "empty"),
    "missing silo": ("audit", "plan.toml", "inbox", "--require-all"),
    "missing silo of a check": ("verify", "plan.toml", "inbox", "--require-all"),
    "above the review level": ("audit", "plan.toml", "inbox", "--fail-above=answered", "--redraws", "100"),
    "few redraws": ("audit", "plan.toml", "inbox", "--redraws", "3"),
    "not signed": ("sketch", "keys.toml", "north.csv", "--silo", "north"),
    "wrong key": ("sketch", "keys.toml", "north.csv", "--silo", "north", "--sign", "south.key", "--no-ledger"),
    "key is a table": ("sketch", "keys.toml", "north.csv", "--silo", "north", "--sign", "none.key"),
    "unsigned message": ("audit", "keys.toml", "unsigned"),
    "weights and noise": ("sketch", "noise.toml", "north.csv", "--silo", "north", "--weight", "weight"),
    "one silo of a secure sum": ("sketch", "secure.toml", "north.csv", "--silo", "north"),
    "secure step of a plain plan": ("secure", "keys", "plan.toml", "--silo", "north"),
    "secure shares too early": ("secure", "shares", "secure.toml", "empty", "--silo", "north"),
    "secure request too early": ("secure", "request", "secure.toml", "empty"),
    "report of no result": ("report", "plan.toml", "--html", "page.html"),
    "report without output": ("report", "north.json"),
    "simulate without silos": ("simulate", "north.csv", "--score", "score"),
    "simulate with two plans": ("simulate", "north.csv", "--silo", "sex", "--plan", "plan.toml", "--order", "1"),
    "policy refuses a plan": ("policy", "check", "strict.toml", "plan.toml"),
    "policy with mistakes": ("policy", "check", "mistakes.toml"),
    "refused by a policy": (*SKETCH[:-1], "--policy", "strict.toml", "-o", "strict.json"),
    "approved by nobody": ("approve", "plan.toml", "--by", "Eve", "--because", "no reason"),
    "ledger that was changed": ("ledger", "verify", "--ledger", "changed.jsonl"),
    "flower app of no plan": ("engine", "flower", "new", "app", "--plan", "nowhere.toml"),
}  # fmt: skip
"""Commands that do not end well, or that a rule ends."""

PRINTED: dict[str, tuple[str, ...]] = {
    "demo": ("demo", "--out", "demo"),
    "plan new": (*NEW, "--range", "0", "10", "--step", "0.5", "--threshold", "4"),
    "plan size by error": ("plan", "size", "--error", "0.2", "--replicates", "20"),
    "plan size by records": ("plan", "size", "--records", "500", "--replicates", "20"),
    "plan privacy": ("plan", "privacy", "--epsilon", "1", "--records", "5000", "--replicates", "20"),
    "policy show": ("policy", "show", "--policy", "strict.toml"),
    "policy new": ("policy", "new", "policy.toml"),
    "verify as JSON": ("verify", "plan.toml", "inbox", "--json"),
    "flower new": ("engine", "flower", "new", "app", "--plan", "plan.toml"),
    "regime": ("simulate", "north.csv", "--regime", "negative", "--silos", "3", "--redraws", "100"),
}  # fmt: skip
"""Commands whose words are kept, with the files that they write."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")

STRICT = 'schema = "fedparity/policy/1"\n[floors]\nminimum_cell = 50\n'
MISTAKES = """\
schema = "fedparity/plan/1"
titel = "Q4"
groups = ["A", "A"]
score_range = [1, 0]
levels = 0
order = 3
"""


def command_help() -> Artifacts:
    """The help of every command at 80 columns."""
    with sandbox():
        return {f"{name}.txt": ok(*name.split()[1:], "--help") for name in _names(cli)}


def _names(command: click.Command, name: str = "fedparity") -> Iterator[str]:
    yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            child = command.get_command(context, each)
            assert child is not None
            yield from _names(child, f"{name} {each}")


def refusals() -> Artifacts:
    """Exit code and words of commands that do not end well."""
    with sandbox():
        _write_all()
        return {f"{name}.txt": _ended(arguments) for name, arguments in REFUSED.items()}


def other_commands() -> Artifacts:
    """Exit code, words and files of commands that end well."""
    made = {}
    with sandbox():
        _write_all()
        before = set(Path().rglob("*"))
        for name, arguments in PRINTED.items():
            made[f"{name}.txt"] = _ended(arguments)
        for path in sorted(set(Path().rglob("*")) - before):
            if path.suffix in {".toml", ".json", ".md", ".txt", ".py"} and path.is_file():
                made[path.as_posix()] = path.read_text("utf-8")
    return made


def _ended(arguments: tuple[str, ...]) -> str:
    done = run(*arguments)
    said = f"exit code {done.exit_code}\n--- output\n{done.stdout}--- errors\n{done.stderr}"
    for place, name in (str(Path.cwd()), "HERE"), (os.environ["HOME"], "HOME"):
        said = said.replace(place, name)
    return _TIME.sub("TIME", said)


def _write_all() -> None:
    """A plan of two silos, the message of one of them, and things that are wrong."""
    plan = {"title": "Q4", "groups": ("A", "B"), "score_range": (0, 1), "levels": 10}
    silos = ("north", "south", "west")
    asked = fp.Plan(**plan, silos=silos, review_level=0.01)
    asked.write("plan.toml")
    fp.Plan(**{**plan, "title": "Q3"}, silos=silos).write("other.toml")
    keys = {silo: made_key(f"{silo}.key", i) for i, silo in enumerate(silos, start=1)}
    fp.Plan(**plan, silos=silos, keys=keys).write("keys.toml")
    fp.Plan(**plan, privacy={"mode": "dp", "epsilon": 1, "bins": 8}).write("noise.toml")
    secure = {"mode": "secure", "bins": 8, "threshold": 3}
    fp.Plan(**plan, silos=silos, privacy=secure).write("secure.toml")
    Path("broken.toml").write_text("title = \n", "utf-8")
    Path("mistakes.toml").write_text(MISTAKES, "utf-8")
    Path("strict.toml").write_text(STRICT, "utf-8")
    _write_tables()
    ok("sketch", "plan.toml", "north.csv", "--silo", "north", "-o", "north.json")
    for folder in ("inbox", "twice", "tampered", "empty", "unsigned"):
        Path(folder).mkdir()
    message = Path("north.json").read_bytes()
    Path("inbox/north.json").write_bytes(message)
    Path("twice/first.json").write_bytes(message)
    fp.sketch("north.csv", plan=fp.Plan.read("keys.toml"), silo="north", ledger=False).write(
        "unsigned/north.json"
    )
    Path("none.key").touch(mode=0o600)
    changed = json.loads(message)
    changed["software"] = "another"
    Path("twice/second.json").write_text(_canonical(changed), "utf-8")
    Path("tampered/plan.json").write_text(_canonical({**changed, "plan": "sha256:0"}), "utf-8")
    changed["cells"][0]["count"] = -5
    Path("tampered/count.json").write_text(_canonical(changed), "utf-8")
    Path("tampered/cut.json").write_bytes(message[:-20])
    Path("changed.jsonl").write_text('{"schema": "none"}\n', "utf-8")


def _canonical(document: object) -> str:
    return json.dumps(document, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _write_tables() -> None:
    table = make_table(0)
    scores, groups = table["score"], table["group"]
    write_table("north.csv", table)
    write_table("less.csv", {name: column[:-1] for name, column in table.items()})
    write_table("labels.csv", {**table, "group": ["Z", *groups[1:]]})
    write_table("range.csv", {**table, "score": [1.5, *scores[1:]]})
    write_table("gaps.csv", {**table, "score": ["", *scores[1:]]})
    write_table("texts.csv", {**table, "score": ["high", *scores[1:]]})
