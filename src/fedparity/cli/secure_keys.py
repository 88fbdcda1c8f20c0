"""``fedparity secure keys``: a silo starts a round."""

from __future__ import annotations

import click

from fedparity.cli.secure_options import SiloStep, report_written, silo_options
from fedparity.releasing.secure.steps import publish_keys

__all__ = ["keys"]

_NEXT = "send the file to all silos and the auditor; keep the state file secret"


@click.command(short_help="Silo, step 1: publish keys for this round.")
@click.argument("plan", type=click.Path())
@silo_options()
@click.pass_context
def keys(context: click.Context, /, **_: object) -> None:
    """Start a round under PLAN: write NAME.keys.json, two public keys for this silo.

    Their private halves are in NAME.secure-state, readable by you alone; without it the round
    goes on without this silo. A new round needs a new state file.

    \b
    Examples:
      fedparity secure keys plan.toml --silo aurora
      fedparity secure keys plan.toml --silo aurora --sign aurora.key
    """
    step = SiloStep.of(dict(context.params), "keys")
    if step.resend:
        with step.state.held() as state:
            message = step.check(state).sent_again("keys")
    else:
        made = publish_keys(step.plan, step.silo, key=step.key)
        step.state.create(made.state)
        message = made.message
    step.write(message)
    if not step.plan.keys:
        click.echo(
            "warning: the plan has no [keys]: whoever carries the messages could put keys in between "
            "and read this silo's own numbers",
            err=True,
        )
    report_written(message, step.output, _NEXT, as_json=step.as_json)
