"""``fedparity secure consent``: a silo signs the list of silos that it was given."""

from __future__ import annotations

import click

from fedparity.cli.secure_options import SiloStep, inbox_of, report_written, silo_options
from fedparity.protocol.secure.reading import one_request
from fedparity.releasing.secure.answering import consent as sign_request

__all__ = ["consent"]

_NEXT = "send the file to all silos"


@click.command(short_help="Silo, step 5: sign that list (with keys).")
@click.argument("plan", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@silo_options()
@click.pass_context
def consent(context: click.Context, /, **_: object) -> None:
    """Write NAME.consent.json: this silo's signature under the request among MESSAGES.

    Only for plans with [keys]. A silo answers a request once as many silos as the threshold, t,
    have signed it. An auditor who shows different lists to different silos then needs 2t - d of
    the d silos to sign both.

    \b
    Examples:
      fedparity secure consent plan.toml request.json --silo aurora \\
        --sign aurora.key
    """
    step = SiloStep.of(dict(context.params), "consent")
    with step.state.held() as state:
        if step.resend:
            message = step.check(state).sent_again("consent")
        else:
            if step.key is None or not step.plan.keys:
                raise click.UsageError("the plan has no keys: go on with fedparity secure unmask.")
            request = one_request(inbox_of(context.params["messages"]))
            made = sign_request(step.plan, step.check(state), request, key=step.key)
            step.state.replace(made.state)
            message = made.message
        step.write(message)
    report_written(message, step.output, _NEXT, as_json=step.as_json)
