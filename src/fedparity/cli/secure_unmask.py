"""``fedparity secure unmask``: a silo helps to open one sum."""

from __future__ import annotations

import click

from fedparity.cli.secure_options import SiloStep, inbox_of, report_written, silo_options
from fedparity.protocol.secure.reading import one_request
from fedparity.releasing.secure.answering import answer_request

__all__ = ["unmask"]

_NEXT = "send the file to the auditor; this silo's part of the round is done"


@click.command(short_help="Silo, step 6: help to open that one sum.")
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@silo_options()
@click.pass_context
def unmask(context: click.Context, /, **_: object) -> None:
    """Write NAME.unmask.json: this silo's answer to the request among MESSAGES.

    Of each silo that is in the sum it holds a share of its seed, of each that dropped out one of
    its key, never both. It is refused if the list is shorter than the threshold, leaves this
    silo out, or is a second one. Exit code 4 then.

    \b
    Examples:
      fedparity secure unmask plan.toml request.json --silo aurora
      fedparity secure unmask plan.toml inbox --silo aurora --sign aurora.key
    """
    step = SiloStep.of(dict(context.params), "unmask")
    with step.state.held() as state:
        if step.resend:
            message = step.check(state).sent_again("unmask")
        else:
            inbox = inbox_of(context.params["messages"])
            request = one_request(inbox)
            made = answer_request(step.plan, step.check(state), request, inbox, key=step.key)
            step.state.replace(made.state)
            message = made.message
        step.write(message)
    report_written(message, step.output, _NEXT, as_json=step.as_json)
