"""``fedparity secure shares``: a silo splits its secrets for all silos."""

from __future__ import annotations

import click

from fedparity.cli.secure_options import SiloStep, inbox_of, report_written, silo_options
from fedparity.releasing.secure.steps import share_secrets

__all__ = ["shares"]

_NEXT = "send the file to all silos and the auditor"


@click.command(short_help="Silo, step 2: split its secrets for all silos.")
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@silo_options()
@click.pass_context
def shares(context: click.Context, /, **_: object) -> None:
    """Write NAME.shares.json, for which the keys of all silos must be among MESSAGES.

    MESSAGES are files, patterns, or folders of files that end in .json. Each silo can open its
    own share only; as many as the plan's threshold are needed to make use of them.

    \b
    Examples:
      fedparity secure shares plan.toml inbox --silo aurora
      fedparity secure shares plan.toml inbox --silo aurora --sign aurora.key
    """
    step = SiloStep.of(dict(context.params), "shares")
    with step.state.held() as state:
        if step.resend:
            message = step.check(state).sent_again("shares")
        else:
            inbox = inbox_of(context.params["messages"])
            made = share_secrets(step.plan, step.check(state), inbox, key=step.key)
            step.state.replace(made.state)
            message = made.message
        step.write(message)
    report_written(message, step.output, _NEXT, as_json=step.as_json)
