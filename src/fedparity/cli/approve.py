"""``fedparity approve``: a named person agrees to a plan, and says why."""

from __future__ import annotations

import click

from fedparity.cli.law_options import policy_option, weaker_option
from fedparity.cli.ledger import ledger_of, ledger_option
from fedparity.cli.plan_words import plan_text
from fedparity.errors import RuleError
from fedparity.errors.base import printable
from fedparity.privacy.ledger import Entry, now
from fedparity.protocol.plan import Plan
from fedparity.protocol.policy_reading import find_policy
from fedparity.releasing.permit import lawful

__all__ = ["approve"]


@click.command(short_help="Agree to a plan before this silo answers it.")
@click.argument("plan", type=click.Path())
@click.option("--by", required=True, metavar="NAME", help="Who approves; a name of the policy.")
@click.option("--because", required=True, metavar="TEXT", help="Why; it stays on record.")
@policy_option
@weaker_option
@ledger_option
def approve(
    plan: str,
    *,
    by: str,
    because: str,
    policy: str | None,
    allow_weaker: tuple[str, ...],
    ledger: str | None,
) -> None:
    """Agree to PLAN by its digest, as one of the people whom the policy names.

    The plan is printed first; the approval, its reason and its time go into the ledger. A plan
    that the policy forbids cannot be approved. Exit code 4 then, or if NAME is not named there.

    \b
    Examples:
      fedparity approve plan.toml --by "Ada Berg" --because "agreed on 12 October"
    """
    own, asked = find_policy(policy), Plan.read(plan)
    if by not in own.people:
        known = ", ".join(own.people) or "nobody"
        raise RuleError(
            f"{own.name} does not name {by!r} among those who approve: {known}.",
            fix="give a name as it stands in [approval] of the policy.",
        )
    lawful(asked, own, allow_weaker)
    click.echo(plan_text(asked))
    record = ledger_of(ledger, own)
    record.add(Entry(entry="approval", time=now(), plan=asked.digest, by=by, because=because))
    entries = record.entries()
    given = {e.by for e in entries if e.entry == "approval" and e.plan == asked.digest}
    left = own.needed - len(given & set(own.people))
    rest = "the plan may be answered" if left <= 0 else f"{left} more must approve it"
    click.echo(f"approved {asked.digest} by {printable(by)}; {rest}", err=True)
