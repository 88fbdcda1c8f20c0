"""``fedparity engine flower preview``: all that would leave a silo, seen by its operator first."""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from pathlib import Path

import click

from fedparity.cli.lazy import LazyGroup, Place
from fedparity.cli.output import progress_bar
from fedparity.cli.secure_commands import dry_run_text as masked_text
from fedparity.cli.sketch_text import dry_run_text, preview_text
from fedparity.documents.plan import Plan
from fedparity.engines.flower import be_quiet
from fedparity.engines.flower.app_folder import AppFolder
from fedparity.engines.remote.conversation import Terms
from fedparity.engines.remote.remote_silo import ALLOWED
from fedparity.engines.remote.settings import SiloSettings
from fedparity.errors import MessageError, MissingExtraError
from fedparity.errors.base import printable
from fedparity.modes.measurement import ComputeOptions
from fedparity.modes.mode import Release, mode_of
from fedparity.modes.noisy import Preview
from fedparity.text import counted

__all__ = [
    "engine",
    "flower",
    "new",
    "preview",
    "start",
]

_COMMANDS = {"flower": Place("engine_commands", "flower", "Ask the silos over Flower.")}


@click.group(cls=LazyGroup, places=_COMMANDS)
def engine() -> None:
    """Ask the silos over a network instead of by files.

    The messages, the rules and the result are the same. Silos that let nobody's program run
    on their machines use files.

    \b
    Examples:
      fedparity engine flower new audit --plan plan.toml
    """


_FLOWER_COMMANDS = {
    "new": Place("engine_commands", "new", "Auditor: write the app of a plan."),
    "preview": Place("engine_commands", "preview", "Silo: see what would leave."),
    "start": Place("engine_commands", "start", "Run a command of Flower, quietly."),
}
"""In the order in which they are used."""


@click.group(cls=LazyGroup, places=_FLOWER_COMMANDS)
def flower() -> None:
    """Ask the silos over Flower.

    \b
    Examples:
      fedparity engine flower new audit --plan plan.toml
      fedparity engine flower preview aurora.toml --plan plan.toml
      fedparity engine flower start flower-supernode --node-config aurora.toml \\
        --superlink auditor.example:8000 --root-certificates ca.crt \\
        --auth-supernode-private-key aurora.key
      fedparity engine flower start flwr run audit consortium --stream
    """


_SECONDS = click.FloatRange(min=1, max=1e6)


