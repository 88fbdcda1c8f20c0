"""``fedparity sketch``: a silo's one command, from its table to the message that leaves."""

from __future__ import annotations

import json
from typing import Any

import click

from fedparity.cli.key_commands import sign_options, signing_key
from fedparity.cli.options import (
    byte_count,
    data_of,
    law_options,
    permit_of,
    reading_of,
    table_options,
)
from fedparity.cli.output import Progress, progress_bar
from fedparity.cli.sketch_text import (
    dry_run_text,
    preview_summary,
    preview_text,
    release_summary,
    written_text,
)
from fedparity.documents.files import file_name, refuse_existing
from fedparity.documents.message import SiloSketch
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.errors import DisclosureError
from fedparity.errors.base import printable
from fedparity.modes.measurement import ComputeOptions
from fedparity.modes.mode import Release, mode_of
from fedparity.modes.noisy import Preview
from fedparity.silo.permit import Permit
from fedparity.silo.sketch import prepare, preview

__all__ = ["sketch"]


@click.command(short_help="Reduce a silo's table to the numbers that may leave.")
@click.argument("plan", type=click.Path())
@click.argument("data", required=False)
@click.option("--silo", required=True, metavar="NAME", help="This silo's name in the plan.")
@table_options
@click.option(
    "--memory",
    callback=byte_count,
    metavar="SIZE",
    help="Memory for records, such as 2GB.  [default: a quarter of all]",
)
@click.option(
    "--threads", type=click.IntRange(min=1), help="Threads to use.  [default: one per core]"
)
@click.option(
    "--kernel",
    type=click.Choice(["auto", "numpy", "numba"]),
    default="auto",
    show_default=True,
    help="Of no effect on the result.",
)
@click.option("-o", "--output", metavar="FILE", help="File to write.  [default: NAME.sketch.json]")
@click.option("--dry-run", is_flag=True, help="Show what would leave; write nothing.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; with --dry-run, the very bytes."
)
@sign_options
@law_options
@click.option("--force", is_flag=True, help="Replace an existing output file.")
@click.option("--verbose", is_flag=True, help="Say how it was computed.")
@click.pass_context
def sketch(context: click.Context, /, **_: object) -> None:
    """Reduce the table DATA to the message that PLAN asks of this silo.

    DATA is a CSV, TSV, Parquet or Arrow file, a folder or a pattern of them, or the address of
    a database, such as postgresql://user@host/name, or of Spark, such as spark://host:7077, with
    --table or --query. Start with
    --dry-run: it shows all that would leave and writes nothing. This silo's policy decides
    whether the plan is obeyed (fedparity policy show); the ledger, a local file, refuses a
    second release of the same records, or one beyond the budget: $FEDPARITY_LEDGER, or
    fedparity/ledger.jsonl in the folder for state of this user. The same command again writes
    the same message, or finishes one that was interrupted.
    Exit code 4 if a rule refuses the release.

    \b
    Examples:
      fedparity sketch plan.toml patients.csv --silo aurora --score risk \\
        --group sex --dry-run
      fedparity sketch plan.toml 'visits/*.parquet' --silo aurora --score risk \\
        --group sex --where "year = 2026" --map F=female --sign aurora.key
      fedparity sketch plan.toml --url-file clinic.url --table clinic.visits \\
        --silo aurora --score risk --group sex
    """
    options = dict(context.params)
    options["data"] = data_of(options)
    plan, silo, dry = Plan.read(options["plan"]), options["silo"], options["dry_run"]
    output = options["output"] or f"{file_name(silo)}.sketch.json"
    if not (dry or options["force"]):
        refuse_existing(output)
    mode_of(plan).check(silo, weighted=options["weight"] is not None)
    permit = permit_of(options, plan, silo, options["data"])
    if dry:
        _dry_run(plan, permit, options)
        return
    key = signing_key(options)
    if plan.keys and key is None:
        raise click.UsageError("the plan has keys, so the message must be signed with --sign KEY.")
    finished = permit.finish(output, force=options["force"])
    if finished is not None:
        if options["as_json"]:
            _print_summary(finished, output, permit)
        click.echo(f"wrote {printable(output)}\ndigest {finished.digest}", err=True)
        click.echo("an earlier run was interrupted after its entry; this is its message", err=True)
        return
    permit.check()
    release = _prepared(plan, options).replacing(permit.voided())
    if key is not None:
        release = release.signed(key)
    if options["verbose"]:
        click.echo(_how(release), err=True)
    check_message(plan, release.sketch)  # a wrong key is found here, not by the auditor
    permit.write(output, release.sketch, force=options["force"])
    if options["as_json"]:
        _print_summary(release.sketch, output, permit)
    click.echo(written_text(release, output, permit), err=True)


def _print_summary(sketch: SiloSketch, output: str, permit: Permit) -> None:
    summary = release_summary(sketch, output, permit)
    click.echo(json.dumps(summary, indent=2, ensure_ascii=False))


def _dry_run(plan: Plan, permit: Permit, options: dict[str, Any]) -> None:
    """Show what would leave; sign nothing, enter nothing, draw no noise."""
    with progress_bar("rows") as progress:
        shown = preview(
            options["data"],
            plan=plan,
            silo=options["silo"],
            options=_compute_options(options, progress),
            **reading_of(options),
        )
    if isinstance(shown, Release):
        if options["verbose"]:
            click.echo(_how(shown), err=True)
        if options["as_json"]:
            click.echo(shown.sketch.to_bytes(), nl=False)
        else:
            click.echo(dry_run_text(shown, plan))
    elif isinstance(shown, Preview):
        if options["as_json"]:
            click.echo(json.dumps(preview_summary(shown, permit), indent=2, ensure_ascii=False))
        else:
            click.echo(preview_text(shown, permit))
    try:
        permit.check()
    except DisclosureError as error:
        click.echo(f"warning: as things stand, a release is refused: {error}", err=True)


def _prepared(plan: Plan, options: dict[str, Any]) -> Release:
    reading = reading_of(options)
    with progress_bar("rows") as progress:
        return prepare(
            options["data"],
            plan=plan,
            silo=options["silo"],
            **reading,
            options=_compute_options(options, progress),
        )


def _compute_options(options: dict[str, Any], progress: Progress | None) -> ComputeOptions:
    return ComputeOptions(
        memory=options["memory"],
        threads=options["threads"],
        kernel=options["kernel"],
        progress=progress,
    )


def _how(release: Release) -> str:
    how = release.execution
    if how.strategy == "where they are":
        rows = sum(release.records.values())
        return (
            f"{rows:,} records, ranked inside {how.kernel} by {how.passes} queries; none was read"
        )
    passes = f"{how.passes} pass{'' if how.passes == 1 else 'es'}"
    done = f"{how.strategy}, {passes} with the {how.kernel} kernel"
    if not release.records:  # an exact number of records is not for a log
        return f"noisy counts, {done}"
    return f"{sum(release.records.values()):,} records, {done}"
