"""``fedparity secure mask``: a silo's numbers leave, hidden by masks."""

from __future__ import annotations

from typing import Any

import click

from fedparity.cli.database_options import data_of
from fedparity.cli.law_options import law_options, permit_of
from fedparity.cli.progress import progress_bar
from fedparity.cli.secure_mask_text import dry_run_text
from fedparity.cli.secure_options import SiloStep, inbox_of, report_written, silo_options
from fedparity.cli.table_options import reading_of, table_options
from fedparity.protocol.secure.round_message import SiloRoundMessage
from fedparity.releasing.measuring import Effort
from fedparity.releasing.noisy import check_unweighted
from fedparity.releasing.permit import Permit
from fedparity.releasing.secure.leaving import write_masked
from fedparity.releasing.secure.numbers import SiloNumbers, count_records, silo_vector
from fedparity.releasing.secure.state import RoundState
from fedparity.releasing.secure.steps import make_ready
from fedparity.releasing.secure.steps import mask as mask_vector
from fedparity.sources.opening import open_records

__all__ = ["mask"]

_NEXT = "send the file to the auditor"


@click.command(short_help="Silo, step 3: send its numbers, hidden by masks.")
@click.argument("plan", type=click.Path())
@click.argument("data", type=click.Path())
@click.argument("messages", type=click.Path(), nargs=-1)
@silo_options(releasing=True)
@table_options
@click.option(
    "--threads", type=click.IntRange(min=1), help="Threads to use.  [default: one per core]"
)
@click.option("--dry-run", is_flag=True, help="Read the table, say what would leave, and stop.")
@law_options
@click.pass_context
def mask(context: click.Context, /, **_: object) -> None:
    """Count the table DATA on the plan's grid and write NAME.mask.json: random numbers.

    Only the sum over the silos, opened in step 6, means anything. The keys and shares of all
    silos must be among MESSAGES; every share for this silo is opened and checked before the
    table is read. A silo masks once per round, and takes part in one sum per data set: the
    ledger refuses another. Exit code 4 if a rule refuses the step.

    \b
    Examples:
      fedparity secure mask plan.toml patients.csv inbox --silo aurora \\
        --score risk --group sex
      fedparity secure mask plan.toml 'visits/*.parquet' inbox --silo aurora \\
        --score risk --group sex --where "year = 2026" --sign aurora.key
      fedparity secure mask plan.toml inbox --url-file clinic.url --table visits \\
        --silo aurora --score risk --group sex
    """
    options = dict(context.params)
    if options["url_file"] is not None:  # then there is no DATA, and all the rest are messages
        options |= {"data": None, "messages": (options["data"], *options["messages"])}
    options["data"] = data_of(options)
    reading = reading_of(options)
    step = SiloStep.of(options | {"force": options["force"] or options["dry_run"]}, "mask")
    check_unweighted(step.plan, weighted=reading["weight"] is not None)
    permit = permit_of(options, step.plan, step.silo, options["data"])
    if options["dry_run"]:
        _count(step, options, reading)
        click.echo(dry_run_text(step.plan, step.silo))
        return
    with step.state.held() as state:
        message = _message(step, step.check(state), permit, options, reading)
        write_masked(message, step.output, permit=permit, force=step.force)
    report_written(message, step.output, _NEXT, as_json=step.as_json)


def _message(
    step: SiloStep,
    state: RoundState,
    permit: Permit,
    options: dict[str, Any],
    reading: dict[str, Any],
) -> SiloRoundMessage:
    """The masked vector, after the state that says so is on disk."""
    if step.resend:
        return state.sent_again("mask")
    ready = make_ready(step.plan, state, inbox_of(options["messages"]))
    permit.check()
    vector = silo_vector(step.plan, _count(step, options, reading))
    made = mask_vector(step.plan, state, ready, vector, key=step.key)
    step.state.replace(made.state)
    return made.message


def _count(step: SiloStep, options: dict[str, Any], reading: dict[str, Any]) -> SiloNumbers:
    with progress_bar("rows") as progress:
        records = open_records(options["data"], groups=step.plan.groups, **reading)
        effort = Effort(threads=options["threads"], progress=progress)
        return count_records(step.plan, records, effort)
