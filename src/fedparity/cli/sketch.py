"""``fedparity sketch``: a silo's one command, from its table to the message that leaves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import click

from fedparity.cli.amounts import byte_count
from fedparity.cli.database_options import data_of
from fedparity.cli.noise_text import preview_summary, preview_text, spending_words
from fedparity.cli.progress import Progress, progress_bar
from fedparity.cli.signing import sign_options, signing_key
from fedparity.cli.sketch_text import dry_run_text, release_summary, written_text
from fedparity.cli.table_options import reading_of, table_options
from fedparity.privacy.ledger import Ledger, default_ledger_path
from fedparity.protocol.file_names import file_name
from fedparity.protocol.files import refuse_existing
from fedparity.protocol.message_checks import check_message
from fedparity.protocol.plan import Plan
from fedparity.releasing.measuring import Effort
from fedparity.releasing.noisy import check_unweighted, spending_of
from fedparity.releasing.release import Release, check_silo, prepare, preview

__all__ = ["sketch"]


@dataclass(frozen=True)
class _Target:
    """Where a release goes."""

    output: str
    ledger: Ledger | None
    force: bool


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
@click.option("--ledger", metavar="FILE", help="Record of releases.  [default: per user]")
@click.option("--no-ledger", is_flag=True, help="Neither ask nor write the record.")
@click.option(
    "--dataset",
    metavar="NAME",
    help="Data whose privacy budget is spent.  [default: the plan's title]",
)
@click.option("--force", is_flag=True, help="Replace an existing output file.")
@click.option("--verbose", is_flag=True, help="Say how it was computed.")
@click.pass_context
def sketch(context: click.Context, /, **_: object) -> None:
    """Reduce the table DATA to the message that PLAN asks of this silo.

    DATA is a CSV, TSV, Parquet or Arrow file, a folder or a pattern of them, or the address of
    a database, such as postgresql://user@host/name, or of Spark, such as spark://host:7077, with
    --table or --query. Start with
    --dry-run: it shows all that would leave and writes nothing. A release is entered into
    the ledger, a local file that refuses a second, different release under the same plan:
    $FEDPARITY_LEDGER, or fedparity/ledger.jsonl in the folder for state of this user. Under a
    plan with noise it refuses what the budget of the data does not allow, too.
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
    plan = Plan.read(options["plan"])
    dry = options["dry_run"]
    target = _target(options)
    if not (dry or target.force):
        refuse_existing(target.output)
    check_silo(plan, options["silo"])
    check_unweighted(plan, weighted=options["weight"] is not None)
    key = signing_key(options)
    if plan.keys and key is None and not dry:
        raise click.UsageError("the plan has keys, so the message must be signed with --sign KEY.")
    if dry and plan.privacy is not None:
        _preview(plan, options)
        return
    _check_budget(plan, target, options)
    release = _prepared(plan, options)
    if key is not None:
        release = release.signed(key)
    if options["verbose"]:
        click.echo(_how(release), err=True)
    if dry:
        _show(release, plan, as_json=options["as_json"])
    else:
        check_message(plan, release.sketch)  # a wrong key is found here, not by the auditor
        _write(release, target, as_json=options["as_json"])


def _target(options: dict[str, Any]) -> _Target:
    if options["no_ledger"] and options["ledger"]:
        raise click.UsageError("give either --ledger or --no-ledger.")
    ledger = None
    if not (options["no_ledger"] or options["dry_run"]):
        ledger = Ledger(options["ledger"] or default_ledger_path())
    output = options["output"] or f"{file_name(options['silo'])}.sketch.json"
    return _Target(output, ledger, options["force"])


def _prepared(plan: Plan, options: dict[str, Any]) -> Release:
    reading = reading_of(options)
    with progress_bar("rows") as progress:
        return prepare(
            options["data"],
            plan=plan,
            silo=options["silo"],
            **reading,
            dataset=options["dataset"],
            effort=_effort(options, progress),
        )


def _effort(options: dict[str, Any], progress: Progress | None) -> Effort:
    return Effort(
        memory=options["memory"],
        threads=options["threads"],
        kernel=options["kernel"],
        progress=progress,
    )


def _check_budget(plan: Plan, target: _Target, options: dict[str, Any]) -> None:
    """Refuse before the data are read what the ledger would refuse afterwards."""
    spending = spending_of(plan, options["dataset"])
    if spending is not None and target.ledger is not None:
        target.ledger.check_budget(plan.digest, options["silo"], spending)


def _preview(plan: Plan, options: dict[str, Any]) -> None:
    """Show what would leave under a plan with noise: no noise is drawn, and nothing is spent."""
    spending = spending_of(plan, options["dataset"])
    if spending is None:
        return
    with progress_bar("rows") as progress:
        shown = preview(
            options["data"],
            plan=plan,
            silo=options["silo"],
            effort=_effort(options, progress),
            **reading_of(options),
        )
    ledger = None
    if not options["no_ledger"]:
        ledger = Ledger(options["ledger"] or default_ledger_path())
    if options["as_json"]:
        summary = preview_summary(shown, spending, ledger)
        click.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        click.echo(preview_text(shown, spending, ledger))


def _how(release: Release) -> str:
    how = release.how
    if how.way == "where they are":
        rows = sum(release.records.values())
        return (
            f"{rows:,} records, ranked inside {how.kernel} by {how.passes} queries; none was read"
        )
    passes = f"{how.passes} pass{'' if how.passes == 1 else 'es'}"
    done = f"{how.way}, {passes} with the {how.kernel} kernel"
    if release.spending is not None:  # an exact number of records is not for a log
        return f"noisy counts, {done}"
    return f"{sum(release.records.values()):,} records, {done}"


def _show(release: Release, plan: Plan, *, as_json: bool) -> None:
    if as_json:
        click.echo(release.sketch.to_bytes(), nl=False)
    else:
        click.echo(dry_run_text(release, plan))


def _write(release: Release, target: _Target, *, as_json: bool) -> None:
    release.write(target.output, ledger=target.ledger, force=target.force)
    if as_json:
        summary = release_summary(release, target.output, target.ledger)
        click.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    click.echo(written_text(release, target.output, target.ledger), err=True)
    if release.spending is not None:
        spent = spending_words(release.sketch.silo, release.spending, target.ledger)
        click.echo(f"spent {spent}", err=True)
