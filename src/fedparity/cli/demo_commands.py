"""``fedparity demo``: a whole audit in a folder that one can explore."""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np

from fedparity.auditing.audit import audit_messages
from fedparity.cli.audit_text import audit_text
from fedparity.cli.message_files import inspect_message
from fedparity.cli.options import option, with_options
from fedparity.cli.output import note, open_page, quoted
from fedparity.cli.verify_commands import verify_text
from fedparity.documents.files import write_whole
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import Outcome
from fedparity.documents.result import AuditResult
from fedparity.errors import MissingExtraError, OutputError
from fedparity.errors.base import check_html, printable
from fedparity.functionals.disparity import disparity
from fedparity.functionals.wasserstein import wasserstein
from fedparity.laws.law import FloatArray, Law
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.policy import Policy
from fedparity.report.formats import FORMATS, Preparation
from fedparity.silo.permit import Permit
from fedparity.silo.sketch import prepare
from fedparity.sketches.kinds import DEFAULT_LEVELS
from fedparity.text import number

__all__ = ["Hospital", "demo", "hospitals"]

_NAMES = ("Aurora", "Bayside", "Cedar", "Dunmore", "Elm Park")
_SEVERITY = (1.5, 2.5, 3.5, 4.5, 6.0)
"""First parameter of each hospital's Beta law, the same for both groups; scores are 0 to 10."""
_OUTCOME = "readmitted"
_READMITTED = {"A": 1.0, "B": 0.8}
"""How likely a readmission is, as a share of the score: the score overstates the risk of group B."""
_COUNTS = {"A": (1900, 1500, 1000, 600, 300), "B": (300, 600, 1000, 1500, 1900)}
"""Group A is mostly seen where cases are mild, group B where they are severe."""


@dataclass(frozen=True, eq=False)
class Hospital:
    """One hospital's records."""

    name: str
    scores: FloatArray
    groups: Sequence[str]
    outcomes: Sequence[int] | None = None
    """Who was readmitted, where that is known."""

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return self.name.lower().replace(" ", "-")

    @property
    def table_file(self) -> str:
        """Its records, which never leave."""
        return f"{self.folder}/patients.csv"

    @property
    def ledger_file(self) -> str:
        """Its record of what left."""
        return f"{self.folder}/ledger.jsonl"

    @property
    def message_file(self) -> str:
        """The path of its message in the auditor's inbox."""
        return f"inbox/{self.folder}.sketch.json"

    def table(self) -> bytes:
        """Return the records as CSV."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        known = self.outcomes is not None
        rows.writerow(("patient", "group", "risk", *([_OUTCOME] if known else [])))
        further = self.outcomes or [0] * len(self.groups)
        for patient, (group, score, outcome) in enumerate(
            zip(self.groups, self.scores, further, strict=True)
        ):
            own = (f"{self.name[0]}{patient:05}", group, f"{score:.4f}")
            rows.writerow((*own, outcome) if known else own)
        return text.getvalue().encode()


def hospitals(seed: int) -> list[Hospital]:
    """Return hospitals in which the group plays no part once the hospital is known."""
    random = np.random.default_rng(seed)
    made = {
        (group, name): np.round(10 * random.beta(severity, 4.0, count), 4)
        for group, counts in _COUNTS.items()
        for name, severity, count in zip(_NAMES, _SEVERITY, counts, strict=True)
    }
    return [
        Hospital(
            name,
            np.concatenate([made[group, name] for group in _COUNTS]),
            [group for group in _COUNTS for _ in made[group, name]],
        )
        for name in _NAMES
    ]


def _with_outcomes(made: Sequence[Hospital], seed: int) -> list[Hospital]:
    """The same hospitals a month later, when it is known who was readmitted."""
    random = np.random.default_rng([seed, 1])
    return [
        replace(
            each,
            outcomes=[
                int(drawn < _READMITTED[group] * score / 10)
                for drawn, group, score in zip(
                    random.random(each.scores.size), each.groups, each.scores, strict=True
                )
            ],
        )
        for each in made
    ]


def _demo_plan(levels: int, *, outcomes: bool) -> Plan:
    """The plan that the five hospitals agreed on."""
    asked = Outcome(positive=1, negative=0, bins=(2.0, 4.0, 6.0, 8.0))
    return Plan(
        outcome=asked if outcomes else None,
        title="Readmission risk of five hospitals",
        groups=tuple(_COUNTS),
        score_range=(0.0, 10.0),
        levels=levels,
        thresholds=(5.0,),
        favorable="below",
        review_level=0.5,
        silos=_NAMES,
    )


_README = "README.txt"
_PAGE = "report.html"
_FIRST_LINE = "This folder was written by fedparity demo, and may be deleted."
_WORDS = """\
Five made-up hospitals use the same risk score, from 0 to 10. Inside each, the
score has nothing to do with the group; but group A is mostly seen where cases
are mild, and group B where they are severe.

