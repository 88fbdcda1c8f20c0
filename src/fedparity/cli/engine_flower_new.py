"""``fedparity engine flower new``: the app of a plan, ready for ``flwr run``."""

from __future__ import annotations

import json

import click

from fedparity.cli.fitting import counted
from fedparity.engines.flower.app_folder import AppFolder
from fedparity.engines.remote.terms import Terms
from fedparity.errors.base import printable
from fedparity.protocol.plan import Plan

__all__ = ["new"]

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
