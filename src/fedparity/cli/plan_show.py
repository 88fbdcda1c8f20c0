"""``fedparity plan show``: a plan in plain words."""

from __future__ import annotations

import json

import click

from fedparity.cli.plan_words import plan_text
from fedparity.protocol.plan import Plan
from fedparity.protocol.plan_signature import check_plan_signature

__all__ = ["show"]


@click.command(short_help="Say in plain words what a plan asks for.")
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the complete plan as JSON.")
def show(file: str, *, as_json: bool) -> None:
    """Say in plain words what each silo will send and what the auditor will compute.

    With --json: the complete plan, every default stated, and its digest.

    \b
    Examples:
      fedparity plan show plan.toml
      fedparity plan show plan.toml --json
    """
    plan = Plan.read(file)
    if as_json:
        document = {**plan.to_dict(), "digest": plan.digest}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo(plan_text(plan))
        click.echo(_signature_words(plan))


def _signature_words(plan: Plan) -> str:
    """Whether the auditor signed it, and whether the signature fits."""
    if plan.signature is None:
        return "\nNot signed by the auditor"
    check_plan_signature(plan)
    return f"\nSigned by the auditor with the key\n  {plan.signature['key']}"
