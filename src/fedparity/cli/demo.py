"""``fedparity demo``: a whole audit in a folder that one can explore."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import click
import numpy as np

from fedparity.auditing.audit import audit
from fedparity.cli.audit_text import audit_text
from fedparity.cli.demo_data import Hospital, demo_plan, hospitals
from fedparity.cli.fitting import number
from fedparity.cli.inspecting import inspect_message
from fedparity.cli.quoting import quoted
from fedparity.cli.verify_text import verify_text
from fedparity.errors import OutputError
from fedparity.errors.base import printable
from fedparity.functionals.disparity import disparity
from fedparity.functionals.wasserstein import wasserstein
from fedparity.laws.law import Law
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.policy import Policy
from fedparity.protocol.files import write_whole
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.releasing.permit import Permit
from fedparity.releasing.release import prepare
from fedparity.sketches.defaults import DEFAULT_LEVELS

__all__ = ["demo"]

_NOTE = "README.txt"
_FIRST_LINE = "This folder was written by fedparity demo, and may be deleted."
_WORDS = """\
Five made-up hospitals use the same risk score, from 0 to 10. Inside each, the
score has nothing to do with the group; but group A is mostly seen where cases
are mild, and group B where they are severe.

plan.toml        what the auditor asked of every hospital
HOSPITAL/        a hospital's own: patients.csv, which never leaves, and the
                 ledger of what did
inbox/           what the auditor received: per group a count, means of the
                 scores between ranks, and how many are at 5 or above
result.json      what the auditor found

Typed in this folder, these commands make the last two again:

"""


@click.command(short_help="Audit five synthetic hospitals, from data to answer.")
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    default="fedparity-demo",
    show_default=True,
    help="Folder to write to.",
)
@click.option(
    "--levels",
    type=click.IntRange(min=1),
    default=DEFAULT_LEVELS,
    show_default=True,
    help="Means k that each hospital releases per group, at most.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=2026,
    show_default=True,
    help="Seed of the synthetic scores.",
)
@click.option("--force", is_flag=True, help="Write into a folder that holds other things.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def demo(out: str, levels: int, seed: int, *, force: bool, as_json: bool) -> None:
    """Audit five synthetic hospitals, each nearly at parity, that together are not.

    Writes their tables and a plan to a folder, takes every step of an audit on them, and leaves
    all of it to be explored. An earlier demo's files are replaced.

    \b
    Examples:
      fedparity demo
      fedparity demo --out /tmp/demo --levels 20
      fedparity demo --json
    """
    folder = Path(out)
    _check_folder(folder, force=force)
    made, plan = hospitals(seed), demo_plan(levels)
    _write_inputs(folder, plan, made)
    messages = [_release(folder, plan, each) for each in made]
    result = audit(plan, messages)
    result.write(folder / "result.json", force=True)
    if as_json:
        click.echo(result.to_json())
    else:
        click.echo(f"What the hospitals sent\n\n{_received(plan, messages)}\n")
        click.echo(f"{audit_text(result)}\n\n{_pooled(made)}")
    click.echo(_next(folder), err=True)


def _check_folder(folder: Path, *, force: bool) -> None:
    """Refuse to write among files that are not a demo's."""
    if force or not folder.exists() or not any(folder.iterdir()):
        return
    note = folder / _NOTE
    if not (note.is_file() and note.read_text(encoding="utf-8").startswith(_FIRST_LINE)):
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
    write_whole(folder / _NOTE, f"{_FIRST_LINE}\n\n{_WORDS}{typed}".encode(), force=True)
    plan.write(folder / "plan.toml", force=True)
    for each in made:
        write_whole(folder / each.table_file, each.table(), force=True)
        (folder / each.ledger_file).unlink(missing_ok=True)  # an earlier demo may have other data


def _commands(made: Sequence[Hospital]) -> list[list[str]]:
    """The commands of the audit, as one would type them in the folder."""
    columns = ["--score", "risk", "--group", "group"]
    sketches = [
        ["sketch", "plan.toml", each.table_file, "--silo", each.name, *columns, *_target(each)]
        for each in made
    ]
    verify = ["verify", "plan.toml", "inbox"]
    return [*sketches, verify, ["audit", "plan.toml", "inbox", "-o", "result.json", "--force"]]


def _target(hospital: Hospital) -> list[str]:
    return ["-o", hospital.message_file, "--ledger", hospital.ledger_file, "--force"]


def _release(folder: Path, plan: Plan, hospital: Hospital) -> SiloSketch:
    """What a hospital does: reduce its table, enter the release into its ledger, send it."""
    release = prepare(
        folder / hospital.table_file, plan=plan, silo=hospital.name, score="risk", group="group"
    )
    ledger = Ledger(folder / hospital.ledger_file)
    ledger.begin()
    permit = Permit.of(
        plan, hospital.name, data=folder / hospital.table_file, policy=Policy(), ledger=ledger
    )
    message = folder / hospital.message_file
    release.write(message, permit=permit, force=True)
    return SiloSketch.read(message)


def _received(plan: Plan, messages: Sequence[SiloSketch]) -> str:
    found = [inspect_message(plan, message.silo, message) for message in messages]
    return verify_text(plan, found, [])


def _pooled(made: Sequence[Hospital]) -> str:
    scores = np.concatenate([each.scores for each in made])
    groups = np.array(list(chain.from_iterable(each.groups for each in made)))
    laws = [Law.from_scores(scores[groups == group]) for group in np.unique(groups)]
    apart, pooled = wasserstein(*laws), disparity(scores, sensitive_features=groups)
    return (
        f"The pooled records, which no auditor sees, are {number(apart)} points apart "
        f"(U₂ = {number(pooled)})."
    )


def _next(folder: Path) -> str:
    command = quoted(*_program(), "audit", folder / "plan.toml", folder / "inbox", "--details")
    return f"\n{printable(folder / _NOTE)} says what is in the folder; next:\n  {command}"


def _program() -> list[str]:
    """How this program is called here."""
    if shutil.which("fedparity"):
        return ["fedparity"]
    called = Path(sys.argv[0])
    return [sys.executable, "-m", "fedparity"] if called.name == "__main__.py" else [str(called)]
