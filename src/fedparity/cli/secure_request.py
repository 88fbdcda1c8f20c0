"""``fedparity secure request``: the auditor says whose numbers came."""

from __future__ import annotations

import click

from fedparity.auditing.secure.requesting import request_for
from fedparity.cli.secure_options import inbox_of, report_written
from fedparity.protocol.files import refuse_existing
from fedparity.protocol.plan import Plan

__all__ = ["request"]


@click.command(short_help="Auditor, step 4: say whose numbers came.")
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="request.json",
    show_default=True,
    help="File to write.",
)
@click.option("--force", is_flag=True, help="Replace an existing output file.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def request(
    plan: str, messages: tuple[str, ...], output: str, *, force: bool, as_json: bool
) -> None:
    """Write the request to open the sum of all masked numbers among MESSAGES.

    Wait until no further silo is expected: a silo answers one request per round. Silos that are
    not in it have dropped out.

    \b
    Examples:
      fedparity secure request plan.toml inbox
      fedparity secure request plan.toml inbox -o inbox/request.json
    """
    if not force:
        refuse_existing(output)
    asked = Plan.read(plan)
    made = request_for(asked, inbox_of(messages))
    made.write(output, force=force)
    came, silos = len(made.survivors), len(asked.silos or ())
    click.echo(f"{came} of {silos} silos are in the sum", err=True)
    step = "consent, then unmask" if asked.keys else "unmask"
    report_written(made, output, f"send the file to all of them: {step}", as_json=as_json)