plan.toml        what the auditor requests of every hospital
HOSPITAL/        a hospital's own: patients.csv, which never leaves, and the
                 ledger of what did
inbox/           what the auditor received: per group a count, means of the
                 scores between ranks, and how many are at 5 or above
result.json      what the auditor found
report.html      the same as a page to open in a browser (needs fedparity[report])

Typed in this folder, these commands do it all again, from the inbox on:

"""


@dataclass(frozen=True)
class DemoOptions:
    """The options of the demonstration."""

    out: str = option(
        "--out", "Folder to write to.", type=click.Path(file_okay=False), default="fedparity-demo"
    )
    levels: int = option(
        "--levels",
        "Values per hospital and group, at most.",
        min=1,
        default=DEFAULT_LEVELS,
    )
    seed: int = option("--seed", "Seed of the synthetic scores.", min=0, default=2026)
    outcomes: bool = option("--outcomes", "Audit who was readmitted, too: error rates by group.")
    force: bool = option("--force", "Write into a folder that holds other things.")
    as_json: bool = option("--json", "Print the result as JSON.")
    details: bool = option("--details", "Show formulas, every kind of bound, and all silos.")
    open_report: bool = option("--open", "Open the report in a browser.")


@click.command
@with_options(DemoOptions)
def demo(options: DemoOptions) -> None:
    """Audit five synthetic hospitals: each nearly at parity, together not.

    Writes their tables and a plan to a folder, takes every step of an audit on them, and leaves
    all of it to be explored: report.html is the page to open. An earlier demo's files are
    replaced.

    \b
    Examples:
      fedparity demo
      fedparity demo --open
      fedparity demo --outcomes
      fedparity demo --out /tmp/demo --levels 20
      fedparity demo --json
    """
    folder = Path(options.out)
    if options.open_report:
        check_html()
    if not options.force:
        _check_folder(folder)
    plan = _demo_plan(options.levels, outcomes=options.outcomes)
    made = hospitals(options.seed)
    made = _with_outcomes(made, options.seed) if options.outcomes else made
    _write_inputs(folder, plan, made)
    messages = [_release(folder, plan, each) for each in made]
    result = audit_messages(plan, messages)
    result.write(folder / "result.json", overwrite=True)
    page = _write_page(folder, result)
    if options.as_json:
        click.echo(result.to_json())
    else:
        found = [inspect_message(plan, message.silo, message) for message in messages]
        click.echo(f"What the hospitals sent\n\n{verify_text(plan, found, [])}\n")
        click.echo(f"{audit_text(result, details=options.details)}\n\n{_pooled(made)}")
    command = quoted(*_program(), "audit", folder / "plan.toml", folder / "inbox", "--details")
    note(f"\n{printable(folder / _README)} says what is in the folder; next:\n  {command}")
    if page is None:
        note("For the report as a page: pip install 'fedparity[report]', then run it again.")
    else:
        note(f"The report, a page to open in a browser:\n  {printable(page)}")
    if page is not None and options.open_report:
        open_page(page)


def _check_folder(folder: Path) -> None:
    """Refuse to write among files that are not a demo's."""
    if not folder.exists() or not any(folder.iterdir()):
        return
    readme = folder / _README
    if not (readme.is_file() and readme.read_text(encoding="utf-8").startswith(_FIRST_LINE)):
        raise OutputError(
            f"{folder} exists and was not written by fedparity demo.",
            fix="choose another folder with --out, or pass --force to write into it.",
        )


