"""``fedparity plan check``: every mistake of a plan at once."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from fedparity.cli.exits import ExitCode
from fedparity.cli.fitting import counted
from fedparity.cli.quoting import quoted
from fedparity.errors import PlanError
from fedparity.errors.base import printable
from fedparity.protocol.plan import Plan
from fedparity.protocol.plan_reading import Mistake, check_plan, read_plan_text
from fedparity.protocol.plan_signature import check_plan_signature
from fedparity.protocol.plan_warnings import plan_warnings

__all__ = ["check"]


@click.command(short_help="Find every mistake of a plan, with line and fix.")
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the mistakes as JSON.")
@click.pass_context
def check(context: click.Context, file: str, *, as_json: bool) -> None:
    """Find every mistake of a plan at once, each with its line and a fix.

    A plan without mistakes prints its digest, which every message will carry, and warnings where
    it may not say what was meant. Exit code 3 if there is a mistake.

    \b
    Examples:
      fedparity plan check plan.toml
      fedparity plan check plan.toml --json
    """
    text = read_plan_text(file)
    mistakes = check_plan(text)
    plan = None if mistakes else Plan.from_toml(text)
    digest = None if plan is None else plan.digest
    warnings = () if plan is None else plan_warnings(plan)
    if plan is not None and plan.signature is not None:
        try:
            check_plan_signature(plan)
        except PlanError as error:
            mistakes = (Mistake(None, "signature", error.message, error.fix),)
            digest = None
    if as_json:
        found = {
            "file": file,
            "digest": digest,
            "signed_by": None if plan is None or plan.signature is None else plan.signature["key"],
            "mistakes": [asdict(each) for each in mistakes],
            "warnings": list(warnings),
        }
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    elif digest is not None:
        click.echo(digest)
    else:
        for mistake in mistakes:
            click.echo(f"{_place(file, mistake)}: {mistake.message}\n  fix: {mistake.fix}")
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    if not mistakes:
        signed = "" if plan is None or plan.signature is None else ", signed"
        shown = quoted("fedparity", "plan", "show", file)
        click.echo(f"{printable(file)} is a valid plan{signed}; next: {shown}", err=True)
        return
    click.echo(
        f"error: {printable(file)} has {counted(len(mistakes), 'mistake')}.\n"
        "fix: correct each as it says, then check again.",
        err=True,
    )
    context.exit(ExitCode.BAD_INPUT)


def _place(file: str, mistake: Mistake) -> str:
    name = printable(file)
    return name if mistake.line is None else f"{name}:{mistake.line}"