@click.command(short_help="Auditor: write the app of a plan.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option(
    "--plan", "plan_file", default="plan.toml", show_default=True, type=click.Path(), help="Plan."
)
@click.option(
    "--quorum",
    type=click.IntRange(min=1),
    help="Silos without which there is no result.  [default: all of the plan]",
)
@click.option(
    "--wait", type=_SECONDS, default=60.0, show_default=True, help="Seconds to connect in."
)
@click.option(
    "--time-limit",
    type=_SECONDS,
    default=600.0,
    show_default=True,
    help="Seconds to answer in, for each round.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def new(
    folder: str,
    plan_file: str,
    quorum: int | None,
    wait: float,
    time_limit: float,
    *,
    as_json: bool,
) -> None:
    """Write the app of a plan to the new folder DIR, with settings for each silo of its roster.

    The app holds the plan and no code but the import of fedparity, which every silo installs by
    itself. Send silos/NAME.toml to the operator of each silo; it stays there.

    \b
    Examples:
      fedparity engine flower new audit --plan plan.toml
      fedparity engine flower new audit --plan plan.toml --quorum 40 \\
        --time-limit 3600
    """
    plan = Plan.read(plan_file)
    written = AppFolder(plan, Terms(quorum=quorum, wait=wait, limit=time_limit)).write(folder)
    if as_json:
        document = {
            "folder": folder,
            "plan": plan.digest,
            "files": [str(each) for each in written],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    silos = counted(len(plan.silos or ()), "silo")
    click.echo(
        f"wrote {printable(folder)}\nplan {plan.digest}\n"
        f"next: send {printable(folder)}/silos/NAME.toml to each of the {silos}; see its README.md",
        err=True,
    )


@click.command(short_help="Silo: see what would leave.")
@click.argument("settings", type=click.Path())
@click.option(
    "--plan", "plan_file", default="plan.toml", show_default=True, type=click.Path(), help="Plan."
)
def preview(settings: str, plan_file: str) -> None:
    """Show all that would leave this silo under its SETTINGS; send nothing.

    SETTINGS is the file that flower-supernode gets as --node-config. The table is read. The
    plan must be the one that the settings name by its digest. Exit code 4 if it is not. Under a
    plan with a privacy mode the node reads the table only after this has found no mistake in it,
    and once: whether there is one is not the auditor's to find out.

    \b
    Examples:
      fedparity engine flower preview aurora.toml
      fedparity engine flower preview aurora.toml --plan audit/audit_app/plan.toml
    """
    plan, own = Plan.read(plan_file), SiloSettings.read(settings)
    own.check_approved(plan)
    with progress_bar("rows") as progress:
        text = _text(plan, own, ComputeOptions(progress=progress))
    click.echo(text)
    if mode_of(plan).protected:
        own.make_ready(plan)
        click.echo(
            "the table can be used; when the auditor asks, this silo reads it once", err=True
        )


def _text(plan: Plan, own: SiloSettings, options: ComputeOptions) -> str:
    if plan.silos is not None and own.silo not in plan.silo_set:
        raise MessageError.not_in_roster(own.silo, plan.silos)
    permit = own.permit(plan)
    shown = mode_of(plan).preview(own.records(plan), own.silo, options)
    if isinstance(shown, Release):
        return dry_run_text(shown, plan)
    if isinstance(shown, Preview) and permit is not None:
        return preview_text(shown, permit)
    return masked_text(plan, own.silo)


_OPTION = "--node-config"
_PROCESSES = ("flower-superlink", "flower-supernode", "flower-superexec", "flwr")


@click.command(
    short_help="Run a command of Flower, quietly.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("command", type=click.Choice(_PROCESSES))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def start(command: str, arguments: tuple[str, ...]) -> None:
    """Run COMMAND of Flower with its telemetry, update check and installations switched off.

    COMMAND is flower-superlink, flower-supernode, flower-superexec or flwr; ARGUMENTS are its
    own. This process becomes that one. A silo's settings are checked first: nothing starts while
    they name no plan that was approved.

    \b
    Examples:
      fedparity engine flower start flower-superlink --ssl-ca-certfile ca.crt \\
        --ssl-certfile server.crt --ssl-keyfile server.key --enable-supernode-auth
      fedparity engine flower start flwr run audit consortium --stream
    """
    if command == "flower-supernode":
        _check_settings(arguments)
    environment = dict(os.environ)
    be_quiet(environment)
    if command == "flwr":  # a simulation runs in its processes; a node never does
        environment[ALLOWED] = "1"
    else:
        environment.pop(ALLOWED, None)
    beside = Path(sys.executable).parent  # Flower starts other commands of its own by name
    environment["PATH"] = f"{beside}{os.pathsep}{environment.get('PATH', os.defpath)}"
    try:
        os.execvpe(command, [command, *arguments], environment)  # noqa: S606 -- no shell is wanted
    except FileNotFoundError:
        raise MissingExtraError.for_use("flwr", command, "flower") from None


def _check_settings(arguments: tuple[str, ...]) -> None:
    """Raise if the file of settings does not say what is read, or which plan was approved."""
    from fedparity.engines.remote.settings import SiloSettings  # noqa: PLC0415 -- imports NumPy

    for before, each in pairwise(("", *arguments)):
        value = each if before == _OPTION else each.removeprefix(f"{_OPTION}=")
        if (before == _OPTION or value != each) and Path(value).is_file():
            SiloSettings.read(value)