def _write_inputs(folder: Path, plan: Plan, made: Sequence[Hospital]) -> None:
    """Write what is there before the audit: the plan, and each hospital's table."""
    for own in (*(folder / each.folder for each in made), folder / "inbox"):
        try:
            own.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise OutputError.unwritable(str(own), str(problem.strerror)) from None
    typed = "".join(f"  {quoted('fedparity', *command)}\n" for command in _commands(made))
    write_whole(folder / _README, f"{_FIRST_LINE}\n\n{_WORDS}{typed}".encode(), force=True)
    plan.write(folder / "plan.toml", overwrite=True)
    for each in made:
        write_whole(folder / each.table_file, each.table(), force=True)
        (folder / each.ledger_file).unlink(missing_ok=True)  # an earlier demo may have other data


def _commands(made: Sequence[Hospital]) -> Iterator[list[str]]:
    """The commands of the audit, as one would type them in the folder."""
    for each in made:
        columns = ["--silo", each.name, "--score", "risk", "--group", "group"]
        columns += [] if each.outcomes is None else ["--outcome", _OUTCOME]
        target = ["-o", each.message_file, "--ledger", each.ledger_file, "--force"]
        yield ["sketch", "plan.toml", each.table_file, *columns, *target]
    yield ["verify", "plan.toml", "inbox"]
    page = ["--html", _PAGE] if _has_pages() else []
    yield ["audit", "plan.toml", "inbox", "-o", "result.json", *page, "--force"]


def _has_pages() -> bool:
    """Whether what a page needs is installed."""
    try:
        check_html()
    except MissingExtraError:
        return False
    return True


def _write_page(folder: Path, result: AuditResult) -> Path | None:
    """Write the report as a page; None, and no page of an earlier demo, if that is not installed."""
    page = folder / _PAGE
    if not _has_pages():
        page.unlink(missing_ok=True)
        return None
    write_whole(page, FORMATS["html"].render(result, Preparation.today()), force=True)
    return page


def _release(folder: Path, plan: Plan, hospital: Hospital) -> SiloSketch:
    """Reduce a hospital's table, enter the release into its ledger, and send it."""
    table = folder / hospital.table_file
    reading: dict[str, Any] = {"score": "risk", "group": "group"}
    reading |= {} if hospital.outcomes is None else {"outcome": _OUTCOME}
    release = prepare(table, plan=plan, silo=hospital.name, **reading)
    ledger = Ledger(folder / hospital.ledger_file)
    ledger.begin()
    permit = Permit.of(
        plan, hospital.name, data=table, policy=Policy(), ledger=ledger, reading=reading
    )
    message = folder / hospital.message_file
    permit.write(message, release.sketch, force=True, rows=release.rows)
    return SiloSketch.read(message)


def _pooled(made: Sequence[Hospital]) -> str:
    scores = np.concatenate([each.scores for each in made])
    groups = np.array(list(chain.from_iterable(each.groups for each in made)))
    laws = [Law.from_scores(scores[groups == group]) for group in np.unique(groups)]
    apart, pooled = wasserstein(*laws), disparity(scores, sensitive_features=groups)
    return (
        f"The pooled records, which no auditor sees, are {number(apart)} points apart "
        f"(U₂ = {number(pooled)})."
    )


def _program() -> list[str]:
    """How this program is called here."""
    if shutil.which("fedparity"):
        return ["fedparity"]
    called = Path(sys.argv[0])
    return [sys.executable, "-m", "fedparity"] if called.name == "__main__.py" else [str(called)]
