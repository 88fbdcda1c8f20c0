"""``fedparity engine flower start``: Flower's own commands, with what they do unasked switched off."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path

import click

from fedparity.engines.flower.quiet import be_quiet
from fedparity.engines.remote.simulating import ALLOWED
from fedparity.errors import MissingExtraError

__all__ = ["start"]

_OPTION = "--node-config"
_COMMANDS = ("flower-superlink", "flower-supernode", "flower-superexec", "flwr")


@click.command(
    short_help="Run a command of Flower, quietly.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("command", type=click.Choice(_COMMANDS))
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
